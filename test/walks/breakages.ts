import type { Store } from '../../src/store/store.ts';
import type { Answer, Call } from './network.ts';

/** A deliberate bug in the bot's surroundings, equivalent to one of the bot: every walk must detect it. */
export type Breakage = {
  store?: (store: Store) => Store;
  /** Replaces what happens when a call arrives, and returns the answer. `carry` carries the call out. */
  carry?: (call: Call, carry: (call: Call) => Promise<Answer | undefined>) => Promise<Answer | undefined>;
  policy?: (policy: string) => string;
};

/** True for every nth call. */
function everyNth(nth: number): () => boolean {
  let count = 0;
  return () => {
    count += 1;
    return count % nth === 0;
  };
}

function ok(body: object): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ok: true, ...body }),
  };
}

const isPost = ({ path }: Call): boolean => path === '/api/chat.postMessage';
const isEdit = ({ path }: Call): boolean => path === '/api/chat.update';
const isHistory = ({ path }: Call): boolean => path.startsWith('/api/conversations.');
const isEvent = ({ path }: Call): boolean => path.startsWith('/webhooks/');
const isCharge = ({ path }: Call): boolean => path.endsWith('/tokenized-card-payment');
const isCode = ({ path }: Call): boolean => path.endsWith('/checkout-card-otp');
const isOfLink = ({ body }: Call): boolean => body.includes('payops_link') && body.includes('Paid');
const isLookUp = ({ path }: Call): boolean => path.includes('/transactions/');

