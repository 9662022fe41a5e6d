import { counted } from '../../../domain/counted.ts';
import { randomBytes } from 'node:crypto';
import { StoreUnavailable } from '../../../domain/store-unavailable.ts';
import type { Alarm } from '../../../domain/notice.ts';
import type { Log } from '../../../log.ts';
import type { Entry, Store } from '../../../store/store.ts';
import { createChangeRecord, type ChangeRecord } from '../../../records/change-record.ts';
import { alertKey } from '../../../messages/outbox.ts';
import { tellOperators, type TellDeps } from '../../../messages/tell-operators.ts';
import { batchOf, createWebhookCounter } from './webhook-counter.ts';
import {
  addMissing,
  dropMissing,
  dropTold,
  judgeWebhooks,
  missingDue,
  nothingSeen,
  readBatch,
  readState,
  takeIn,
  watchAnew,
  type AlarmRules,
  type WebhookState,
} from './webhook-state.ts';

export type WatchDeps = TellDeps & {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  rules: AlarmRules;
  /** Called after a notice was stored, so that a worker need not wait for its next round. */
  wake: () => void;
  log: Log;
};

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
  /** Puts what was seen since the last time on record, in one call of the store; none when nothing was. Never throws. */
  flush: () => Promise<void>;
  /** Flushes every minute until stopped, and once more then. */
  start: () => void;
  stop: () => Promise<void>;
  /** A record whose key begins with `alarmPrefix`, given out as due. */
  work: (entry: Entry) => Promise<void>;
};

export const alarmPrefix = 'alarm:';
const checkKey = `${alarmPrefix}check`;
const batchPrefix = `${alarmPrefix}batch:`;
const eventPrefix = `${alarmPrefix}event:`;
const stateKey = 'webhook-watch';

/** One lane for all that changes what is known, so that replicas take turns. */
export const alarmLane = 'alarm';
const minuteMs = 60_000;
/** Work that is due for so long says that no replica was there to do it, nor to receive anything. */
const awayMs = 5 * minuteMs;
const dayMs = 86_400_000;

/**
 * Watches over webhooks as a whole, for all replicas together: silence though charges run, refusals
 * that rise, events that never come. A replica counts in memory and puts its counts on record once a minute,
 * so a crash loses a minute of counting at most and receiving gets no slower; what is to be told of an approved
 * charge loses nothing. Judged once a minute by whichever replica the store gives the turn. An alarm comes up
 * to two minutes late. Times of deliveries are the replicas' own, whose clocks may differ by seconds.
 */
