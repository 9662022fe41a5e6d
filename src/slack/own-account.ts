import { AsyncLocalStorage } from 'node:async_hooks';
import { merchantId, merchantPrefix, type Merchant } from '../domain/merchant.ts';

const current = new AsyncLocalStorage<Merchant | undefined>();

/**
 * Runs the work for this merchant account; undefined with one account. Buttons and modals made meanwhile carry the account's
 * name, so a press reaches that account even if the channel's default changes.
 */
export function inAccount<T>(merchant: Merchant | undefined, work: () => T): T {
  return current.run(merchant, work);
}

/** The id for messages and modals of the current account. */
export function ownId(id: string): string {
  const merchant = current.getStore();
  return merchant ? merchantId(id, merchant) : id;
}

/**
 * The key by which the bot finds a post of the current account again: two accounts may post about the same reference in one
 * channel. The account's name is a prefix, because keys end in outside text, which could imitate a suffix.
 */
export function ownKey(key: string): string {
  const merchant = current.getStore();
  return merchant && !merchant.isFirst ? `${merchantPrefix(merchant.name)}${key}` : key;
}