/** Made for each walk; `seen`: what a walk must report. */
export const breakages: Readonly<Record<string, { seen: RegExp; breakage: () => Breakage }>> = {
  'an event that is acknowledged and lost': {
    seen: /are not told in/,
    breakage: () => {
      const isLost = everyNth(5);
      return {
        carry: async (call, carry) => (isEvent(call) && isLost() ? ok({}) : await carry(call)),
      };
    },
  },
  'a store that loses new work now and then': {
    seen: /are not told in|above a thread|though .* was paid|cannot be worked on/,
    breakage: () => {
      const isLost = everyNth(9);
      return {
        store: (store) => ({
          ...store,
          create: async (key, value, options = {}) =>
            'delayMs' in options && isLost() ? true : await store.create(key, value, options),
        }),
      };
    },
  },
  'a store whose compare-and-swap compares nothing': {
    seen: /./,
    breakage: () => ({
      store: (store) => ({
        ...store,
        async write(entry, value, options) {
          const current = await store.read(entry.key);
          return current && (await store.write(current, value, options));
        },
      }),
    }),
  },
  'a store that creates the same record twice': {
    seen: /is told \d times|digests in .* count|cannot be worked on/,
    breakage: () => ({
      store: (store) => ({
        ...store,
        async create(key, value, options) {
          if (await store.create(key, value, options)) return true;
          const there = await store.read(key);
          return there !== undefined && (await store.write(there, value, options)) !== undefined;
        },
      }),
    }),
  },
  'a store that keeps no lanes': {
    seen: /comes behind|faster than Slack takes it/,
    breakage: () => ({
      store: (store) => ({
        ...store,
        create: (key, value, options = {}) =>
          store.create(key, value, 'delayMs' in options ? { delayMs: options.delayMs } : options),
      }),
    }),
  },
  'a store that keeps no pace': {
    seen: /faster than Slack takes it/,
    breakage: () => ({
      store: (store) => ({
        ...store,
        write: (entry, value, { pauseMs: _none, ...options } = {}) => store.write(entry, value, options),
      }),
    }),
  },
  'a post that is made twice': {
    seen: /is told \d times|faster than Slack takes it/,
    breakage: () => {
      const isTwice = everyNth(10);
      return {
        async carry(call, carry) {
          if (isPost(call) && isTwice()) await carry(call);
          return await carry(call);
        },
      };
    },
  },
  'a history in which nothing is found': {
    seen: /is told \d times|digests in .* count/,
    breakage: () => ({
      carry: async (call, carry) =>
        isHistory(call) ? ok({ messages: [], has_more: false }) : await carry(call),
    }),
  },
  'an edit that changes nothing': {
    seen: /above a thread that says|though .* was paid| is \w+ and \w+/,
    breakage: () => {
      const isNone = everyNth(4);
      return {
        carry: async (call, carry) => (isEdit(call) && isNone() ? ok({}) : await carry(call)),
      };
    },
  },
  'a post in another channel': {
    seen: /is told in|are not told in/,
    breakage: () => {
      const isAstray = everyNth(12);
      return {
        carry: async (call, carry) =>
          isPost(call) && isAstray()
            ? await carry({ ...call, body: call.body.replace(/channel=C\w+/, 'channel=C0GENERAL1') })
            : await carry(call),
      };
    },
  },
  'a look-up that finds every charge paid': {
    seen: /somebody reads that it is paid/,
    breakage: () => ({
      async carry(call, carry) {
        const answer = await carry(call);
        if (!isLookUp(call) || !answer) return answer;
        return { ...answer, body: answer.body.replace(/"(FAILED|PENDING)"/g, '"SUCCESS"') };
      },
    }),
  },
  'a charge that is made once more under another reference': {
    seen: /nobody reads that|charges of/,
    breakage: () => ({
      async carry(call, carry) {
        if (isCharge(call)) await carry({ ...call, body: call.body.replace(/"pay-\w{6}/, '"pay-twice2') });
        return await carry(call);
      },
    }),
  },
  'a code that is submitted twice': {
    seen: /is submitted 2 times|[456] codes are submitted/,
    breakage: () => ({
      async carry(call, carry) {
        if (isCode(call)) await carry(call);
        return await carry(call);
      },
    }),
  },
  'a mute that forgets what it held back': {
    seen: /whose mutes count/,
    breakage: () => ({
      store: (store) => ({
        ...store,
        list: async (name, options) =>
          name.startsWith('kept-back:') ? { entries: [] } : await store.list(name, options),
      }),
    }),
  },
  'a payment link that is paid and says nothing': {
    seen: /nobody reads that \S+ is paid/,
    breakage: () => ({
      carry: async (call, carry) =>
        (isPost(call) || isEdit(call)) && isOfLink(call) ? ok({ ts: '1.000001' }) : await carry(call),
    }),
  },
  'a refund that is acknowledged and lost': {
    seen: /are not told in/,
    breakage: () => ({
      carry: async (call, carry) =>
        isEvent(call) && call.body.includes('payment_refunded') ? ok({}) : await carry(call),
    }),
  },
  'a charge of another amount': {
    seen: /charges of .* that were asked for/,
    breakage: () => ({
      carry: (call, carry) =>
        carry(isCharge(call) ? { ...call, body: call.body.replace(/\.00"/, '.13"') } : call),
    }),
  },
  'a large charge that nobody else approves': {
    seen: /is charged, which nobody but/,
    breakage: () => ({ policy: (policy) => policy.replace('amount_from: 1', 'amount_from: 9') }),
  },
  'a role that a stranger has, too': {
    seen: /who has no role/,
    breakage: () => ({ policy: (policy) => policy.replaceAll('[U0LEAD', '[U0OUTSIDE1, U0LEAD') }),
  },
  'a post that carries the card’s token': {
    seen: /is in what went to Slack/,
    breakage: () => ({
      carry: (call, carry) =>
        carry(isPost(call) ? { ...call, body: `${call.body}&note=tok-ada-approves` } : call),
    }),
  },
  'a post that mentions the person who pressed': {
    seen: /is called for nothing/,
    breakage: () => ({
      carry: (call, carry) =>
        carry(isPost(call) ? { ...call, body: `${call.body}&note={"type":"user"}` } : call),
    }),
  },
  'a post that calls the people on call': {
    seen: /are called without a rule/,
    breakage: () => ({
      carry: (call, carry) => carry(isPost(call) ? { ...call, body: `${call.body}&note=S0ONCALL01` } : call),
    }),
  },
};
