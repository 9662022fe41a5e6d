import { setTimeout as rest } from 'node:timers/promises';
import type { Sealer, Store } from '../store/store.ts';

/** What seals, and the ids of the keys that are here; the first seals. */
type Sealing = { sealer: Sealer; keyIds: readonly string[] };

/** What stands sealed beside a record's own text is sealed for this: an alert's evidence. */
export function evidenceOf(key: string): string {
  return `${key}#evidence`;
}

/** What a round over the store came to. */
export type Resealed = {
  /** Records that are sealed under the first key by now. */
  resealed: number;
  /** Records that a running bot works on: another round finds them free. */
  busy: number;
  /** Keys of records that no key here opens, by the id of the key that sealed them. */
  unopened: ReadonlyMap<string, readonly string[]>;
};

/** Sealed text, as `createSealer` makes it, wherever it stands in a value: alone, in JSON, or in front of what it signs. */
const sealedText = /(?<![\w.-])([\w-]{1,32})\.([\w-]{38,})(?![\w.-])/g;
const tries = 5;
const againMs = 200;

/**
 * Seals under the first key whatever the store holds under another, record by record, by compare-and-swap: a bot may
 * run, and a round that is broken off is taken up by the next. What is due or expires stays so. Throws StoreUnavailable.
 */
export async function reseal(
  store: Pick<Store, 'keysAfter' | 'read' | 'replace'>,
  sealing: Sealing,
): Promise<Resealed> {
  const unopened = new Map<string, string[]>();
  const counts = { resealed: 0, busy: 0 };
  let after: string | undefined = '';
  // Bots that run need the store more.
  while (after !== undefined) {
    const page: Awaited<ReturnType<Store['keysAfter']>> = await store.keysAfter(after);
    for (const key of page.keys) {
      const end = await resealRecord(store, sealing, key, unopened);
      if (end !== 'current') counts[end] += 1;
    }
    after = page.next;
  }
  return { ...counts, unopened };
}

async function resealRecord(
  store: Pick<Store, 'read' | 'replace'>,
  sealing: Sealing,
  key: string,
  unopened: Map<string, string[]>,
): Promise<'current' | 'resealed' | 'busy'> {
  // Each try reads what the last one lost to.
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const entry = await store.read(key);
    if (!entry) return 'current';
    const lost = new Set<string>();
    const value = resealText(sealing, key, entry.value, (id) => lost.add(id));
    if (value === entry.value || (await store.replace(entry, value))) {
      for (const id of lost) unopened.set(id, [...(unopened.get(id) ?? []), key]);
      return value === entry.value ? 'current' : 'resealed';
    }
    await rest(againMs);
  }
  return 'busy';
}

/**
 * The text with all that is sealed in it sealed under the first key; `lose` is told the key of what could not be opened,
 * which stays. What is sealed may hold something sealed: a charge does.
 */
export function resealText(sealing: Sealing, key: string, text: string, lose: (id: string) => void): string {
  const { sealer, keyIds } = sealing;
  return text.replace(sealedText, (sealed: string, id: string) => {
    const opened = [key, evidenceOf(key)].map((context) => ({
      context,
      plain: openOrNot(sealer, context, sealed),
    }));
    const found = opened.find(({ plain }) => plain !== undefined);
    if (found?.plain === undefined) {
      if (keyIds.includes(id) || sealed === text) lose(id);
      return sealed;
    }
    const plain = resealText(sealing, key, found.plain, lose);
    const isCurrent = id === keyIds[0] && plain === found.plain;
    return isCurrent ? sealed : sealer.seal(found.context, plain);
  });
}

function openOrNot(sealer: Sealer, context: string, sealed: string): string | undefined {
  try {
    return sealer.open(context, sealed);
  } catch {
    return undefined;
  }
}
