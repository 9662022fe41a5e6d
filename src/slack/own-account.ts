import { AsyncLocalStorage } from 'node:async_hooks';
import { merchantId, merchantPrefix, type Merchant } from '../domain/merchant.ts';

const working = new AsyncLocalStorage<Merchant | undefined>();

/**
 * Runs the work for this merchant account: buttons and modals made meanwhile carry its name, so a press always reaches the
 * account that made it, even if the channel's default changes. Undefined with one account.
 */
export function inAccount<T>(merchant: Merchant | undefined, work: () => T): T {
  return working.run(merchant, work);
}

/** The id for messages and modals of the current account. */
export function ownId(id: string): string {
  const merchant = working.getStore();
  return merchant ? merchantId(id, merchant) : id;
}

/**
 * The key that finds a post of the current account again: two accounts may post the same reference in one channel. The name
 * comes before the key: outside text ends a key, and could imitate a suffix.
 */
export function ownKey(key: string): string {
  const merchant = working.getStore();
  return merchant && !merchant.isFirst ? `${merchantPrefix(merchant.name)}${key}` : key;
}
