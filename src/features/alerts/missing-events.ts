import { z } from 'zod';
import { counted } from '../../domain/wording.ts';
import type { Notice } from '../../domain/notice.ts';
import type { Sealer, Entry, Store } from '../../store/store.ts';
import { paymentPrefix } from './alert-recovery.ts';
import { newestEventMs } from './event-log.ts';
import type { Log } from '../../log.ts';
import { type TellDeps, tellOperators } from '../../messages/messages.ts';
import { createChangeRecord, entriesOf } from '../../records/change-record.ts';

type MissingEventsDeps = Omit<TellDeps, 'store'> & {
  store: TellDeps['store'] & Pick<Store, 'read' | 'write' | 'list'>;
  /** How long the event of an approved charge may take; 0: nobody asks. */
  waitMs: number;
  /** False where the signature does not cover the reference: then any event since stands for the charge's own. */
  readsReference: boolean;
  now: () => number;
  log: Log;
};

export type MissingEvents = {
  /** Of a charge that was approved without its event; on record when it resolves, and again is the same as once. */
  approved: (reference: string) => Promise<void>;
  /** A record whose key begins with `alarmPrefix`, given out as due. */
  work: (entry: Entry) => Promise<void>;
};

export const alarmPrefix = 'alarm:';
/** One lane for all of it, so that replicas take turns. */
const alarmLane = `${alarmPrefix}lane`;
const eventPrefix = `${alarmPrefix}event:`;
const tellKey = `${alarmPrefix}missing`;
const missingList = 'missing-events';

const everyMs = 3_600_000;
/** Work that is due for so long says that no replica was there to do it, nor to receive anything. */
const awayMs = 300_000;
const holdMs = 30_000;
const mostListed = 10;

/** Tells the operators, once an hour at most and all of that hour together, of charges that are paid and whose event never came. */
export function createMissingEvents(deps: MissingEventsDeps): MissingEvents {
  const { store, waitMs, readsReference, now, log } = deps;

  async function hasCome(reference: string, atMs: number): Promise<boolean> {
    if (!readsReference) return ((await newestEventMs(deps)) ?? 0) >= atMs;
    return (await store.read(successKey(reference))) !== undefined;
  }

  async function lookForEvent(entry: Entry): Promise<void> {
    const atMs = Number(entry.value);
    if (waitMs === 0 || (await hasCome(referenceOf(entry), atMs))) return await forget(entry);
    // No replica was there to receive it either: it has as long once more.
    if (entry.attempts === 1 && now() - atMs > waitMs + awayMs) {
      await store.write(entry, entry.value, { delayMs: waitMs });
      return;
    }
    await store.create(tellKey, '', { delayMs: 0, lane: alarmLane });
    await store.write(entry, entry.value, { index: { [missingList]: atMs } });
  }

  async function forget(entry: Entry): Promise<void> {
    await store.write(entry, '', { ttlMs: 0, index: {} });
  }

  /** What is told stands in the record before: after a crash the same is told under the same name, which is once. */
  async function tell(entry: Entry): Promise<void> {
    const listed = await entriesOf(store, missingList);
    const told = entry.value === '' ? await stillMissing(listed) : (JSON.parse(entry.value) as Told);
    if (told.keys.length === 0) return await forget(entry);
    const held = await store.write(entry, JSON.stringify(told), { holdMs });
    if (!held) return;
    await say(told);
    await Promise.all(listed.filter(({ key }) => told.keys.includes(key)).map(forget));
    await store.write(held, '', { delayMs: everyMs });
  }

  async function stillMissing(listed: readonly Entry[]): Promise<Told> {
    const judged = await Promise.all(
      listed.map(async (entry) => ({
        entry,
        hasCome: await hasCome(referenceOf(entry), Number(entry.value)),
      })),
    );
    await Promise.all(judged.filter((one) => one.hasCome).map(({ entry }) => forget(entry)));
    const missing = judged.filter((one) => !one.hasCome).map(({ entry }) => entry);
    return { keys: missing.map(({ key }) => key), firstMs: Number(missing[0]?.value ?? 0) };
  }

  async function say({ keys, firstMs }: Told): Promise<void> {
    const references = keys.map((key) => referenceOf({ key }));
    const newestMs = await newestEventMs(deps);
    const notice: Notice = {
      kind: 'events_missing',
      references: references.slice(0, mostListed),
      more: Math.max(0, references.length - mostListed),
      minutes: Math.round(waitMs / 60_000),
      // Nothing at all has come since: then it is not these charges alone.
      ...(newestMs === undefined || newestMs < firstMs ? { isSilent: true } : {}),
    };
    const none = notice.isSilent ? '; no webhook has come at all since' : '';
    log('warn', `The events of ${counted(references.length, 'approved charge')} never came${none}`);
    await tellOperators(deps, `${tellKey}:${keys[0]}:${firstMs}`, notice);
  }

  return {
    async approved(reference) {
      if (waitMs === 0) return;
      const due = { delayMs: waitMs, lane: alarmLane };
      await store.create(`${eventPrefix}${reference}`, String(now()), due);
    },
    work: (entry) => (entry.key === tellKey ? tell(entry) : lookForEvent(entry)),
  };
}

/** Keys of the charges' records, and when the first of them was approved (UTC ms). */
type Told = { keys: readonly string[]; firstMs: number };

function referenceOf({ key }: Pick<Entry, 'key'>): string {
  return key.slice(eventPrefix.length);
}

/** The record of a success of this reference, told or not, as its repeats have it too. */
export function successKey(reference: string): string {
  return `${paymentPrefix}payment_success/order/${reference}`;
}

/** When an event was kept last, and why a delivery was refused last; UTC ms. */
type SeenWebhooks = { acceptedAtMs?: number; refused?: { atMs: number; why: string } };

const refusedKey = 'webhook-refused';
const refusal = z.object({ atMs: z.number(), why: z.string() });
const minuteMs = 60_000;
const weekMs = 7 * 86_400_000;

/** Remembers, for the doctor, why a delivery was refused: one a minute at most, as strangers may send them. Never throws. */
export function createRefusalMemory(
  store: Pick<Store, 'create' | 'read' | 'write'>,
  log: Log,
): (atMs: number, why: () => string) => void {
  const changeRecord = createChangeRecord(store);
  let lastMs = -Infinity;
  return function remember(atMs, why) {
    if (atMs - lastMs < minuteMs) return;
    lastMs = atMs;
    const value = JSON.stringify({ atMs, why: why() });
    changeRecord(refusedKey, () => ({ kind: 'write', value, ttlMs: weekMs, result: undefined })).catch(
      (error: unknown) => log('debug', 'why a webhook was refused is not on record', {}, error),
    );
  };
}

export async function readSeenWebhooks(kept: {
  store: Pick<Store, 'read' | 'list'>;
  sealer: Sealer;
}): Promise<SeenWebhooks> {
  const [acceptedAtMs, entry] = await Promise.all([newestEventMs(kept), kept.store.read(refusedKey)]);
  return {
    ...(acceptedAtMs === undefined ? {} : { acceptedAtMs }),
    ...(entry && { refused: refusal.parse(JSON.parse(entry.value)) }),
  };
}
