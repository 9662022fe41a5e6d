import { setTimeout as sleep } from 'node:timers/promises';
import type { Sealer, Store } from '../store/store.ts';

/** The sealer, and the ids of the configured keys; the first one seals. */
type Sealing = { sealer: Sealer; keyIds: readonly string[] };

/**
 * The context for which an alert's evidence is sealed, a second sealed text within the alert's record. No record has it
 * as its key.
 */
export function evidenceContext(key: string): string {
  return `${key}#evidence`;
}

/** The result of one run over the store. */
export type Resealed = {
  /** Records that are now sealed with the first key. */
  resealed: number;
  /** Records that a running bot was working on; run it again for these. */
  busy: number;
  /** Keys of records that no configured key opens, by the id of the key that sealed them. */
  unopened: ReadonlyMap<string, readonly string[]>;
};

/** A text sealed by `createSealer`, anywhere in a value: alone, in JSON, or as the signature before an audit block. */
const sealedText = /(?<![\w.-])([\w-]{1,32})\.([\w-]{38,})(?![\w.-])/g;
const tries = 5;
const againMs = 200;

/**
 * Reseals every record that is sealed with another key than the first, one by one, by compare-and-swap. Bots may run
 * meanwhile; if interrupted, run it again. Due times and expiry stay. Throws StoreUnavailable.
 */
export async function reseal(
  store: Pick<Store, 'keysAfter' | 'read' | 'replace'>,
  sealing: Sealing,
): Promise<Resealed> {
  const unopened = new Map<string, string[]>();
  const counts = { resealed: 0, busy: 0 };
  let after: string | undefined = '';
  // One record at a time, because running bots need the store more.
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
  // A try fails if a bot changes the record meanwhile; the next try reads the new value.
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const entry = await store.read(key);
    if (!entry) return 'current';
    const missing = new Set<string>();
    const value = resealText(sealing, key, entry.value, (id) => missing.add(id));
    if (value === entry.value || (await store.replace(entry, value))) {
      for (const id of missing) unopened.set(id, [...(unopened.get(id) ?? []), key]);
      return value === entry.value ? 'current' : 'resealed';
    }
    await sleep(againMs);
  }
  return 'busy';
}

/**
 * Reseals with the first key everything that is sealed in the text, also sealed text within sealed text, as in a
 * charge. A part that no key opens stays; if it is certainly sealed text, not other text of the same form, `onUnopened`
 * gets the id of the key that sealed it.
 */
export function resealText(
  sealing: Sealing,
  key: string,
  text: string,
  onUnopened: (id: string) => void,
): string {
  const { sealer, keyIds } = sealing;
  return text.replace(sealedText, (sealed: string, id: string) => {
    const opened = [key, evidenceContext(key)].map((context) => ({
      context,
      plain: openOrNot(sealer, context, sealed),
    }));
    const found = opened.find(({ plain }) => plain !== undefined);
    if (found?.plain === undefined) {
      if (keyIds.includes(id) || sealed === text) onUnopened(id);
      return sealed;
    }
    const plain = resealText(sealing, key, found.plain, onUnopened);
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
