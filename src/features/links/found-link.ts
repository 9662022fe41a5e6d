import type { Account, Finder } from '../../account.ts';
import type { FoundRecord } from '../../domain/found-record.ts';
import { openRecord } from '../../records/records.ts';
import { isFollowed, outcomeAtMs, storedLink, type PaymentLink } from './link-case.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { linkHead } from './link-screens.ts';

export function linkReader({ sealer }: Pick<Account, 'sealer'>): Finder {
  return {
    prefix: storedLink.prefix,
    read: async (entry) => foundLink(openRecord(sealer, storedLink, entry).state),
  };
}

function foundLink(link: PaymentLink): FoundRecord {
  const { reference, terms, askedAtMs, state, failure, cardSaved } = link;
  return {
    kind: 'payment link',
    isProven: state.kind === 'paid',
    isInDoubt: state.kind === 'review',
    agent: link.by,
    state: linkHead(link).state,
    atMs: askedAtMs,
    ...withoutUndefined({ outcomeAtMs: outcomeAtMs(link) }),
    reference,
    money: terms.money,
    ...(cardSaved && 'face' in cardSaved && { card: cardSaved.face }),
    customerEmail: terms.customerEmail,
    isFailed: state.kind === 'refused' || (failure !== undefined && state.kind !== 'paid'),
    isOpen: isFollowed(link),
  };
}
