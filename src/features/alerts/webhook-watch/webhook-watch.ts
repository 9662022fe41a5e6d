import { z } from 'zod';
import { counted } from '../../../domain/counted.ts';
import type { Alarm } from '../../../domain/notice.ts';
import type { Log } from '../../../log.ts';
import { createCases, type CasesDeps } from '../../../records/cases.ts';
import type { Entry, Store } from '../../../store/store.ts';
import { alertKey } from '../../../messages/message-record.ts';
import { type TellDeps, tellOperators } from '../../../messages/messages.ts';
import {
  awayMs,
  minuteMs,
  mostCharges,
  nothingSeen,
  stepWebhooks,
  unexplained,
  webhookState,
  type AlarmRules,
  type Charge,
  type Seen,
  type WebhookEvent,
  type WebhookState,
} from './webhook-state.ts';

export type WatchDeps = TellDeps & Omit<CasesDeps, 'audit' | 'rememberMs'> & { rules: AlarmRules; log: Log };

/**
 * A charge that the service surely processed; `hasEvent`: the signed event of this outcome came before it was known.
 * Spec: Events.
 */
export type ProcessedCharge = { reference: string; outcome: 'approved' | 'declined'; hasEvent: boolean };

export type WebhookWatch = {
  /** A delivery whose signature holds, whatever becomes of it. Costs no call of the store. */
  accepted: () => void;
  /** One whose signature does not. `explain` is called later, for one refusal a minute at most. Costs no call of the store. */
  refused: (explain: () => string) => void;
  /** An approved one is on record when it resolves; the same charge again is the same as once. Throws StoreUnavailable. */
  processed: (charge: ProcessedCharge) => Promise<void>;
  /** Puts what was seen since the last time on record; no call of the store when nothing was. Never throws. */
  flush: () => Promise<void>;
  /** Flushes every minute until stopped, and once more then. */
  start: () => void;
  stop: () => Promise<void>;
  /** A record whose key begins with `alarmPrefix`, given out as due. */
  work: (entry: Entry) => Promise<void>;
};

export const alarmPrefix = 'alarm:';
const eventPrefix = `${alarmPrefix}event:`;
/** The one record of what all replicas know. */
const id = 'webhooks';
export const webhooksKey = alarmPrefix + id;

const dayMs = 86_400_000;

/** What this process has seen since it was last put on record. */
type Counted = Omit<Seen, 'cause' | 'processed'> & {
  processed: Charge[];
  lastRefused?: { explain: () => string; atMs: number };
};

/**
 * Watches over webhooks as a whole, for all replicas together: silence though charges run, refusals
 * that rise, events that never come. A replica counts in memory and puts its counts on record once a minute,
 * so a crash loses a minute of counting at most and receiving gets no slower; what is to be told of an approved
 * charge loses nothing. Judged once a minute by whichever replica the store gives the turn. An alarm comes up
 * to two minutes late. Times of deliveries are the replicas' own, whose clocks may differ by seconds.
 */
