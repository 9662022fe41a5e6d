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
import { createRecords, isHexId } from '../../records/records.ts';
import { approvalId } from '../../records/reference-of.ts';
import { updateOwnRecords } from '../../records/retry.ts';
import { cardFaceShape } from '../../records/shapes.ts';

/** The part of the card ledger that changes of e-mails need. */
export type KnownCardEmails = Pick<KnownCards, 'idOf'> & {
  /** The service has linked the card to another address. */
  changeEmail(id: string, newEmail: string): Promise<void>;
  /** The service has said that the card is not linked to this address. */
  forgetEmail(id: string, wrongEmail: string): Promise<void>;
};

export type CardEmails = ReturnType<typeof createCardEmails>;

type CardEmailBeginning =
  /** `carryOn` asks the service, once, and resolves with the result. Never throws. */
  | { kind: 'begun'; terms: ShownCardEmail; carryOn: () => Promise<CardEmailEnd> }
  /**
   * The review was submitted before, and nothing more happens. `end` is undefined while the first submit still waits
   * for the service.
   */
  | { kind: 'known'; terms: ShownCardEmail; end: CardEmailEnd | undefined }
  /** A second person decides. Nothing was sent. Later submits return the same request. */
  | { kind: 'awaiting_approval'; approval: Approval }
  /** The review has expired. Nothing was sent. */
  | { kind: 'stale' };

/** A reviewed change. `askedAtMs` is written before the request is sent, so without it nothing was sent. */
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

/** Longer than a call takes. If there is still no result, the process that made the call has died. */
const answeredWithinMs = 60_000;

/**
 * The result that an answer stands for. Two results can come in two forms: as an answer of their own kind, or as a
 * rejection with a reason.
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
 * Changes of saved cards' e-mails. Each is reviewed first, and the service is asked once per review. There is no
 * look-up that could settle a lost answer, so a person must repeat the change: only they know whether the current
 * e-mail was right. Methods throw StoreUnavailable; nothing was sent then.
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
    return isHexId(word) ? await reviews.read(word) : undefined;
  }

  /** Changes a stored review; returns it as it was before, undefined if it is gone. */
  function change(word: string, made: (before: ReviewedChange) => ReviewedChange) {
    return reviews.change<ReviewedChange | undefined>(word, (before) => {
      const after = before && made(before);
      return !after || after === before
        ? { kind: 'keep', result: before }
        : { kind: 'write', value: after, schedule: { ttlMs: draftKeepMs }, result: before };
    });
  }

  /**
   * Asks the service, once. Never throws. For an approved change the approval's record notes that it was sent. Charges
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
    // The audit gets masked addresses and the card's face.
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
    await updateOwnRecords(
      account,
      'A remembered card still has an address it is not linked to',
      async () => {
        const id = await ledger.idOf(tokenKey);
        // Forget an address that the service denies: as the form's default it would make every charge of the card fail.
        await (end.kind === 'changed'
          ? ledger.changeEmail(id, newEmail)
          : ledger.forgetEmail(id, currentEmail));
      },
    );
    return end;
  }

  return {
    /**
     * Stores the reviewed change, sealed, for half an hour. The returned word identifies exactly this change, and is no
     * secret.
     */
    async keepDraft(terms: CardEmailTerms): Promise<string> {
      const word = randomBytes(16).toString('hex');
      await reviews.create(word, { card: await fingerprint(terms.tokenKey), terms }, { ttlMs: draftKeepMs });
      return word;
    },
    readDraft,
    /** Begins the reviewed change, at most once even if it is submitted often. */
    async begin(word: string, by: string): Promise<CardEmailBeginning> {
      const draft = await readDraft(word);
      if (!draft) return { kind: 'stale' };
      const need = approvals?.needFor({ kind: 'card_email' });
      if (approvals && need) {
        const terms = { kind: 'card_email', terms: draft.terms, card: draft.card } as const;
        const request = { id: approvalId(`card-email:${word}`), terms, by, ...need };
        return { kind: 'awaiting_approval', approval: await approvals.request(request) };
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
          // The result is valid even if it can't be stored: the record then says *asked*, so the service isn't asked
          // again.
          await updateOwnRecords(account, 'What became of a card’s e-mail could not be noted', () =>
            change(word, (kept) => ({ ...kept, end })),
          );
          return end;
        },
      };
    },
    change: askService,
  };
}

/** The terms without the token key: only these are sent to Slack. */
export function shownTerms({ tokenKey: _secret, ...terms }: CardEmailTerms): ShownCardEmail {
  return terms;
}
