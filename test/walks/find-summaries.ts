import type { DailySummary } from '../../src/domain/daily-summary.ts';
import { needsLookUp } from '../../src/domain/alert-route.ts';
import type { PaymentEventKind } from '../../src/domain/payment-event.ts';
import type { SummaryTime } from '../../src/operations/alert/daily-summaries.ts';
import { outboxKey } from '../../src/operations/outbox/outbox.ts';
import { channels } from './plans.ts';
import { waysOf, type Tellings, type Told } from './tellings.ts';
import { baseOf, startMs, type World } from './world.ts';

const [channel] = channels;
/** A walk is over before a day is. */
const everyMs = 3_600_000;
/** Away from where a walk begins, by every clock. */
const pastMs = 1_800_000;
/** A summary comes this much after its time, when nothing is in its way. */
const latestMs = 600_000;

/** None once nobody asks for them any more. */
export function summaryTimes({ weather, summariesEndedAtMs }: World): SummaryTime[] {
  if (!weather.summarises || summariesEndedAtMs !== undefined) return [];
  return [{ channel, next: nextTime, dateOf: (atMs) => new Date(atMs).toISOString().slice(0, 16) }];
}

function nextTime(afterMs: number): number {
  return (Math.floor((afterMs - pastMs) / everyMs) + 1) * everyMs + pastMs;
}

/** Each event is counted in just one summary, one that was told nowhere too. */
export function findWrongSummaries(world: World, { events }: Tellings): void {
  const { weather, violate, summariesEndedAtMs = 0 } = world;
  if (!weather.summarises) return;
  const summaries = summariesOf(world);
  const [first, last] = [summaries[0], summaries.at(-1)];
  if (!first || !last || last.untilMs < summariesEndedAtMs - everyMs - latestMs)
    return violate('the last hours have no summary');
  for (const [index, { fromMs }] of summaries.entries()) {
    const before = summaries[index - 1];
    if (before && before.untilMs !== fromMs) violate(`no summary is from ${before.untilMs} until ${fromMs}`);
  }
  // Nobody could ask for the first one in time, and some of what came before it is in none.
  if (first.fromMs > startMs) return;
  const told = [...events.values()].filter(({ own }) => own.receivedAtMs < last.untilMs);
  for (const kind of ['payment_failed', 'payment_success'] as const) {
    const counted = sum(summaries, (one) => countOf(one, kind));
    const came = told.filter(({ event }) => event.kind === kind).length;
    if (counted !== came) violate(`summaries count ${counted} of ${came} times ${kind}`);
  }
  findWrongPlaces(world, summaries, told);
}

/** As they were told last, the oldest first. */
function summariesOf({ slack }: World): DailySummary[] {
  const prefix = outboxKey('daily_summary', '');
  const byKey = new Map<string, DailySummary>();
  for (const message of slack.messages) {
    const { post } = message;
    if (post.kind === 'daily_summary' && message.key.startsWith(prefix))
      byKey.set(baseOf(message), post.summary);
  }
  return [...byKey.values()].toSorted((one, other) => one.untilMs - other.untilMs);
}

function countOf({ failed, paid, disputed }: DailySummary, kind: PaymentEventKind): number {
  return kind === 'payment_failed' ? failed.count + disputed.failed : paid.count + disputed.paid;
}

/** Which of them the rules tell there, as long as these are what they were and nothing but the event says it. */
function findWrongPlaces(world: World, summaries: readonly DailySummary[], told: readonly Told[]): void {
  const [plan] = world.plans;
  if (!plan || world.plans.length > 1 || told.some(({ event }) => needsLookUp(plan, event))) return;
  const here = told.filter((one) => waysOf(world, plan, one)[0]?.includes(channel)).length;
  const counted = sum(summaries, ({ toldHere }) => toldHere);
  if (counted !== here) world.violate(`summaries say that ${counted} of ${here} are told in their channel`);
}

function sum(summaries: readonly DailySummary[], of: (summary: DailySummary) => number): number {
  return summaries.reduce((total, summary) => total + of(summary), 0);
}
