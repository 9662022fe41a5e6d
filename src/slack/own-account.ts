import { AsyncLocalStorage } from 'node:async_hooks';
import { merchantId, merchantPrefix, type Merchant } from '../domain/merchant.ts';

const working = new AsyncLocalStorage<Merchant | undefined>();

/**
 * Does the work as this merchant account's: every button and modal that is made meanwhile bears its name, so that what
 * is pressed in a message reaches no account but the one that made it, whatever the channel's default is by then.
 * Undefined in a bot that knows one account alone.
 */
export function inAccount<T>(merchant: Merchant | undefined, work: () => T): T {
  return working.run(merchant, work);
}

/** The id as it stands in a message or modal of the account at work. */
export function ownId(id: string): string {
  const merchant = working.getStore();
  return merchant ? merchantId(id, merchant) : id;
}

/**
 * The key by which a post of the account at work is found again: two accounts may tell of one reference in one channel.
 * Its name stands before the key and not behind it: outside text ends a key, and could end like this account's.
 */
export function ownKey(key: string): string {
  const merchant = working.getStore();
  return merchant && !merchant.isFirst ? `${merchantPrefix(merchant.name)}${key}` : key;
}
