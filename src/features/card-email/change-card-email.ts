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
import { approvalId } from '../../records/derived-reference.ts';
import { updateOwnRecords } from '../../records/retry.ts';
import { cardFaceShape } from '../../records/shapes.ts';

/** Changes a remembered card's e-mail. */
export type KnownCardEmails = Pick<KnownCards, 'idOf'> & {
  /** For a card that the service has linked to another address. */
  changeEmail(id: string, newEmail: string): Promise<void>;
  /** For an address that the service says is not the card's. */
  forgetEmail(id: string, wrongEmail: string): Promise<void>;
};

export type EmailChanges = ReturnType<typeof createEmailChanges>;

type CardEmailBeginning =
  /** `carryOn` calls the service, once, and resolves with the result. Never throws. */
  | { kind: 'begun'; terms: ShownCardEmail; carryOn: () => Promise<CardEmailEnd> }
  /** The review was submitted before; nothing is sent again. `end`: undefined while the service's answer is awaited. */
  | { kind: 'known'; terms: ShownCardEmail; end: CardEmailEnd | undefined }
  /** Another person must approve. Nothing was sent. Later submits return the same request. */
  | { kind: 'awaiting_approval'; approval: Approval }
  /** The review has expired. Nothing was sent. */
  | { kind: 'stale' };

/**
 * A change under review, called draft. `askedAtMs` is stored before the request is sent, so without it nothing was
 * sent; a change that needs approval is stored with the approval instead.
 */
const reviewedShape = z.object({
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

type ReviewedChange = z.infer<typeof reviewedShape>;

/** Longer than a call takes. If there is still no result, the process that made the call has died. */
const answeredWithinMs = 60_000;

/**
 * The result of a change, from the service's answer. Some results have two forms: an answer of their own kind, or a
 * rejection with a reason.
 *
 * Spec: change the email of a saved card; Errors (saved-card charge rejections).
 */
export function endOfChange(answer: EmailChangeAnswer): CardEmailEnd {
  const said = answer.kind === 'unknown' ? answer.cause.said : undefined;
  const message = withoutUndefined({ message: 'message' in answer ? answer.message : said });
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
 * Changes of saved cards' e-mails. Each is reviewed first, and the service is called once per review. No look-up can
 * tell the result after a lost answer, so a person must repeat the change. Methods throw StoreUnavailable; then nothing
 * was sent.
 *
 * Spec: change the email of a saved card.
 */
export function createEmailChanges(
  account: Account,
  ledger: KnownCardEmails | undefined,
  approvals: Pick<ApprovalGate, 'needFor' | 'request'>,
) {
  const { fingerprint, payments, audit, log, now } = account;
  const drafts = createRecords<ReviewedChange>(account, { prefix: 'card-email:', schema: reviewedShape });

  async function readDraft(id: string): Promise<ReviewedChange | undefined> {
    return isHexId(id) ? await drafts.read(id) : undefined;
  }

  /** Updates a stored draft. Returns the draft before the update; undefined if it is gone. */
  function update(id: string, updated: (before: ReviewedChange) => ReviewedChange) {
    return drafts.change<ReviewedChange | undefined>(id, (before) => {
      const after = before && updated(before);
      return !after || after === before
        ? { kind: 'keep', result: before }
        : { kind: 'write', value: after, schedule: { ttlMs: draftKeepMs }, result: before };
    });
  }

  /**
   * Calls the service, once. Never throws. Does not stop charges that were reviewed with the old address: the service
   * refuses them before the bank sees them.
   */
  async function change(terms: CardEmailTerms, by: string): Promise<CardEmailEnd> {
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
    await updateOwnRecords(account, 'A remembered card still has an old address', async () => {
      const id = await ledger.idOf(tokenKey);
      // Forget a wrong address: as the form's default it would make every charge of the card fail.
      await (end.kind === 'changed'
        ? ledger.changeEmail(id, newEmail)
        : ledger.forgetEmail(id, currentEmail));
    });
    return end;
  }

  return {
    /** Stores the reviewed change, sealed, for half an hour. Returns its id, which is no secret. */
    async keepDraft(terms: CardEmailTerms): Promise<string> {
      const id = randomBytes(16).toString('hex');
      await drafts.create(id, { card: await fingerprint(terms.tokenKey), terms }, { ttlMs: draftKeepMs });
      return id;
    },
    readDraft,
    /** Begins the reviewed change, once even if it is submitted twice. */
    async begin(draftId: string, by: string): Promise<CardEmailBeginning> {
      const draft = await readDraft(draftId);
      if (!draft) return { kind: 'stale' };
      const need = approvals.needFor({ kind: 'card_email' });
      if (need) {
        const terms = { kind: 'card_email', terms: draft.terms, card: draft.card } as const;
        const request = { id: approvalId(`card-email:${draftId}`), terms, by, ...need };
        return { kind: 'awaiting_approval', approval: await approvals.request(request) };
      }
      const before = await update(draftId, (stored) =>
        stored.askedAtMs === undefined ? { ...stored, askedAtMs: now() } : stored,
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
          const end = await change(before.terms, by);
          // If the result can't be stored, `askedAtMs` still prevents a second call.
          await updateOwnRecords(account, 'The result of a change of e-mail could not be stored', () =>
            update(draftId, (stored) => ({ ...stored, end })),
          );
          return end;
        },
      };
    },
    change,
  };
}

/** The terms without the token key, which must not be sent to Slack. */
export function shownTerms({ tokenKey: _secret, ...terms }: CardEmailTerms): ShownCardEmail {
  return terms;
}
