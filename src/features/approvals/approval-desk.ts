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

/** What is approved is done by other features. */
export type Hands = {
  /** Of a charge that is stored: then it is made, whatever holds by now. */
  findCharge: (reference: string) => Promise<ChargeSeen | undefined>;
  /** `atMs`: since when the charge's own time limits run. */
  submitApproved: (charge: ApprovedCharge, atMs: number) => Promise<ApprovedEnd>;
  /** What the same card and amount did since the charge's terms were read, besides its `despite`. */
  twinsOf: (charge: ShownCharge) => Promise<readonly Twin[]>;
  /** Asks the service, once. Never throws. */
  changeCardEmail: (terms: CardEmailTerms, by: string) => Promise<CardEmailEnd>;
};

type End = { kind: 'executed'; result: string } | { kind: 'stopped'; why: string };
/** `later`: what it must be judged by cannot be asked now. */
type Done = End | { kind: 'later' };

/** A company with more approvers than this has the channel. */
const mostApprovers = 50;
/** What is decided when the policy file says nothing of it: a request of earlier may still wait. */
const usualExpireMinutes = 240;
/** Longer than any call takes: a run that is silent for so long has died. */
const runMs = 60_000;
/**
 * A charge is timed from the run's last renewal, and nothing of it leaves once these limits are over: a process
 * that stood still can charge nothing that another run has stopped. The rest is for clocks that differ.
 */
const chargeRunMs = chargeLimits.resendMs + chargeLimits.leaveMs + 30_000;

export type Approvals = ReturnType<typeof createApprovals>;

/**
 * Requests for a second person, their one atomic decision, and what is done once enough people have approved. All of it
 * throws StoreUnavailable when the store is away; then nothing was decided.
 */
