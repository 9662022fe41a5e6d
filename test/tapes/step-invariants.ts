import type { ChargeIntent, Effect } from '../../src/features/charge/machine.ts';
import { demand } from './violation.ts';

export type WrittenStep = {
  before: ChargeIntent | undefined;
  next: ChargeIntent;
  effect: Effect | undefined;
};

/** What must hold of every stored step, whatever led to it. */
export function checkStep(step: WrittenStep): void {
  const { before, next } = step;
  demand(!before || before.reference === next.reference, 'one reference per intent');
  demand(before?.state.kind !== 'approved' || next.state.kind === 'approved', 'approved is for ever');
  demand(!before || next.at > before.at, 'time never runs backwards');
  demand(next.history.length <= 120, 'the history stays small');
  demand((next.otp?.tries ?? 0) <= 3, 'at most 3 OTP submissions');
  if (!before) return;
  checkSend(before, step);
  if (before.state.kind !== next.state.kind) checkConclusion(next);
  checkDoubt(before, next);
}

const otpGraceMs = 60_000;

/** When no code can be open any more, as far as the merchant can know. */
function codeEnd({ otp, sends }: ChargeIntent): number {
  return otp?.until ?? Math.max(...sends) + 15 * 60_000;
}

function checkConclusion(next: ChargeIntent): void {
  const { state, history, at } = next;
  const last = history.at(-1)?.event;
  const isFinal = last?.kind === 'looked_up' && last.finding.kind === 'final_not_paid';
  const isOver = at >= codeEnd(next) + otpGraceMs;
  if (state.kind === 'declined') {
    demand(isFinal || isOver || hasOwnDecline(next), 'no event decides "declined" while a code may be open');
  }
  if (state.kind === 'expired') {
    demand(at >= codeEnd(next) && (isFinal || isOver), 'nothing expires while a code may be open');
  }
  if (state.kind === 'wrong_codes') demand(isRefusedThrice(next), 'every code that was entered was refused');
}

/** The answer to the look-up under way ends what it can: a card is not blocked for longer than its doubt. */
function checkDoubt(before: ChargeIntent, next: ChargeIntent): void {
  const last = next.history.at(-1)?.event;
  if (last?.kind !== 'looked_up' || before.state.kind !== 'confirming') return;
  const { kind } = last.finding;
  const staysOpen = next.state.kind === 'confirming';
  demand(!staysOpen || kind !== 'final_not_paid', 'a final status ends the doubt');
  if (isCalledPaid(next)) return;
  const isOver = next.at >= codeEnd(next) + otpGraceMs;
  demand(
    !staysOpen || kind !== 'pending' || !isOver,
    'a record without success ends the doubt after the codes',
  );
  const shows = kind === 'pending' || kind === 'not_found' || kind === 'final_not_paid';
  const isRight = !shows || !isRefusedThrice(next) || next.state.kind === 'wrong_codes';
  demand(isRight, 'three refused codes are no doubt and no decline');
}

function hasOwnDecline({ history }: ChargeIntent): boolean {
  return history.some(({ event }) => event.kind === 'charge_answered' && event.answer.kind === 'declined');
}

function isCalledPaid({ history }: ChargeIntent): boolean {
  return history.some(
    ({ event }) =>
      event.kind === 'payment_success' ||
      (event.kind === 'charge_answered' && event.answer.kind === 'approved') ||
      (event.kind === 'otp_answered' && event.answer.kind === 'accepted'),
  );
}

function isRefusedThrice({ history, otp }: ChargeIntent): boolean {
  const entered = history.filter(({ event }) => event.kind === 'otp_submitted').length;
  const refused = history.filter(
    ({ event }) => event.kind === 'otp_answered' && ['wrong', 'too_many'].includes(event.answer.kind),
  ).length;
  return otp !== undefined && otp.tries >= 3 && refused === entered;
}

function checkSend(before: ChargeIntent, { next, effect }: WrittenStep): void {
  const resends = effect?.kind === 'charge';
  demand(!resends || !isKnownToExist(before), 'nothing is sent again that the service is known to have');
  const last = next.history.at(-1)?.event;
  if (last?.kind !== 'looked_up' || !(resends || next.state.kind === 'abandoned')) return;
  const isNewer = last.askedAt > (before.sends.at(-1) ?? 0);
  demand(isNewer, 'a look-up older than the last send says nothing about it');
}

/** Read from the history alone, so that a machine that forgets to note it is found out. */
function isKnownToExist({ history }: ChargeIntent): boolean {
  return history.some(
    ({ event }) =>
      event.kind === 'payment_success' ||
      event.kind === 'payment_failed' ||
      (event.kind === 'looked_up' && !['not_found', 'failed'].includes(event.finding.kind)) ||
      (event.kind === 'charge_answered' && !['rejected', 'unknown'].includes(event.answer.kind)),
  );
}
