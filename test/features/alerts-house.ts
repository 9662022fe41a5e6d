import { hash } from 'node:crypto';
import {
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
  type WebClient,
} from '@slack/web-api';
import type { BotCharge, RoutePlan } from '../../src/domain/alert.ts';
import { withoutUndefined } from '../../src/domain/json.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import type { Transaction } from '../../src/domain/transaction.ts';
import { createAlerts } from '../../src/features/alerts/alerts.ts';
import { createOutbox, type FeatureMessages } from '../../src/messages/deliver.ts';
import { tellStuck } from '../../src/messages/messages.ts';
import { noticeRenders } from '../../src/messages/notices.ts';
import { createPutAside } from '../../src/records/put-aside.ts';
import { workOnce } from '../../src/records/worker.ts';
import { assertBlocks } from '../../src/simulators/slack/assert-blocks.ts';
import type { HeldRoles } from '../../src/slack/people/role.ts';
import type { SlackMessage } from '../../src/slack/kit/message.ts';
import type { Store } from '../../src/store/store.ts';
import { shownLines } from '../slack/shown-text.ts';
import { accountOf } from '../support/account.ts';
import { aroundStore } from '../support/around-store.ts';
import { channel as alertsChannel, ops, sealer as plainSealer } from './house.ts';
import { memoryStore } from './memory-store.ts';

const startMs = 1_800_000_000_000;
const dayMs = 86_400_000;

export const failed: PaymentEvent = {
  kind: 'payment_failed',
  key: 'payment_failed/order/ORDER-1',
  orderReference: 'ORDER-1',
  customerId: 'cust-7',
  customerEmail: 'jane@example.com',
  amountMinor: 1_250_000,
  currency: 'NGN',
  reason: 'Insufficient funds',
};

export function paidBy(reference: string, more: Partial<PaymentEvent> = {}): PaymentEvent {
  const { reason: _reason, ...rest } = failed;
  return {
    ...rest,
    kind: 'payment_success',
    key: `payment_success/order/${reference}`,
    orderReference: reference,
    ...more,
  };
}

export function recordOf(reference: string, status: string): Transaction {
  return {
    id: `T-${reference}`,
    status,
    amountMinor: 1_250_000,
    currency: 'NGN',
    orderReference: reference,
    customerEmail: 'jane@example.com',
  };
}

/** Wraps everything that a process awaits, by name. */
export type Pass = <Result>(name: string, effect: () => Result | Promise<Result>) => Promise<Result>;

const straight: Pass = async (_name, effect) => await effect();

/** `earlier`: before its edits. */
export type Message = {
  channel: string;
  ts: string;
  threadTs?: string;
  shown: SlackMessage;
  earlier: SlackMessage[];
  editedAtMs: number[];
};

/** `key`: of the message that is posted or edited. */
export type SlackCall = {
  method: 'post' | 'edit' | 'history';
  channel: string;
  threadTs?: string;
  key?: string;
  atMs: number;
};

/** `isCarriedOut`: only the answer is lost. */
export type SlackFault = { error: Error; isCarriedOut?: true };

export const slackFaults = {
  notSent: { error: new WebAPIRequestError(Object.assign(new Error('away'), { code: 'ECONNREFUSED' })) },
  lost: { error: new Error('reset') },
  unheard: { error: new Error('reset'), isCarriedOut: true },
  refuses: (error: string) => ({
    error: new WebAPIPlatformError({ ok: false, error, response_metadata: {} }),
  }),
  slow: (seconds: number) => ({ error: new WebAPIRateLimitedError(seconds) }),
} as const;

function refuse(error: string): never {
  throw slackFaults.refuses(error).error;
}

