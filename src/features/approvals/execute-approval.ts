import { randomUUID } from 'node:crypto';
import type { ApprovalTerms, CardEmailEnd, CardEmailTerms } from '../../domain/approval.ts';
import { chargeLimits, type ApprovedCharge, type ApprovedEnd } from '../../domain/charge.ts';
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
  submitApproved: (charge: ApprovedCharge, atMs: number) => Promise<ApprovedEnd>;
  /** Asks the service, once. Never throws. */
  changeCardEmail: (terms: CardEmailTerms, by: string) => Promise<CardEmailEnd>;
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
 * change of an e-mail is marked before it is asked for, and is never asked for twice.
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
  const card = await deps.fingerprint(terms.terms.tokenKey);
  const why = whyNotExecute(approval, deps.termsHash({ ...terms, card }), deps.now());
  if (why !== undefined) return stopped(why);
  const permission = terms.kind === 'charge' ? 'charge' : 'card-email';
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
  if (asks) return emailEnd(await deps.changeCardEmail(terms.terms, approval.by));
  const { kind: _approved, ...charge } = terms;
  const end = await deps.submitApproved({ ...charge, by: approval.by }, renewedAt);
  return end.kind === 'begun' ? executed(begunWords) : end;
}

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
