import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Store } from '../../store/store.ts';
import { createChangeRecord, pagesOf, type RecordStore } from './change-record.ts';
import type { Fingerprint } from './fingerprint.ts';
import type { Sealer } from '../../domain/sealer.ts';

/** The terms a dialogue has read back, until they are agreed to. All of it throws StoreUnavailable when the store is away. */
export type Drafts<Terms> = {
  /**
   * Keeps the terms for half an hour in place of the dialogue's earlier ones, and gives a word for exactly them:
   * the same terms kept again give the same word, unless it was taken meanwhile. The word reveals nothing of
   * them, so it may stand in a view.
   */
  keep(viewId: string, terms: Terms): Promise<string>;
  /** The terms, if they are the ones this word was given for; undefined when they are gone or others by now. */
  read(viewId: string, draft: string): Promise<Terms | undefined>;
  /**
   * The terms to act on: of all who ask with the same word, on every replica and after a crash, only the first
   * is given `taken`. Taken terms can still be read.
   */
  take(viewId: string, draft: string): Promise<Taking<Terms>>;
};

export type Taking<Terms> =
  | { kind: 'taken'; terms: Terms }
  | { kind: 'taken_before'; terms: Terms }
  | { kind: 'gone' };

const draftKeepMs = 30 * 60_000;
const wordLength = 32;

/** `salt`: an e-mail and an amount could be guessed from a plain hash of them. */
const draftBody = z.object({ salt: z.string(), terms: z.unknown(), taken: z.literal(true).exactOptional() });

type Draft<Terms> = { salt: string; terms: Terms; taken?: true };

/**
 * `prefix` keeps the kinds of terms apart. The order of the fields of `terms` is the order in which they are hashed,
 * whatever order they come in.
 */
export function createDrafts<Terms extends { tokenKey: string }>(
  deps: { store: RecordStore; sealer: Sealer; fingerprint: Fingerprint },
  { prefix, terms: schema }: { prefix: string; terms: z.ZodType<Terms> },
): Drafts<Terms> {
  const { store, sealer, fingerprint } = deps;
  const changeRecord = createChangeRecord(store);
  const keyOf = (viewId: string): string => `${prefix}:${viewId}`;
  function open(key: string, sealed: string): Draft<Terms> {
    const draft = draftBody.parse(JSON.parse(sealer.open(key, sealed)));
    return { ...draft, terms: schema.parse(draft.terms) };
  }
  const seal = (key: string, draft: Draft<Terms>): string => sealer.seal(key, JSON.stringify(draft));
  return {
    async keep(viewId, given) {
      const key = keyOf(viewId);
      const terms = schema.parse(given);
      const index = { [listOf(await fingerprint(terms.tokenKey))]: 0 };
      const newSalt = randomBytes(16).toString('hex');
      return changeRecord(key, (text) => {
        const earlier = text === undefined ? undefined : open(key, text);
        // A word that was taken must not be given again: its repeat would agree to something new.
        const salt = earlier === undefined || earlier.taken ? newSalt : earlier.salt;
        const draft = { salt, terms };
        return { kind: 'write', value: seal(key, draft), ttlMs: draftKeepMs, index, result: wordOf(draft) };
      });
    },
    async read(viewId, word) {
      const key = keyOf(viewId);
      const entry = await store.read(key);
      if (!entry) return undefined;
      const draft = open(key, entry.value);
      return wordOf(draft) === word ? draft.terms : undefined;
    },
    take(viewId, word) {
      const key = keyOf(viewId);
      return changeRecord<Taking<Terms>>(key, (text) => {
        const draft = text === undefined ? undefined : open(key, text);
        if (!draft || wordOf(draft) !== word) return { kind: 'keep', result: { kind: 'gone' } };
        const { terms } = draft;
        if (draft.taken) return { kind: 'keep', result: { kind: 'taken_before', terms } };
        const value = seal(key, { ...draft, taken: true });
        return { kind: 'write', value, ttlMs: draftKeepMs, result: { kind: 'taken', terms } };
      });
    },
  };
}

/** Forgets every draft about the card, by its fingerprint: none of them can be agreed to any more. Throws StoreUnavailable. */
export async function forgetDrafts(store: RecordStore & Pick<Store, 'list'>, card: string): Promise<void> {
  const changeRecord = createChangeRecord(store);
  for await (const drafts of pagesOf(store, listOf(card))) {
    await Promise.all(
      drafts.map(({ key }) =>
        changeRecord(key, () => ({ kind: 'write', value: '', ttlMs: 0, index: {}, result: undefined })),
      ),
    );
  }
}

function listOf(card: string): string {
  return `drafts-of-card:${card}`;
}

function wordOf({ salt, terms }: Draft<unknown>): string {
  const text = `${salt}\n${JSON.stringify(terms)}`;
  return createHash('sha256').update(text).digest('hex').slice(0, wordLength);
}
