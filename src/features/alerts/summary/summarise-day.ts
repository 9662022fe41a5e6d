import type { AlertCard } from '../../../domain/alert-card.ts';
import type { RoutePlan } from '../../../domain/alert-route.ts';
import {
  isDisputed,
  isToldIn,
  moneyOf,
  nothingCounted,
  standing,
  topReasons,
  withEvent,
  type DailySummary,
} from '../../../domain/daily-summary.ts';
import type { LoggedEvent } from '../../../domain/logged-event.ts';
import { withoutUndefined } from '../../../domain/without-undefined.ts';
import type { EventLog } from '../event-log.ts';
import { rehearsedMs } from '../rehearsal.ts';
import type { Views } from '../../../messages/views.ts';

/** What a summary tells of: what came into the log from the one time until before the other, UTC ms. */
export type SummarySpan = { fromMs: number; untilMs: number };

export type SummaryShown = { kind: 'daily_summary'; summary: DailySummary };

type SummariseDeps = {
  eventLog: Pick<EventLog, 'between'>;
  plan: RoutePlan;
  /** All that are muted now, from Slack too. */
  muted: DailySummary['muted'];
  readCard: (id: string) => Promise<{ card: AlertCard }>;
  now: () => number;
};

/** So many cards are asked for at most, the oldest first: two storms of ten thousand, in a few seconds. */
const mostCards = 20_000;
const cardsAtOnce = 16;
const mostReasons = 5;

/** What that channel is told of that time; the cards are those of the last 7 days. Throws StoreUnavailable. */
export async function summariseDay(
  deps: SummariseDeps,
  channel: string,
  { fromMs, untilMs }: SummarySpan,
): Promise<DailySummary> {
  const { plan, eventLog } = deps;
  const nowMs = deps.now();
  const day: LoggedEvent[] = [];
  const failuresHere: LoggedEvent[] = [];
  let toldHere = 0;
  for await (const { events } of eventLog.between(Math.min(fromMs, nowMs - rehearsedMs), nowMs + 1)) {
    for (const event of events) {
      const isOfDay = event.receivedAtMs >= fromMs && event.receivedAtMs < untilMs;
      const isHere = isToldIn(plan, channel, event);
      if (isOfDay) day.push(event);
      if (isOfDay && isHere) toldHere += 1;
      if (isHere && event.kind === 'payment_failed') failuresHere.push(event);
    }
  }
  const agreed = day.filter((event) => !isDisputed(event));
  const disputed = day.filter(isDisputed);
  return {
    fromMs,
    untilMs,
    failed: counted(agreed, 'payment_failed'),
    paid: counted(agreed, 'payment_success'),
    proven: agreed.filter(({ kind, lookup }) => kind === 'payment_success' && lookup === 'confirmed').length,
    disputed: {
      failed: disputed.filter(({ kind }) => kind === 'payment_failed').length,
      paid: disputed.filter(({ kind }) => kind === 'payment_success').length,
    },
    toldHere,
    reasons: topReasons(agreed, mostReasons),
    cards: await cardsOf(deps, failuresHere),
    muted: deps.muted,
    nowMs,
  };
}

function counted(events: readonly LoggedEvent[], kind: LoggedEvent['kind']): DailySummary['failed'] {
  return events.filter((event) => event.kind === kind).reduce(withEvent, nothingCounted);
}

async function cardsOf(
  { readCard }: SummariseDeps,
  failures: readonly LoggedEvent[],
): Promise<DailySummary['cards']> {
  const oldest = failures.toSorted((a, b) => a.receivedAtMs - b.receivedAtMs).slice(0, mostCards);
  const standings: ReturnType<typeof standing>[] = [];
  for (let index = 0; index < oldest.length; index += cardsAtOnce) {
    const some = oldest.slice(index, index + cardsAtOnce);
    // oxlint-disable-next-line no-await-in-loop -- a few at a time, so that alerts come through in between
    const read = await Promise.all(some.map(({ id }) => readCard(id)));
    standings.push(...read.map(({ card }) => standing(card)));
  }
  return {
    open: oldest
      .filter((_, index) => standings[index] === 'open')
      .map((event) => {
        const { id, orderReference, receivedAtMs } = event;
        return { id, receivedAtMs, ...withoutUndefined({ orderReference, money: moneyOf(event) }) };
      }),
    acknowledged: standings.filter((one) => one === 'acknowledged').length,
    snoozed: standings.filter((one) => one === 'snoozed').length,
    leftOut: failures.length - oldest.length,
  };
}

export type SummaryPostDeps = {
  /** What a channel is told of a day; see `summariseDay`. */
  summarise: (channel: string, time: SummarySpan) => Promise<DailySummary>;
};

/** Made when it leaves, behind the alerts that were before it in its channel. */
export function summaryView({
  summarise,
}: SummaryPostDeps): Views<{ daily_summary: SummarySpan }, SummaryShown> {
  return {
    async daily_summary(span, { record: { channel } }) {
      return { kind: 'shown', post: { kind: 'daily_summary', summary: await summarise(channel, span) } };
    },
  };
}
