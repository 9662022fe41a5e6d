import {
  type DailySummary,
  mutedNow,
  summariseDay,
} from '../../src/features/alerts/summary/daily-summary.ts';
import {
  type DailySummariesDeps,
  createDailySummaries,
  dailySummaryPrefix,
  summaryTime,
} from '../../src/features/alerts/summary/daily-summaries.ts';
import type { AlertCard } from '../../src/domain/alert.ts';
import type { RoutePlan } from '../../src/domain/alert-route.ts';
import { createDeliverPost } from './deliver-post.ts';
import { workOnce } from '../../src/records/worker.ts';
import type { Entry } from '../../src/store/store.ts';
import { channel, house, sealer } from './house.ts';

export const openCard = (): Promise<{ card: AlertCard }> => Promise.resolve({ card: { kind: 'open' } });
const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
export const at8 = (tz: string) => summaryTime({ channel, at: 8 * 60, tz });
export const plan: RoutePlan = {
  rules: [],
  environment: 'live',
  account: 'main account',
  failures: channel,
  successes: undefined,
};

/** The bot's worker as far as summaries go, on a clock that the test moves by minutes. */
export function stage(startMs: number, time = at8('Africa/Lagos'), cards: Record<string, AlertCard> = {}) {
  const opened = house();
  const { clock, store, deliver, posts, eventLog } = opened;
  clock.nowMs = startMs;
  const deps: DailySummariesDeps = {
    store,
    sealer,
    times: [time],
    rememberMs: 30 * dayMs,
    leaseMs: 45_000,
    now: () => clock.nowMs,
    wake: () => undefined,
    log: () => undefined,
  };
  deliver.summarise = (to, span) =>
    summariseDay(
      {
        eventLog,
        plan,
        muted: mutedNow(plan, clock.nowMs),
        readCard: (id) => Promise.resolve({ card: cards[id] ?? { kind: 'open' } }),
        now: () => clock.nowMs,
      },
      to,
      span,
    );
  async function begin(): Promise<void> {
    const summaries = createDailySummaries(deps);
    summaries.start();
    await Promise.resolve();
    await Promise.resolve();
    summaries.stop();
  }
  async function drain(using: Partial<typeof store> = {}): Promise<void> {
    const on = { ...store, ...using };
    const summaries = createDailySummaries({ ...deps, store: on });
    const kinds = [
      { prefix: 'message:', work: createDeliverPost(deliver) },
      { prefix: dailySummaryPrefix, work: (entry: Entry) => summaries.work(entry) },
    ];
    while (await workOnce({ store: on, leaseMs: 45_000, kinds }));
  }
  async function run(forMs: number): Promise<void> {
    for (const endMs = clock.nowMs + forMs; clock.nowMs < endMs; clock.nowMs += minuteMs) {
      // oxlint-disable-next-line no-await-in-loop
      await drain();
    }
  }
  const told = () =>
    posts.flatMap(({ post }): DailySummary[] => (post.kind === 'daily_summary' ? [post.summary] : []));
  const spans = () =>
    told().map(({ fromMs, untilMs }) => [new Date(fromMs).toISOString(), new Date(untilMs).toISOString()]);
  return { ...opened, deps, begin, drain, run, told, spans };
}