export function createApprovals(account: Account, hands: Hands) {
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

  /** Undefined: there is no such request. Whether the person may decide at all was asked just before, and is the caller's. */
  async function decideNow(id: string, event: ApprovalEvent): Promise<Judged | undefined> {
    const applied = await approvals.apply(id, event);
    if (!applied) return undefined;
    const { isMoved } = applied;
    const { approval } = applied.state;
    if (isMoved) background.add(approvals.settle(id, applied));
    // The first press after the deadline ends the request, and decides nothing.
    if (!isMoved || approval.state.kind === 'expired') return decide(approval, event, now());
    execute(approval);
    return { kind: 'decided', approval };
  }

  /** Does what was approved, and tells what became of it. A bank may take its time, and nobody waits for this. */
  function execute({ id, state }: Approval): void {
    if (state.kind !== 'approved') return;
    async function executed(): Promise<void> {
      const ended = await executeOnce(id);
      if (ended) await approvals.settle(id, ended);
    }
    background.add(executed());
  }

  /**
   * Does what enough people have approved, exactly once, on whatever replica is there: one run at a time, by
   * compare-and-swap. A charge is made under the reference that was approved, so a run that takes over finds it; a
   * change of an e-mail is marked before it is asked for, and is never asked for twice. Gives the record once it is ended;
   * undefined when it is not, or another has it.
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
      // Repeated at once only if the service was asked nothing: it may have answered.
      if (!asked) await approvals.apply(id, { kind: 'put_off', runId }).catch(() => undefined);
      throw error;
    });
    if (done.kind === 'later') {
      await approvals.apply(id, { kind: 'put_off', runId });
      return undefined;
    }
    log('info', 'what was approved is ended', { key: id, userId: approval.by, result: done.kind });
    // An answer of the service cannot be had a second time.
    const ended = await insist(account, () => approvals.apply(id, { kind: 'ended', runId, end: done }));
    return ended?.isMoved ? ended : undefined;
  }

  /**
   * Judged again right before: the hash of the terms to execute, the approvals, the time, and whether the requester still has
   * the permission.
   */
  async function carryOut(record: ApprovalCase, runId: string): Promise<Done> {
    const { approval, tokenKey } = record;
    const terms = asAsked(approval.shown, tokenKey);
    if (!terms) return stopped('Its terms are gone.');
    if (terms.kind === 'charge' && (await hands.findCharge(terms.reference))) return executed(begunWords);
    // Asked by a run that died: the service may have done it.
    if (record.asked) return executed(lostWords);
    // The card that will be charged or changed is named by its token key, and not by what was noted beside it.
    const card = await fingerprint(terms.terms.tokenKey);
    const why = whyNotExecute(approval, hashOf({ ...terms, card }), now());
    if (why !== undefined) return stopped(why);
    const permission = terms.kind === 'charge' ? 'charge' : 'card-email';
    const standing = await people.standingOf(permission, approval.by);
    if (standing.kind === 'unknown') return { kind: 'later' };
    if (standing.roles.length === 0) {
      return stopped(`${theRequester} may not ${mayWords[permission]} any more.`);
    }
    // Slack may have taken its time: by then another run may have been told otherwise, and have called it stopped.
    const renewedAt = now();
    const run = { id: runId, untilMs: renewedAt + (terms.kind === 'charge' ? chargeRunMs : runMs) };
    const asks = terms.kind === 'card_email';
    const renewed = await approvals.apply(approval.id, { kind: 'claimed', run, asks });
    if (!renewed?.isMoved) return { kind: 'later' };
    if (asks) return emailEnd(await hands.changeCardEmail(terms.terms, approval.by));
    const { kind: _approved, ...charge } = terms;
    // The last approver was shown each twin since the request, even if earlier approvers weren't.
    const despite = [...(charge.despite ?? []), ...(approval.approvals.at(-1)?.despite ?? [])];
    const end = await hands.submitApproved(
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
        // The requester reads how many were asked. A message that fails now doesn't undo the request.
        await approvals.settle(id, begun.kept).catch((error: unknown) => {
          if (!(error instanceof StoreUnavailable)) throw error;
          log('warn', 'a request for approval is not told yet', { key: id }, error);
        });
        return approval;
      },
      find: async (id: string) => (await approvals.find(id))?.approval,
      /** What the same card and amount did since this was asked for, besides what the requester was shown; the newest first. */
      async twinsOf({ shown, by, askedAtMs }: Approval): Promise<readonly Twin[]> {
        if (shown.kind !== 'charge') return [];
        const { kind: _charge, ...charge } = shown;
        return await hands.twinsOf({ ...charge, by, readAtMs: askedAtMs });
      },
      approve: ({ id, ...given }: { id: string } & Approving) => decideNow(id, { kind: 'approve', ...given }),
      refuse: ({ id, ...given }: { id: string; by: string; reason: string }) =>
        decideNow(id, { kind: 'refuse', ...given }),
      /** By the requester, while the request waits. */
      withdraw: ({ id, by }: { id: string; by: string }) => decideNow(id, { kind: 'withdraw', by }),
      /** Every open one, oldest first. */
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
    /** What is shown of this request besides the decision has changed: its copies show it. On record when it resolves. */
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
    /** Resolves when nothing that was approved is being done in this process. */
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

/** Whose copy of a request it is: the channel's, an approver's, or the requester's, who can't decide. */
type Place = { channel: string; to: 'channel' | 'approver' | 'requester' };

/** A request in one of its places, and what is said beside it. */
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
    /** Below the request in the channel, once that stands; to a person by itself. Nothing is told that no longer holds. */
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

/** A step that was overtaken is told by the note of the later one. An approval is told whatever came of it. */
function holds(what: ApprovalNote, { state: { kind } }: Approval): boolean {
  if (what === 'approved_one' || what === 'expires_soon') return kind === 'waiting';
  return kind === what || (what === 'approved' && kind === 'executed');
}

/** One copy for each place, a channel or a person. */
function copyKey(id: string, place: string): MessageKey<'approval'> {
  return messageKey('approval', `${place}:${id}`);
}

/** Where this person reads how it ends: in the copy that is theirs, or everybody's, once that stands. */
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

/** What was said before is not said again. */
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
 * Tells the requester what they can't see by themselves, never what they just did; the channel's thread has every step. An
 * approver hears again only that time runs out.
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

/** On record when it resolves, and again is the same as once. */
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
  // Of three who must approve, two are told of as one each.
  const step = what === 'approved_one' ? `${what}-${approvals.length}` : what;
  const key = messageKey('approval_note', `${step}:${channel}:${id}`);
  await messages.post(key, { channel, body: { id, to, what }, isNote: true });
}
