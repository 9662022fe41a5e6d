import { randomUUID } from 'node:crypto';
import type { Account } from '../../account.ts';
import type {
  Approval,
  ApprovalRequest,
  CardEmailEnd,
  CardEmailTerms,
  ApprovedCharge,
  ApprovedEnd,
  ShownCharge,
} from '../../domain/approval.ts';
import { chargeLimits, type ChargeSeen, type Twin } from '../../domain/charge.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { type Applied, createCases } from '../../records/cases.ts';
import { insist } from '../../records/insist.ts';
import type { Entry } from '../../store/store.ts';
import { createMessages, type Messages } from '../../messages/messages.ts';
import {
  findMessageRecord,
  type MessageKey,
  messageKey,
  type MessageRecord,
} from '../../messages/message-record.ts';
import type { Views, Words } from '../../messages/views.ts';
import { createBackground } from '../../under-way.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import {
  approvalPrefix,
  approvalRules,
  asAsked,
  asShown,
  decide,
  lists,
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
  type ApprovalPost,
  type ApprovalSeen,
  approvalMessage,
  approvalNoteMessage,
} from './approval-screens.ts';

/** The functions of other features that carry out an approved request. */
export type CarryOut = {
  /** Finds a stored charge: then the request was carried out; no check applies any more. */
  findCharge: (reference: string) => Promise<ChargeSeen | undefined>;
  /** `atMs`: the start of the charge's own time limits. */
  submitApproved: (charge: ApprovedCharge, atMs: number) => Promise<ApprovedEnd>;
  /** Other charges of the same card and amount since the charge's terms were read, without those in its `despite`. */
  twinsOf: (charge: ShownCharge) => Promise<readonly Twin[]>;
  /** Calls the service, once. Never throws. */
  changeCardEmail: (terms: CardEmailTerms, by: string) => Promise<CardEmailEnd>;
};

type End = { kind: 'executed'; result: string } | { kind: 'stopped'; why: string };
/** `later`: a check can't be made now. */
type Done = End | { kind: 'later' };

/** A company with more approvers uses the channel. */
const mostApprovers = 50;
/** For requests that still wait after the approvals were removed from the policy file. */
const usualExpireMinutes = 240;
/** Longer than any call takes: a run whose lease expires has died. */
const runMs = 60_000;
/**
 * A charge's time limits start at the renewal of the lease, and all its requests leave within them: a process that was
 * suspended can't charge after another run took over and stopped it. The 30 s allow for clocks that differ.
 */
const chargeRunMs = chargeLimits.resendMs + chargeLimits.leaveMs + 30_000;

export type Approvals = ReturnType<typeof createApprovals>;

/**
 * Requests for a second person, their atomic decision, and carrying them out once enough people approved. All of it
 * throws StoreUnavailable; then nothing was decided.
 */
