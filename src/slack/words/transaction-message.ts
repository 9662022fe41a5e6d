import type { Button, ActionsBlock } from '@slack/types';
import { button, bold, fields, headline, richText, words, type Piece } from '../kit/blocks.ts';
import {
  referenceWord,
  customerWord,
  environmentWords,
  lookUpButton,
  placeLine,
  proofLine,
  quoted,
  typedReference,
  word,
} from './evidence.ts';
import type { SlackMessage, HomeBlock } from '../kit/message.ts';
import type { Environment } from '../../domain/alert.ts';
import { maskNumbers } from '../../domain/card-number.ts';
import type { Confirmation } from '../../domain/confirmation.ts';
import { formatMoney } from '../../domain/money.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import { outcomeWords } from './state-words.ts';
import type { Transaction } from '../../domain/transaction.ts';
import type { KnownDecline } from '../../domain/decline-reason.ts';
import { declineNext } from './next-steps.ts';

export type TransactionView = {
  reference: OrderReference;
  confirmation: Confirmation;
  environment: Environment;
  account: string;
  /** When the service was asked, UTC milliseconds. */
  checkedAtMs: number;
  /** The amount the person gave, so that *Refresh* holds it against the record again. */
  amountMinor?: number;
  /** Not paid, because the bank declined it. */
  declined?: KnownDecline;
};

/**
 * What one look-up found, with its proof. *Paid (confirmed)* stands here only for a `confirmed` verdict; not
 * confirmed says which part does not hold and is never called failed; not found is an answer, not an error. `more`:
 * buttons beside *Refresh*.
 */
export function transactionMessage(view: TransactionView, more: readonly Button[] = []): SlackMessage {
  const { text, blocks } = transactionParts(view);
  const buttons = refreshButton(view).map((row) => ({ ...row, elements: [...row.elements, ...more] }));
  return { text, blocks: [...blocks, ...buttons] };
}

/** None for a number that the service does not know: its value would repeat what may be a mistyped card number. */
export function refreshButton(view: TransactionView): ActionsBlock[] {
  return isMasked(view) ? [] : lookUpButton('Refresh', view.reference, view.amountMinor);
}

/** What is found under a number shows the number; what is not found may be a mistyped card number. */
export function isMasked({ confirmation, reference }: TransactionView): boolean {
  return confirmation.kind === 'not_found' && maskNumbers(reference) !== reference;
}

/** For whoever may read the customer's e-mail in full; none where the record names no customer. */
export function revealButtonOf({ confirmation, reference }: TransactionView): Button[] {
  const email = confirmation.kind === 'not_found' ? undefined : confirmation.transaction.customerEmail;
  // The value names the order, never the address: that is read when it is pressed.
  const reveal = { actionId: revealActionId, text: 'Reveal e-mail', value: reference };
  return email?.trim() ? [button(reveal)] : [];
}

export const revealActionId = 'reveal_email';

/** The same without its buttons, as every surface shows it. */
export function transactionParts(view: TransactionView): { text: string; blocks: HomeBlock[] } {
  const { confirmation } = view;
  const { text, block } = headline(stateWord(view), transactionDetails(view));
  const { transaction, evidence } = confirmation.kind === 'not_found' ? noRecord : confirmation;
  const blocks: HomeBlock[] = [
    block,
    ...proof(view),
    ...(confirmation.kind === 'confirmed' ? facts(confirmation.transaction) : []),
    placeLine({
      environment: view.environment,
      account: view.account,
      verb: 'checked',
      atMs: view.checkedAtMs,
      // Whoever asks the payments service names it.
      orderId: evidence?.reference.holds === false ? transaction?.orderId : undefined,
    }),
  ];
  return { text, blocks };
}

const noRecord = { transaction: undefined, evidence: undefined };

/** What the person sees at once, before the service has answered. */
export function lookingUpMessage(reference: string): SlackMessage {
  const { text, block } = headline('🔎 Looking up …', [typedReference(reference)]);
  return { text, blocks: [block] };
}

export const stateWords = {
  confirmed: `✅ ${outcomeWords.paid}`,
  not_confirmed: `⚠️ ${outcomeWords.notConfirmed}`,
  not_found: `🔎 ${outcomeWords.notFound}`,
} as const;

export function transactionState(confirmation: Confirmation): string {
  return confirmation.kind === 'not_paid'
    ? `⛔ ${notPaidWords(confirmation.transaction)}`
    : stateWords[confirmation.kind];
}

