import { type KnownCards, draftKeepMs } from '../../domain/card.ts';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Account } from '../../account.ts';
import {
  cardEmailEnds,
  type CardEmailEnd,
  type CardEmailTerms,
  type ShownCardEmail,
  type Approval,
  type ApprovalGate,
} from '../../domain/approval.ts';
import type { EmailChangeAnswer } from '../../payments/saved-cards.ts';
import type { RejectionReason } from '../../domain/failure.ts';
import { maskedApart } from '../../domain/outside-text.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { createRecords, isOwnName } from '../../records/records.ts';
import { approvalId } from '../../records/reference-of.ts';
import { catchUp } from '../../records/insist.ts';
import { cardFaceShape } from '../../records/shapes.ts';

/** The same, for changes of a card's e-mail. */
export type KnownCardEmails = Pick<KnownCards, 'idOf'> & {
  /** The service has linked the card to another address. */
  changeEmail(id: string, newEmail: string): Promise<void>;
  /** The service has said that the card is not linked to this address. */
  forgetEmail(id: string, wrongEmail: string): Promise<void>;
};

export type CardEmails = ReturnType<typeof createCardEmails>;

type CardEmailBeginning =
  /** `carryOn` asks the service, once, and resolves with what became of it. It never throws. */
  | { kind: 'begun'; terms: ShownCardEmail; carryOn: () => Promise<CardEmailEnd> }
  /** Confirmed before; nothing more happens. Without `end`, the first person hears the result. */
  | { kind: 'known'; terms: ShownCardEmail; end: CardEmailEnd | undefined }
  /** A second person decides: nothing was sent. Agreed to again it is the same request. */
  | { kind: 'awaiting_approval'; approval: Approval }
  /** The review is gone: nothing was sent. */
  | { kind: 'stale' };

/** A reviewed change. Without `askedAtMs` nothing was sent: it is written before the request leaves. */
const reviewedChange = z.object({
  /** The card's fingerprint. */
  card: z.string(),
  terms: z.object({
    tokenKey: z.string(),
    card: cardFaceShape,
    currentEmail: z.string(),
    newEmail: z.string(),
  }),
  askedAtMs: z.number().exactOptional(),
  end: z.object({ kind: z.enum(cardEmailEnds), message: z.string().exactOptional() }).exactOptional(),
});

type ReviewedChange = z.infer<typeof reviewedChange>;

/** Longer than any call takes: who asked and has said nothing for so long has died. */
const answeredWithinMs = 60_000;

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
 * Changes of saved cards' e-mails, each reviewed before it is made, and asked for once for each review. There is no look-up
 * by which a lost answer could be settled, so that is a person's to ask about again: they alone know whether the current
 * e-mail was the linked one to begin with. All of it throws StoreUnavailable when the store is away, and then nothing was
 * sent.
 *
 * Spec: change the email of a saved card.
 */
export function createCardEmails(
  account: Account,
  ledger: KnownCardEmails | undefined,
  approvals: ApprovalGate | undefined,
) {
  const { fingerprint, payments, audit, log, now } = account;
  const reviews = createRecords<ReviewedChange>(account, { prefix: 'card-email:', schema: reviewedChange });

  async function readDraft(word: string): Promise<ReviewedChange | undefined> {
    return isOwnName(word) ? await reviews.read(word) : undefined;
  }

  /** The change as it was, undefined when it is gone, and as `made` leaves it. */
  function change(word: string, made: (before: ReviewedChange) => ReviewedChange) {
    return reviews.change<ReviewedChange | undefined>(word, (before) => {
      const after = before && made(before);
      return !after || after === before
        ? { kind: 'keep', result: before }
        : { kind: 'write', value: after, rest: { ttlMs: draftKeepMs }, result: before };
    });
  }

  /**
   * Asks the service, once; never throws. For what was approved the approval's record says that it is asked for. Charges
   * that were reviewed with the old address are not stopped here: the service refuses them before the bank sees them.
   */
  async function askService(terms: CardEmailTerms, by: string): Promise<CardEmailEnd> {
    const { tokenKey, currentEmail, newEmail, card } = terms;
    const answer = await payments.changeCardEmail({ tokenKey, currentEmail, newEmail });
    const end = endOfChange(answer);
    log('info', 'Asked for a change of a card’s e-mail', {
      verb: 'card-email',
      userId: by,
      result: end.kind,
      ...(answer.kind === 'unknown' ? { failure: answer.cause.kind } : {}),
    });
    const [before, after] = maskedApart(currentEmail, newEmail);
    // Masked addresses and the card's face: enough for the audit.
    audit.note({
      what: 'step',
      who: by,
      verb: 'card-email',
      result: `card_email_${end.kind}`,
      before,
      after,
      ...(card.lastFour === undefined ? {} : { reference: `card ending ${card.lastFour}` }),
    });
    if (!ledger || (end.kind !== 'changed' && end.kind !== 'not_linked')) return end;
    await catchUp(account, 'A remembered card still has an address it is not linked to', async () => {
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
    async keepDraft(terms: CardEmailTerms): Promise<string> {
      const word = randomBytes(16).toString('hex');
      await reviews.create(word, { card: await fingerprint(terms.tokenKey), terms }, { ttlMs: draftKeepMs });
      return word;
    },
    readDraft,
    /** Begins the reviewed change, at most once however often it is submitted. */
    async begin(word: string, by: string): Promise<CardEmailBeginning> {
      const draft = await readDraft(word);
      if (!draft) return { kind: 'stale' };
      const need = approvals?.needFor({ kind: 'card_email' });
      if (approvals && need) {
        const terms = { kind: 'card_email', terms: draft.terms, card: draft.card } as const;
        const request = { id: approvalId(`card-email:${word}`), terms, by, ...need };
        return { kind: 'awaiting_approval', approval: await approvals.desk.request(request) };
      }
      const before = await change(word, (kept) =>
        kept.askedAtMs === undefined ? { ...kept, askedAtMs: now() } : kept,
      );
      if (!before) return { kind: 'stale' };
      const { askedAtMs, end } = before;
      const terms = shownTerms(before.terms);
      if (askedAtMs !== undefined) {
        const lost = now() - askedAtMs > answeredWithinMs ? ({ kind: 'unknown' } as const) : undefined;
        return { kind: 'known', terms, end: end ?? lost };
      }
      return {
        kind: 'begun',
        terms,
        async carryOn() {
          const end = await askService(before.terms, by);
          // What became of it stands whatever becomes of the record: kept as asked for, it is not asked for again.
          await catchUp(account, 'What became of a card’s e-mail could not be noted', () =>
            change(word, (kept) => ({ ...kept, end })),
          );
          return end;
        },
      };
    },
    change: askService,
  };
}

/** Without the token key: what goes to Slack is made of this alone. */
export function shownTerms({ tokenKey: _secret, ...terms }: CardEmailTerms): ShownCardEmail {
  return terms;
}