/** The only fake of Slack below its client: channels, threads, edits and the history. */
function openSlack(clock: { nowMs: number }) {
  const messages: Message[] = [];
  const calls: SlackCall[] = [];
  const slack = {
    messages,
    /** Every call, failed ones too. */
    calls,
    meets: (_call: SlackCall): SlackFault | undefined => undefined,
    client(pass: Pass): WebClient {
      async function carry<Result>(
        method: SlackCall['method'],
        given: { channel: string; thread_ts?: string; metadata?: SlackMessage['metadata'] },
        effect: () => Result,
      ): Promise<Result> {
        return await pass(method, () => {
          const { channel, thread_ts: threadTs, metadata } = given;
          const key = metadata?.event_payload.key;
          const call = { method, channel, ...withoutUndefined({ threadTs, key }), atMs: clock.nowMs };
          calls.push(call);
          const fault = slack.meets(call);
          if (fault && !fault.isCarriedOut) throw fault.error;
          const result = effect();
          if (fault) throw fault.error;
          return result;
        });
      }
      type Sent = SlackMessage & { channel: string; ts: string; thread_ts?: string };
      function readShown({ text, blocks, metadata }: Sent): SlackMessage {
        assertBlocks('message', blocks);
        return { text, blocks, ...(metadata && { metadata }) };
      }
      const read = (given: { channel: string; ts?: string }) =>
        carry('history', given, () => {
          const found = messages.filter(
            ({ channel, threadTs }) => channel === given.channel && threadTs === given.ts,
          );
          return { messages: found.map(({ ts, shown: { metadata } }) => ({ ts, metadata })).toReversed() };
        });
      return {
        chat: {
          postMessage: (sent: Sent) =>
            carry('post', sent, () => {
              const { channel, thread_ts: threadTs } = sent;
              if (threadTs !== undefined && !messages.some(({ ts }) => ts === threadTs))
                refuse('thread_not_found');
              const ts = `${Math.floor(clock.nowMs / 1_000)}.${String(messages.length + 1).padStart(6, '0')}`;
              const place = { channel, ts, ...(threadTs !== undefined && { threadTs }) };
              messages.push({ ...place, shown: readShown(sent), earlier: [], editedAtMs: [] });
              return { ok: true, ts, channel };
            }),
          update: (sent: Sent) =>
            carry('edit', sent, () => {
              const found = messages.find(({ channel, ts }) => channel === sent.channel && ts === sent.ts);
              if (!found) return refuse('message_not_found');
              found.earlier.push(found.shown);
              found.shown = readShown(sent);
              found.editedAtMs.push(clock.nowMs);
              return { ok: true };
            }),
        },
        conversations: { history: read, replies: read },
      } as unknown as WebClient;
    },
  };
  return slack;
}

/** What outlives a process: the store, Slack, and the payments service. */
export function openAlertsWorld({
  channels = [alertsChannel],
  threshold = 0,
}: { channels?: readonly string[]; threshold?: number } = {}) {
  const clock = { nowMs: startMs };
  const everywhere = { name: 'all', match: { event: 'payment_failed' as const }, channels, continues: false };
  const routes: RoutePlan = {
    environment: 'live',
    account: 'main account',
    rules: channels.length > 1 ? [everywhere] : [],
    failures: channels[0] ?? alertsChannel,
    successes: undefined,
  };
  const records = new Map<string, Transaction>();
  const service = {
    isAway: false,
    asked: 0,
    find: (reference: string): Transaction | undefined | Promise<Transaction | undefined> =>
      records.get(reference),
  };
  /** The bot’s own charges. */
  const charges = new Map<string, BotCharge>();
  /** Everybody’s roles. */
  const roles = { kind: 'known', roles: ['pay-ops'] } as HeldRoles;
  const settings = { digestThreshold: threshold, webhookRememberDays: 30, alertDetailsDays: 0 };
  const store: Store & { keys(): string[] } = memoryStore(clock);
  const slack = openSlack(clock);
  return {
    clock,
    store,
    sealer: plainSealer,
    slack,
    routes,
    opsChannel: ops,
    records,
    service,
    charges,
    settings,
    roles,
  };
}

export type AlertsWorld = ReturnType<typeof openAlertsWorld>;

const none = async () => undefined;
const no = async () => false;
const notAsked = () => {
  throw new Error('nobody is asked here');
};

/**
 * One process: alerts and the outbox, wired as shipped, on the store, on fakes of Slack’s client and of the payments
 * service, and on other features that do nothing. All that it awaits goes through `pass`.
 */
