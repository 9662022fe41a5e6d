import { Cron } from 'croner';
import { z } from 'zod';
import type { Account } from '../../../account.ts';
import type { AlertCard, AlertMute, RoutePlan } from '../../../domain/alert.ts';
import type { Money } from '../../../domain/money.ts';
import type { PaymentEvent } from '../../../domain/payment-event.ts';
import { parseJson, withoutUndefined } from '../../../domain/json.ts';
import { findMessageRecord, messageKey, openBody } from '../../../messages/message-record.ts';
import { createMessages, type Messages } from '../../../messages/messages.ts';
import type { Entry } from '../../../store/store.ts';
import type { Evidence } from '../alert-record.ts';
import { contradicts } from '../alert.ts';
import { type EventLog, type LoggedEvent, lookedBackMs } from '../event-log.ts';
import { destinationsOf, withLookUp } from '../routing.ts';
import { type Tally, createTally } from '../tally.ts';
import { localDates } from '../../../domain/local-day.ts';
import { dayMs } from '../../../domain/span.ts';

/** When a channel is told of its day, by a wall clock. */
export type SummaryTime = {
  channel: string;
  /** The first such time after that one, UTC ms. */
  next: (afterMs: number) => number;
  /** The local day, like `2026-11-21`. */
  dateOf: (atMs: number) => string;
  /** Whether the last day as a file goes with it. */
  hasFile: boolean;
};

/** When the channels of `daily_summary` are told: by the wall clock of each, through summer time and back. */
export function summaryTimes({ policy }: Pick<Account['settings'], 'policy'>): SummaryTime[] {
  return (policy.daily_summary ?? []).map(summaryTime);
}

export function summaryTime({
  channel,
  at,
  tz,
  file = false,
}: NonNullable<Account['settings']['policy']['daily_summary']>[number]): SummaryTime {
  // It never runs anything: the store's timer wakes the bot, and this only says when.
  const clock = new Cron(`${at % 60} ${Math.floor(at / 60)} * * *`, { timezone: tz, paused: true });
  const date = localDates(tz);
  return {
    channel,
    hasFile: file,
    next(afterMs) {
      const next = clock.nextRun(new Date(afterMs));
      if (!next) throw new Error('A time of every day has no next.');
      return next.getTime();
    },
    dateOf: (atMs) => date.format(atMs),
  };
}

/** What a summary tells of: what came into the log from the one time until before the other, UTC ms. */
export type SummarySpan = { fromMs: number; untilMs: number };

export const dailySummaryPrefix = 'daily-summary:';
/** Longest sleep, so that a changed time takes effect soon. */
const longestSleepMs = 300_000;
const armEveryMs = 60_000;
const mostDaysMs = 7 * dayMs;
/** Holds more than one time, whatever summer time does to a day. */
const twoDaysMs = 2 * dayMs;

/** A summary is stored so long after its time: by then all that it counts is stored, whichever replica's clock timed it. */
const settleMs = 45_000;

/** Until when the channel was told; see `SummarySpan`. */
const timerRecord = z.object({ toldUntilMs: z.number() });

/** Asks for the file of the last whole day before that moment, below the summary of that key; again is the same as once. */
export type AskDayFile = (channel: string, summary: string, atMs: number) => Promise<void>;

/**
 * Stores a summary for each channel and day as something to post, once on all replicas and over crashes: its key is
 * the channel and the local date. It tells what came since the one before it. After days without a bot there is one, and it tells of all of them, 7 at most.
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
   * Posts a day's summary; returns the time up to which the channel is informed. If that date has a summary already, from
   * before a crash or before the setting changed, that one stays, and the rest of the span goes into tomorrow's.
   */
  async function tellDay({ channel, dateOf, hasFile }: SummaryTime, span: SummarySpan): Promise<number> {
    const key = messageKey('daily_summary', `${channel}/${dateOf(span.untilMs)}`);
    // Behind the channel's alerts, so that these are told when it is made.
    const messages: Messages<{ daily_summary: SummarySpan }> = createMessages(deps);
    await messages.post(key, { channel, body: span });
    if (hasFile) await askDayFile(channel, key, span.untilMs);
    const record = await findMessageRecord(store, key);
    if (!record) return span.untilMs;
    return (openBody(sealer, key, record) as SummarySpan).untilMs;
  }

  /**
   * One that cannot be read is made again: put aside, its channel would have no summary until somebody saw that. The last
   * day is told then unless it was: its summary has its date in its key.
   */
  function toldUntil({ key, value }: Entry, time: SummaryTime, settledMs: number): number {
    const read = timerRecord.safeParse(parseJson(value));
    if (read.success) return read.data.toldUntilMs;
    log('error', 'the timer of a daily summary could not be read, and is made again', { key });
    const last = lastTime(time, settledMs - twoDaysMs, settledMs) ?? settledMs;
    return lastTime(time, last - twoDaysMs, last - 1) ?? settledMs;
  }

  return {
    /** Sees to it, now and every minute, that each channel's timer is in the store. */
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
        // No longer asked for. A replica that still has it in its settings puts it back.
        await store.write(entry, entry.value, { ttlMs: armEveryMs });
        return;
      }
      const settledMs = now() - settleMs;
      const before = toldUntil(entry, time, settledMs);
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

/** The last of its times after the one and not after the other. */
function lastTime({ next }: SummaryTime, afterMs: number, untilMs: number): number | undefined {
  let last: number | undefined;
  for (let atMs = next(afterMs); atMs <= untilMs; atMs = next(atMs)) last = atMs;
  return last;
}

