import { randomUUID } from 'node:crypto';
import type { Account } from '../../account.ts';
import type {
  Approval,
  ApprovalRequest,
  ApprovalTerms,
  CardEmailEnd,
  CardEmailTerms,
  ApprovedCharge,
  ApprovedEnd,
  ShownCharge,
} from '../../domain/approval.ts';
import { chargeLimits, type ChargeSeen, type Twin } from '../../domain/charge.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { type Applied, createCases } from '../../records/cases.ts';
import { untilStored } from '../../records/retry.ts';
import type { Entry } from '../../store/store.ts';
import { createMessages, type Messages } from '../../messages/messages.ts';
import {
  findMessageRecord,
  type MessageKey,
  messageKey,
  type MessageRecord,
} from '../../messages/message-record.ts';
import type { Renders } from '../../messages/deliver.ts';
import { createBackground } from '../../under-way.ts';
import type { ShownAccount } from '../../slack/words/account-foot.ts';
import {
  approvalPrefix,
  approvalRules,
  withTokenKey,
  withoutTokenKey,
  decide,
  approvalLists,
  termsHash,
  theRequester,
  whyNotExecute,
  type ApprovalCase,
  type ApprovalCases,
  type ApprovalEvent,
  type Approving,
  type Copies,
  type Judged,
} from './approval-case.ts';
import {
  type ApprovalNote,
  type ApprovalView,
  approvalMessage,
  approvalNoteMessage,
} from './approval-screens.ts';

export type ApprovalsNeeds = {
  /** Finds a stored charge. If there is one, the request was carried out, and no check applies any more. */
  findCharge: (reference: string) => Promise<ChargeSeen | undefined>;
  /** `atMs`: when the run last checked that it may charge; the charge's own time limits start then. */
  submitApproved: (charge: ApprovedCharge, atMs: number) => Promise<ApprovedEnd>;
  /** Other charges of the same card and amount since the charge's terms were read, without those in its `despite`. */
  twinsOf: (charge: ShownCharge) => Promise<readonly Twin[]>;
  /** Looks up whether the failed payment of this alert was paid after all: its event may be lost. False without an answer. */
  isAlertPaid: (alert: string) => Promise<boolean>;
  /** Calls the service, once. Never throws. */
  changeCardEmail: (terms: CardEmailTerms, by: string) => Promise<CardEmailEnd>;
};

type End = { kind: 'executed'; result: string } | { kind: 'stopped'; why: string };
/** The result of a run. `later`: a check can't be made now. */
type RunResult = End | { kind: 'later' };

/** More approvers than this see the request only in the channel. */
const mostApprovers = 50;
/** Used if the policy file has no approvals any more. */
const defaultExpireMinutes = 240;
/** Longer than any call takes: a run whose lease expires has died. */
const runMs = 60_000;
/**
 * A run calls the service for a charge only within this time after it renewed its lease. So a process that was
 * suspended can't charge after another run took over and stopped the request. The 30 s allow for clocks that differ.
 */
const chargeRunMs = chargeLimits.resendMs + chargeLimits.leaveMs + 30_000;

export type ApprovalRequests = ReturnType<typeof createApprovalRequests>;

/**
 * Requests for approval: stores them, takes decisions, and carries a request out once enough people approved it.
 * Methods throw StoreUnavailable; then nothing was decided.
 */