export function startAlerts(
  world: AlertsWorld,
  pass: Pass = straight,
  around: { needs?: Partial<Parameters<typeof createAlerts>[1]>; messages?: FeatureMessages } = {},
) {
  const { clock, sealer, slack, service, charges, routes, opsChannel } = world;
  const now = (): number => clock.nowMs;
  const store = aroundStore(world.store, (call, name) => pass(name, call));
  const account = accountOf({
    settings: {
      ...world.settings,
      slackTimeoutSeconds: 10,
      policy: { channels: { ops: opsChannel }, timezone: 'UTC' } as never,
    },
    rules: { routes, declines: { threeDSecureWords: [], waitMs: dayMs } },
    payments: {
      findTransaction: (reference) =>
        pass('look_up', () => {
          service.asked += 1;
          if (service.isAway) throw new ServiceFailure('network', 'away');
          return service.find(reference);
        }),
      savedCards: { kind: 'not_set_up' } as never,
    },
    store,
    sealer,
    fingerprint: async (text) => hash('sha256', text).slice(0, 32),
    people: { nameOf: async (id) => id, rolesOf: async () => world.roles },
    slack: { delivery: slack.client(pass) },
    now,
  });
  const alerts = createAlerts(account, {
    ledger: undefined,
    mayTry: notAsked,
    mayOverride: () => false,
    chargeOf: async (reference) => charges.get(reference),
    tellCharge: no,
    tellLink: no,
    chargeForm: notAsked,
    linkForm: notAsked,
    mayReveal: no,
    hasEnded: none,
    tellPayment: none,
    openLinks: async () => [],
    tellsFailure: no,
    savesNoCard: no,
    findCharge: none,
    rememberCard: undefined,
    onCardSaved: none,
    askDayFile: none,
    mutes: async () => [],
    beforeReceived: none,
    ...around.needs,
  });
  const messages: FeatureMessages[] = [alerts.messages, noticeRenders(undefined), around.messages ?? {}];
  const told = { ...account, opsChannel };
  const { guard } = createPutAside({
    ...account,
    tell: ({ key }, errorId) => tellStuck(told, key, errorId),
    count: () => undefined,
  });
  const { leaseMs } = account;
  const kinds = guard([createOutbox(account, messages, alerts.lookUpAhead), ...alerts.cases]);
  const once = (): Promise<boolean> => workOnce({ store, leaseMs, kinds, now });
  return {
    ...world,
    ...alerts.parts,
    account,
    claims: alerts.claims,
    verbs: alerts.verbs,
    kinds,
    once,
    async drain(forMs = 5_000, stepMs = 1_000): Promise<void> {
      const endsAtMs = clock.nowMs + forMs;
      for (;;) {
        while (await once());
        if (clock.nowMs >= endsAtMs) return;
        clock.nowMs += stepMs;
      }
    },
    receive: (event: PaymentEvent, fingerprint = 'f') => alerts.receiving.receive(event, fingerprint),
    /** The messages in channels themselves, oldest first. */
    parents: () => slack.messages.filter((one) => one.threadTs === undefined && one.channel[0] === 'C'),
    notes: (ts: string) => slack.messages.filter((one) => one.threadTs === ts),
  };
}

export type AlertsHouse = ReturnType<typeof startAlerts>;

export function alertsHouse(options: Parameters<typeof openAlertsWorld>[0] = {}): AlertsHouse {
  return startAlerts(openAlertsWorld(options));
}

/** What a person reads of it, mentions left out. */
export function linesOf({ shown }: Pick<Message, 'shown'>): string {
  return shownLines({ ...shown, blocks: shown.blocks.filter(({ type }) => type !== 'actions') }).join('\n');
}

/** What can be pressed in it, by its words; the choices of a menu too. */
export function pressables({ shown }: Message): string[] {
  return shown.blocks.flatMap((block) =>
    block.type !== 'actions'
      ? []
      : block.elements.flatMap((element) => {
          if (element.type === 'button') return [element.text.text];
          return element.type === 'overflow' ? element.options.map(({ text }) => `⋯ ${text.text}`) : [];
        }),
  );
}
