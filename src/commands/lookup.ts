import type { Environment } from '../domain/alert.ts';
import { confirm } from '../domain/confirmation.ts';
import { parseAmount } from '../domain/money.ts';
import { parseOrderReference, type OrderReference } from '../domain/order-reference.ts';
import { parsed, problem, type Parsed } from '../domain/parsed.ts';
import type { Transaction } from '../domain/transaction.ts';
import { richText, words as say } from '../slack/blocks.ts';
import { defineCommand, type Command } from '../slack/command.ts';
import { lookUpActionId, lookUpWords } from '../slack/evidence.ts';
import type { SlackMessage } from '../slack/message.ts';
import { lookingUpMessage, transactionMessage } from '../slack/transaction-message.ts';

export type LookupDeps = {
  /** Undefined when the service knows no such transaction; throws `ServiceFailure` when it gave no usable answer. */
  findTransaction: (reference: OrderReference) => Promise<Transaction | undefined>;
  environment: Environment;
  /** What people call the merchant account. */
  account: string;
  now: () => number;
  /** Whether the bot charged under this reference; without it nothing is known of its own charges. */
  isOwnCharge?: (reference: OrderReference) => Promise<boolean>;
};

type Question = { reference: OrderReference; amountMinor?: number };

/** `/pay lookup <reference> [amount]`, and what is typed without a verb: the verdict on one reference, with its proof. */
export function lookupCommand(deps: LookupDeps): Command {
  return defineCommand<Question>({
    verb: 'lookup',
    usage: '<reference> [amount]',
    summary: 'Look up a transaction: is it paid, and what proves it',
    examples: ['lookup INV-2041', 'lookup INV-2041 12,500.00', 'lookup "ORDER 17 B"', 'INV-2041'],
    permission: 'lookup',
    effect: 'none',
    takesBareWords: true,
    buttons: [{ actionId: lookUpActionId, words: lookUpWords }],
    parse: parseQuestion,
    reference: (question) => question.reference,
    knows: async ({ reference }) => (await deps.isOwnCharge?.(reference)) ?? false,

    async run({ reference, amountMinor }, { whileWaiting }) {
      const transaction = await whileWaiting(deps.findTransaction(reference), stillLooking(reference));
      const amount =
        amountMinor === undefined ? {} : { amount: { minor: amountMinor, source: 'person' as const } };
      return transactionMessage({
        reference,
        confirmation: confirm({ reference, ...amount }, transaction),
        environment: deps.environment,
        account: deps.account,
        checkedAtMs: deps.now(),
        ...(amountMinor === undefined ? {} : { amountMinor }),
      });
    },
  });
}

function parseQuestion(words: readonly string[]): Parsed<Question> {
  const [first = '', second, ...rest] = words;
  const reference = parseOrderReference(first);
  if (!reference.ok) return reference;
  if (second === undefined) return parsed({ reference: reference.value });
  const amount = parseAmount(second);
  if (rest.length === 0 && amount.ok)
    return parsed({ reference: reference.value, amountMinor: amount.value });
  const said = amount.ok ? 'Give one reference and at most one amount.' : amount.problem;
  return problem(`${said} A reference with spaces goes in quotes: "ORDER 17 B".`);
}

function stillLooking(reference: OrderReference): SlackMessage {
  const { text, blocks } = lookingUpMessage(reference);
  const waiting = say('The payments service has not answered yet. The answer follows here.');
  return { text, blocks: [...blocks, richText([waiting])] };
}
