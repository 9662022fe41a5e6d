import { createRandom, type Random } from '../chaos/random.ts';
import { act } from './acts.ts';
import type { Breakage } from './breakages.ts';
import { findWrongs, words } from './findings.ts';
import { pressAll, say } from './people.ts';
import { openScene, rules, type Scene, type Weather } from './scene.ts';
import { putBack } from './virtual-time.ts';

export type Walked = { story: readonly string[]; broken: readonly string[]; met: Map<string, number> };

const [minuteMs, hourMs] = [60_000, 3_600_000];

/** One life of a bot, drawn from its seed, and what did not hold in it. The same seed gives the same walk. */
export async function walk(seed: number, breakage: Breakage = {}): Promise<Walked> {
  const weather = weatherOf(createRandom(seed).fork('weather'));
  try {
    const scene = await openScene(seed, weather, breakage);
    scene.tell(JSON.stringify(weather));
    for (let count = 0; count < weather.acts; count += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other, each amid what is under way
      await act(scene);
    }
    await heal(scene);
    const met = findWrongs(scene);
    await end(scene);
    await scene.end();
    return { story: scene.story, broken: scene.broken, met };
  } finally {
    putBack();
  }
}

function weatherOf(random: Random): Weather {
  const isCalm = random.chance(0.2);
  return {
    replicas: random.pick([1, 2, 2, 3]),
    mayReadHistory: random.chance(0.85),
    slackFaults: isCalm ? 0 : random.pick([0, 0.03, 0.15]),
    paymentsFaults: isCalm ? 0 : random.pick([0, 0.03, 0.15]),
    storeFaults: isCalm ? 0 : random.pick([0, 0, 0.003, 0.01]),
    mayCrash: !isCalm && random.chance(0.7),
    threshold: random.pick([0, 0, 3, 6]),
    rules: random.pick(Object.keys(rules) as (keyof typeof rules)[]),
    acts: 8 + random.below(30),
  };
}

/** Everything answers again, what was not acknowledged is sent again, and what was given up is delivered again. */
async function heal(scene: Scene): Promise<void> {
  const { workspace, payments, faults, bots } = scene;
  scene.tell('all is well from here on');
  Object.assign(faults, { isOn: false, slackAway: undefined, storeAway: false, paymentsAway: false });
  for (const id of Object.values(workspace.ids.channels)) {
    if (scene.seen.refused.has(id)) workspace.setChannel(id, { archived: false });
  }
  for (const run of bots) run.heldUntilMs = 0;
  if (bots.length === 0) await scene.startBot();
  await scene.letPass(2 * minuteMs);
  for (const { id, event, orderReference } of payments.state().deliveries) {
    if (!scene.seen.acknowledged.has(`${event} ${orderReference}`))
      // oxlint-disable-next-line no-await-in-loop
      await payments.act({ kind: 'redeliver', deliveryId: id, how: 'again' });
  }
  await scene.letPass(10 * minuteMs);
  say(scene, workspace.ids.users.lead, '/pay undelivered');
  await scene.time.pass(3_000);
  pressAll(scene, workspace.ids.users.lead, words.deliverAgain);
  await scene.letPass(30 * hourMs);
}

/** Nothing is due any more, or will be. */
async function end(scene: Scene): Promise<void> {
  if (scene.broken.length > 0) return;
  const before = scene.seen.toSlack.length;
  await scene.letPass(3 * 24 * hourMs);
  for (const { body } of scene.seen.toSlack
    .slice(before)
    .filter(({ body }) => !words.linkOver.test(decodeURIComponent(body))))
    scene.broken.push(`told after all was done: ${body.slice(0, 300)}`);
}
