import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { NoteAudit } from '../../domain/audit-entry.ts';
import {
  cardEmailEnds,
  type CardEmailEnd,
  type CardEmailTerms,
  type ShownCardEmail,
  type Approval,
  type ApprovalGate,
} from '../../domain/approval.ts';
import type { EmailChange, EmailChangeAnswer, RejectionReason } from '../../domain/charge-answer.ts';
import { maskEmail } from '../../domain/outside-text.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { Log } from '../../log.ts';
import { createRecords, type RecordsDeps } from '../../records/records.ts';
import { approvalId } from '../../records/reference-of.ts';
import { draftKeepMs, type KnownCardEmails } from '../../domain/saved-card.ts';
import { catchUp } from '../../records/insist.ts';
import type { Fingerprint } from '../../records/fingerprint.ts';
import { cardFaceShape } from '../../records/shapes.ts';

export type CardEmails = ReturnType<typeof createCardEmails>;

type CardEmailBeginning =
  /** `carryOn` asks the service, once, and resolves with what became of it. It never throws. */
  | { kind: 'begun'; terms: ShownCardEmail; carryOn: () => Promise<CardEmailEnd> }
  /** Agreed to before, and nothing more happens. Without an end whoever was first hears what became of it. */
  | { kind: 'known'; terms: ShownCardEmail; end: CardEmailEnd | undefined }
  /** A second person decides: nothing was sent. Agreed to again it is the same request. */
  | { kind: 'awaiting_approval'; approval: Approval }
  /** The review is gone or different by now: nothing was sent. */
  | { kind: 'stale' };

/**
 * A change from its review to its end. The word stands for exactly these terms and is no secret; `card` is the card's
 * fingerprint. Without `askedAtMs` nothing was sent: it is written before the request leaves.
 */
const cardEmailCase = z.object({
  word: z.string(),
  card: z.string(),
  terms: z.object({
    tokenKey: z.string(),
    card: cardFaceShape,
    currentEmail: z.string(),
    newEmail: z.string(),
  }),
  askedAtMs: z.number().exactOptional(),
  end: z
    .object({
      kind: z.enum(cardEmailEnds),
      message: z.string().exactOptional(),
    })
    .exactOptional(),
});

type CardEmailCase = z.infer<typeof cardEmailCase>;

type CardEmailEvent =
  | { kind: 'reviewed'; word: string; card: string; terms: CardEmailTerms }
  | { kind: 'agreed'; word: string }
  | { kind: 'ended'; word: string; end: CardEmailEnd };

/** Longer than any call takes: who asked and has said nothing for so long has died. */
const answeredWithinMs = 60_000;

/**
 * What one dialogue makes of a change; undefined: what was agreed to is gone or other by now. Whoever's *agreed* sets
 * `askedAtMs` asks the service, and nobody else does: agreed to again it is the same change. There is no look-up by
 * which a lost answer could be settled, so that is a person's to ask about again: they alone know whether the current
 * e-mail was the linked one to begin with.
 *
 * Spec: change the email of a saved card.
 */
function stepCardEmail(
  state: CardEmailCase | undefined,
  event: CardEmailEvent,
  nowMs: number,
): CardEmailCase | undefined {
  if (event.kind === 'reviewed') {
    const { kind: _reviewed, ...fresh } = event;
    // A form that is submitted twice makes nothing stale. What was agreed to gets another word: its repeat is not this.
    const isRepeat =
      state?.askedAtMs === undefined && JSON.stringify(state?.terms) === JSON.stringify(fresh.terms);
    return isRepeat ? state : fresh;
  }
  if (state?.word !== event.word) return undefined;
  if (event.kind === 'ended') return { ...state, end: event.end };
  if (state.askedAtMs === undefined) return { ...state, askedAtMs: nowMs };
  const isLost = state.end === undefined && nowMs - state.askedAtMs > answeredWithinMs;
  return isLost ? { ...state, end: { kind: 'unknown' } } : state;
}

/**
 * What an answer says became of it. The service has words of its own for two ends that it also tells by the answer's form.
 *
 * Spec: change the email of a saved card; Errors (saved-card charge rejections).
 */
export function endOfChange(answer: EmailChangeAnswer): CardEmailEnd {
  const message = withoutUndefined({ message: 'message' in answer ? answer.message : undefined });
  switch (answer.kind) {
    case 'rejected':
      return { kind: endsOfRejections[answer.reason] ?? 'refused', ...message };
    case 'not_made':
      return { kind: answer.failure, ...message };
    default:
      return { kind: answer.kind, ...message };
  }
}

const endsOfRejections: Partial<Record<RejectionReason, CardEmailEnd['kind']>> = {
  email_mismatch: 'not_linked',
  invalid_token: 'no_such_card',
  email_invalid: 'email_invalid',
};

/**
 * Changes of saved cards' e-mails, each reviewed before it is made. All of it throws StoreUnavailable when the
 * store is away, and then nothing was sent.
 */