export function createWebhookWatch(deps: WatchDeps): WebhookWatch {
  const { store, rules, log, now } = deps;
  let count = nothingCounted();
  let timer: NodeJS.Timeout | undefined;

  async function hasEvent(reference: string): Promise<boolean> {
    return (await store.read(successKey(reference))) !== undefined;
  }

  const watch = createCases<WebhookState, WebhookEvent>(
    // Never over, so never forgotten.
    { ...deps, rememberMs: dayMs },
    {
      prefix: alarmPrefix,
      schema: webhookState,
      lists: () => ({}),
      step: (before, event, nowMs) => stepWebhooks(before, event, nowMs, rules),
      restMs: ({ judgedAtMs }, nowMs) => Math.max(0, judgedAtMs + minuteMs - nowMs),
      isTold: (before, after) => after.toTell.length > before.toTell.length,
      settled: (state) => ({ ...state, toTell: [] }),
      history: () => [],
    },
    {
      async due({ judgedAtMs, missing }, nowMs) {
        if (nowMs < judgedAtMs + minuteMs) return undefined;
        const come = await Promise.all(missing.map(async ({ reference }) => await hasEvent(reference)));
        const late = missing.filter((_, index) => come[index]).map(({ reference }) => reference);
        return { event: { kind: 'judged', come: new Set(late) } };
      },
      async tell({ toTell }) {
        for (const { name, notice } of toTell) {
          log('warn', logWords(notice), notice.kind === 'deliveries_refused' ? { fix: notice.cause } : {});
          // oxlint-disable-next-line no-await-in-loop -- few, and in their order
          await tellOperators(deps, alarmPrefix + name, notice);
        }
      },
    },
  );

  async function hear(event: WebhookEvent): Promise<void> {
    if (await watch.apply(id, event)) return;
    await watch.begin(id, nothingSeen(now()));
    await watch.apply(id, event);
  }

  async function flush(): Promise<void> {
    const { tally, processed } = count;
    if (tally.accepted + tally.refused + processed.length === 0) return;
    const taken = count;
    count = nothingCounted();
    try {
      await hear({ kind: 'seen', seen: seenOf(taken) });
    } catch (error) {
      count = joined(taken, count);
      log('debug', 'what was seen of webhooks is not on record yet', {}, error);
    }
  }

  async function tick(): Promise<void> {
    const begun = watch.begin(id, nothingSeen(now()));
    await begun.catch((error: unknown) => log('debug', 'webhooks are not watched yet', {}, error));
    await flush();
  }

  async function lookForEvent(entry: Entry): Promise<void> {
    const reference = entry.key.slice(eventPrefix.length);
    const { missingMs } = rules;
    const hasCome = missingMs === 0 || (await hasEvent(reference));
    const atMs = Number(entry.value);
    // No replica was there to receive it either: it has as long once more.
    if (!hasCome && entry.attempts === 1 && now() - atMs > missingMs + awayMs) {
      await store.write(entry, entry.value, { delayMs: missingMs });
      return;
    }
    if (!hasCome) await hear({ kind: 'missing', charge: { reference, atMs } });
    await store.write(entry, entry.value, { ttlMs: dayMs });
  }

  function tallied(what: 'accepted' | 'refused', atMs: number): void {
    const { tally } = count;
    if (tally.accepted + tally.refused === 0) tally.atMs = atMs;
    tally[what] += 1;
  }

  return {
    accepted() {
      count.acceptedAtMs = now();
      tallied('accepted', count.acceptedAtMs);
    },
    refused(explain) {
      if (rules.refusals === 0) return;
      const atMs = now();
      tallied('refused', atMs);
      count.lastRefused = { explain, atMs };
    },
    async processed({ reference, outcome, hasEvent: isKnown }) {
      if (isKnown) return;
      const atMs = now();
      if (outcome === 'approved' && rules.missingMs > 0) {
        await store.create(`${eventPrefix}${reference}`, String(atMs), { delayMs: rules.missingMs });
      }
      if (rules.silenceMs > 0 && count.processed.length < mostCharges)
        count.processed.push({ reference, atMs });
    },
    flush,
    start() {
      void tick();
      timer = setInterval(() => void tick(), minuteMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await flush();
    },
    async work(entry) {
      await (entry.key.startsWith(eventPrefix) ? lookForEvent(entry) : watch.work(entry));
    },
  };
}

function nothingCounted(): Counted {
  return { tally: { atMs: 0, accepted: 0, refused: 0 }, processed: [] };
}

/** What was taken and is not on record, and what was counted meanwhile. */
function joined(older: Counted, newer: Counted): Counted {
  return {
    ...older,
    ...newer,
    tally: {
      atMs: older.tally.atMs || newer.tally.atMs,
      accepted: older.tally.accepted + newer.tally.accepted,
      refused: older.tally.refused + newer.tally.refused,
    },
    processed: [...older.processed, ...newer.processed].slice(0, mostCharges),
  };
}

/** The cause is looked for here, once for all of the minute, and the delivery itself goes no further. */
function seenOf({ lastRefused, ...seen }: Counted): Seen {
  if (!lastRefused) return seen;
  const { explain, atMs } = lastRefused;
  return { ...seen, cause: { words: explained(explain), atMs } };
}

/** A bug in explaining must not keep what was counted from being put on record. */
function explained(explain: () => string): string {
  try {
    return explain();
  } catch {
    return unexplained;
  }
}

/** When a delivery was accepted last, and why one was refused last, by all replicas; a minute or two late. */
export async function readSeenWebhooks({
  store,
  sealer,
}: Pick<WatchDeps, 'sealer'> & { store: Pick<Store, 'read'> }): Promise<{
  acceptedAtMs?: number;
  refused?: { atMs: number; why: string };
}> {
  const entry = await store.read(webhooksKey);
  if (!entry) return {};
  const kept = z.object({ state: webhookState }).parse(JSON.parse(sealer.open(webhooksKey, entry.value)));
  const { acceptedAtMs, cause } = kept.state;
  return {
    ...(acceptedAtMs === undefined ? {} : { acceptedAtMs }),
    ...(cause && { refused: { atMs: cause.atMs, why: cause.words } }),
  };
}

/** The key of a success of this reference, as its repeats have it too. */
export function successKey(reference: string): string {
  return alertKey(`payment_success/order/${reference}`);
}

function logWords(notice: Alarm): string {
  switch (notice.kind) {
    case 'webhooks_silent':
      return `No webhook came for ${counted(notice.minutes, 'minute')} though ${counted(notice.approvals, 'charge was', 'charges were')} processed`;
    case 'deliveries_refused':
      return notice.accepted === undefined
        ? `${counted(notice.refusals, 'webhook delivery was', 'webhook deliveries were')} refused in a row`
        : `${notice.refusals} of ${notice.refusals + notice.accepted} webhook deliveries were refused`;
    case 'events_missing':
      return `The events of ${counted(notice.references.length + notice.more, 'approved charge')} never came`;
  }
}
