import type { Account } from '../../account.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { confirm, type Confirmation } from '../../domain/transaction.ts';
import type { FoundDecline } from '../../domain/alert.ts';
import { parseAmount } from '../../domain/money.ts';
import { parseOrderReference, type OrderReference } from '../../domain/order-reference.ts';
import { parsed, problem, type Parsed } from '../../domain/wording.ts';
import type { TransactionView } from '../../slack/words/transaction-message.ts';
import type { Reveals } from './reveal.ts';

/** The known decline of a reference, unless the look-up contradicts it. */
export type DeclineOf = (
  reference: OrderReference,
  lookup: Confirmation,
) => Promise<FoundDecline | undefined>;

/** What the look-up's screens need. */
export type Lookups = {
  account: Pick<Account, 'shownAccount' | 'slack' | 'people'>;
  reveals: Reveals;
  /** Asks the service and judges its answer. Throws `ServiceFailure`. */
  ask: (question: Question) => Promise<TransactionView>;
};

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

export function createAsk(
  { payments, shownAccount, now }: Pick<Account, 'payments' | 'shownAccount' | 'now'>,
  declineOf: DeclineOf,
): Lookups['ask'] {
  return async function ask({ reference, amountMinor }) {
    const transaction = await payments.findTransaction(reference);
    const amount =
      amountMinor === undefined ? {} : { amount: { minor: amountMinor, source: 'person' as const } };
    const confirmation = confirm({ reference, ...amount }, transaction);
    const declined = await declineOf(reference, confirmation);
    const { environment, account } = shownAccount;
    const known = withoutUndefined({ declined, amountMinor });
    return { reference, confirmation, environment, account, checkedAtMs: now(), ...known };
  };
}

/** Whether an answer can be shared in this conversation: not in a direct message. */
export function isChannel(channelId: string | undefined): channelId is string {
  return channelId !== undefined && /^[CG]/.test(channelId);
}
