import { randomUUID } from 'node:crypto';
import type { Approval, ApprovalTerms, CardEmailEnd, CardEmailTerms } from '../../domain/approval.ts';
import {
  type LimitKind,
  type LimitRefusal,
  chargeLimits,
  type ApprovedCharge,
  type SubmitResult,
} from '../../domain/charge.ts';
import { formatMoney } from '../../domain/money.ts';
import type { StandingOf } from '../../slack/people/role.ts';
import type { Log } from '../../log.ts';
import type { Applied } from '../../records/cases.ts';
import { asAsked, whyNotExecute, type ApprovalCase, type ApprovalCases } from './approval-case.ts';
import { insist } from '../../records/insist.ts';

export type ExecuteDeps = {
  approvals: Pick<ApprovalCases, 'apply'>;
  termsHash: (terms: ApprovalTerms) => string;
  /** Names a card by its token key. */
  fingerprint: (tokenKey: string) => Promise<string>;
  /** Asked of whoever requested it: what they may do by now. */
  standingOf: StandingOf;
  /** Whether the charge is stored: then it is made, whatever holds by now. */
  chargeExists: (reference: string) => Promise<boolean>;
  /** `atMs`: since when the charge's own time limits run. */
  submitApproved: (charge: ApprovedCharge, atMs: number) => Promise<SubmitResult>;
  /** Asks the service, once. Never throws. */
  changeCardEmail: (terms: CardEmailTerms, by: string) => Promise<CardEmailEnd>;
  deliverAgain: (channel: string) => Promise<number>;
  inBackground: (work: Promise<unknown>) => void;
  log: Log;
  now: () => number;
  wait: (ms: number) => Promise<unknown>;
};

/** Longer than any call takes: a run that is silent for so long has died. */
const runMs = 60_000;
/**
 * A charge is timed from the run's last renewal, and nothing of it leaves once these limits are over: a process
 * that stood still can charge nothing that another run has stopped. The rest is for clocks that differ.
 */
const chargeRunMs = chargeLimits.resendMs + chargeLimits.leaveMs + 30_000;

type End = { kind: 'executed'; result: string } | { kind: 'stopped'; why: string };
/** `later`: what it must be judged by cannot be asked now. */
type Done = End | { kind: 'later' };

/**
 * Does what enough people have approved, exactly once, on whatever replica is there: one run at a time, by
 * compare-and-swap. A charge is made under the reference that was approved, so a run that takes over finds it; a
 * change of an e-mail is marked before it is asked for, and is never asked for twice; delivering again is idempotent.
 * Judged anew right before it: the hash of the terms as they will be executed, the approvals, the time, and what
 * whoever asked may do by now. Gives the record once it is ended; undefined when it is not, or another has it.
 */
export async function executeApproval(
  deps: ExecuteDeps,
  id: string,
): Promise<Applied<ApprovalCase> | undefined> {
  const { approvals } = deps;
  const runId = randomUUID();
  const run = { id: runId, untilMs: deps.now() + runMs };
  const claimed = await approvals.apply(id, { kind: 'claimed', run });
  if (!claimed?.isMoved) return undefined;
  const { approval, asked } = claimed.state;
  const done = await carryOut(deps, claimed.state, runId).catch(async (error: unknown) => {
    // What was asked may have been answered: only what asked nothing is begun anew at once.
    if (!asked) await approvals.apply(id, { kind: 'put_off', runId }).catch(() => undefined);
    throw error;
  });
  if (done.kind === 'later') {
    await approvals.apply(id, { kind: 'put_off', runId });
    return undefined;
  }
  deps.log('info', 'what was approved is ended', { key: id, userId: approval.by, result: done.kind });
  // An answer of the service cannot be had a second time.
  const ended = await insist(deps, () => approvals.apply(id, { kind: 'ended', runId, end: done }));
  return ended?.isMoved ? ended : undefined;
}

