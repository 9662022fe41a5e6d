import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { draftKeepMs, draftsOfCard } from '../../domain/card-drafts.ts';
import type { ChargeTerms } from '../../domain/charge-terms.ts';
import { createRecords, type RecordsDeps } from '../../records/records.ts';
import type { Fingerprint } from '../../records/fingerprint.ts';
import { chargeTerms } from './charge-record.ts';

/** The terms of a charge under review, until they are submitted. All of it throws StoreUnavailable. */
export type ChargeDrafts = {
  /**
   * Keeps the terms for half an hour in place of the dialogue's earlier ones, and gives a word for exactly them:
   * the same terms kept again give the same word. It reveals nothing of them, so it may stand in a view.
   */
  keep(viewId: string, terms: ChargeTerms): Promise<string>;
  /** The terms, if they are the ones this word was given for; undefined when they are gone or others by now. */
  read(viewId: string, word: string): Promise<ChargeTerms | undefined>;
};

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