export function createWebhookWatch(deps: WatchDeps): WebhookWatch {
  const { store, rules, log, now } = deps;
  const changeRecord = createChangeRecord(store);
  const replica = randomBytes(8).toString('hex');
  let count = 0;
  let isArmed = false;
  let timer: NodeJS.Timeout | undefined;
  const counter = createWebhookCounter(nextId);

  function nextId(): string {
    count += 1;
    return `${replica}:${count}`;
  }

  async function arm(): Promise<void> {
    if (isArmed) return;
    await store.create(checkKey, '', { delayMs: minuteMs, lane: alarmLane });
    isArmed = true;
  }

  async function flush(): Promise<void> {
    const counted = counter.takeAll();
    if (!counted) return;
    try {
      await store.create(`${batchPrefix}${nextId()}`, batchOf(counted), { delayMs: 0, lane: alarmLane });
    } catch (error) {
      // What was counted meanwhile is newer. Should the call have been carried out, it counts once all the same.
      counter.putBack(counted);
      log('debug', 'what was seen of webhooks is not on record yet', {}, error);
    }
  }

  async function tick(): Promise<void> {
    await arm().catch((error: unknown) => log('debug', 'webhooks are not watched yet', {}, error));
    await flush();
  }

  return {
    accepted() {
      counter.accepted(now());
    },
    refused(explain) {
      if (rules.refusals === 0) return;
      counter.refused({ id: nextId(), atMs: now(), explain });
    },
    async processed({ reference, outcome, hasEvent }) {
      if (hasEvent) return;
      const atMs = now();
      if (outcome === 'approved' && rules.missingMs > 0) {
        await store.create(`${eventPrefix}${reference}`, String(atMs), { delayMs: rules.missingMs });
      }
      if (rules.silenceMs > 0) counter.processed({ reference, atMs });
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
    work: (entry) => work(deps, changeRecord, entry),
  };
}

async function work(deps: WatchDeps, changeRecord: ChangeRecord, entry: Entry): Promise<void> {
  if (entry.key === checkKey) return await check(deps, changeRecord, entry);
  if (entry.key.startsWith(batchPrefix)) return await takeBatch(deps, changeRecord, entry);
  if (entry.key.startsWith(eventPrefix)) return await lookForEvent(deps, changeRecord, entry);
  deps.log('error', 'an alarm of an unknown kind is due; it is kept', { key: entry.key });
  await deps.store.write(entry, entry.value, { delayMs: dayMs });
}

/** Told first and crossed out afterwards: a crash in between tells again under the same name, which is once. */
async function check(deps: WatchDeps, changeRecord: ChangeRecord, entry: Entry): Promise<void> {
  const { rules, now } = deps;
  // The value says when it was judged last.
  const wasAway = entry.value !== '' && now() - Number(entry.value) > awayMs;
  const judged = await change(deps, changeRecord, async (state) => {
    const known = dropMissing(state, await comeLate(deps, state));
    return judgeWebhooks(wasAway ? watchAnew(known, now()) : known, rules, now());
  });
  for (const { name, notice } of judged.toTell) {
    deps.log('warn', logWords(notice), notice.kind === 'deliveries_refused' ? { fix: notice.cause } : {});
    // oxlint-disable-next-line no-await-in-loop -- few, and in their order
    await tellOperators(deps, `${alarmPrefix}${name}`, notice);
  }
  const names = new Set(judged.toTell.map(({ name }) => name));
  if (names.size > 0) await change(deps, changeRecord, (state) => dropTold(state, names));
  await deps.store.write(entry, String(now()), { delayMs: minuteMs });
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

async function takeBatch(deps: WatchDeps, changeRecord: ChangeRecord, entry: Entry): Promise<void> {
  const batch = readOr(deps, () => readBatch(entry.value), undefined);
  if (batch) await change(deps, changeRecord, (state) => takeIn(state, batch));
  await deps.store.write(entry, '', { ttlMs: minuteMs });
}

/** When a delivery was accepted last, and why one was refused last, by all replicas; a minute or two late. */
export async function readSeenWebhooks(
  store: Pick<Store, 'read'>,
): Promise<{ acceptedAtMs?: number; refused?: { atMs: number; why: string } }> {
  const entry = await store.read(stateKey);
  const { acceptedAtMs, cause } = entry ? readState(entry.value) : nothingSeen;
  return {
    ...(acceptedAtMs === undefined ? {} : { acceptedAtMs }),
    ...(cause && { refused: { atMs: cause.atMs, why: cause.words } }),
  };
}

/** The key of a success of this reference, as its repeats have it too. */
export function successKey(reference: string): string {
  return alertKey(`payment_success/order/${reference}`);
}

/** Of the charges that would be told of now, those whose event came while they waited for that. */
async function comeLate(deps: WatchDeps, state: WebhookState): Promise<Set<string>> {
  const due = missingDue(state, deps.now());
  const come = await Promise.all(due.map((reference) => hasEvent(deps, reference)));
  return new Set(due.filter((_, index) => come[index]));
}

async function hasEvent({ store }: WatchDeps, reference: string): Promise<boolean> {
  return (await store.read(successKey(reference))) !== undefined;
}

async function lookForEvent(deps: WatchDeps, changeRecord: ChangeRecord, entry: Entry): Promise<void> {
  const reference = entry.key.slice(eventPrefix.length);
  const { missingMs } = deps.rules;
  const hasCome = missingMs === 0 || (await hasEvent(deps, reference));
  const atMs = Number(entry.value);
  if (!hasCome && entry.attempts === 1 && deps.now() - atMs > missingMs + awayMs) {
    await deps.store.write(entry, entry.value, { delayMs: missingMs });
    return;
  }
  if (!hasCome) await change(deps, changeRecord, (state) => addMissing(state, { reference, atMs }));
  await deps.store.write(entry, entry.value, { ttlMs: dayMs });
}

function change(
  deps: WatchDeps,
  changeRecord: ChangeRecord,
  next: (state: WebhookState) => WebhookState | Promise<WebhookState>,
): Promise<WebhookState> {
  return changeRecord(stateKey, async (text) => {
    const before = text === undefined ? nothingSeen : readOr(deps, () => readState(text), nothingSeen);
    const result = await next(before);
    const value = JSON.stringify(result);
    return value === text ? { kind: 'keep', result } : { kind: 'write', value, result };
  });
}

/** What another release may have left counts as nothing: it is counting, and no alert. */
function readOr<T, Otherwise>(deps: WatchDeps, read: () => T, otherwise: Otherwise): T | Otherwise {
  try {
    return read();
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    deps.log('error', 'what was seen of webhooks cannot be read; counting starts anew', {}, error);
    return otherwise;
  }
}