async function carryOut(deps: ExecuteDeps, record: ApprovalCase, runId: string): Promise<Done> {
  const { approval, tokenKey } = record;
  const terms = asAsked(approval.shown, tokenKey);
  if (!terms) return stopped('Its terms are gone.');
  if (terms.kind === 'charge' && (await deps.chargeExists(terms.reference))) return executed(begunWords);
  // Asked by a run that died: the service may have done it.
  if (record.asked) return executed(lostWords);
  // The card that will be charged or changed is named by its token key, and not by what was noted beside it.
  const card = terms.kind === 'redrive' ? {} : { card: await deps.fingerprint(terms.terms.tokenKey) };
  const why = whyNotExecute(approval, deps.termsHash({ ...terms, ...card }), deps.now());
  if (why !== undefined) return stopped(why);
  const permission = permissions[terms.kind];
  const standing = await deps.standingOf(permission, approval.by);
  if (standing.kind === 'unknown') return { kind: 'later' };
  if (standing.roles.length === 0) {
    return stopped(`The requester no longer has the permission “${permission}”.`);
  }
  // Slack may have taken its time: by then another run may have been told otherwise, and have called it stopped.
  const renewedAt = deps.now();
  const untilMs = renewedAt + (terms.kind === 'charge' ? chargeRunMs : runMs);
  const run = { id: runId, untilMs };
  const asks = terms.kind === 'card_email';
  const renewed = await deps.approvals.apply(approval.id, { kind: 'claimed', run, asks });
  if (!renewed?.isMoved) return { kind: 'later' };
  switch (terms.kind) {
    case 'charge':
      return await beginCharge(deps, approval, terms, renewedAt);
    case 'card_email':
      return emailEnd(await deps.changeCardEmail(terms.terms, approval.by));
    case 'redrive': {
      const messages = await deps.deliverAgain(terms.channel);
      return executed(
        messages === 1 ? 'One message is on its way again.' : `${messages} messages are on their way again.`,
      );
    }
  }
}

const permissions: Record<ApprovalTerms['kind'], string> = {
  charge: 'charge',
  card_email: 'card-email',
  redrive: 'undelivered',
};

async function beginCharge(
  deps: ExecuteDeps,
  { by }: Approval,
  terms: Extract<ApprovalTerms, { kind: 'charge' }>,
  atMs: number,
): Promise<Done> {
  const { kind: _approved, ...charge } = terms;
  const result = await deps.submitApproved({ ...charge, by }, atMs);
  switch (result.kind) {
    case 'begun':
      deps.inBackground(result.carryOn());
      return executed(begunWords);
    case 'known':
      return executed(begunWords);
    case 'refused':
      return stopped(refusalWords[result.refusal.kind]);
    case 'over_limit':
      return overLimit(result.refusal);
    case 'twin':
      return stopped('The card was charged the same amount meanwhile.');
    case 'alert_taken':
      return stopped(
        result.taken.kind === 'ended'
          ? 'The alert it was begun from was resolved or closed meanwhile.'
          : `Another charge of the same alert was begun meanwhile: ${result.taken.charge.reference}.`,
      );
    case 'unsure':
      return { kind: 'later' };
    case 'stale':
    case 'awaiting_approval':
      throw new Error('A charge that was approved was asked for as if it were not.');
  }
}

type Over = Extract<LimitRefusal, { kind: 'over' }>;

/** Four eyes lift no limit: what the requester could not have charged alone is not charged for them. */
function overLimit(refusal: LimitRefusal): Done {
  switch (refusal.kind) {
    case 'unknown_standing':
      return { kind: 'later' };
    case 'no_role':
      return stopped('The requester may no longer charge.');
    case 'currency':
      return stopped(`The requester’s roles no longer allow ${refusal.currency}. ${whoCanWords(refusal)}`);
    case 'over':
      return stopped(`${overWords(refusal)} ${whoCanWords(refusal)}`);
  }
}

function overWords({ limit, money, limitMinor, leftMinor }: Over): string {
  const { currency } = money;
  const above = `Above the requester’s limit ${limitWords[limit]}`;
  const whole = formatMoney({ minor: limitMinor, currency });
  if (limit === 'per_charge') return `${above}: ${whole}.`;
  return `${above}: ${formatMoney({ minor: leftMinor, currency })} is left of ${whole}.`;
}

const limitWords: Record<LimitKind, string> = {
  per_charge: 'for one charge',
  per_agent_per_day: 'for the day',
  per_card_per_day: 'for this card’s day',
};

/** More names than these are no help to whoever looks for somebody to ask. */
const mostRoles = 5;

function whoCanWords({ whoCan }: Pick<Over, 'whoCan'>): string {
  return `Who can: ${whoCan.slice(0, mostRoles).join(', ') || 'nobody by any role of payops.yml'}.`;
}

const refusalWords = {
  resting: 'The card is on hold after a decline.',
  stopped: 'The card has no attempts left.',
  save_again: 'The card must be saved again before it can be charged.',
  under_way: 'Another charge of the card is still open.',
} as const;

const begunWords = 'The charge was begun.';
const lostWords =
  'The service’s answer was lost: the e-mail may have been changed. Look which address the card is linked to before asking again.';

function emailEnd(end: CardEmailEnd): End {
  switch (end.kind) {
    case 'changed':
      return executed('The e-mail was changed.');
    case 'unknown':
      return executed(lostWords);
    case 'not_linked':
      return stopped(
        'The service says that the current e-mail is not the one linked to the card: nothing was changed.',
      );
    case 'no_such_card':
      return stopped('The service knows no such card: nothing was changed.');
    default:
      return stopped('The service did not make the change: nothing was changed.');
  }
}

function executed(result: string): End {
  return { kind: 'executed', result };
}

function stopped(why: string): End {
  return { kind: 'stopped', why };
}
