import { Cron } from 'croner';
import { z } from 'zod';
import type { Account } from '../../../account.ts';
import type { AlertState, RoutePlan } from '../../../domain/alert.ts';
import type { Money } from '../../../domain/money.ts';
import { parseJson, withoutUndefined } from '../../../domain/json.ts';
import { findMessageRecord, messageKey, openBody } from '../../../messages/message-record.ts';
import { createMessages, type Messages } from '../../../messages/messages.ts';
import type { Entry } from '../../../store/store.ts';
import { type Evidence, contradicts, moneyOfEvent } from '../alert.ts';
import { type EventLog, type LoggedEvent, lookedBackMs } from '../event-log.ts';
import { destinationsOf, withLookUp } from '../route-event.ts';
import { type Tally, createTally } from '../tally.ts';
import { localDates } from '../../../domain/local-day.ts';
import { dayMs } from '../../../domain/span.ts';

/** When a channel gets its daily summary. */
export type SummaryTime = {
  channel: string;
  next: (afterMs: number) => number;
  /** The local day, like `2026-11-21`. */
  dateOf: (atMs: number) => string;
  /** Whether the summary's thread gets the last day as a file. */
  hasFile: boolean;
};

/** The times of `daily_summary`, each by its own time zone's clock. */
export function summaryTimes({ policy }: Pick<Account['settings'], 'policy'>): SummaryTime[] {
  return (policy.daily_summary ?? []).map(summaryTime);
}

type DailyTime = NonNullable<Account['settings']['policy']['daily_summary']>[number];

export function summaryTime({ channel, at, tz, file = false }: DailyTime): SummaryTime {
  // Only computes times; the store's timer wakes the bot.
  const clock = new Cron(`${at % 60} ${Math.floor(at / 60)} * * *`, { timezone: tz, paused: true });
  const date = localDates(tz);
  return {
    channel,
    hasFile: file,
    next(afterMs) {
      const next = clock.nextRun(new Date(afterMs));
      if (!next) throw new Error('A daily time has no next time.');
      return next.getTime();
    },
    dateOf: (atMs) => date.format(atMs),
  };
}

/** The events of a summary: received from `fromMs`, before `untilMs` (UTC ms). */
export type SummarySpan = { fromMs: number; untilMs: number };

export const dailySummaryPrefix = 'daily-summary:';
/** Sleeps at most this long, so a changed time takes effect soon. */
const longestSleepMs = 300_000;
const armEveryMs = 60_000;
const mostDaysMs = 7 * dayMs;
/** Contains at least one daily time, even when summer time begins or ends. */
const twoDaysMs = 2 * dayMs;

/** A summary is made this long after its time: by then all replicas have stored the events before that time. */
const settleMs = 45_000;

/** `toldUntilMs`: the end of the last summary's span. */
const timerRecord = z.object({ toldUntilMs: z.number() });

/** Requests the file of the last whole day before `atMs`, in the thread of the summary with that key. Idempotent. */
export type AskDayFile = (channel: string, summary: string, atMs: number) => Promise<void>;

/**
 * Posts a summary per channel and local day, once over all replicas and crashes: its message's key is channel and date. It covers
 * the time since the last summary: after days without a bot one summary covers them all, at most 7.
 */