export function createApprovalRequests(account: Account, needs: ApprovalsNeeds) {
  const { settings, people, fingerprint, log, now } = account;
  const { approvals: policy } = settings.policy;
  const background = createBackground(log, 'an approved request');
  const messages: Messages<ApprovalBodies> = createMessages(account);
  const approvals: ApprovalCases = createCases({ ...account, audit: account.audit.write }, approvalRules, {
    due: async () => ({ event: { kind: 'due' } }),
    tell,
  });
  const hashOf = (terms: Parameters<typeof termsHash>[1]): string =>
    termsHash(settings.paymentsAccountId ?? '', terms);

  async function tell({ approval, copies }: ApprovalCase): Promise<void> {
    await keepCopies(messages, approval, copies);
    for (const what of notesOf(approval)) {
      const recipients = recipientsOf(approval, copies).filter((each) => getsNote(each, what, approval));
      await Promise.all(recipients.map((recipient) => postNote(messages, approval, what, recipient)));
    }
  }

  /** Undefined: no such request. The caller has checked the person's permission. */
  async function decideNow(id: string, event: ApprovalEvent): Promise<Judged | undefined> {
    const applied = await approvals.apply(id, event);
    if (!applied) return undefined;
    const { isMoved } = applied;
    const { approval } = applied.state;
    if (isMoved) background.add(approvals.settle(id, applied));
    // The first press after the deadline expires the request, and decides nothing.
    if (!isMoved || approval.state.kind === 'expired') return decide(approval, event, now());
    execute(approval);
    return { kind: 'decided', approval };
  }

  /** Carries out an approved request in the background, and posts the result. Does nothing in any other state. */
  function execute({ id, state }: Approval): void {
    if (state.kind !== 'approved') return;
    async function executeAndTell(): Promise<void> {
      const ended = await executeOnce(id);
      if (ended) await approvals.settle(id, ended);
    }
    background.add(executeAndTell());
  }

  /**
   * Carries out an approved request exactly once across replicas: one run at a time, by compare-and-swap. If a run
   * dies, the next one finds the charge by its approved reference. A change of an e-mail is marked before the call,
   * which no later run repeats. Returns the ended case; undefined if it did not end, or another run has it.
   */
  async function executeOnce(id: string): Promise<Applied<ApprovalCase> | undefined> {
    const runId = randomUUID();
    const claimed = await approvals.apply(id, {
      kind: 'claimed',
      run: { id: runId, untilMs: now() + runMs },
    });
    if (!claimed?.isMoved) return undefined;
    const { approval } = claimed.state;
    const end = await carryOut(claimed.state, runId).catch(async (error: unknown) => {
      await approvals.apply(id, { kind: 'put_off', runId }).catch(() => undefined);
      throw error;
    });
    if (end.kind === 'later') {
      await approvals.apply(id, { kind: 'put_off', runId });
      return undefined;
    }
    log('info', 'an approved request has ended', { key: id, userId: approval.by, result: end.kind });
    // The service gives this answer only once, so retry the write.
    const ended = await untilStored(account, () => approvals.apply(id, { kind: 'ended', runId, end }));
    return ended?.isMoved ? ended : undefined;
  }

  /** Checks the hash of the terms to send, the approvals, the time and the requester's permission, then acts. */
  async function carryOut(approved: ApprovalCase, runId: string): Promise<RunResult> {
    const { approval, tokenKey } = approved;
    const terms = withTokenKey(approval.shown, tokenKey);
    if (!terms) return stopped('Its terms are gone.');
    if (terms.kind === 'charge' && (await needs.findCharge(terms.reference))) return executed(begunWords);
    // An earlier run died during its call: the service may have acted.
    if (approved.asked) return executed(lostWords);
    // Take the fingerprint from the token key that will be sent, not from the stored one.
    const card = await fingerprint(terms.terms.tokenKey);
    const why = whyNotExecute(approval, hashOf({ ...terms, card }), now());
    if (why !== undefined) return stopped(why);
    const obstacle = await askOthers(people, needs, { terms, by: approval.by });
    if (obstacle) return obstacle;
    // The answers may have been slow: another run may have taken over and stopped the request.
    const renewedAt = now();
    const run = { id: runId, untilMs: renewedAt + (terms.kind === 'charge' ? chargeRunMs : runMs) };
    const callsOnce = terms.kind === 'card_email';
    const renewed = await approvals.apply(approval.id, { kind: 'claimed', run, callsOnce });
    if (!renewed?.isMoved) return { kind: 'later' };
    if (callsOnce) return emailEnd(await needs.changeCardEmail(terms.terms, approval.by));
    const { kind: _approved, ...charge } = terms;
    // Only the last approver has seen every twin since the request.
    const despite = [...(charge.despite ?? []), ...(approval.approvals.at(-1)?.despite ?? [])];
    const end = await needs.submitApproved(
      { ...charge, despite, by: approval.by, readAtMs: approval.askedAtMs },
      renewedAt,
    );
    return end.kind === 'begun' ? executed(begunWords) : end;
  }

  return {
    requests: {
      /** Stores the request and tells the approvers. A repeat with the same id returns the stored request. */
      async request({ id, terms, by, rule, needed }: ApprovalRequest): Promise<Approval> {
        const holders = await people.holdersOf('approve');
        const approvers = holders.filter((userId) => userId !== by).slice(0, mostApprovers);
        const askedAtMs = now();
        const { shown, ...secret } = withoutTokenKey(terms);
        const approval: Approval = {
          id,
          shown,
          termsHash: hashOf(terms),
          rule,
          by,
          askedAtMs,
          expiresAtMs: askedAtMs + (policy?.expire_minutes ?? defaultExpireMinutes) * 60_000,
          needed,
          approvals: [],
          isWarned: false,
          state: { kind: 'waiting' },
        };
        const copies = { ...(policy && { channel: policy.channel }), approvers };
        const begun = await approvals.begin(id, { approval, ...secret, misses: 0, copies }, { untold: true });
        if (begun.kind === 'known') return begun.state.approval;
        // A message that can't be stored now doesn't undo the request; a worker stores it.
        await approvals.settle(id, begun.stored).catch((error: unknown) => {
          if (!(error instanceof StoreUnavailable)) throw error;
          log('warn', 'the messages of an approval request are not stored yet', { key: id }, error);
        });
        return approval;
      },
      find: async (id: string) => (await approvals.find(id))?.approval,
      /** Other charges of the same card and amount since the request that the requester didn't see, newest first. */
      async twinsOf({ shown, by, askedAtMs }: Approval): Promise<readonly Twin[]> {
        if (shown.kind !== 'charge') return [];
        const { kind: _charge, ...charge } = shown;
        return await needs.twinsOf({ ...charge, by, readAtMs: askedAtMs });
      },
      approve: ({ id, ...given }: { id: string } & Approving) => decideNow(id, { kind: 'approve', ...given }),
      refuse: ({ id, ...given }: { id: string; by: string; reason: string }) =>
        decideNow(id, { kind: 'refuse', ...given }),
      withdraw: ({ id, by }: { id: string; by: string }) => decideNow(id, { kind: 'withdraw', by }),
      /** All requests that wait for a decision, oldest first. */
      async waiting(): Promise<Approval[]> {
        const open = await approvals.all(approvalLists.open);
        return open
          .map(({ approval }) => approval)
          .filter(({ state, expiresAtMs }) => state.kind === 'waiting' && now() < expiresAtMs);
      },
      copyFor: async (id: string, userId: string) => await copyFor(account, await approvals.find(id), userId),
      /** This person's own requests, newest first. */
      async askedBy(userId: string, max: number): Promise<Approval[]> {
        const asked = await approvals.list(approvalLists.of(userId), { max, newestFirst: true });
        return asked.map(({ approval }) => approval);
      },
    },
    /** Updates the request's messages with its charge's outcome. Resolves once stored. */
    refresh: async (id: string): Promise<void> => {
      const state = await approvals.find(id);
      if (state) await keepCopies(messages, state.approval, state.copies);
    },
    cases: [
      {
        prefix: approvalPrefix,
        work: async (entry: Entry) => execute((await approvals.work(entry)).approval),
      },
    ],
    /** Resolves when this process has no background work left. */
    drained: background.drained,
  };
}

