import { expect, it } from 'vitest';
import type { Lookup } from '../../../src/domain/alert.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { type EventCase, eventPrefix } from '../../../src/features/alerts/event-case.ts';
import { type AlertCases, createAlertCases } from '../../../src/features/alerts/alert-cases.ts';
import { type AlertRecovery, createAlertRecovery } from '../../../src/features/alerts/alert-recovery.ts';
import { alertKey, newCounters, writeMessageRecord } from '../../../src/messages/message-record.ts';
import type { Entry } from '../../../src/store/store.ts';
import { driveWorlds, readCase, type Driven, type Process, type World } from '../../records/two-processes.ts';
import { noStorms } from '../house.ts';

const dayMs = 86_400_000;
const money = { minor: 15_000, currency: 'NGN' };
const failure: PaymentEvent = {
  kind: 'payment_failed',
  key: 'payment_failed/order/ORDER-1',
  orderReference: 'ORDER-1',
  customerEmail: 'jane@example.com',
  amountMinor: money.minor,
  currency: money.currency,
};
const none = async () => undefined;

/** The work that ties the failure to payments; repeated until it succeeds. */
const tellingKey = 'alert-telling:1';

function payment(reference: string): PaymentEvent {
  const key = `payment_success/order/${reference}`;
  return { ...failure, kind: 'payment_success', key, orderReference: reference };
}

/**
 * A failure, and a payment before, during or after it. A payment of its own order resolves it in any case; a payment of another
 * order, with the same customer and amount, only if it came later.
 */
function recovery(world: World): Driven {
  const { clock, store, sealer, random } = world;
  const reference = random.pick(['ORDER-1', 'ORDER-2']);
  const came: { failedMs?: number; paidMs: number[]; isProven?: true } = { paidMs: [] };

  function open({ store: through, call, wait }: Pick<Process, 'store' | 'call' | 'wait'>) {
    const kept = {
      store: through,
      sealer,
      now: () => clock.nowMs,
      wait,
      leaseMs: 45_000,
      rememberMs: 365 * dayMs,
      wake: () => undefined,
      log: () => undefined,
      fingerprint: async (text: string) => text.replaceAll('\0', '|'),
    };
    const lookUp = (event: PaymentEvent): Promise<Lookup> =>
      call<Lookup>(
        () => {
          const isPaid = came.paidMs.length > 0 && event.orderReference === reference;
          if (!isPaid) return { kind: 'not_found' };
          const holds = { holds: true, statement: '' };
          const evidence = {
            status: { part: 'status', ...holds },
            reference: { part: 'reference', ...holds },
            amount: { part: 'amount', ...holds },
          } as const;
          return { kind: 'confirmed', transaction: { orderReference: reference }, money, evidence };
        },
        () => ({ kind: 'unchecked', failure: 'timeout' }),
      );
    const alerts: AlertCases = createAlertCases(kept, {
      storms: noStorms,
      hasEnded: none,
      chargeOf: none,
      lookUp,
      lookUpSparingly: lookUp,
      search: (payment) => made.search(payment),
      matchFailure: async () => undefined,
    });
    const made: AlertRecovery = createAlertRecovery(kept, alerts, lookUp, none);
    return { events: alerts.cases, made, lookUp };
  }
  // A sender repeats an event until it is stored.
  const door = open({ store, call: async (run) => await run(), wait: async () => undefined }).made;

  return {
    start(process) {
      const { events, made, lookUp } = open(process);
      async function work(entry: Entry): Promise<void> {
        if (entry.key.startsWith(eventPrefix)) return void (await events.work(entry));
        await made.matchFailure(failure, await lookUp(failure), came.failedMs ?? 0);
        await process.store.write(entry, '', { ttlMs: dayMs });
      }
      return { prefix: '', work };
    },
    act(at) {
      return at.pick([
        async () => {
          if (came.failedMs !== undefined) return;
          came.failedMs = clock.nowMs;
          const told = { channel: 'C0ALERTS01', receivedAtMs: clock.nowMs };
          const sealed = sealer.seal(alertKey(failure.key), JSON.stringify(failure));
          await store.create(alertKey(failure.key), writeMessageRecord({ ...told, ...newCounters, sealed }));
          await store.create(tellingKey, '', { delayMs: at.pick([0, 1_000, 60_000]) });
        },
        async () => {
          if (await door.addPayment(payment(reference), clock.nowMs)) came.paidMs.push(clock.nowMs);
        },
        // A charge of the bot, proven without its event.
        async () => {
          if (!came.isProven) came.paidMs.push(clock.nowMs);
          came.isProven = true;
          const { customerEmail = '' } = failure;
          await door.addOwnPayment({ reference, money, customerEmail, atMs: clock.nowMs });
        },
      ]);
    },
    async wrongs() {
      const { failedMs, paidMs } = came;
      if (failedMs === undefined) return [];
      const kept = await readCase<EventCase>(world, eventPrefix + failure.key);
      if (!kept) return ['it was never told'];
      const { state } = kept;
      const isIts = paidMs.some((atMs) => reference === 'ORDER-1' || atMs >= failedMs);
      const { kind } = state.card;
      return [
        ...((kind === 'recovered') === isIts ? [] : [`paid with ${reference}, and it is ${kind}`]),
        ...(state.told === (isIts ? 1 : 0) ? [] : [`${state.told} steps are told of it`]),
      ];
    },
  };
}

it('a failure and its payment find each other through crashes, lost answers, suspended processes and clock changes', async () => {
  expect(await driveWorlds(recovery, { share: 125, least: 1 / 4, isFull: isPaid })).toEqual([]);
});

function isPaid({ store }: World): boolean {
  return store.keys().some((key) => key.startsWith(`${eventPrefix}payment_success`));
}