export function createDailySummaries(
  deps: Pick<Account, 'store' | 'sealer' | 'rememberMs' | 'leaseMs' | 'now' | 'wake' | 'log'>,
  times: readonly SummaryTime[],
  askDayFile: AskDayFile,
) {
  const { store, now, log, sealer } = deps;
  let timer: NodeJS.Timeout | undefined;

  async function arm(): Promise<void> {
    try {
      await Promise.all(
        times.map((time) => {
          const toldUntilMs = lastTime(time, now() - twoDaysMs, now()) ?? now();
          const value = JSON.stringify({ toldUntilMs });
          return store.create(`${dailySummaryPrefix}${time.channel}`, value, { delayMs: 0 });
        }),
      );
    } catch (error) {
      log('debug', 'the daily summaries are not on record yet', {}, error);
    }
  }

  /**
   * Stores a day's summary to post; returns the end of its span. If that date has one already, from before a crash or a changed
   * setting, that one stays, and the rest of the span goes into tomorrow's.
   */
  async function tellDay({ channel, dateOf, hasFile }: SummaryTime, span: SummarySpan): Promise<number> {
    const key = messageKey('daily_summary', `${channel}/${dateOf(span.untilMs)}`);
    // In the channel's own lane, behind its alerts.
    const messages: Messages<{ daily_summary: SummarySpan }> = createMessages(deps);
    await messages.post(key, { channel, body: span });
    if (hasFile) await askDayFile(channel, key, span.untilMs);
    const record = await findMessageRecord(store, key);
    if (!record) return span.untilMs;
    return (openBody(sealer, key, record) as SummarySpan).untilMs;
  }

  /**
   * The end of the last summary. An unreadable timer is set again to one day before, or its channel would get no more summaries;
   * if that day had its summary, the message's key prevents a second one.
   */
  function toldUntil({ key, value }: Entry, time: SummaryTime, settledMs: number): number {
    const read = timerRecord.safeParse(parseJson(value));
    if (read.success) return read.data.toldUntilMs;
    log('error', 'the timer of a daily summary could not be read, and is made again', { key });
    const last = lastTime(time, settledMs - twoDaysMs, settledMs) ?? settledMs;
    return lastTime(time, last - twoDaysMs, last - 1) ?? settledMs;
  }

  return {
    /** Stores each channel's timer, now and every minute. */
    start(): void {
      if (times.length === 0) return;
      void arm();
      timer = setInterval(() => void arm(), armEveryMs);
      timer.unref();
    },
    stop(): void {
      clearInterval(timer);
    },
    async work(entry: Entry): Promise<void> {
      const channel = entry.key.slice(dailySummaryPrefix.length);
      const time = times.find((one) => one.channel === channel);
      if (!time) {
        // No longer in the settings. A replica that still has it there stores it again.
        await store.write(entry, entry.value, { ttlMs: armEveryMs });
        return;
      }
      const settledMs = now() - settleMs;
      // A time to come was stored before the clock was put back: no summary would come until then.
      const before = Math.min(toldUntil(entry, time, settledMs), settledMs);
      const untilMs = lastTime(time, Math.max(before, settledMs - mostDaysMs), settledMs);
      const toldUntilMs =
        untilMs === undefined
          ? before
          : await tellDay(time, { fromMs: Math.max(before, untilMs - mostDaysMs), untilMs });
      const delayMs = Math.min(Math.max(0, time.next(settledMs) + settleMs - now()), longestSleepMs);
      await store.write(entry, JSON.stringify({ toldUntilMs }), { delayMs });
    },
  };
}

/** The last daily time after `afterMs` and up to `untilMs`. */
function lastTime({ next }: SummaryTime, afterMs: number, untilMs: number): number | undefined {
  let last: number | undefined;
  for (let atMs = next(afterMs); atMs <= untilMs; atMs = next(atMs)) last = atMs;
  return last;
}

/** An unacknowledged alert. */
export type OpenAlert = { orderReference?: string; receivedAtMs: number; money?: Money };

/** One channel's summary of a day. Each event counts in one summary, by the time it was received. */
export type DailySummary = SummarySpan & {
  /** Without the disputed ones. */
  failed: Tally;
  paid: Tally;
  /** Refunds, by the events. */
  givenBack: Tally;
  /** How many of `paid` a look-up proved; the others count by their event alone. */
  proven: number;
  /**
   * Events that their look-up contradicts; in no sum. `failed`: failures that are paid. `paid`: payments that it doesn't confirm.
   * `givenBack`: both kinds, if the order was paid and given back.
   */
  disputed: { failed: number; paid: number; givenBack: number };
  /** How many events were routed to this channel; a muted one was not. */
  postedHere: number;
  /** The channel's alerts of the last 7 days; `leftOut`: the newest ones beyond `mostAlerts`. */
  alerts: { open: readonly OpenAlert[]; acknowledged: number; snoozed: number; leftOut: number };
  nowMs: number;
};

/** At most this many alerts are read, the oldest first: two storms of ten thousand take a few seconds. */
const mostAlerts = 20_000;
const readsAtOnce = 16;

type ReadState = (id: string) => Promise<{ state: AlertState; evidence?: Evidence }>;

