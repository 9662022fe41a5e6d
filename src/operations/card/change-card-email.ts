import { z } from 'zod';
import type { Approval } from '../../domain/approval.ts';
import type { NoteAudit } from '../../domain/audit-note.ts';
import type { CardEmailEnd, CardEmailTerms, ShownCardEmail } from '../../domain/card-email.ts';
import type { EmailChange, EmailChangeAnswer } from '../../domain/charge-answer.ts';
import { maskEmail } from '../../domain/mask.ts';
import type { Log } from '../../log.ts';
import type { ApprovalGate } from '../approval/approval-desk.ts';
import type { CardLedger } from './card-ledger.ts';
import { catchUp } from '../work/catch-up.ts';
import type { RecordStore } from '../work/change-record.ts';
import { createDrafts, type Drafts } from '../work/drafts.ts';
import type { Fingerprint } from '../work/fingerprint.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { approvalId } from '../approval/terms-hash.ts';

/**
 * Changes of saved cards' e-mails, each read back before it is made. All of it throws StoreUnavailable when the
 * store is away, and then nothing was sent.
 */
export type CardEmails = {
  /** Keeps what is read back, sealed, for half an hour; the word it gives stands for exactly this and is no secret. */
  keepDraft(viewId: string, terms: CardEmailTerms): Promise<string>;
  readDraft(viewId: string, draft: string): Promise<CardEmailTerms | undefined>;
  /** Begins the change that was read back, at most once however often it is agreed to. */
  begin(request: { viewId: string; draft: string; by: string }): Promise<CardEmailBeginning>;
};

export type CardEmailBeginning =
  /** `carryOn` asks the service, once, and resolves with what became of it. It never throws. */
  | { kind: 'begun'; terms: ShownCardEmail; carryOn: () => Promise<CardEmailEnd> }
  /** Agreed to before: whoever was first hears what became of it. Nothing more happens. */
  | { kind: 'known'; terms: ShownCardEmail }
  /** A second person decides: nothing was sent. Agreed to again it is the same request. */
  | { kind: 'awaiting_approval'; approval: Approval }
  /** What was read back is gone or other by now: nothing was sent. */
  | { kind: 'stale' };

export type CardEmailDeps = {
  store: RecordStore;
  sealer: Sealer;
  changeCardEmail: (change: EmailChange) => Promise<EmailChangeAnswer>;
  /** Undefined: switched off. */
  ledger: Pick<CardLedger, 'idOf' | 'changeEmail' | 'forgetEmail'> | undefined;
  log: Log;
  wait: (ms: number) => Promise<unknown>;
  fingerprint: Fingerprint;
  /** Absent: no change needs a second person. */
  approvals?: ApprovalGate | undefined;
  /** Writes into the audit, in the background; absent: nothing is written down. */
  note?: NoteAudit;
};

const cardEmailTerms = z.object({
  tokenKey: z.string(),
  card: z.object({ cardType: z.string().exactOptional(), lastFour: z.string().exactOptional() }),
  currentEmail: z.string(),
  newEmail: z.string(),
});

export function createCardEmails(deps: CardEmailDeps): CardEmails {
  const drafts = createDrafts(deps, { prefix: 'card-email-draft', terms: cardEmailTerms });
  return {
    keepDraft: (viewId, terms) => drafts.keep(viewId, terms),
    readDraft: (viewId, draft) => drafts.read(viewId, draft),
    async begin({ viewId, draft, by }) {
      const asked = await askForApproval(deps, drafts, { viewId, draft, by });
      if (asked) return asked;
      const taking = await drafts.take(viewId, draft);
      switch (taking.kind) {
        case 'taken':
          return {
            kind: 'begun',
            terms: shownTerms(taking.terms),
            carryOn: () => makeEmailChange(deps, taking.terms, by),
          };
        case 'taken_before':
          return { kind: 'known', terms: shownTerms(taking.terms) };
        case 'gone':
          return { kind: 'stale' };
      }
    },
  };
}

