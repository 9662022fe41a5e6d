import { declineReasons } from '../../src/simulators/payments/bank.ts';
import { actAtRandom, background, customers, people } from './people.ts';
import type { Scene } from './scene.ts';

type Act = (scene: Scene) => Promise<void> | void;

const minuteMs = 60_000;
const amounts = ['5000.00', '5000.00', '12000.00', '800.00'] as const;
const reasons = declineReasons.slice(0, 3);

function fail({ random, payments }: Scene): void {
  const terms = { amount: random.pick(amounts), customerEmail: random.pick(customers) };
  void payments.act({ kind: 'decline_saved_card_charge', ...terms, reason: random.pick(reasons) });
}

function pay({ random, payments }: Scene): void {
  const failed = payments.state().orders.filter(({ state }) => state === 'declined');
  const { amount, customerEmail } =
    failed.length > 0 && random.chance(0.8)
      ? random.pick(failed)
      : { amount: random.pick(amounts), customerEmail: random.pick(customers) };
  void payments.act({ kind: 'approve_saved_card_charge', amount: amount.replace(/,/g, ''), customerEmail });
}

async function burst(scene: Scene): Promise<void> {
  for (let count = 3 + scene.random.below(8); count > 0; count -= 1) {
    if (scene.random.chance(0.8)) fail(scene);
    else pay(scene);
    // oxlint-disable-next-line no-await-in-loop -- one after the other, as a sender sends
    await scene.time.pass(scene.random.below(300));
  }
}

function repeat({ random, payments }: Scene): void {
  const { deliveries } = payments.state();
  if (deliveries.length === 0) return;
  const { id } = random.pick(deliveries);
  void payments.act({
    kind: 'redeliver',
    deliveryId: id,
    how: random.pick(['again', 'new_id', 'late', 'bad_signature']),
  });
}

/** What a person began goes on with their next acts. */
async function person(scene: Scene): Promise<void> {
  const { random, time } = scene;
  const who = random.pick(random.chance(0.05) ? people : people.slice(0, 3));
  for (let count = 2 + random.below(7); count > 0; count -= 1) {
    actAtRandom(scene, who);
    // oxlint-disable-next-line no-await-in-loop -- with one hand
    await time.pass(random.pick([40, 700, 700, 1_500]));
  }
}

async function passTime(scene: Scene): Promise<void> {
  await scene.letPass(
    1 + scene.random.below(scene.random.pick([2_000, 20_000, 6 * minuteMs, 25 * minuteMs])),
  );
}

/** At any moment of what is under way. */
function crash(scene: Scene): void {
  const { random, weather, bots } = scene;
  if (!weather.mayCrash) return;
  if (bots.length === 0) return background(scene, () => scene.startBot());
  const run = random.pick(bots);
  const comesBack = random.chance(0.7);
  setTimeout(() => {
    if (!scene.faults.isOn || run.isDead) return;
    scene.crash(run);
    if (comesBack) background(scene, () => scene.startBot());
  }, random.below(1_500));
}

/** Stopped as by SIGSTOP, unless it waits for an answer, which would come too late. */
function freeze({ random, weather, bots, time, tell }: Scene): void {
  const run = bots.length === 0 ? undefined : random.pick(bots);
  if (!weather.mayCrash || !run || run.underWay > 0) return;
  run.heldUntilMs = time.nowMs + 1_000 + random.below(90_000);
  tell(`${run.name} is stopped for a while`);
}

async function amid(scene: Scene, ms: number): Promise<void> {
  for (let count = 1 + scene.random.below(3); count > 0; count -= 1) {
    // oxlint-disable-next-line no-await-in-loop
    await scene.random.pick<Act>([fail, fail, pay, person, repeat])(scene);
    // oxlint-disable-next-line no-await-in-loop
    await scene.letPass(ms / count);
  }
}

async function away(scene: Scene): Promise<void> {
  const { random, faults, weather, tell, time, seen } = scene;
  const which = random.pick(['slack', 'payments', 'store'] as const);
  const isIn =
    { slack: weather.slackFaults, payments: weather.paymentsFaults, store: weather.storeFaults }[which] > 0;
  if (!isIn) return;
  tell(`${which} is away`);
  const fromMs = time.nowMs;
  if (which === 'slack') faults.slackAway = random.pick(['not_sent', 'lost', 'unheard', 'answered'] as const);
  else faults[`${which}Away`] = true;
  await amid(scene, random.pick(which === 'store' ? [3_000, 8_000] : [5_000, minuteMs, 10 * minuteMs]));
  Object.assign(faults, { slackAway: undefined, storeAway: false, paymentsAway: false });
  if (which === 'slack') seen.slackAwayMs += time.nowMs - fromMs;
  tell(`${which} is back`);
}

async function refuse(scene: Scene): Promise<void> {
  const { random, weather, workspace, seen, tell } = scene;
  if (weather.slackFaults === 0) return;
  const { payAlerts, payDesk, general } = workspace.ids.channels;
  const channel = random.pick([payAlerts, payDesk, general]);
  workspace.setChannel(channel, { archived: true });
  seen.refused.add(channel);
  tell(`${channel} is archived`);
  await amid(scene, random.pick([20_000, 6 * minuteMs, 40 * minuteMs, 26 * 60 * minuteMs]));
  if (random.chance(0.7)) workspace.setChannel(channel, { archived: false });
}

/** What may happen next, and how often. */
const acts: readonly [weight: number, act: Act][] = [
  [14, fail],
  [8, pay],
  [5, repeat],
  [28, person],
  [3, burst],
  [12, passTime],
  [8, crash],
  [3, freeze],
  [3, away],
  [3, refuse],
];
const weights = acts.reduce((sum, [weight]) => sum + weight, 0);

export async function act(scene: Scene): Promise<void> {
  let left = scene.random.below(weights);
  const [, chosen] = acts.find(([weight]) => (left -= weight) < 0) ?? [0, passTime];
  await chosen(scene);
  await scene.time.pass(scene.random.pick([0, 30, 300, 2_000]));
}
