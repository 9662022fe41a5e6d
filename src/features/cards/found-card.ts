import type { Account, Finder } from '../../account.ts';
import { openRecord } from '../../records/records.ts';
import { storedCard } from './card-ledger.ts';

export function cardFinder({ sealer }: Pick<Account, 'sealer'>): Finder {
  return {
    prefix: storedCard.prefix,
    async read(entry) {
      const { face, customerEmail, savedAt } = openRecord(sealer, storedCard, entry);
      return {
        kind: 'saved card',
        isProven: false,
        isInDoubt: false,
        state: '💳 Saved card',
        atMs: savedAt,
        card: face,
        ...(customerEmail !== undefined && { customerEmail }),
        isFailed: false,
        isOpen: false,
      };
    },
  };
}
