import type { Audit } from '../../domain/audit-entry.ts';
import { ServiceFailure } from '../../domain/failure.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Transaction } from '../../domain/transaction.ts';
import type { Log } from '../../log.ts';

export type RevealDeps = {
  /** Undefined when the service knows no such transaction; throws `ServiceFailure`. */
  findTransaction: (reference: OrderReference) => Promise<Transaction | undefined>;
  /** The address of the bot's own charge or payment link under this reference; asks the store alone. */
  ownEmail: (reference: OrderReference) => Promise<string | undefined>;
  audit: Audit;
  /** The merchant account's name; undefined in a bot that knows one alone. */
  account: string | undefined;
  now: () => number;
  log: Log;
};

/** Who wants to read the address of which order, and where they see it. */
export type RevealAsked = { reference: OrderReference; by: string; where: string };

export type Revealed =
  | { kind: 'revealed'; email: string }
  /** Neither the service's record nor the bot's own names one. */
  | { kind: 'no_address' }
  /** That somebody reads it could not be put on record. */
  | { kind: 'not_on_record' };

export type RevealEmail = (asked: RevealAsked) => Promise<Revealed>;

/**
 * A customer's e-mail in full, for one person. It is read anew, of the service or of the bot's own record, and comes
 * out of here only once the audit has who read it, of which order and where: without that nobody sees it. A service
 * that does not answer keeps back what the bot does not know itself: throws `ServiceFailure`.
 */
export function createRevealEmail(deps: RevealDeps): RevealEmail {
  return async function revealEmail({ reference, by, where }) {
    const email = await findEmail(deps, reference);
    if (email === undefined) return { kind: 'no_address' };
    const { account, now } = deps;
    const atMs = now();
    try {
      await deps.audit({
        id: `reveal:${by}:${reference}:${atMs}`,
        atMs,
        who: by,
        where,
        what: 'reveal',
        ...(account === undefined ? {} : { account }),
        reference,
        result: 'revealed',
      });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      deps.log('error', 'an address is not revealed: the audit takes no entry', { userId: by }, error);
      return { kind: 'not_on_record' };
    }
    return { kind: 'revealed', email };
  };
}

async function findEmail(
  { findTransaction, ownEmail }: RevealDeps,
  reference: OrderReference,
): Promise<string | undefined> {
  const own = (await ownEmail(reference))?.trim() || undefined;
  try {
    const found = await findTransaction(reference);
    // A record of another order has another customer.
    const theirs = found?.orderReference === reference ? found.customerEmail?.trim() : undefined;
    return theirs || own;
  } catch (error) {
    if (error instanceof ServiceFailure && own !== undefined) return own;
    throw error;
  }
}
