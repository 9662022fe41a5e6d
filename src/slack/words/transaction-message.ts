import type { Button } from '@slack/types';
import { button, bold, fields, words, type TextRun } from '../kit/blocks.ts';
import { proofFoot } from './account-foot.ts';
import {
  referenceWord,
  customerWord,
  environmentWords,
  lookUpButton,
  proofLine,
  provenWords,
  quoted,
  typedReference,
  word,
} from './payment-words.ts';
import type { MessageBlock } from '../kit/message.ts';
import type { Note } from '../kit/note.ts';
import type { Environment, FoundDecline } from '../../domain/alert.ts';
import { maskNumbers } from '../../domain/card.ts';
import type { Confirmation, Transaction } from '../../domain/transaction.ts';
import { formatMoney } from '../../domain/money.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import { failedState, outcomeWords } from './state-words.ts';
import type { KnownDecline } from '../../domain/decline-reason.ts';
import { declineNext, takenLines } from './next-steps.ts';

export type TransactionView = {
  reference: OrderReference;
  confirmation: Confirmation;
  environment: Environment;
  account: string;
  /** Time of the look-up, UTC ms. */
  checkedAtMs: number;
  /** The amount that the person gave, to compare again on *Look up*. */
  amountMinor?: number;
  /** Not paid, because the bank declined it. */
  declined?: FoundDecline;
};

/**
 * The result of one look-up with its proof, for every surface. *Paid (confirmed)* needs a `confirmed` verdict. *Not
 * confirmed* says which part does not hold, and never says failed. *Not found* is an answer, not an error. `more`: further
 * buttons beside *Look up*.
 */
export function transactionNote(view: TransactionView, more: readonly Button[] = []): ProofNote {
  const { confirmation, reference, environment, account } = view;
  const { transaction, evidence } = confirmation.kind === 'not_found' ? noRecord : confirmation;
  const declined = shownDecline(view);
  // No button for an unknown number: its value could repeat a mistyped card number.
  const refresh = isMasked(view) ? [] : lookUpButton('Look up', reference, view.amountMinor);
  return {
    state: declined ? failedState(declined.how) : transactionState(confirmation),
    about: transactionDetails(view),
    body: body(view),
    buttons: refresh.length === 0 ? [] : orderedButtons(confirmation, refresh, more),
    foot: proofFoot({
      environment,
      account,
      verb: 'checked',
      proven: evidence && provenWords(evidence, transaction),
      atMs: view.checkedAtMs,
      // For questions to the payments service.
      orderId: evidence?.reference.holds === false ? transaction?.orderId : undefined,
    }),
  };
}

/** *Share* first for a proven payment, *Look up* first for others. */
export function orderedButtons(
  { kind }: Confirmation,
  lookUp: readonly Button[],
  more: readonly Button[],
): readonly Button[] {
  const [first, ...rest] = more;
  return kind === 'confirmed' && first ? [first, ...lookUp, ...rest] : [...lookUp, ...more];
}

type ProofNote = Note & { body: NonNullable<Note['body']> };

const noRecord = { transaction: undefined, evidence: undefined };

/** An unknown number may be a mistyped card number, so mask it; show a known one. */
export function isMasked({ confirmation, reference }: TransactionView): boolean {
  return confirmation.kind === 'not_found' && maskNumbers(reference) !== reference;
}

/** For people who may read the whole e-mail; no button if the record has no e-mail. */
export function revealButtonOf({ confirmation, reference }: TransactionView): Button[] {
  const email = confirmation.kind === 'not_found' ? undefined : confirmation.transaction.customerEmail;
  // The value is the reference: the e-mail is read only when somebody presses.
  const reveal = { actionId: revealActionId, text: 'Reveal e-mail', value: reference };
  return email?.trim() ? [button(reveal)] : [];
}

export const revealActionId = 'reveal_email';

/** Shown until the service answers. */
export function lookingUpNote(reference: string): Note {
  return { state: '🔎 Looking up …', about: [typedReference(reference)] };
}

export const confirmationWords = {
  confirmed: `✅ ${outcomeWords.paid}`,
  not_confirmed: `⚠️ ${outcomeWords.notConfirmed}`,
  not_found: `🔎 ${outcomeWords.notFound}`,
  given_back: `↩️ ${outcomeWords.givenBack}`,
} as const;

export function transactionState(confirmation: Confirmation): string {
  return confirmation.kind === 'not_paid'
    ? `⛔ ${notPaidWords(confirmation.transaction)}`
    : confirmationWords[confirmation.kind];
}

