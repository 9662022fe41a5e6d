import { z } from 'zod';
import { createChangeRecord, type RecordStore } from '../work/change-record.ts';
import { draftKeepMs } from '../work/drafts.ts';
import type { Fingerprint } from '../work/fingerprint.ts';

/** Which drafts hold a card's token. All of it throws StoreUnavailable. */
export type DraftsOfCard = {
  /** Called before a draft is kept, so that none is lacking here. */
  kept(key: string, terms: { tokenKey: string }): Promise<void>;
  /**
   * Forgets every draft about the card, by its fingerprint: none of them can be agreed to any more. One that is being
   * kept at this very moment may stay; the service refuses what is agreed to on it.
   */
  forget(card: string): Promise<void>;
};

/** More dialogues than this about one card within half an hour are no people's; the oldest end by themselves. */
const mostDrafts = 50;

const keys = z.array(z.string());

export function createDraftsOfCard(deps: { store: RecordStore; fingerprint: Fingerprint }): DraftsOfCard {
  const { store, fingerprint } = deps;
  const changeRecord = createChangeRecord(store);
  return {
    async kept(key, { tokenKey }) {
      await changeRecord(keyOf(await fingerprint(tokenKey)), (text) => {
        const others = read(text).filter((one) => one !== key);
        const value = JSON.stringify([key, ...others].slice(0, mostDrafts));
        return { kind: 'write', value, ttlMs: draftKeepMs, result: undefined };
      });
    },
    async forget(card) {
      const key = keyOf(card);
      const entry = await store.read(key);
      const drafts = read(entry?.value);
      await Promise.all([...drafts, ...(entry ? [key] : [])].map((one) => remove(one)));
    },
  };

  async function remove(key: string): Promise<void> {
    await changeRecord(key, (text) =>
      text === undefined
        ? { kind: 'keep', result: undefined }
        : { kind: 'write', value: '', ttlMs: 0, result: undefined },
    );
  }
}

function keyOf(card: string): string {
  return `drafts-of-card:${card}`;
}

function read(text: string | undefined): string[] {
  return text === undefined || text === '' ? [] : keys.parse(JSON.parse(text));
}