/** An alert that nobody has dealt with. */
export type OpenAlert = { orderReference?: string; receivedAtMs: number; money?: Money };

/** What one channel is told of a day. Events are counted by when they were received, each in one summary. */
export type DailySummary = SummarySpan & {
  /** Without those whose look-up says otherwise, which are `disputed`. */
  failed: Tally;
  paid: Tally;
  /** What went back to customers, by the events. */
  givenBack: Tally;
  /** How many of the paid a look-up proved; the others count by their event alone. */
  proven: number;
  /** Events whose own look-up says otherwise: said to have failed and paid, said to be paid and not proven. In no sum. */
  disputed: { failed: number; paid: number };
  /** How many of them the rules of the moment tell in this channel. */
  toldHere: number;
  /** Of this channel's failures of the last 7 days; `leftOut`: later ones that nobody asked for. */
  cards: { open: readonly OpenAlert[]; acknowledged: number; snoozed: number; leftOut: number };
  nowMs: number;
};

/** `muted`: in all channels. */
export type SummaryShown = { kind: 'daily_summary'; summary: DailySummary; muted: readonly AlertMute[] };

/** So many cards are asked for at most, the oldest first: two storms of ten thousand, in a few seconds. */
const mostCards = 20_000;
const cardsAtOnce = 16;

type ReadCard = (id: string) => Promise<{ card: AlertCard; evidence?: Evidence }>;

/** What that channel is told of that time; the cards are those of the last 7 days. Throws StoreUnavailable. */
export async function summariseDay(
  eventLog: Pick<EventLog, 'since'>,
  readCard: ReadCard,
  {
    channel,
    plan,
    nowMs,
    fromMs,
    untilMs,
  }: SummarySpan & { channel: string; plan: RoutePlan; nowMs: number },
): Promise<DailySummary> {
  const [failed, paid, givenBack] = [createTally(), createTally(), createTally()];
  const disputed = { failed: 0, paid: 0 };
  const failuresHere: LoggedEvent[] = [];
  let [proven, toldHere] = [0, 0];
  for await (const events of eventLog.since(Math.min(fromMs, nowMs - lookedBackMs))) {
    for (const logged of events) {
      const { event, receivedAtMs, lookup, byCharge } = logged;
      const isFailure = event.kind === 'payment_failed';
      const isHere = !byCharge && destinationsOf(plan, event).some((to) => to.channel === channel);
      if (isHere && isFailure) failuresHere.push(logged);
      if (receivedAtMs < fromMs || receivedAtMs >= untilMs) continue;
      if (isHere) toldHere += 1;
      if (event.kind === 'payment_given_back') {
        givenBack.add(event);
        continue;
      }
      // No sum of money may hold what its look-up says otherwise.
      const isDisputed = isFailure ? lookup === 'confirmed' : contradicts(lookup);
      if (isDisputed) disputed[isFailure ? 'failed' : 'paid'] += 1;
      else (isFailure ? failed : paid).add(event);
      if (!isFailure && lookup === 'confirmed') proven += 1;
    }
  }
  const cards = await cardsOf(readCard, failuresHere);
  const totals = { failed: failed.total(), paid: paid.total(), givenBack: givenBack.total() };
  return { fromMs, untilMs, ...totals, proven, disputed, toldHere, cards, nowMs };
}

async function cardsOf(readCard: ReadCard, failures: readonly LoggedEvent[]): Promise<DailySummary['cards']> {
  const oldest = failures.toSorted((a, b) => a.receivedAtMs - b.receivedAtMs).slice(0, mostCards);
  const open: OpenAlert[] = [];
  let [acknowledged, snoozed] = [0, 0];
  for (let index = 0; index < oldest.length; index += cardsAtOnce) {
    const some = oldest.slice(index, index + cardsAtOnce);
    const cards = await Promise.all(some.map(async ({ event }) => await readCard(event.key)));
    for (const [at, { card, evidence }] of cards.entries()) {
      const failure = some[at];
      if (card.kind === 'open' && failure) open.push(openAlert(failure, evidence));
      if (card.kind !== 'acknowledged') continue;
      if (card.snoozedUntil === undefined) acknowledged += 1;
      else snoozed += 1;
    }
  }
  return { open, acknowledged, snoozed, leftOut: failures.length - oldest.length };
}

/** `evidence`: what was found out after it was told. */
function openAlert({ event: told, receivedAtMs }: LoggedEvent, evidence: Evidence | undefined): OpenAlert {
  const event = evidence ? withLookUp(told, evidence.lookup) : told;
  const { orderReference } = event;
  return { receivedAtMs, ...withoutUndefined({ orderReference, money: moneyOf(event) }) };
}

function moneyOf({ amountMinor: minor, currency }: PaymentEvent): Money | undefined {
  return minor === undefined || currency === undefined ? undefined : { minor, currency };
}

/** Per cent of the payments that succeeded, rounded to a tenth, but never to all or none of them; undefined without any. */
export function successRate({ failed, paid }: Pick<DailySummary, 'failed' | 'paid'>): number | undefined {
  const all = failed.count + paid.count;
  if (all === 0) return undefined;
  if (paid.count === 0 || failed.count === 0) return paid.count === 0 ? 0 : 100;
  return Math.min(Math.max(Math.round((paid.count * 1_000) / all), 1), 999) / 10;
}
