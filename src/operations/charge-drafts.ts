import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { ChargeTerms } from '../domain/charge-terms.ts';
import { createChangeRecord, type RecordStore } from './change-record.ts';
import type { Sealer } from './outbox.ts';

/** The terms a dialogue has read back, until they are agreed to. All of it throws StoreUnavailable when the store is away. */
export type ChargeDrafts = {
  /**
   * Keeps the terms for half an hour in place of the dialogue's earlier ones, and gives a word for exactly them:
   * the same terms kept again give the same word. The word reveals nothing of them, so it may stand in a view.
   */
  keep(viewId: string, terms: ChargeTerms): Promise<string>;
  /** The terms, if they are the ones this word was given for; undefined when they are gone or others by now. */
  read(viewId: string, draft: string): Promise<ChargeTerms | undefined>;
};

const keepMs = 30 * 60_000;
const wordLength = 32;

/** The order of the fields here is the order in which they are hashed, whatever order they come in. */
const chargeTerms = z.object({
  tokenKey: z.string(),
  card: z.object({ cardType: z.string().exactOptional(), lastFour: z.string().exactOptional() }),
  money: z.object({ minor: z.number().int(), currency: z.string() }),
  customerEmail: z.string(),
  customerId: z.string().exactOptional(),
  reason: z.string().exactOptional(),
});

/** `salt`: an e-mail and an amount could be guessed from a plain hash of them. */
const draftBody = z.object({ salt: z.string(), terms: chargeTerms });

type Draft = z.infer<typeof draftBody>;

export function createChargeDrafts(deps: { store: RecordStore; sealer: Sealer }): ChargeDrafts {
  const changeRecord = createChangeRecord(deps.store);
  function open(key: string, sealed: string): Draft {
    return draftBody.parse(JSON.parse(deps.sealer.open(key, sealed)));
  }
  return {
    keep(viewId, given) {
      const key = keyOf(viewId);
      const terms = chargeTerms.parse(given);
      const newSalt = randomBytes(16).toString('hex');
      return changeRecord(key, (text) => {
        const salt = text === undefined ? newSalt : open(key, text).salt;
        const draft: Draft = { salt, terms };
        const value = deps.sealer.seal(key, JSON.stringify(draft));
        return { kind: 'write', value, ttlMs: keepMs, result: wordOf(draft) };
      });
    },
    async read(viewId, word) {
      const key = keyOf(viewId);
      const entry = await deps.store.read(key);
      if (!entry) return undefined;
      const draft = open(key, entry.value);
      return wordOf(draft) === word ? draft.terms : undefined;
    },
  };
}

function keyOf(viewId: string): string {
  return `draft:${viewId}`;
}

function wordOf({ salt, terms }: Draft): string {
  const text = `${salt}\n${JSON.stringify(terms)}`;
  return createHash('sha256').update(text).digest('hex').slice(0, wordLength);
}
