import { maskNumbers } from '../domain/card-number.ts';
import type { Confirmation } from '../domain/confirmation.ts';
import { maskEmail } from '../domain/mask.ts';
import { formatMoney } from '../domain/money.ts';
import type { Transaction } from '../domain/transaction.ts';
import type { Piece } from '../slack/kit/blocks.ts';
import {
  transactionDetails,
  transactionState,
  whyNot,
  type TransactionView,
} from '../slack/words/transaction-message.ts';
import { outsideText } from '../slack/kit/text.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import {
  factLines,
  firstLine,
  isoTime,
  merchantJson,
  moneyJson,
  moneyOrNull,
  placeLine,
  quotedText,
  shortText,
  textOrNull,
} from './lines.ts';

/** Success is for a transaction that is proven paid, and for nothing else. */
export function lookupExitCode({ kind }: Confirmation): ExitCode {
  switch (kind) {
    case 'confirmed':
      return exitCodes.ok;
    case 'not_confirmed':
    case 'not_paid':
      return exitCodes.unproven;
    case 'not_found':
      return exitCodes.notFound;
  }
}

export function lookupText(view: TransactionView): string {
  const { confirmation } = view;
  return [
    firstLine(transactionState(confirmation), transactionDetails(view)),
    ...(confirmation.kind === 'not_found'
      ? ['  The service knows no such reference on this account; it says nothing about other references.']
      : [...proofLines(confirmation), ...transactionLines(confirmation.transaction)]),
    placeLine(view, 'checked', view.checkedAtMs),
    '',
  ].join('\n');
}

type Found = Exclude<Confirmation, { kind: 'not_found' }>;

function proofLines(confirmation: Found): string[] {
  const { evidence } = confirmation;
  const checks = [evidence.status, evidence.reference, evidence.amount];
  return [
    ...checks.map(({ holds, statement }) => `  ${holds ? '✓' : '✗'} ${outsideText(statement, 300)}`),
    ...(confirmation.kind === 'confirmed' ? [] : whyNot(confirmation).map((line) => `  ${plainWords(line)}`)),
  ];
}

/** The sentences of the message in Slack, without their looks. */
function plainWords(line: readonly Piece[]): string {
  return line.map((piece) => ('text' in piece ? (piece.text ?? '') : '')).join('');
}

function transactionLines(transaction: Transaction): string[] {
  const { orderAmountMinor: minor, orderCurrency, currency } = transaction;
  return factLines({
    'Order amount':
      minor === undefined || minor === transaction.amountMinor
        ? undefined
        : shortText(formatMoney({ minor, currency: orderCurrency ?? currency ?? '' })),
    Method: shortText(transaction.paymentMethod),
    Kind: shortText(transaction.type),
    Entry: shortText(transaction.entryType),
    'Order id': shortText(transaction.orderId),
    'The gateway’s own words': quotedText(transaction.gatewayMessage),
  });
}

/** The document of `lookup --json`; `docs/command-line.md` describes it. */
export function lookupJson(view: TransactionView): Record<string, unknown> {
  const { reference, confirmation, checkedAtMs } = view;
  const isFound = confirmation.kind !== 'not_found';
  const { status, reference: same, amount } = isFound ? confirmation.evidence : {};
  return {
    kind: 'transaction',
    verdict: confirmation.kind,
    reference: isFound ? reference : maskNumbers(reference),
    amount: isFound ? moneyOrNull(confirmation.money) : null,
    evidence: [status, same, amount]
      .filter((check) => check !== undefined)
      .map(({ part, holds, statement }) => ({ part, holds, statement: outsideText(statement, 300) })),
    transaction: isFound ? transactionJson(confirmation.transaction) : null,
    merchant: merchantJson(view),
    checkedAt: isoTime(checkedAtMs),
  };
}

function transactionJson(transaction: Transaction): Record<string, unknown> {
  const { orderAmountMinor: minor, orderCurrency, currency = orderCurrency, customerEmail } = transaction;
  return {
    id: textOrNull(transaction.id),
    status: textOrNull(transaction.status),
    source: textOrNull(transaction.source),
    type: textOrNull(transaction.type),
    entryType: textOrNull(transaction.entryType),
    paymentMethod: textOrNull(transaction.paymentMethod),
    gatewayMessage: textOrNull(transaction.gatewayMessage),
    orderId: textOrNull(transaction.orderId),
    orderReference: textOrNull(transaction.orderReference),
    orderAmount: minor === undefined ? null : moneyJson({ minor, ...currencyOf(orderCurrency ?? currency) }),
    customerEmail: customerEmail === undefined ? null : textOrNull(maskEmail(customerEmail)),
  };
}

function currencyOf(currency: string | undefined): { currency?: string } {
  return currency === undefined ? {} : { currency };
}