export function createCardEmails(
  deps: RecordsDeps & {
    changeCardEmail: (change: EmailChange) => Promise<EmailChangeAnswer>;
    /** Undefined: switched off. */
    ledger: KnownCardEmails | undefined;
    fingerprint: Fingerprint;
    /** Absent: no change needs a second person. */
    approvals?: ApprovalGate | undefined;
    log: Log;
    now: () => number;
    /** Writes into the audit, in the background; absent: nothing is written down. */
    note?: NoteAudit;
  },
) {
  const { fingerprint, ledger, log } = deps;
  const records = createRecords<CardEmailCase>(deps, {
    prefix: 'card-email:',
    schema: cardEmailCase,
  });

  /** The change after the event; `isFirst`: nothing was asked of the service before it. */
  function move(viewId: string, made: () => CardEmailEvent) {
    return records.change(viewId, (before) => {
      const event = made();
      const next = stepCardEmail(before, event, deps.now());
      const result = next && { ...next, isFirst: before?.askedAtMs === undefined };
      if (!next || (next === before && event.kind !== 'reviewed')) return { kind: 'keep', result };
      return { kind: 'write', value: next, rest: { ttlMs: draftKeepMs }, result };
    });
  }

  async function readDraft(viewId: string, draft: string): Promise<CardEmailCase | undefined> {
    const kept = await records.read(viewId);
    return kept?.word === draft ? kept : undefined;
  }

  /** Undefined: nobody else is needed. The review is not used up by this: the request is what is approved once. */
  async function askForApproval(
    viewId: string,
    draft: string,
    by: string,
  ): Promise<CardEmailBeginning | undefined> {
    const { approvals } = deps;
    const need = approvals?.needFor({ kind: 'card_email' });
    if (!approvals || !need) return undefined;
    const id = approvalId(`card-email:${viewId}:${draft}`);
    const asked = await approvals.desk.find(id);
    if (asked) return { kind: 'awaiting_approval', approval: asked };
    const read = await readDraft(viewId, draft);
    if (!read) return { kind: 'stale' };
    const terms = { kind: 'card_email', terms: read.terms, card: read.card } as const;
    return {
      kind: 'awaiting_approval',
      approval: await approvals.desk.request({ id, terms, by, ...need }),
    };
  }

  /**
   * Asks the service, once; never throws. For what was approved the approval's record says that it is asked for. Charges
   * that were reviewed with the old address are not stopped here: the service refuses them before the bank sees them.
   */
  async function change(terms: CardEmailTerms, by: string): Promise<CardEmailEnd> {
    const { tokenKey, currentEmail, newEmail, card } = terms;
    const answer = await deps.changeCardEmail({ tokenKey, currentEmail, newEmail });
    const end = endOfChange(answer);
    log('info', 'Asked for a change of a card’s e-mail', {
      verb: 'card-email',
      userId: by,
      result: end.kind,
      ...(answer.kind === 'unknown' ? { failure: answer.cause.kind } : {}),
    });
    // The addresses masked, and the card by nothing but its face: whoever reads the audit need not be told more.
    deps.note?.({
      what: 'step',
      who: by,
      verb: 'card-email',
      result: `card_email_${end.kind}`,
      before: maskEmail(currentEmail),
      after: maskEmail(newEmail),
      ...(card.lastFour === undefined ? {} : { reference: `card ending ${card.lastFour}` }),
    });
    if (!ledger || (end.kind !== 'changed' && end.kind !== 'not_linked')) return end;
    await catchUp(deps, 'A remembered card still has an address it is not linked to', async () => {
      const id = await ledger.idOf(tokenKey);
      // What the service denies must not be the form's default any longer, or no charge of the card would succeed.
      await (end.kind === 'changed'
        ? ledger.changeEmail(id, newEmail)
        : ledger.forgetEmail(id, currentEmail));
    });
    return end;
  }

  return {
    /** Keeps the reviewed change, sealed, for half an hour; the word it gives stands for exactly this and is no secret. */
    async keepDraft(viewId: string, terms: CardEmailTerms): Promise<string> {
      const card = await fingerprint(terms.tokenKey);
      // Another word at each try: one that was on its way for long may have been given and agreed to.
      const kept = await move(viewId, () => {
        return { kind: 'reviewed', word: randomBytes(16).toString('hex'), card, terms };
      });
      return kept?.word ?? '';
    },
    readDraft,
    /** Begins the reviewed change, at most once however often it is submitted. */
    async begin(request: { viewId: string; draft: string; by: string }): Promise<CardEmailBeginning> {
      const { viewId, draft: word, by } = request;
      const asked = await askForApproval(viewId, word, by);
      if (asked) return asked;
      const agreed = await move(viewId, () => ({ kind: 'agreed', word }));
      if (!agreed) return { kind: 'stale' };
      const { terms, end, isFirst } = agreed;
      if (!isFirst) return { kind: 'known', terms: shownTerms(terms), end };
      return {
        kind: 'begun',
        terms: shownTerms(terms),
        async carryOn() {
          const end = await change(terms, by);
          // What became of it stands whatever becomes of the record: kept as asked for, it is not asked for again.
          await catchUp(deps, 'What became of a card’s e-mail could not be noted', () =>
            move(viewId, () => ({ kind: 'ended', word, end })),
          );
          return end;
        },
      };
    },
    change,
  };
}

/** Without the token key: what goes to Slack is made of this alone. */
export function shownTerms({ tokenKey: _secret, ...terms }: CardEmailTerms): ShownCardEmail {
  return terms;
}