/** Asks Slack for the requester's roles, and the service about the alert's payment. Undefined: both allow it. */
async function askOthers(
  people: Pick<Account['people'], 'rolesOf'>,
  needs: Pick<ApprovalsNeeds, 'isAlertPaid'>,
  { terms, by }: { terms: ApprovalTerms; by: string },
): Promise<RunResult | undefined> {
  const permission = terms.kind === 'charge' ? 'charge' : 'card-email';
  const held = await people.rolesOf(permission, by);
  if (held.kind === 'unknown') return { kind: 'later' };
  if (held.roles.length === 0) return stopped(`${theRequester} may not ${mayWords[permission]} any more.`);
  const alert = terms.kind === 'charge' ? terms.terms.alert : undefined;
  return alert !== undefined && (await needs.isAlertPaid(alert)) ? stopped(paidWords) : undefined;
}

const mayWords = { charge: 'charge', 'card-email': 'change e-mails' } as const;
const begunWords = 'The charge was begun.';
const paidWords = 'A look-up says that the failed payment has been paid.';
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

/** Gets a copy of the request: the channel, an approver, or the requester, who can't decide. */
type Recipient = { channel: string; to: 'channel' | 'approver' | 'requester' };

/** A request's copy for one recipient, and a note about the request. */
type ApprovalBodies = {
  approval: { id: string; to: Recipient['to'] };
  approval_note: { id: string; to: Recipient['to']; what: ApprovalNote };
};

