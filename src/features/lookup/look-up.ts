import type { Environment } from '../../domain/alert.ts';
import { confirm, type Confirmation } from '../../domain/confirmation.ts';
import type { KnownDecline } from '../../domain/decline-reason.ts';
import type { PostOutcome } from '../../domain/delivery.ts';
import { parseAmount } from '../../domain/money.ts';
import { parseOrderReference, type OrderReference } from '../../domain/order-reference.ts';
import { parsed, problem, type Parsed } from '../../domain/parsed.ts';
import type { Transaction } from '../../domain/transaction.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import type { TransactionView } from '../../slack/words/transaction-message.ts';
import type { RevealActions } from './reveal.ts';

export type LookupDeps = RevealActions & {
  /** Undefined when the service knows no such transaction; throws `ServiceFailure` when it gave no usable answer. */
  findTransaction: (reference: OrderReference) => Promise<Transaction | undefined>;
  environment: Environment;
  /** What people call the merchant account. */
  account: string;
  /** See `ChargePlace`. */
  otherAccounts?: readonly string[];
  sharing: Sharing;
  now: () => number;
  /** What the bot knows of a decline under this reference that the look-up does not contradict. */
  declineOf: (reference: OrderReference, lookup: Confirmation) => Promise<KnownDecline | undefined>;
};

export type Sharing = {
  /** Posts in a channel. Never throws. */
  post: (channel: string, message: SlackMessage) => Promise<PostOutcome>;
  /** Puts it in the place of one that was posted. Never throws. */
  edit: (posted: { channel: string; ts: string }, message: SlackMessage) => Promise<PostOutcome>;
};

/** What is looked up, and the amount it should be. */
export type Question = { reference: OrderReference; amountMinor?: number };

export function parseQuestion(words: readonly string[]): Parsed<Question> {
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

/** Asks the service now, and judges what it says. Throws `ServiceFailure`. */
export async function lookUp(deps: LookupDeps, question: Question): Promise<TransactionView> {
  const { reference, amountMinor } = question;
  const transaction = await deps.findTransaction(reference);
  const amount =
    amountMinor === undefined ? {} : { amount: { minor: amountMinor, source: 'person' as const } };
  const confirmation = confirm({ reference, ...amount }, transaction);
  const declined = await deps.declineOf(reference, confirmation);
  return {
    reference,
    confirmation,
    ...(declined ? { declined } : {}),
    environment: deps.environment,
    account: deps.account,
    checkedAtMs: deps.now(),
    ...(amountMinor === undefined ? {} : { amountMinor }),
  };
}

/** Where something can be shared: not in a person's own conversation with the bot. */
export function isChannel(channelId: string | undefined): channelId is string {
  return channelId !== undefined && /^[CG]/.test(channelId);
}
