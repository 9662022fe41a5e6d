import type { Store } from '../../src/store/store.ts';
import { createRandom, type Random } from '../chaos/random.ts';
import { memoryStore } from '../operations/memory-store.ts';
import { deliverEvent, pickAct } from './acts.ts';
import type { Breakage } from './breakages.ts';
import { windowMs } from './bot.ts';
import { Engine } from './engine.ts';
import { findWrongs } from './findings.ts';
import { plans } from './plans.ts';
import { withoutRealRests } from './schedule.ts';
import { openWorld } from './open-world.ts';
import type { Weather, World } from './world.ts';

export type WalkOptions = {
  breakage?: Breakage;
  /** Absent: in memory. */
  openStore?: (clock: { nowMs: number }) => Store;
  keepsStory?: boolean;
};

export type Walked = { world: World; violations: readonly string[] };

const hourMs = 3_600_000;

/** One life of the alerting, drawn from its seed, and what did not hold in it. */
export function walk(seed: number, options: WalkOptions = {}): Promise<Walked> {
  return withoutRealRests(async () => {
    const random = createRandom(seed).fork('weather');
    const weather = weatherOf(random);
    const { openStore = memoryStore, breakage, keepsStory = false } = options;
    const plan = random.pick(plans);
    const world = openWorld(seed, weather, { store: openStore, breakage, plan, keepsStory });
    world.tell(`${JSON.stringify(weather)}, rules ${plans.indexOf(plan)}`);
    const engine = new Engine(world);
    await live(world, engine);
    await heal(world, engine);
    if (world.violations.length === 0) await findWrongs(world);
    await end(world, engine);
    await world.store.close();
    return { world, violations: world.violations };
  });
}

function weatherOf(random: Random): Weather {
  // What is given up, and goes elsewhere by other rules, is seldom met by chance.
  const abandons = random.chance(0.05);
  return {
    abandons,
    replicas: random.chance(0.6) ? 1 : 2,
    mayReadHistory: random.chance(0.8),
    slackFaults: random.pick([0, 0.02, 0.15]),
    storeFaults: random.pick([0, 0, 0.002, 0.01]),
    threshold: random.pick([0, 3, 6]),
    giveUpMs: random.pick([hourMs, abandons ? hourMs : 24 * hourMs]),
    plansMove: random.chance(0.25) || abandons,
    peopleDelete: random.chance(0.4),
    mayKill: random.chance(0.7),
    channelsRefuse: random.chance(0.3) || abandons,
    keepsCards: random.chance(0.5),
    detailsMs: random.chance(0.2) ? 4 * hourMs : undefined,
    skewMs: random.pick([0, 0, 2_000]),
    steps: 15 + random.below(50),
    summarises: random.chance(0.3),
  };
}

async function live(world: World, engine: Engine): Promise<void> {
  for (let step = 0; step < world.weather.steps && world.violations.length === 0; step += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one thing after the other, each amid what is under way
    await pickAct(world)(world, engine);
    // oxlint-disable-next-line no-await-in-loop
    await (world.random.chance(0.4) ? engine.rest() : engine.go(world.random.below(40)));
  }
}

/** Everything answers again, the senders repeat what was not answered, and what was given up is delivered again. */
async function heal(world: World, engine: Engine): Promise<void> {
  const { slack, lateRecords, records, clock } = world;
  world.tell('all is well from here on');
  for (const [reference, record] of lateRecords) records.set(reference, record);
  slack.refusals.clear();
  slack.away = undefined;
  world.serviceAway = false;
  world.storeAway = false;
  world.storeFaults = 0;
  slack.faults.share = 0;
  for (const { process } of engine.running) process.frozenUntilMs = 0;
  if (engine.running.length === 0) engine.start();
  engine.arm();
  await engine.pass(60_000);
  for (const sent of world.sent.values()) {
    if (sent.ackedAtMs === undefined) deliverEvent(world, engine, sent);
    // oxlint-disable-next-line no-await-in-loop
    await engine.rest();
  }
  engine.ask(
    (bot) => bot.redrive(),
    () => undefined,
  );
  await engine.pass(3 * hourMs, 1_000);
  world.summariesEndedAtMs = clock.nowMs;
  await engine.pass(windowMs + 24 * hourMs, 1_000);
}

/** Nothing is due any more, or will be. */
async function end(world: World, engine: Engine): Promise<void> {
  if (world.violations.length > 0) return;
  const before = engine.done;
  await engine.pass(10 * 24 * hourMs, hourMs);
  if (engine.done > before) world.violate(`${engine.done - before} pieces of work after all was done`);
}