/** A final status in the service's own word: *Not paid: CANCELLED*. */
export function notPaidWords({ status }: Transaction): string {
  return `${outcomeWords.notPaid}: ${word(status)}`;
}

/** The decline to show. A final status overrides it, because the decline may be an earlier attempt's. */
function shownDecline({ confirmation, declined }: TransactionView): FoundDecline | undefined {
  return confirmation.kind === 'not_confirmed' ? declined : undefined;
}

/** The rest of the first line, without amount and customer of another order's record. */
export function transactionDetails({ reference, confirmation }: TransactionView): string[] {
  if (confirmation.kind === 'not_found') return [typedReference(reference)];
  const { money, transaction, evidence } = confirmation;
  const isOwn = evidence.reference.holds;
  return [
    isOwn && money ? (word(formatMoney(money)) ?? '') : 'amount unknown',
    isOwn ? customerWord(transaction.customerEmail) : '',
    referenceWord(reference),
  ];
}

function body(view: TransactionView): ProofNote['body'] {
  const { confirmation } = view;
  if (confirmation.kind === 'not_found') return notFound(view);
  const { kind, transaction, evidence } = confirmation;
  const proof = proofLine(evidence, transaction);
  if (kind === 'confirmed') return facts(transaction);
  const declined = shownDecline(view);
  const unpaid: Transaction = evidence.reference.holds && !evidence.status.holds ? transaction : {};
  if (declined) {
    const { taken } = declined;
    const next = taken ? takenLines(taken, view.reference) : declineNext(declined);
    return [...reasonWords(declined, unpaid), ...next, ...proof];
  }
  return [...quoted('Gateway:', unpaid.gatewayMessage), ...proof, ...nextForUnproven(confirmation)];
}

/** Why it failed, in the bank's words, else the record's. */
function reasonWords({ how, bankWords }: KnownDecline, { gatewayMessage }: Transaction): MessageBlock[] {
  const theirs = quoted(how === 'codes_closed' ? 'The service says:' : 'The bank says:', bankWords);
  return theirs.length > 0 ? theirs : quoted('Gateway:', gatewayMessage);
}

/** What to do about an unproven payment: the reference counts before the amount, the amount before the status. */
export function nextForUnproven({
  kind,
  evidence,
}: Exclude<Confirmation, { kind: 'confirmed' | 'not_found' }>): TextRun[][] {
  if (kind === 'given_back') return [[words('Its money went back to the customer. Don’t deliver.')]];
  if (kind === 'not_paid') return [[words('This is final: it won’t become paid. Don’t deliver.')]];
  const next = !evidence.reference.holds
    ? 'don’t deliver. Ask the payments service, with the order id below.'
    : !evidence.amount.holds
      ? 'don’t deliver. Compare the amount.'
      : 'don’t deliver yet. Look it up again later.';
  return [[bold('Next: '), words(next)]];
}

function notFound(view: TransactionView): TextRun[][] {
  const { environment, account, reference, amountMinor } = view;
  const other = environmentWords[environment === 'live' ? 'sandbox' : 'live'];
  // "ORDER 17" without quotes is read as a reference and an amount.
  const mayHaveSpace = amountMinor !== undefined && !/\d/.test(reference);
  return [
    [words(`${word(account) || 'This account'} has no such reference. ${other} payments don’t show here.`)],
    [
      bold('Next: '),
      words(
        mayHaveSpace
          ? 'check the spelling. A reference with spaces goes in quotes: "ORDER 17".'
          : `check the spelling, or ${isMasked(view) ? 'type it again' : 'look it up again'} if it was charged moments ago.`,
      ),
    ],
  ];
}

/** Details beyond the proof. Kind and entry only if unusual for a payment. */
function facts(transaction: Transaction): MessageBlock[] {
  return fields({
    'Order amount': otherOrderAmount(transaction),
    Method: methodWord(transaction.paymentMethod),
    Kind: transaction.type === 'online_checkout' ? undefined : word(transaction.type),
    Entry: transaction.entryType === 'CREDIT' ? undefined : word(transaction.entryType),
  });
}

function methodWord(method: string | undefined): string | undefined {
  return method === 'card_payment' ? 'card' : word(method);
}

/** The order's amount, if it differs from the amount taken. */
function otherOrderAmount(transaction: Transaction): string | undefined {
  const { amountMinor, currency, orderAmountMinor: minor, orderCurrency = currency } = transaction;
  if (minor === undefined || (minor === amountMinor && orderCurrency === currency)) return undefined;
  return word(formatMoney({ minor, currency: orderCurrency ?? '' }));
}