export function approvalRenders(
  findApproval: (id: string) => Promise<Omit<ApprovalView, 'to'> | undefined>,
  account: ShownAccount,
): Renders<ApprovalBodies> {
  async function viewOf(id: string, to: Recipient['to']): Promise<ApprovalView> {
    const found = await findApproval(id);
    if (!found) throw new Error('The approval request of a message is not in the store.');
    return { ...found, to };
  }
  return {
    async approval({ id, to }, _work, about) {
      return { kind: 'shown', message: approvalMessage(await viewOf(id, to), account, about) };
    },
    /**
     * In the channel the note is posted in the request's thread; to a person as a message of its own. A note that is no
     * longer true is not posted.
     */
    async approval_note({ id, to, what }, { record: { posted, channel } }, about) {
      const view = await viewOf(id, to);
      if (!posted && !isStillTrue(what, view.approval)) return { kind: 'nothing' };
      const message = approvalNoteMessage(what, view, account, about);
      return { kind: 'shown', message, ...(to === 'channel' && { below: { key: copyKey(id, channel) } }) };
    },
  };
}

/** An approval's note is still true after the execution. */
function isStillTrue(what: ApprovalNote, { state: { kind } }: Approval): boolean {
  if (what === 'approved_one' || what === 'expires_soon') return kind === 'waiting';
  return kind === what || (what === 'approved' && kind === 'executed');
}

/** One copy per channel or person. */
function copyKey(id: string, channel: string): MessageKey<'approval'> {
  return messageKey('approval', `${channel}:${id}`);
}

/** The message in which this person reads the outcome: their own copy, else the channel's. */
async function copyFor(
  { store }: Pick<Account, 'store'>,
  request: ApprovalCase | undefined,
  userId: string,
): Promise<MessageRecord['posted']> {
  if (!request) return undefined;
  const { approval, copies } = request;
  const [own, channels] = await Promise.all(
    [userId, copies.channel ?? ''].map((channel) => findMessageRecord(store, copyKey(approval.id, channel))),
  );
  return own?.posted ?? channels?.posted;
}

/** The notes due in this state; each is stored once by its key. */
function notesOf({ state: { kind }, approvals, isWarned }: Approval): ApprovalNote[] {
  if (kind !== 'waiting') return [kind];
  return [
    ...(approvals.length === 0 ? [] : ['approved_one' as const]),
    ...(isWarned ? ['expires_soon' as const] : []),
  ];
}

function recipientsOf({ by }: Approval, { channel, approvers }: Copies): Recipient[] {
  return [
    ...(channel === undefined ? [] : [{ channel, to: 'channel' as const }]),
    ...approvers.map((userId) => ({ channel: userId, to: 'approver' as const })),
    { channel: by, to: 'requester' },
  ];
}

/** The channel's thread gets every note, an approver only the warning, and the requester notes of what others did. */
function getsNote({ to, channel }: Recipient, what: ApprovalNote, { shown, approvals }: Approval): boolean {
  switch (to) {
    case 'channel':
      return true;
    case 'approver':
      return what === 'expires_soon' && !approvals.some(({ by }) => by === channel);
    case 'requester':
      if (what === 'executed') return shown.kind !== 'charge';
      return what !== 'approved_one' && what !== 'withdrawn';
  }
}

/** Resolves once stored. Idempotent. */
async function keepCopies(
  messages: Messages<ApprovalBodies>,
  approval: Approval,
  copies: Copies,
): Promise<void> {
  const { id } = approval;
  await Promise.all(
    recipientsOf(approval, copies).map(({ channel, to }) =>
      messages.postOrRefresh(copyKey(id, channel), { channel, body: { id, to } }),
    ),
  );
}

async function postNote(
  messages: Messages<ApprovalBodies>,
  { id, approvals }: Approval,
  what: ApprovalNote,
  { channel, to }: Recipient,
): Promise<void> {
  // If three approvals are needed, the first and the second get a note each.
  const step = what === 'approved_one' ? `${what}-${approvals.length}` : what;
  const key = messageKey('approval_note', `${step}:${channel}:${id}`);
  await messages.post(key, { channel, body: { id, to, what }, isNote: true });
}
