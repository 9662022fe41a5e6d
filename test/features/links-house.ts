import type { Lookup } from '../../src/domain/alert.ts';
import type { CheckoutOrderAnswer } from '../../src/domain/charge-answer.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import { keepProvenPayment, paymentPrefix } from '../../src/features/alerts/alert-recovery.ts';
import { linkPrefix, type PaymentLink } from '../../src/features/links/link-case.ts';
import { createPaymentLinks, type LinkRequest } from '../../src/features/links/payment-links.ts';
import { createDeliverPost } from './deliver-post.ts';
import { workOnce } from '../../src/records/worker.ts';
import type { Store } from '../../src/store/store.ts';
import { house, sealer } from './house.ts';

export const agent = 'U0AGENT01';
export const desk = 'C0DESK0001';
export const reference = 'LINK-1' as OrderReference;
export const orderId = 'service-order-id-1';
export const followMs = 72 * 3_600_000;

export const request: LinkRequest = {
  viewId: 'V1',
  terms: { money: { minor: 15_000, currency: 'NGN' }, customerEmail: 'jane@example.com', savesCard: true },
  reference,
  by: agent,
  channel: desk,
};

export const paidEvent: PaymentEvent = {
  kind: 'payment_success',
  key: `payment_success/order/${reference}`,
  orderReference: reference,
  orderId,
  isSavedCardCharge: false,
  cardSaved: { kind: 'kept', face: { lastFour: '4081' } },
};
export const failedEvent: PaymentEvent = {
  kind: 'payment_failed',
  key: `payment_failed/order/${reference}`,
  orderReference: reference,
  reason: 'Insufficient funds',
};

const tick = (holds: boolean) => ({ holds, statement: holds ? 'holds' : 'does not hold' });
const evidence = (holds: boolean) => ({
  status: { part: 'status', ...tick(holds) } as const,
  reference: { part: 'reference', ...tick(true) } as const,
  amount: { part: 'amount', ...tick(true) } as const,
});
export const proven: Lookup = {
  kind: 'confirmed',
  transaction: {},
  money: { minor: 15_000, currency: 'NGN' },
  evidence: evidence(true),
};
export const unproven: Lookup = {
  kind: 'not_confirmed',
  transaction: {},
  money: undefined,
  evidence: evidence(false),
};
export const away: Lookup = { kind: 'unchecked', failure: 'timeout' };
export const unheard: CheckoutOrderAnswer = {
  kind: 'unknown',
  cause: new ServiceFailure('timeout', 'no answer'),
};

/** The service makes each order once. `answers`: what it says instead of the next ones, after it made them. */
export function openLinks(rememberMs = 365 * 86_400_000) {
  const { clock, store, deliver, posts } = house();
  const service = {
    made: [] as string[],
    asked: [] as string[],
    answers: [] as CheckoutOrderAnswer[],
    lookups: [] as Lookup[],
    looked: 0,
  };
  /** The payments that the alerts have heard of. */
  const toldAlerts: string[] = [];
  const edits: { channel: string; link: PaymentLink }[] = [];

  /** One process over the one store; `reach` stands between them. */
  function start(reach: Store = store) {
    const background: Promise<unknown>[] = [];
    const links = createPaymentLinks({
      store: reach,
      sealer,
      async createCheckoutOrder({ reference: wanted }) {
        service.asked.push(wanted);
        const isTaken = service.made.includes(wanted);
        if (!isTaken) service.made.push(wanted);
        const said = service.answers.shift();
        if (said) return said;
        if (isTaken) return { kind: 'rejected', reason: 'reference_exists', message: 'exists' };
        return { kind: 'created', orderId, checkoutLink: 'https://pay.example/1' };
      },
      lookUp: () => Promise.resolve(lookUp()),
      lookUpNow: () => Promise.resolve(lookUp()),
      callbackUrl: undefined,
      paid: (payment) => keepProvenPayment({ store: reach, sealer, wait: () => Promise.resolve() }, payment),
      rules: { askAgainMs: 45_000, followMs },
      rememberMs,
      leaseMs: deliver.leaseMs,
      now: () => clock.nowMs,
      wake: () => undefined,
      wait: (ms) => Promise.resolve((clock.nowMs += ms)),
      log: () => undefined,
      inBackground(work) {
        background.push(work);
        // Whoever drains hears of it.
        work.catch(() => undefined);
      },
    });
    const delivering = {
      ...deliver,
      store: reach,
      findLink: (wanted: string) => links.find(wanted),
      compose: (post: Parameters<typeof deliver.compose>[0]) => ({
        ...deliver.compose(post),
        digest: JSON.stringify(post),
        edit(channel: string, ts: string) {
          if (post.kind === 'link') edits.push({ channel, link: post.link });
          return Promise.resolve({ kind: 'posted', channel, ts } as const);
        },
      }),
    };
    const kinds = [
      {
        prefix: 'message:',
        work: createDeliverPost(delivering),
      },
      {
        prefix: paymentPrefix,
        async work(entry: Parameters<typeof links.work>[0]) {
          toldAlerts.push(entry.key);
          await reach.write(entry, entry.value);
        },
      },
      { prefix: linkPrefix, work: (entry: Parameters<typeof links.work>[0]) => links.work(entry) },
    ];
    async function drain(forMs = 0): Promise<void> {
      await Promise.all(background.splice(0));
      const endsAtMs = clock.nowMs + forMs;
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- one piece of work after the other
        while (await workOnce({ store: reach, leaseMs: 45_000, kinds }));
        if (clock.nowMs >= endsAtMs) return;
        clock.nowMs += Math.min(1_000, endsAtMs - clock.nowMs);
      }
    }
    return { links, drain };
  }

  function lookUp(): Lookup {
    service.looked += 1;
    return service.lookups.shift() ?? { kind: 'not_found' };
  }
  /** The messages that stand, newest last: cards as they were posted first, and notes. */
  const cards = () => posts.filter(({ post }) => post.kind === 'link' && post.note === undefined);
  const notes = () => posts.flatMap(({ post }) => (post.kind === 'link' && post.note ? [post.note] : []));
  /** What its card says now. */
  const shown = () =>
    edits.at(-1)?.link ??
    posts.flatMap(({ post }) => (post.kind === 'link' && !post.note ? [post.link] : [])).at(-1);
  return { clock, store, service, toldAlerts, posts, start, cards, notes, shown };
}
