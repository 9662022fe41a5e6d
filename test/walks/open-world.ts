import type { AlertCard, CardStep } from '../../src/domain/alert-card.ts';
import type { RoutePlan } from '../../src/domain/alert-route.ts';
import type { Transaction } from '../../src/domain/transaction.ts';
import { alertCardPrefix } from '../../src/operations/alert/alert-cards.ts';
import type { Store } from '../../src/store/store.ts';
import { createRandom } from '../chaos/random.ts';
import { sealer as plainSealer } from '../operations/house.ts';
import type { Breakage } from './breakages.ts';
import { createSchedule } from './schedule.ts';
import { Slack } from './slack.ts';
import { watchArrival, watchEdit, watchPayload } from './watch-slack.ts';
import { canaries, startMs, type Weather, type World } from './world.ts';

export function openWorld(
  seed: number,
  weather: Weather,
  open: {
    store: (clock: { nowMs: number }) => Store;
    breakage?: Breakage | undefined;
    plan: RoutePlan;
    keepsStory?: boolean;
  },
): World {
  const random = createRandom(seed);
  const clock = { nowMs: startMs };
  const schedule = createSchedule(random.fork('schedule'), clock);
  const violations: string[] = [];
  const story: string[] = [];
  const cards: World['cards'] = new Map();
  const recordHistory: World['recordHistory'] = new Map();
  const { breakage } = open;
  const seconds = (): string => ((clock.nowMs - startMs) / 1_000).toFixed(1);
  const tell = (line: string): void => {
    if (open.keepsStory) story.push(`${seconds()} s: ${line}`);
  };
  const violate = (what: string): void => {
    violations.push(`${seconds()} s: ${what}`);
    tell(`VIOLATION ${what}`);
  };
  const watched = watchCards(open.store(clock), cards, violate);
  const world: World = {
    seed,
    random: random.fork('walk'),
    weather,
    clock,
    schedule,
    store: breakage?.store?.(watched) ?? watched,
    storeAway: false,
    storeFaults: weather.storeFaults,
    slack: new Slack({
      random: random.fork('slack'),
      clock,
      schedule,
      faults: { share: weather.slackFaults },
      mayReadHistory: weather.mayReadHistory,
      arrived: (message) => watchArrival(world, message),
      leaves: (message, post) => watchPayload(world, message, post),
      edited: (before, message) => watchEdit(world, before, message),
    }),
    records: watchedRecords(recordHistory),
    recordHistory,
    lateRecords: new Map(),
    serviceAway: false,
    plans: [open.plan],
    sent: new Map(),
    answered: [],
    summariesEndedAtMs: undefined,
    clicks: [],
    stormClicks: [],
    cards,
    violations,
    story,
    breakage,
    sealer: {
      seal(context, plain) {
        if (plain.includes(canaries.token))
          violate(`a card token is stored beside the ledger, in ${context}`);
        return plainSealer.seal(context, plain);
      },
      open: (context, sealed) => plainSealer.open(context, sealed),
    },
    tell,
    violate,
  };
  return world;
}

function watchedRecords(history: World['recordHistory']): World['records'] {
  return new (class extends Map<string, Transaction> {
    override set(reference: string, record: Transaction): this {
      history.set(reference, [...(history.get(reference) ?? []), record]);
      return super.set(reference, record);
    }
  })();
}

/** Reads along what is written of cards, by whom it may be. */
function watchCards(store: Store, cards: World['cards'], violate: (what: string) => void): Store {
  function see(key: string, value: string): void {
    if (!key.startsWith(alertCardPrefix)) return;
    const id = key.slice(alertCardPrefix.length);
    const { card, untold, told, others } = JSON.parse(plainSealer.open(key, value)) as {
      card: AlertCard;
      untold: CardStep[];
      told: number;
      others: string[];
    };
    const known = cards.get(id) ?? { card, steps: [], others: [] };
    const count = told + untold.length;
    if (count < known.steps.length) violate(`a step of ${id} is forgotten`);
    const added = untold.slice(Math.max(0, known.steps.length - told));
    cards.set(id, { card, steps: [...known.steps, ...added], others });
  }
  return {
    ...store,
    async create(key, value, options) {
      const isCreated = await store.create(key, value, options);
      if (isCreated) see(key, value);
      return isCreated;
    },
    async write(entry, value, options) {
      const written = await store.write(entry, value, options);
      if (written) see(entry.key, value);
      return written;
    },
  };
}