/** Undefined: nobody else is needed. What was read back is not taken by this: the request is what is agreed to once. */
async function askForApproval(
  { approvals: gate, fingerprint }: CardEmailDeps,
  drafts: Drafts<CardEmailTerms>,
  { viewId, draft, by }: { viewId: string; draft: string; by: string },
): Promise<CardEmailBeginning | undefined> {
  const need = gate?.needFor({ kind: 'card_email' });
  if (!gate || !need) return undefined;
  const id = approvalId(`card-email:${viewId}:${draft}`);
  const asked = await gate.desk.find(id);
  if (asked) return { kind: 'awaiting_approval', approval: asked };
  const terms = await drafts.read(viewId, draft);
  if (!terms) return { kind: 'stale' };
  const card = await fingerprint(terms.tokenKey);
  const approval = await gate.desk.request({ id, terms: { kind: 'card_email', terms, card }, by, ...need });
  return { kind: 'awaiting_approval', approval };
}

/** Without the token key: what goes to Slack is made of this alone. */
export function shownTerms({ tokenKey: _secret, ...terms }: CardEmailTerms): ShownCardEmail {
  return terms;
}

/**
 * Asked once: a lost answer is a person's to ask about again, because only they know whether the current e-mail
 * was the linked one to begin with. Charges that were read back with the old address and are agreed to after
 * the change are not stopped here: the service refuses them before the bank sees them, in words of its own.
 *
 * Spec: change the email of a saved card.
 */
export async function makeEmailChange(
  deps: CardEmailDeps,
  terms: CardEmailTerms,
  by: string,
): Promise<CardEmailEnd> {
  const { tokenKey, currentEmail, newEmail } = terms;
  const answer = await deps.changeCardEmail({ tokenKey, currentEmail, newEmail });
  const end = endOf(answer);
  deps.log('info', 'Asked for a change of a card’s e-mail', {
    verb: 'card-email',
    userId: by,
    result: end.kind,
    ...('failure' in end ? { failure: end.failure } : {}),
    ...(end.kind === 'unknown' ? { failure: end.cause.kind } : {}),
  });
  // The addresses masked, and the card by nothing but its face: whoever reads the audit need not be told more.
  deps.note?.({
    what: 'step',
    who: by,
    verb: 'card-email',
    result: `card_email_${end.kind}`,
    before: maskEmail(currentEmail),
    after: maskEmail(newEmail),
    ...faceWord(terms.card),
  });
  switch (end.kind) {
    case 'changed':
      return {
        kind: 'changed',
        list: await tellList(deps, tokenKey, (list, id) => list.changeEmail(id, newEmail)),
      };
    case 'not_linked':
      // What the service denies must not be the form's default any longer, or no charge of the card would succeed.
      await tellList(deps, tokenKey, (list, id) => list.forgetEmail(id, currentEmail));
      return end;
    default:
      return end;
  }
}

function faceWord({ lastFour }: CardEmailTerms['card']): { reference?: string } {
  return lastFour === undefined ? {} : { reference: `card ending ${lastFour}` };
}

/** The service has words of its own for two ends that it also tells by the answer's form. */
function endOf(answer: EmailChangeAnswer): CardEmailEnd {
  if (answer.kind === 'changed') return { kind: 'changed', list: 'current' };
  if (answer.kind !== 'rejected') return answer;
  if (answer.reason === 'email_mismatch') return { kind: 'not_linked', message: answer.message };
  return answer.reason === 'invalid_token' ? { kind: 'no_such_card' } : answer;
}

async function tellList(
  { ledger, ...deps }: CardEmailDeps,
  tokenKey: string,
  tell: (list: NonNullable<CardEmailDeps['ledger']>, id: string) => Promise<void>,
): Promise<'current' | 'behind'> {
  if (!ledger) return 'current';
  return await catchUp(deps, 'A remembered card still has an address it is not linked to', async () =>
    tell(ledger, await ledger.idOf(tokenKey)),
  );
}
