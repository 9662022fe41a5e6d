import { replay, type ChargeIntent } from '../../src/features/charge/machine.ts';
import type { Told } from '../../src/domain/charge.ts';
import type { ServiceRecord } from './model-service.ts';
import { demand } from './violation.ts';

/** What the world looks like when nothing more will happen. */
export type End = {
  intent: ChargeIntent;
  /** The service's record of the intent's reference, and how many records it has in all. */
  record: ServiceRecord | undefined;
  records: number;
  said: readonly Told[];
  values: number;
  /** Whether a look-up has shown money that was not the right money. */
  sawDifference: boolean;
  otpRequired: boolean;
};

export function checkEnd(end: End): void {
  demand('concludedAt' in end.intent.state && end.intent.dueAt === undefined, 'every intent ends');
  demand(end.records <= 1, 'at most one charge accepted per intent');
  demand(!end.otpRequired || end.intent.otp || isApproved(end), 'no answer is forgotten');
  checkMoney(end);
  checkSaid(end);
  checkReplay(end.intent);
}

function checkMoney(end: End): void {
  const { intent, record } = end;
  const isPaid = record?.status === 'SUCCESS';
  const isRight =
    record?.taken.minor === intent.money.minor && record.taken.currency === intent.money.currency;
  const inReview = intent.state.kind === 'review';
  demand(isApproved(end) === (end.values === 1), 'value is given when, and only when, approved');
  demand(!isApproved(end) || (isPaid && isRight), 'approved only when the right amount was taken');
  demand(!isPaid || isApproved(end) || inReview, 'money taken ends approved or in review');
  demand(!isPaid || isRight || !end.sawDifference || inReview, 'a difference ends in review');
}

/** A case can go to review, be looked at again and come back: that is told once. */
function checkSaid({ intent, said }: End): void {
  const { kind } = intent.state;
  demand(said.at(-1) === kind || (kind === 'review' && said.includes(kind)), 'the agent is told the end');
  const areSaid = intent.told.every((what) => said.includes(what));
  demand(areSaid, 'only what was said is on record as told');
}

function isApproved({ intent }: End): boolean {
  return intent.state.kind === 'approved';
}

/** Look-ups that found the same are kept as one, so only the histories themselves may differ. */
function checkReplay(intent: ChargeIntent): void {
  const stored = JSON.parse(JSON.stringify(intent)) as ChargeIntent;
  const replayed = replay(stored.history);
  demand(replayed && canonical(replayed) === canonical(stored), 'replay gives the stored state');
}

function canonical(intent: ChargeIntent): string {
  return JSON.stringify({ ...intent, history: [] }, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