/** The channel's summary of that span; `alerts` covers the last 7 days. Throws StoreUnavailable. */
export async function summariseDay(
  eventLog: Pick<EventLog, 'since'>,
  readState: ReadState,
  about: SummarySpan & { channel: string; plan: RoutePlan; nowMs: number },
): Promise<DailySummary> {
  const { channel, plan, nowMs, fromMs, untilMs } = about;
  const [failed, paid, givenBack] = [createTally(), createTally(), createTally()];
  const disputed = { failed: 0, paid: 0, givenBack: 0 };
  const failuresHere: LoggedEvent[] = [];
  let [proven, postedHere] = [0, 0];
  for await (const events of eventLog.since(Math.min(fromMs, nowMs - lookedBackMs))) {
    for (const logged of events) {
      const { event, receivedAtMs, lookup, channels = [] } = logged;
      const isFailure = event.kind === 'payment_failed';
      if (isFailure && isAlertIn(channel, logged, plan)) failuresHere.push(logged);
      if (receivedAtMs < fromMs || receivedAtMs >= untilMs) continue;
      if (channels.includes(channel)) postedHere += 1;
      if (event.kind === 'payment_given_back') {
        givenBack.add(event);
        continue;
      }
      const isDisputed = isFailure ? lookup === 'confirmed' : contradicts(lookup);
      if (lookup === 'given_back') disputed.givenBack += 1;
      else if (isDisputed) disputed[isFailure ? 'failed' : 'paid'] += 1;
      else (isFailure ? failed : paid).add(event);
      if (!isFailure && lookup === 'confirmed') proven += 1;
    }
  }
  const alerts = await alertsOf(readState, failuresHere);
  const totals = { failed: failed.total(), paid: paid.total(), givenBack: givenBack.total() };
  return { fromMs, untilMs, ...totals, proven, disputed, postedHere, alerts, nowMs };
}

/** Whether the failure is an alert of this channel: it went there, or a mute held it back from there. */
function isAlertIn(
  channel: string,
  { event, byCharge, channels = [], isMuted }: LoggedEvent,
  plan: RoutePlan,
): boolean {
  if (byCharge) return false;
  if (channels.includes(channel)) return true;
  // Its record doesn't say which channel muted it, nor the channels of an event that isn't routed yet: today's rules do.
  const isByPlan = isMuted === true || channels.length === 0;
  return isByPlan && destinationsOf(plan, event).some((to) => to.channel === channel);
}

async function alertsOf(
  readState: ReadState,
  failures: readonly LoggedEvent[],
): Promise<DailySummary['alerts']> {
  const oldest = failures.toSorted((a, b) => a.receivedAtMs - b.receivedAtMs).slice(0, mostAlerts);
  const open: OpenAlert[] = [];
  let [acknowledged, snoozed] = [0, 0];
  for (let index = 0; index < oldest.length; index += readsAtOnce) {
    const some = oldest.slice(index, index + readsAtOnce).map(async (failure) => {
      return { failure, ...(await readState(failure.event.key)) };
    });
    for (const { failure, state, evidence } of await Promise.all(some)) {
      if (state.kind === 'open') open.push(openAlert(failure, evidence));
      if (state.kind !== 'acknowledged') continue;
      if (state.snoozedUntil === undefined) acknowledged += 1;
      else snoozed += 1;
    }
  }
  return { open, acknowledged, snoozed, leftOut: failures.length - oldest.length };
}

/** `evidence`: a later look-up. */
function openAlert({ event: first, receivedAtMs }: LoggedEvent, evidence: Evidence | undefined): OpenAlert {
  const event = evidence ? withLookUp(first, evidence.lookup) : first;
  const { orderReference } = event;
  return { receivedAtMs, ...withoutUndefined({ orderReference, money: moneyOfEvent(event) }) };
}

/** Per cent of payments that succeeded, to a tenth; 0 and 100 only if exact. Undefined without payments. */
export function successRate({ failed, paid }: Pick<DailySummary, 'failed' | 'paid'>): number | undefined {
  const all = failed.count + paid.count;
  if (all === 0) return undefined;
  if (paid.count === 0 || failed.count === 0) return paid.count === 0 ? 0 : 100;
  return Math.min(Math.max(Math.round((paid.count * 1_000) / all), 1), 999) / 10;
}
