import { createHash } from 'node:crypto';
import {
  step,
  type ChargeEvent,
  type ChargeIntent,
  type Effect,
  type Finding,
  type Step,
  type StoredChargeAnswer,
  type StoredOtpAnswer,
} from '../../src/features/charge/machine.ts';
import { chargeReference, type OrderReference } from '../../src/domain/order-reference.ts';
import type { Verdict } from '../../src/domain/charge.ts';
import type { ChargeRecord } from '../../src/features/charge/charge-record.ts';

export const money = { minor: 1_250_000, currency: 'NGN' };

/** What the outside says to one charge, in order; the last of each goes on being said. */
export type Plan = {
  charge: readonly StoredChargeAnswer[];
  code?: readonly StoredOtpAnswer[];
  lookUp: readonly ('paid' | 'pending' | 'not_found' | 'failed')[];
  ends: Verdict;
};

export const plans = {
  approved: { charge: [{ kind: 'approved' }], lookUp: ['paid'], ends: 'approved' },
  'code wrong, wrong, right': {
    charge: [{ kind: 'otp_required', sealedTransactionId: 'sealed' }],
    code: [{ kind: 'wrong' }, { kind: 'wrong' }, { kind: 'accepted' }],
    lookUp: ['paid'],
    ends: 'approved',
  },
  declined: {
    charge: [{ kind: 'declined', why: 'Insufficient funds' }],
    lookUp: ['failed'],
    ends: 'declined',
  },
  'answer lost, 12 look-ups': {
    charge: [{ kind: 'unknown' }],
    // One more, and it has expired: 16 minutes are over.
    lookUp: [...Array.from({ length: 11 }, () => 'pending' as const), 'paid'],
    ends: 'approved',
  },
} satisfies Record<string, Plan>;

export type Story = { intent: ChargeIntent; steps: number; lookUps: number };

const mostSteps = 5_000;

/**
 * Plays one charge through `step` from its submission until its verdict is told, or until `untilMs`; time jumps to
 * whenever it is due. Nothing is checked here: whoever plays it looks at the end.
 */
export function play(plan: Plan, reference: OrderReference, startMs: number, untilMs = Infinity): Story {
  const asked = { charge: 0, code: 0, lookUp: 0 };
  let nowMs = startMs;
  let steps = 0;
  let intent: ChargeIntent | undefined;
  let event: ChargeEvent | undefined = { kind: 'submitted', reference, money, by: 'U0ADA00001' };
  while (event && nowMs < untilMs) {
    const stepped: Step | undefined = step(intent, event, nowMs);
    steps += 1;
    if (steps > mostSteps) throw new Error('the story comes to no end');
    // A second request for a code is told already, which changes nothing.
    intent = stepped?.next ?? intent;
    if (!intent) break;
    const effect = stepped?.effect;
    const waitMs = effect ? 200 : waitOf(intent, event, nowMs);
    event = effect ? answerTo(effect, plan, asked) : eventAfter(intent, event);
    nowMs += waitMs;
  }
  if (!intent) throw new Error('a submitted charge always has a first step');
  return { intent, steps, lookUps: asked.lookUp };
}

/** How long until somebody does something about a charge for which nothing is under way. */
function waitOf({ state, dueAt = 0 }: ChargeIntent, last: ChargeEvent, nowMs: number): number {
  if (state.kind === 'otp') return 20_000;
  return isEnd(last) ? 0 : Math.max(0, dueAt - nowMs);
}

/** Undefined: its end is told. */
function eventAfter({ state }: ChargeIntent, last: ChargeEvent): ChargeEvent | undefined {
  if (isEnd(last)) return undefined;
  return state.kind === 'otp' ? { kind: 'otp_submitted', by: 'U0ADA00001' } : { kind: 'due' };
}

function isEnd(event: ChargeEvent): boolean {
  return event.kind === 'told' && event.what !== 'otp';
}

function answerTo(
  effect: Effect,
  plan: Plan,
  asked: { charge: number; code: number; lookUp: number },
): ChargeEvent {
  switch (effect.kind) {
    case 'charge':
      return { kind: 'charge_answered', send: effect.send, answer: nth(plan.charge, asked.charge++) };
    case 'look_up': {
      const finding = findingOf(nth(plan.lookUp, asked.lookUp++));
      return { kind: 'looked_up', askedAt: effect.askedAt, finding };
    }
    case 'submit_otp':
      return {
        kind: 'otp_answered',
        submission: effect.submission,
        answer: nth(plan.code ?? [], asked.code++),
      };
    case 'ask_for_otp':
      return { kind: 'told', what: 'otp' };
    case 'tell':
      return { kind: 'told', what: effect.what };
    case 'give_value':
      return { kind: 'told', what: 'approved' };
  }
}

function nth<T>(answers: readonly T[], index: number): T {
  const answer = answers[Math.min(index, answers.length - 1)];
  if (answer === undefined) throw new Error('the plan has no answer to this');
  return answer;
}

function findingOf(said: Plan['lookUp'][number]): Finding {
  if (said === 'not_found' || said === 'failed') return { kind: said };
  return said === 'paid' ? { kind: 'paid', status: 'SUCCESS' } : { kind: 'pending', status: 'PENDING' };
}

export function referenceFor(name: string): OrderReference {
  return chargeReference(name, (text) => createHash('sha256').update(text).digest());
}

/** The record that charge-desk.ts would have made around the intent. */
export function recordOf(intent: ChargeIntent, agent: string): ChargeRecord {
  const { reference } = intent;
  return {
    intent,
    terms: {
      tokenKey: `token-of-${reference}`,
      card: { cardType: 'Visa', lastFour: '4242' },
      money,
      customerEmail: 'jane.doe@example.com',
    },
    card: createHash('sha256').update(reference).digest('hex').slice(0, 32),
    by: agent,
    agent,
    handOvers: [],
    resends: [],
    views: [{ id: 'V0123456789', userId: agent }],
    auditedAt: intent.at,
  };
}

/** Declined and told some hours ago: pending until its late look-up, as most of what is pending. */
export function declinedIntent(name: string, nowMs: number, agoMs: number): ChargeIntent {
  return play(plans.declined, referenceFor(name), nowMs - agoMs).intent;
}

/** Sent half a minute ago by a process that died: due now. */
export function lostIntent(name: string, nowMs: number): ChargeIntent {
  const startMs = nowMs - 30_001;
  return play(plans.approved, referenceFor(name), startMs, startMs + 1).intent;
}

/** In doubt since five minutes: looked up again and again, and found without a result. */
export function doubtfulIntent(name: string, nowMs: number): ChargeIntent {
  const plan: Plan = { ...plans['answer lost, 12 look-ups'], lookUp: ['pending'] };
  return play(plan, referenceFor(name), nowMs - 300_000, nowMs).intent;
}

/** Waits for a code. */
export function codeIntent(name: string, nowMs: number): ChargeIntent {
  const startMs = nowMs - 10_000;
  return play(plans['code wrong, wrong, right'], referenceFor(name), startMs, startMs + 5_000).intent;
}

export function approvedIntent(name: string, nowMs: number): ChargeIntent {
  return play(plans.approved, referenceFor(name), nowMs - 60_000).intent;
}
