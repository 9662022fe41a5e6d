import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { ChargeTerms } from '../../domain/charge-terms.ts';
import { createRecords, type RecordsDeps } from '../../records/records.ts';
import type { Store } from '../../store/store.ts';
import { createChangeRecord, pagesOf, type RecordStore } from '../../records/change-record.ts';
import type { Fingerprint } from '../../records/fingerprint.ts';
import { chargeTerms } from './charge-record.ts';

/** The terms of a charge that a dialogue has read back, until they are agreed to. All of it throws StoreUnavailable. */
export type ChargeDrafts = {
  /**
   * Keeps the terms for half an hour in place of the dialogue's earlier ones, and gives a word for exactly them:
   * the same terms kept again give the same word. It reveals nothing of them, so it may stand in a view.
   */
  keep(viewId: string, terms: ChargeTerms): Promise<string>;
  /** The terms, if they are the ones this word was given for; undefined when they are gone or others by now. */
  read(viewId: string, word: string): Promise<ChargeTerms | undefined>;
};

export const draftKeepMs = 30 * 60_000;

const chargeDraft = z.object({ word: z.string(), card: z.string(), terms: chargeTerms });

export function createChargeDrafts(deps: RecordsDeps & { fingerprint: Fingerprint }): ChargeDrafts {
  const records = createRecords<z.infer<typeof chargeDraft>>(deps, {
    prefix: 'draft:',
    schema: chargeDraft,
    lists: ({ card }) => ({ [draftsOfCard(card)]: 0 }),
  });
  return {
    async keep(viewId, given) {
      // In the order of the schema, whatever order they come in.
      const terms = chargeTerms.parse(given);
      const card = await deps.fingerprint(terms.tokenKey);
      const newWord = randomBytes(16).toString('hex');
      return await records.change(viewId, (before) => {
        const isSame = before && JSON.stringify(before.terms) === JSON.stringify(terms);
        const word = isSame ? before.word : newWord;
        return { kind: 'write', value: { word, card, terms }, rest: { ttlMs: draftKeepMs }, result: word };
      });
    },
    async read(viewId, word) {
      const draft = await records.read(viewId);
      return draft?.word === word ? draft.terms : undefined;
    },
  };
}

/** The list of what is read back about a card, by its fingerprint, and holds its token. */
export function draftsOfCard(card: string): string {
  return `drafts-of-card:${card}`;
}

/** Forgets every draft about the card: none of them can be agreed to any more. Throws StoreUnavailable. */
export async function forgetDrafts(store: RecordStore & Pick<Store, 'list'>, card: string): Promise<void> {
  const changeRecord = createChangeRecord(store);
  for await (const drafts of pagesOf(store, draftsOfCard(card))) {
    await Promise.all(
      drafts.map(({ key }) =>
        changeRecord(key, () => ({ kind: 'write', value: '', ttlMs: 0, index: {}, result: undefined })),
      ),
    );
  }
}
