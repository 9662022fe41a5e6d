import { readOutboxRecord } from '../../src/messages/message-record.ts';
import { openBody } from '../../src/messages/posts.ts';
import { receiveEvent } from '../../src/features/alerts/receive-event.ts';
import {
  alarmPrefix,
  createWebhookWatch,
  type WebhookWatch,
} from '../../src/features/alerts/webhook-watch/webhook-watch.ts';
import type { Alarm } from '../../src/domain/notice.ts';
import type { AlarmRules } from '../../src/features/alerts/webhook-watch/webhook-state.ts';
import { workOnce } from '../../src/records/work-once.ts';
import type { Store } from '../../src/store/store.ts';
import { defaultEventPointers, parseEvent } from '../../src/webhooks/event.ts';
import { house, ops, sealer } from './house.ts';

export const minute = 60_000;
export const hour = 60 * minute;
const rules: AlarmRules = { silenceMs: hour, refusals: 5, missingMs: 30 * minute };

/** Two replicas on one store, with a clock the test moves; `pass` is what timers and workers would do meanwhile. */
export async function openRoom(
  overrides: Partial<AlarmRules> = {},
  spoil: (store: Store) => Store = (store) => store,
) {
  const { clock, store, receive } = house();
  clock.nowMs = Date.UTC(2026, 10, 21);
  const calls: string[] = [];
  const counted: Store = {
    ...spoil(store),
    create(key, value, options) {
      calls.push(key);
      return spoil(store).create(key, value, options);
    },
    write(entry, value, options) {
      calls.push(entry.key);
      return spoil(store).write(entry, value, options);
    },
  };
  const lines: string[] = [];
  const [one, two] = [0, 1].map(() =>
    createWebhookWatch({
      store: counted,
      sealer,
      opsChannel: ops,
      rules: { ...rules, ...overrides },
      now: () => clock.nowMs,
      wait: () => Promise.resolve(),
      wake: () => undefined,
      log: (level, message) => void lines.push(`${level}: ${message}`),
    }),
  ) as [WebhookWatch, WebhookWatch];
  for (const replica of [one, two]) {
    replica.start();
    await replica.stop();
  }
  await new Promise((resolve) => setImmediate(resolve));
  let turn = 0;
  /** Whoever is faster. */
  async function work(): Promise<void> {
    const worker = [one, two][(turn += 1) % 2] ?? one;
    const kinds = [
      { prefix: alarmPrefix, work: worker.work },
      { prefix: 'outbox:', work: () => Promise.resolve() },
    ];
    while (await workOnce({ store, leaseMs: 45_000, kinds }));
  }
  async function pass(ms: number): Promise<void> {
    for (const endsAtMs = clock.nowMs + ms; clock.nowMs < endsAtMs;) {
      clock.nowMs += minute;
      await one.flush();
      await two.flush();
      await work();
    }
  }
  /** Every notice there ever was, in its order. */
  async function told(): Promise<Alarm[]> {
    const keys = store.keys().filter((key) => key.startsWith('outbox:notice:'));
    const entries = await Promise.all(keys.map((key) => store.read(key)));
    return entries.flatMap((entry) =>
      entry ? [openBody('notice', sealer, { entry, record: readOutboxRecord(entry.value) }) as Alarm] : [],
    );
  }
  async function receiveSuccess(reference: string): Promise<void> {
    const body = JSON.stringify({
      event_type: 'payment_success',
      data: { order: { orderReference: reference } },
    });
    const found = parseEvent(Buffer.from(body), defaultEventPointers, { covers: 'body' });
    if (found.kind !== 'event') throw new Error(found.kind);
    await receiveEvent(receive, found.event, found.fingerprint);
    one.accepted();
  }
  return { clock, store, calls, lines, one, two, work, pass, told, receiveSuccess };
}

export function approve(watch: WebhookWatch, reference: string, hasEvent = false): Promise<void> {
  return watch.processed({ reference, outcome: 'approved', hasEvent });
}

export function decline(watch: WebhookWatch, reference: string, hasEvent = false): Promise<void> {
  return watch.processed({ reference, outcome: 'declined', hasEvent });
}

export function accept(watch: WebhookWatch, times: number): void {
  for (let count = 0; count < times; count += 1) watch.accepted();
}

export function refuse(watch: WebhookWatch, times: number, cause = 'The secret is wrong.'): void {
  for (let count = 0; count < times; count += 1) watch.refused(() => cause);
}
