import type { Runtime } from '../config/config.ts';
import { holdsCardNumber, maskNumbers } from '../domain/card.ts';
import { confirm, type Transaction } from '../domain/transaction.ts';
import { parseAmount } from '../domain/money.ts';
import { parseOrderReference, type OrderReference } from '../domain/order-reference.ts';
import { maskEmail } from '../domain/outside-text.ts';
import { parsed, problem } from '../domain/wording.ts';
import { rawRecords } from '../payments/lookups.ts';
import { plainLine } from '../slack/kit/blocks.ts';
import { outsideText } from '../slack/kit/text.ts';
import {
  transactionDetails,
  transactionState,
  nextForUnproven,
  type TransactionView,
} from '../slack/words/transaction-message.ts';
import { command, type CommandEnd } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { askService } from './ask-service.ts';
import { fieldLines, maskedFields } from './masked-fields.ts';
import {
  factLines,
  firstLine,
  isoTime,
  moneyJson,
  accountLine,
  reported,
  textOrNull,
  type Answer,
} from './lines.ts';

/**
 * Looks a transaction up with the bot's own settings, token and store. Changes nothing but the shared access token,
 * which it may renew.
 */
export const lookupCommand = command({
  summary: 'Look up a transaction: is it paid, and what proves it',
  usage: ['npm run payops --silent -- lookup <reference> [amount] [--raw] [--json] [--account NAME]'],
  more: '--raw shows every field of the record, values masked, to find what a setting should point at. Ends with 0 for a payment that is proven, and for nothing else. Several accounts: the first, unless one is named.',
  scope: 'first',
  options: { json: { type: 'boolean', default: false }, raw: { type: 'boolean', default: false } },
  mostWords: Infinity,
  prepare({ values: { json, raw }, positionals }) {
    if (holdsCardNumber(positionals.join(' '))) {
      return problem('That looks like a card number. Delete it from your shell’s history.');
    }
    const [first = '', second, ...more] = positionals;
    const reference = parseOrderReference(first);
    if (!reference.ok || more.length > 0) {
      return problem(
        `${reference.ok ? '' : `${reference.problem} `}Give one reference and at most one amount; a reference with spaces goes in quotes, "ORDER 17 B", and -- before one that begins with a dash.`,
      );
    }
    const amount = second === undefined ? parsed(undefined) : parseAmount(second);
    if (!amount.ok) return problem(amount.problem);
    const asked = { reference: reference.value, minor: amount.value };
    return parsed({ run: (runtime) => lookUp(runtime, asked, { json, raw }) });
  },
});

async function lookUp(
  runtime: Runtime,
  { reference, minor }: { reference: OrderReference; minor: number | undefined },
  { json, raw }: { json: boolean; raw: boolean },
): Promise<CommandEnd> {
  return await askService(runtime, async (payments, askedAccount) => {
    const transaction = await payments.findTransaction(reference);
    const amount = minor === undefined ? {} : { amount: { minor, source: 'person' as const } };
    const confirmation = confirm({ reference, ...amount }, transaction);
    const answer = lookupAnswer({ reference, confirmation, ...askedAccount, checkedAtMs: runtime.now() });
    if (!raw) return reported(answer, json);
    const records = await payments.ask((client, accountId) =>
      rawRecords(client, accountId, { orderReference: reference }),
    );
    const fields = maskedFields(records.length === 1 ? records[0] : records, { reference, minor });
    return reported(
      {
        ...answer,
        document: { ...answer.document, fields },
        lines: [...answer.lines, 'Fields of its record, values masked:', ...fieldLines(fields)],
      },
      json,
    );
  });
}

/** 0 only for a proven payment. */
const lookupExitCodes = {
  confirmed: exitCodes.ok,
  not_confirmed: exitCodes.unproven,
  not_paid: exitCodes.unproven,
  given_back: exitCodes.unproven,
  not_found: exitCodes.notFound,
} as const;

export function lookupAnswer(view: TransactionView): Answer {
  const { reference, confirmation, environment, account, checkedAtMs } = view;
  const found = confirmation.kind === 'not_found' ? undefined : confirmation;
  const checks = found ? [found.evidence.status, found.evidence.reference, found.evidence.amount] : [];
  const evidence = checks.map(({ part, holds, statement }) => {
    return { part, holds, statement: outsideText(statement, 300) };
  });
  const transaction = found ? transactionFields(found.transaction) : null;
  return {
    exitCode: lookupExitCodes[confirmation.kind],
    document: {
      kind: 'transaction',
      verdict: confirmation.kind,
      reference: found ? reference : maskNumbers(reference),
      amount: found?.money ? moneyJson(found.money) : null,
      evidence,
      transaction,
      merchant: { environment, account },
      checkedAt: isoTime(checkedAtMs),
    },
    lines: [
      firstLine(transactionState(confirmation), transactionDetails(view)),
      ...(transaction === null
        ? [
            '  The service knows no such reference on this account. Check the spelling, environment and account.',
          ]
        : evidence.map(({ holds, statement }) => `  ${holds ? '✓' : '✗'} ${statement}`)),
      ...(found && found.kind !== 'confirmed'
        ? nextForUnproven(found).map((line) => `  ${plainLine(line)}`)
        : []),
      ...factLines(transaction ?? {}),
      accountLine(view, 'checked', checkedAtMs),
    ],
  };
}

const textFields = [
  'id',
  'status',
  'source',
  'type',
  'entryType',
  'paymentMethod',
  'gatewayMessage',
  'orderId',
  'orderReference',
] as const;

function transactionFields(transaction: Transaction): Record<string, unknown> {
  const { orderAmountMinor: minor, orderCurrency, currency = orderCurrency, customerEmail } = transaction;
  const orderedIn = orderCurrency ?? currency;
  return {
    ...Object.fromEntries(textFields.map((name) => [name, textOrNull(transaction[name])])),
    orderAmount: minor === undefined ? null : moneyJson({ minor, ...(orderedIn && { currency: orderedIn }) }),
    customerEmail: customerEmail === undefined ? null : textOrNull(maskEmail(customerEmail)),
  };
}
