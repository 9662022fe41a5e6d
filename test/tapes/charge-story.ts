import type { ChargeEvent, ChargeIntent, Effect } from '../../src/features/charge/charge-intent.ts';
import { step, findingOf } from '../../src/features/charge/machine.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import type { Transaction } from '../../src/domain/transaction.ts';

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const start = 1_800_000_000_000;
export const reference = 'pay-abcdefghijklmnopqrstuvwxyz' as OrderReference;
export const money = { minor: 1_250_000, currency: 'NGN' };
export const paid: Transaction = {
  status: 'SUCCESS',
  orderReference: reference,
  amountMinor: 1_250_000,
  currency: 'NGN',
};

/** One charge and the clock, told as a story. Each method continues from the current state. */
export function story(about: { sendsOnce?: true } = {}) {
  let time = start;
  let intent: ChargeIntent | undefined;
  let effect: Effect | undefined;

  function on(event: ChargeEvent): boolean {
    const stepped = step(intent, event, time);
    if (!stepped) return false;
    ({ effect } = stepped);
    intent = stepped.next;
    return true;
  }

  function now(): ChargeIntent {
    if (!intent) throw new Error('Nothing has been submitted.');
    return intent;
  }

  const told = {
    on,
    now,
    effect: () => effect,
    after(ms: number) {
      time += ms;
      return told;
    },
    /** The answer to the last send. */
    answered(answer: Extract<ChargeEvent, { kind: 'charge_answered' }>['answer'], send = now().sends.length) {
      return on({ kind: 'charge_answered', send, answer });
    },
    otpAnswered(answer: Extract<ChargeEvent, { kind: 'otp_answered' }>['answer']) {
      return on({ kind: 'otp_answered', submission: now().otp?.tries ?? 0, answer });
    },
    found(record: Transaction | 'not_found' | 'failed') {
      const { state } = now();
      const askedAt = 'askedAt' in state ? (state.askedAt ?? 0) : 0;
      const finding =
        typeof record === 'string' ? { kind: record } : findingOf({ reference, money }, asRead(record));
      return on({ kind: 'looked_up', askedAt, finding });
    },
    /** Time passes until the store would return it as due. */
    due() {
      time = Math.max(time, now().dueAt ?? time);
      return on({ kind: 'due' });
    },
  };
  on({ kind: 'submitted', reference, money, by: 'U1', ...about });
  return told;
}

export type Story = ReturnType<typeof story>;

/** Looks up whenever it is due, with the same result each time. */
export function untilConcluded(charge: Story, record: Transaction | 'not_found'): void {
  while (!('concludedAt' in charge.now().state)) {
    charge.due();
    charge.found(record);
  }
}

export const otpRequired = { kind: 'otp_required', sealedTransactionId: 'sealed' } as const;
export function declined() {
  const charge = story();
  charge.answered({ kind: 'declined', why: 'Insufficient funds' });
  charge.on({ kind: 'told', what: 'declined' });
  return charge;
}

/** Three sends, none of which arrived. */
export function abandoned() {
  const charge = story();
  for (let send = 0; send < 3; send++) {
    charge.answered({ kind: 'unknown' });
    charge.found('not_found');
  }
  while (charge.now().state.kind === 'confirming') {
    charge.due();
    charge.found('not_found');
  }
  return charge;
}

/** A record as the client reads it, with these statuses as final, and REFUNDED as returned. */
export function asRead(record: Transaction, finalStatuses: readonly string[] = ['FAILED']): Transaction {
  if (record.status === 'REFUNDED') return { ...record, outcome: 'given_back' };
  const isFinal = record.status !== undefined && finalStatuses.includes(record.status);
  return isFinal ? { ...record, outcome: 'not_paid' } : record;
}
