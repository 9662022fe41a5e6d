import { isFollowed, type PaymentLink } from '../../domain/payment-link.ts';
import type { Entry, Index } from '../../store/store.ts';
import type { Sealer } from '../../domain/sealer.ts';

/** One link as the store keeps it, sealed whole. */
export type LinkRecord = {
  link: PaymentLink;
  /** The dialogue that asked for it: submitted twice, it asks once. */
  viewId: string;
  /** Rises with everything that is to be told; `told`: up to which it was. */
  turn: number;
  told: number;
};

export const linkPrefix = 'link:';

export function linkKey(reference: string): string {
  return `${linkPrefix}${reference}`;
}

/** The list of a person's links that are still followed. */
export function linksOf(userId: string): string {
  return `links-of:${userId}`;
}

export function listsOfLink({ link }: LinkRecord): Index {
  return isFollowed(link) ? { [linksOf(link.by)]: link.askedAtMs } : {};
}

/** By the service's own id of the order, which an event may have instead; outside text, so as a hash. */
export function linkOrderKey(orderIdHash: string): string {
  return `link-order:${orderIdHash}`;
}

export function sealLink(sealer: Sealer, record: LinkRecord): string {
  return sealer.seal(linkKey(record.link.reference), JSON.stringify(record));
}

/** It was typed when it was sealed, under a key only this program holds. Throws when it was sealed with a lost key. */
export function openLinkRecord(sealer: Sealer, key: string, value: Entry['value']): LinkRecord {
  return JSON.parse(sealer.open(key, value)) as LinkRecord;
}