export function createApprovals(account: Account, actions: CarryOut) {
  const { settings, people, fingerprint, log, now } = account;
  const { approvals: policy } = settings.policy;
  const background = createBackground(log, 'what was approved');
  const messages: Messages<ApprovalBodies> = createMessages(account);
  const cases = { ...account, audit: account.audit.write };
  const approvals: ApprovalCases = createCases(cases, approvalRules, {
    due: async () => ({ event: { kind: 'due' } }),
    tell,
  });
  const hashOf = (terms: Parameters<typeof termsHash>[1]): string =>
    termsHash(settings.paymentsAccountId ?? '', terms);

  async function tell({ approval, copies }: ApprovalCase): Promise<void> {
    await keepCopies(messages, approval, copies);
    for (const what of notesOf(approval)) {
      const places = placesOf(approval, copies).filter((place) => hears(place, what, approval));
      await Promise.all(places.map((place) => postNote(messages, approval, what, place)));
    }
  }

  /** Undefined: no such request. The caller has just checked the person's permission. */
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

  /** Carries out an approved request in the background, since the bank may be slow, and posts the result. */
  function execute({ id, state }: Approval): void {
    if (state.kind !== 'approved') return;
    async function executed(): Promise<void> {
      const ended = await executeOnce(id);
      if (ended) await approvals.settle(id, ended);
    }
    background.add(executed());
  }

  /**
   * Carries out an approved request exactly once across replicas: one run at a time, by compare-and-swap. A charge has
   * the approved reference, so the next run finds it; a change of an e-mail is marked before the call, and never called
   * again. Returns the ended record; undefined if it did not end, or another run has it.
   */
  async function executeOnce(id: string): Promise<Applied<ApprovalCase> | undefined> {
    const runId = randomUUID();
    const claimed = await approvals.apply(id, {
      kind: 'claimed',
      run: { id: runId, untilMs: now() + runMs },
    });
    if (!claimed?.isMoved) return undefined;
    const { approval, asked } = claimed.state;
    const done = await carryOut(claimed.state, runId).catch(async (error: unknown) => {
      // Retry at once only if the service was not called: it may have acted.
      if (!asked) await approvals.apply(id, { kind: 'put_off', runId }).catch(() => undefined);
      throw error;
    });
    if (done.kind === 'later') {
      await approvals.apply(id, { kind: 'put_off', runId });
      return undefined;
    }
    log('info', 'what was approved is ended', { key: id, userId: approval.by, result: done.kind });
    // The service's answer can't be had a second time, so retry the write.
    const ended = await insist(account, () => approvals.apply(id, { kind: 'ended', runId, end: done }));
    return ended?.isMoved ? ended : undefined;
  }

  /**
   * Checks again right before: the hash of the terms to send, the approvals, the time, and the requester's permission.
   */
  async function carryOut(record: ApprovalCase, runId: string): Promise<Done> {
    const { approval, tokenKey } = record;
    const terms = asAsked(approval.shown, tokenKey);
    if (!terms) return stopped('Its terms are gone.');
    if (terms.kind === 'charge' && (await actions.findCharge(terms.reference))) return executed(begunWords);
    // A run that died called the service, which may have acted.
    if (record.asked) return executed(lostWords);
    // Take the fingerprint from the token key that will be sent, not from the stored one.
    const card = await fingerprint(terms.terms.tokenKey);
    const why = whyNotExecute(approval, hashOf({ ...terms, card }), now());
    if (why !== undefined) return stopped(why);
    const permission = terms.kind === 'charge' ? 'charge' : 'card-email';
    const standing = await people.standingOf(permission, approval.by);
    if (standing.kind === 'unknown') return { kind: 'later' };
    if (standing.roles.length === 0) {
      return stopped(`${theRequester} may not ${mayWords[permission]} any more.`);
    }
    // Slack's answer may have been slow: another run may have taken over and stopped the request.
    const renewedAt = now();
    const run = { id: runId, untilMs: renewedAt + (terms.kind === 'charge' ? chargeRunMs : runMs) };
    const asks = terms.kind === 'card_email';
    const renewed = await approvals.apply(approval.id, { kind: 'claimed', run, asks });
    if (!renewed?.isMoved) return { kind: 'later' };
    if (asks) return emailEnd(await actions.changeCardEmail(terms.terms, approval.by));
    const { kind: _approved, ...charge } = terms;
    // Only the last approver has seen every twin since the request.
    const despite = [...(charge.despite ?? []), ...(approval.approvals.at(-1)?.despite ?? [])];
    const end = await actions.submitApproved(
      { ...charge, despite, by: approval.by, readAtMs: approval.askedAtMs },
      renewedAt,
    );
    return end.kind === 'begun' ? executed(begunWords) : end;
  }

  return {
    desk: {
      /** Stores the request and tells the approvers. The same id again returns the stored request. */
      async request({ id, terms, by, rule, needed }: ApprovalRequest): Promise<Approval> {
        const holders = await people.holdersOf('approve');
        const approvers = holders.filter((userId) => userId !== by).slice(0, mostApprovers);
        const askedAtMs = now();
        const { shown, ...secret } = asShown(terms);
        const approval: Approval = {
          id,
          shown,
          termsHash: hashOf(terms),
          rule,
          by,
          askedAtMs,
          expiresAtMs: askedAtMs + (policy?.expire_minutes ?? usualExpireMinutes) * 60_000,
          needed,
          approvals: [],
          isWarned: false,
          state: { kind: 'waiting' },
        };
        const copies = { ...(policy && { channel: policy.channel }), approvers };
        const begun = await approvals.begin(id, { approval, ...secret, misses: 0, copies }, { untold: true });
        if (begun.kind === 'known') return begun.state.approval;
        // The requester's screen says how many people were asked. A message that can't be stored now does not undo the
        // request.
        await approvals.settle(id, begun.kept).catch((error: unknown) => {
          if (!(error instanceof StoreUnavailable)) throw error;
          log('warn', 'a request for approval is not told yet', { key: id }, error);
        });
        return approval;
      },
      find: async (id: string) => (await approvals.find(id))?.approval,
      /**
       * Other charges of the same card and amount since the request, newest first, without those that the requester saw.
       */
      async twinsOf({ shown, by, askedAtMs }: Approval): Promise<readonly Twin[]> {
        if (shown.kind !== 'charge') return [];
        const { kind: _charge, ...charge } = shown;
        return await actions.twinsOf({ ...charge, by, readAtMs: askedAtMs });
      },
      approve: ({ id, ...given }: { id: string } & Approving) => decideNow(id, { kind: 'approve', ...given }),
      refuse: ({ id, ...given }: { id: string; by: string; reason: string }) =>
        decideNow(id, { kind: 'refuse', ...given }),
      /** By the requester, while the request waits. */
      withdraw: ({ id, by }: { id: string; by: string }) => decideNow(id, { kind: 'withdraw', by }),
      /** Every open request, oldest first. */
      async waiting(): Promise<Approval[]> {
        const open = await approvals.all(lists.open);
        return open
          .map(({ approval }) => approval)
          .filter(({ state, expiresAtMs }) => state.kind === 'waiting' && now() < expiresAtMs);
      },
      copyFor: async (id: string, userId: string) => await copyFor(account, await approvals.find(id), userId),
      /** This person's own requests, newest first. */
      async askedBy(userId: string, max: number): Promise<Approval[]> {
        const asked = await approvals.list(lists.of(userId), { max, newestFirst: true });
        return asked.map(({ approval }) => approval);
      },
    },
    /** Updates a request's copies after a change beside the decision. The work is stored when it resolves. */
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
    /** Resolves when this process carries out nothing any more. */
    drained: background.drained,
  };
}

