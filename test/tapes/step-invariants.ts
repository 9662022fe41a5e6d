import type { ChargeIntent, Effect } from '../../src/domain/charge-state.ts';
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
  if (before) checkSend(before, step);
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
