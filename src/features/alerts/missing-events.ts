import { z } from 'zod';
import type { Entry, Sealer, Store } from '../../store/store.ts';
import { paymentPrefix } from './alert-recovery.ts';
import { newestEventMs } from './event-log.ts';
import { counted } from '../../domain/wording.ts';
import type { Log } from '../../log.ts';
import { type Operators, tellOperators } from '../../messages/messages.ts';
import { rich } from '../../slack/kit/blocks.ts';

type MissingEventsDeps = Omit<Operators, 'store'> & {
  store: Operators['store'] & Pick<Store, 'read' | 'write' | 'list'>;
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

const everyMs = 3_600_000;
/** Work that is due for so long says that no replica was there to do it, nor to receive anything. */
const awayMs = 300_000;

/** Tells the operators, once an hour at most, of a charge that is paid and whose event never came; the log names each. */
export function createMissingEvents(deps: MissingEventsDeps): MissingEvents {
  const { store, waitMs, readsReference, now, log } = deps;
  return {
    async approved(reference) {
      if (waitMs > 0) await store.create(alarmPrefix + reference, String(now()), { delayMs: waitMs });
    },
    async work(entry) {
      const atMs = Number(entry.value);
      const reference = entry.key.slice(alarmPrefix.length);
      const isSilent = ((await newestEventMs(deps)) ?? 0) < atMs;
      const hasCome = readsReference ? (await store.read(successKey(reference))) !== undefined : !isSilent;
      // No replica was there to receive it either: it has as long once more.
      if (!hasCome && waitMs > 0 && entry.attempts === 1 && now() - atMs > waitMs + awayMs) {
        await store.write(entry, entry.value, { delayMs: waitMs });
        return;
      }
      if (!hasCome && waitMs > 0) {
        log('warn', 'The event of an approved charge never came', { key: entry.key });
        const hour = Math.floor((atMs + waitMs) / everyMs);
        await tellOperators(deps, `${alarmPrefix}${hour}`, {
          state: 'A charge is paid, but its event never came',
          about: [reference],
          lines: [rich`${missingWords(waitMs)}`, rich`${isSilent ? silentWords : otherWords}`],
        });
      }
      await store.write(entry, '', { ttlMs: 0 });
    },
  };
}

function missingWords(waitMs: number): string {
  const minutes = Math.round(waitMs / 60_000);
  const waited = minutes % 60 === 0 ? counted(minutes / 60, 'hour') : counted(minutes, 'minute');
  return `It was approved by look-up more than ${waited} ago, without a signed payment_success since. The charge stands. More of this hour are in the log.`;
}

const silentWords =
  'No webhook has come at all since. Check the address at the payments service, the proxy and the certificate: charges that fail elsewhere are not told meanwhile.';
const otherWords =
  'Look at the payments service whether the event was sent and how it was answered; an event that names another reference than the charge’s counts as none.';

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
  let lastMs = -Infinity;
  return function remember(atMs, why) {
    if (atMs - lastMs < minuteMs) return;
    lastMs = atMs;
    note(JSON.stringify({ atMs, why: why() })).catch((error: unknown) =>
      log('debug', 'why a webhook was refused is not on record', {}, error),
    );
  };
  /** Where another replica notes one at the same moment, that one stays. */
  async function note(value: string): Promise<void> {
    const entry = await store.read(refusedKey);
    const kept = { ttlMs: weekMs };
    await (entry ? store.write(entry, value, kept) : store.create(refusedKey, value, kept));
  }
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
