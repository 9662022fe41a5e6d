import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { referenceOf } from '../../src/records/reference-of.ts';
import { bundleBot, type Bundle } from './bot-bundle.ts';
import { openChargeInStore } from './charge-in-store.ts';
import { reviews, sitAt } from './desk.ts';
import { fastClock } from './fast-clock.ts';
import { openHouse, type House } from './house.ts';
import { cards, chargeAsAgent, isReadBack, settleAsAgent, submit, topView } from './killed-charge-agent.ts';
import { problemsOf, watchForPaid } from './killed-charge-promises.ts';
import type { Ran, Run, Scene } from './killed-charge-scene.ts';

/** Fast enough that 30 s pass in 1.5 s and the 15 minutes of a code in 45 s, while 25 s still leave room to do something. */
const factor = 20;

/** For all the runs of a process; whoever asked removes it. */
export function bundleKilledBot(): Promise<Bundle> {
  return bundleBot(fileURLToPath(new URL('killed-bot.ts', import.meta.url)));
}

/** Has an agent charge a card through the whole bot, kills it on the way, and lets another bot end it. */
export async function runCharge(run: Run): Promise<Ran> {
  const cleanUps: (() => unknown)[] = [];
  try {
    const begun = await run.place.busy(() => begin(run, cleanUps));
    if (begun.kind === 'over') return begun.ran;
    const { scene, stuck } = begun;
    await settleAsAgent(scene);
    return { killed: true, stuck, end: await endOf(scene), passed: [], problems: await problemsOf(scene) };
  } finally {
    // oxlint-disable-next-line no-await-in-loop -- the last opened is the first to go
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  }
}

type Begun = { kind: 'over'; ran: Ran } | { kind: 'restarted'; scene: Scene; stuck: boolean };

/** Up to where the killed bot's successor listens. */
async function begin(run: Run, cleanUps: (() => unknown)[]): Promise<Begun> {
  const house = await openFastHouse(run, cleanUps);
  const list = join(house.folder, 'points');
  const first = house.bot(run.killAt === undefined ? { KILL_LIST: list } : { KILL_AT: run.killAt });
  await house.start(first);
  // No event reaches it: what it does is then the charge's path and nothing beside it. They come to its successor.
  house.sendEventsTo([]);
  const store = await openChargeInStore(house);
  cleanUps.push(() => store.close());
  const { id: viewId } = await reviews(sitAt(house, first), 'agent', cards[run.story]);
  const scene: Scene = {
    run,
    house,
    first,
    store,
    reference: referenceOf(viewId),
    pressedAgain: false,
    tooEarly: new Set(),
  };
  house.workspace.onChange(() => watchForPaid(scene));
  await chargeAsAgent(scene);
  const killed = !first.isRunning();
  if (run.killAt === undefined || !killed) {
    const passed = run.killAt === undefined ? readFileSync(list, 'utf8').trim().split('\n') : [];
    const problems = await problemsOf(scene);
    return { kind: 'over', ran: { killed, stuck: false, end: await endOf(scene), passed, problems } };
  }
  const next = house.bot({ KILL_AT: '' });
  await house.start(next);
  const stuck = isReadBack(topView(house));
  scene.pressedAgain = stuck && run.pressAgain === true;
  if (scene.pressedAgain) await submit(scene, {});
  return { kind: 'restarted', scene, stuck };
}

export function openFastHouse({ place }: Pick<Run, 'place'>, cleanUps: (() => unknown)[]): Promise<House> {
  const clock = { fromMs: Date.now(), factor };
  const now = fastClock(clock);
  return openHouse(
    {
      onTestFinished: (cleanUp) => void cleanUps.push(cleanUp as () => unknown),
      onTestFailed: () => undefined,
    },
    {
      workspace: { grantedOptionalScopes: 'all', now, triggerLifeMs: 3_000 * factor },
      payments: { now, retryDelaysMs: Array.from({ length: 1_000 }, () => 100) },
      program: place.bundle.program,
      env: {
        KILL_CLOCK: JSON.stringify(clock),
        WORK_LEASE_SECONDS: '60',
        // Else a decline whose answer was lost takes 16 minutes.
        PAYMENTS_FINAL_STATUSES: 'FAILED',
      },
      ...(place.redis ? { redisUrl: place.redis.url } : {}),
    },
  );
}

async function endOf({ store, reference }: Scene): Promise<string> {
  return (await store.read(reference))?.intent.state.kind ?? 'none';
}