const mayWords = { charge: 'charge', 'card-email': 'change e-mails' } as const;
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

/** The recipient of a copy: the channel, an approver, or the requester, who can't decide. */
type Place = { channel: string; to: 'channel' | 'approver' | 'requester' };

/** A request's copy for one place, and a note about it. */
type ApprovalBodies = {
  approval: { id: string; to: Place['to'] };
  approval_note: { id: string; to: Place['to']; what: ApprovalNote };
};

export function approvalViews(
  findApproval: (id: string) => Promise<Omit<ApprovalSeen, 'to'> | undefined>,
): Views<ApprovalBodies, ApprovalPost> {
  async function postOf(id: string, to: Place['to'], note?: ApprovalNote): Promise<ApprovalPost> {
    const found = await findApproval(id);
    if (!found) throw new Error('There is something to say of a request that is not in the store.');
    return { kind: 'approval', ...found, to, ...(note ? { note } : {}) };
  }
  return {
    approval: async ({ id, to }) => ({ kind: 'shown', post: await postOf(id, to) }),
    /**
     * In the channel below the request, once that is posted; to a person as a message of its own. Skipped if it is no
     * longer true.
     */
    async approval_note({ id, to, what }, { record: { posted, channel } }) {
      const post = await postOf(id, to, what);
      if (!posted && !holds(what, post.approval)) return { kind: 'nothing' };
      return { kind: 'shown', post, ...(to === 'channel' ? { below: { key: copyKey(id, channel) } } : {}) };
    },
  };
}

export function approvalWords(place: ChargePlace): Words<ApprovalPost> {
  return {
    approval: (post) => ({
      message:
        post.note === undefined
          ? approvalMessage(post, place, post)
          : approvalNoteMessage(post.note, post, place, post),
    }),
  };
}

/** If a later step came first, only its note is posted. An approval's note is posted also after the execution. */
function holds(what: ApprovalNote, { state: { kind } }: Approval): boolean {
  if (what === 'approved_one' || what === 'expires_soon') return kind === 'waiting';
  return kind === what || (what === 'approved' && kind === 'executed');
}

/** One copy per channel or person. */
function copyKey(id: string, place: string): MessageKey<'approval'> {
  return messageKey('approval', `${place}:${id}`);
}

/** The message where this person reads the end: their own copy, else the channel's. */
async function copyFor(
  { store }: Pick<Account, 'store'>,
  record: ApprovalCase | undefined,
  userId: string,
): Promise<MessageRecord['posted']> {
  if (!record) return undefined;
  const { approval, copies } = record;
  const [own, everybodys] = await Promise.all(
    [userId, copies.channel ?? ''].map((place) => findMessageRecord(store, copyKey(approval.id, place))),
  );
  return own?.posted ?? everybodys?.posted;
}

/** The notes due in this state; each is stored once by its key. */
function notesOf({ state: { kind }, approvals, isWarned }: Approval): ApprovalNote[] {
  if (kind !== 'waiting') return [kind];
  return [
    ...(approvals.length === 0 ? [] : ['approved_one' as const]),
    ...(isWarned ? ['expires_soon' as const] : []),
  ];
}

function placesOf({ by }: Approval, { channel, approvers }: Copies): Place[] {
  return [
    ...(channel === undefined ? [] : [{ channel, to: 'channel' as const }]),
    ...approvers.map((userId) => ({ channel: userId, to: 'approver' as const })),
    { channel: by, to: 'requester' },
  ];
}

/**
 * The requester gets notes of what others did, never of their own action; the channel's thread gets every step; an
 * approver gets only the warning.
 */
function hears({ to, channel }: Place, what: ApprovalNote, { shown, approvals }: Approval): boolean {
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

/** Stored when it resolves; idempotent. */
async function keepCopies(
  messages: Messages<ApprovalBodies>,
  approval: Approval,
  copies: Copies,
): Promise<void> {
  const { id } = approval;
  await Promise.all(
    placesOf(approval, copies).map(({ channel, to }) =>
      messages.keep(copyKey(id, channel), { channel, body: { id, to } }),
    ),
  );
}

async function postNote(
  messages: Messages<ApprovalBodies>,
  { id, approvals }: Approval,
  what: ApprovalNote,
  { channel, to }: Place,
): Promise<void> {
  // With three approvals needed, the first and the second each get a note.
  const step = what === 'approved_one' ? `${what}-${approvals.length}` : what;
  const key = messageKey('approval_note', `${step}:${channel}:${id}`);
  await messages.post(key, { channel, body: { id, to, what }, isNote: true });
}