/** A final status is told in the service's own word: *Not paid: REFUNDED*. */
export function notPaidWords({ status }: Transaction): string {
  return `${outcomeWords.notPaid}: ${word(status)}`;
}

/** A final status stands for itself, also where an event said that an earlier attempt failed. */
function declineOf({ confirmation, declined }: TransactionView): KnownDecline | undefined {
  return confirmation.kind === 'not_confirmed' ? declined : undefined;
}

function stateWord(view: TransactionView): string {
  return declineOf(view) ? `❌ ${outcomeWords.declined}` : transactionState(view.confirmation);
}

/** What follows the state in the first line, wherever it is read. */
export function transactionDetails({ reference, confirmation }: TransactionView): string[] {
  if (confirmation.kind === 'not_found') return [typedReference(reference)];
  const { money, transaction } = confirmation;
  return [
    money ? (word(formatMoney(money)) ?? '') : 'amount unknown',
    customerWord(transaction.customerEmail),
    referenceWord(reference),
  ];
}

function proof(view: TransactionView): HomeBlock[] {
  const { confirmation } = view;
  switch (confirmation.kind) {
    case 'confirmed':
      return [proofLine(confirmation.evidence, confirmation.transaction)];
    case 'not_confirmed':
      return view.declined ? declinedBlocks(view.declined, confirmation) : unproven(confirmation);
    case 'not_paid':
      return unproven(confirmation);
    case 'not_found':
      return [richText(...notFound(view))];
  }
}

function unproven(confirmation: Exclude<Confirmation, { kind: 'confirmed' | 'not_found' }>): HomeBlock[] {
  const { evidence, transaction } = confirmation;
  return [
    ...(evidence.status.holds ? [] : quoted('Gateway:', transaction.gatewayMessage)),
    proofLine(evidence, transaction),
    richText(...whyNot(confirmation)),
  ];
}

function nextBlocks(declined: KnownDecline): HomeBlock[] {
  const lines = declineNext(declined);
  return lines.length === 0 ? [] : [richText(...lines)];
}

function declinedBlocks(
  declined: KnownDecline,
  { evidence, transaction }: Exclude<Confirmation, { kind: 'confirmed' | 'not_found' }>,
): HomeBlock[] {
  return [
    ...quoted('The bank says:', declined.bankWords),
    ...nextBlocks(declined),
    proofLine(evidence, transaction),
  ];
}

/** What to do about a payment that is not proven: by the worst of the parts that do not hold. */
export function whyNot({
  kind,
  evidence,
}: Exclude<Confirmation, { kind: 'confirmed' | 'not_found' }>): Piece[][] {
  if (kind === 'not_paid') return [[words('This is final: it won’t become paid. Give no value.')]];
  const next = !evidence.reference.holds
    ? 'give no value. Ask the payments service, with the order id below.'
    : !evidence.amount.holds
      ? 'give no value. Compare the amount.'
      : 'give no value yet. Check again later.';
  return [[bold('Next: '), words(next)]];
}

function notFound(view: TransactionView): Piece[][] {
  const { environment, account } = view;
  const other = environmentWords[environment === 'live' ? 'sandbox' : 'live'];
  return [
    [words(`${word(account) || 'This account'} has no such reference. ${other} payments don’t show here.`)],
    [
      bold('Next: '),
      words(
        `check the spelling, or ${isMasked(view) ? 'type it again' : 'press Refresh'} if it was charged moments ago.`,
      ),
    ],
  ];
}

/** What helps a person beyond the proof. A kind or an entry is told when it is not the usual one of a payment. */
function facts(transaction: Transaction): HomeBlock[] {
  return fields({
    'Order amount': otherOrderAmount(transaction),
    Method: word(transaction.paymentMethod),
    Kind: transaction.type === 'online_checkout' ? undefined : word(transaction.type),
    Entry: transaction.entryType === 'CREDIT' ? undefined : word(transaction.entryType),
  });
}

/** The order's amount, when it is another than the one taken. */
function otherOrderAmount(transaction: Transaction): string | undefined {
  const { amountMinor, currency, orderAmountMinor: minor, orderCurrency = currency } = transaction;
  if (minor === undefined || (minor === amountMinor && orderCurrency === currency)) return undefined;
  return word(formatMoney({ minor, currency: orderCurrency ?? '' }));
}

// A customer's e-mail in full, for the one person who may read it: nowhere else does the bot write one that was not
// typed by whoever reads it.
