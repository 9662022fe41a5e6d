import { createRandom, type Random } from '../chaos/random.ts';
import { type Breakage, breakages } from './breakages.ts';
import { actAsCustomer, findLivingPages, lendCode } from './customers.ts';
import { findWrongs, words } from './findings.ts';
import {
  actAtRandom,
  background,
  charge,
  customers,
  people,
  pressAll,
  say,
  typeAndSubmit,
} from './people.ts';
import { eventChannels, openScene, rules, type Scene, type Weather } from './scene.ts';
import { putBack } from './virtual-time.ts';
import { declineReasons } from '../../src/simulators/payments/bank.ts';

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

/** A customer pays by a payment link that somebody has read, or by the merchant's own; or only tries to. */
function payByLink({ random, payments, seen }: Scene): void {
  const open = payments.state().orders.filter(({ isSavedCardCharge, state, orderReference, orderId }) => {
    const isKnown =
      orderReference.startsWith('ORDER') || seen.toSlack.some(({ body }) => body.includes(orderId));
    return !isSavedCardCharge && isKnown && /created|declined/.test(state);
  });
  const outcome = random.chance(0.8) ? 'approved' : 'declined';
  if (open.length > 0)
    void payments.act({ kind: 'pay_order', orderReference: random.pick(open).orderReference, outcome });
}

async function sendLink(scene: Scene): Promise<void> {
  const { random, workspace, time } = scene;
  const { agent, lead } = workspace.ids.users;
  await typeAndSubmit(scene, random.pick([agent, lead]), `/pay link ${random.pick(amounts)}`);
  await time.pass(random.pick([1_000, 10_000]));
  payByLink(scene);
}

/** An agent or lead asks to charge a large amount; one of those who may approve, perhaps the same lead, tries to. */
async function askApproval(scene: Scene): Promise<void> {
  const { random, workspace } = scene;
  const { agent, lead, onCall } = workspace.ids.users;
  await charge(scene, random.pick([agent, lead]), '150000');
  pressAll(scene, random.pick([lead, onCall]), words.approve);
}

/** The merchant gives a payment back. */
function giveBack({ random, payments }: Scene): void {
  const paid = payments.state().orders.filter(({ state }) => state === 'paid');
  if (paid.length === 0) return;
  const { orderReference } = random.pick(paid.slice(0, 4));
  void payments.act({ kind: 'give_back', orderReference, sends: random.chance(0.8) });
}

async function mute(scene: Scene): Promise<void> {
  const { random, workspace, seen, time } = scene;
  const { lead, onCall } = workspace.ids.users;
  seen.mutedAtMs = Math.min(seen.mutedAtMs, time.nowMs);
  await typeAndSubmit(scene, random.pick([lead, onCall]), '/pay mute', random.pick(eventChannels(workspace)));
}

async function burst(scene: Scene): Promise<void> {
  for (let count = 3 + scene.random.below(8); count > 0; count -= 1) {
    if (scene.random.chance(0.8)) fail(scene);
    else pay(scene);
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

/** One action of a person; a dialogue they began continues with their next actions. */
async function person(scene: Scene): Promise<void> {
  const { random, time } = scene;
  const who = random.pick(random.chance(0.05) ? people : people.slice(0, 3));
  for (let count = 2 + random.below(7); count > 0; count -= 1) {
    actAtRandom(scene, who);
    await time.pass(random.pick([40, 700, 700, 1_500]));
  }
}

async function passTime(scene: Scene): Promise<void> {
  await scene.letPass(
    1 + scene.random.below(scene.random.pick([2_000, 20_000, 6 * minuteMs, 25 * minuteMs])),
  );
}

/** Kills a bot at any point of its work. */
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

/** Suspends a bot like SIGSTOP, unless it waits for an answer, which would come too late. */
function freeze({ random, weather, bots, time, tell }: Scene): void {
  const run = bots.length === 0 ? undefined : random.pick(bots);
  if (!weather.mayCrash || !run || run.underWay > 0) return;
  run.heldUntilMs = time.nowMs + 1_000 + random.below(90_000);
  tell(`${run.name} is stopped for a while`);
}

async function amid(scene: Scene, ms: number): Promise<void> {
  for (let count = 1 + scene.random.below(3); count > 0; count -= 1) {
    await scene.random.pick<Act>([fail, fail, pay, person, repeat])(scene);
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

/**
 * Archives a channel, or removes the bot from it: then it can still post there if its scopes allow, and edits wait if Slack
 * wants a member for them.
 */
async function shut(scene: Scene): Promise<void> {
  const { random, weather, workspace, seen, tell } = scene;
  if (weather.slackFaults === 0) return;
  const channel = random.pick(eventChannels(workspace));
  const isArchived = random.chance(0.6);
  const set = (isShut: boolean): void =>
    workspace.setChannel(channel, isArchived ? { archived: isShut } : { botIsMember: !isShut });
  set(true);
  (isArchived ? seen.refused : seen.left).add(channel);
  tell(isArchived ? `${channel} is archived` : `the bot is taken out of ${channel}`);
  await amid(scene, random.pick([20_000, 6 * minuteMs, 40 * minuteMs, 26 * 60 * minuteMs]));
  if (random.chance(0.7)) set(false);
}

/** The possible actions, with their weights. */
const acts: readonly [weight: number, act: Act][] = [
  [14, fail],
  [8, pay],
  [5, repeat],
  [28, person],
  [3, actAsCustomer],
  [3, lendCode],
  [2, askApproval],
  [2, sendLink],
  [2, payByLink],
  [2, giveBack],
  [2, mute],
  [3, burst],
  [12, passTime],
  [8, crash],
  [3, freeze],
  [3, away],
  [5, shut],
];
const weights = acts.reduce((sum, [weight]) => sum + weight, 0);

async function act(scene: Scene): Promise<void> {
  let left = scene.random.below(weights);
  const [, chosen] = acts.find(([weight]) => (left -= weight) < 0) ?? [0, passTime];
  await chosen(scene);
  await scene.time.pass(scene.random.pick([0, 30, 300, 2_000]));
}

export type Walked = { story: readonly string[]; broken: readonly string[]; met: Map<string, number> };

const hourMs = 60 * minuteMs;

/** One random life of a bot, and what was violated in it. The same seed gives the same walk. */
export async function walk(seed: number, breakage: Breakage = {}): Promise<Walked> {
  const weather = weatherOf(createRandom(seed).fork('weather'));
  try {
    const scene = await openScene(seed, weather, breakage);
    scene.tell(JSON.stringify(weather));
    for (let count = 0; count < weather.acts; count += 1) {
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
    codeEntry: random.pick(['both', 'both', 'customer', 'agent']),
    rules: random.pick(Object.keys(rules) as (keyof typeof rules)[]),
    acts: 8 + random.below(30),
    quirks: {
      untouchedInitialsAreNull: random.chance(0.3),
      firstSubmissionIsOld: random.chance(0.3),
      editsNeedMembership: random.chance(0.5),
      isHistorySlow: random.chance(0.1),
      deliversTwice: random.chance(0.2),
    },
  };
}

/** Ends all faults, sends unacknowledged events again, and delivers again what was given up. */
async function heal(scene: Scene): Promise<void> {
  const { workspace, payments, faults, bots } = scene;
  scene.tell('all is well from here on');
  Object.assign(faults, { isOn: false, slackAway: undefined, storeAway: false, paymentsAway: false });
  for (const id of Object.values(workspace.ids.channels)) {
    if (scene.seen.refused.has(id)) workspace.setChannel(id, { archived: false });
    if (scene.seen.left.has(id)) workspace.setChannel(id, { botIsMember: true });
  }
  for (const run of bots) run.heldUntilMs = 0;
  if (bots.length === 0) await scene.startBot();
  await scene.letPass(2 * minuteMs);
  for (const { id, event, orderReference } of payments.state().deliveries) {
    if (!scene.seen.acknowledged.has(`${event} ${orderReference}`))
      await payments.act({ kind: 'redeliver', deliveryId: id, how: 'again' });
  }
  await scene.letPass(10 * minuteMs);
  say(scene, workspace.ids.users.lead, '/pay undelivered');
  await scene.time.pass(3_000);
  pressAll(scene, workspace.ids.users.lead, words.deliverAgain);
  await scene.letPass(30 * hourMs);
}

/** Checks that nothing more is sent once all work is done. */
async function end(scene: Scene): Promise<void> {
  if (scene.broken.length > 0) return;
  const before = scene.seen.toSlack.length;
  await scene.letPass(3 * 24 * hourMs);
  for (const { body } of scene.seen.toSlack
    .slice(before)
    .filter(({ body }) => !words.linkOver.test(decodeURIComponent(body))))
    scene.broken.push(`told after all was done: ${body.slice(0, 300)}`);
  await findLivingPages(scene);
}

type WalksResult = {
  /** How many walks, with the failing one. */
  walks: number;
  /** How often each case was met. */
  met: Map<string, number>;
  /** The first walk with a violation. */
  failure?: { seed: number; broken: readonly string[]; story: readonly string[] };
};

/** Walks seed after seed until something is violated, and checks that the same seed gives the same walk. */
export async function runWalks({
  count,
  seed: first,
}: {
  count: number;
  seed: number;
}): Promise<WalksResult> {
  const met: WalksResult['met'] = new Map();
  for (let walks = 1; walks <= count; walks += 1) {
    const seed = first + walks - 1;
    const walked = await walk(seed);
    for (const [what, times] of walked.met) met.set(what, (met.get(what) ?? 0) + times);
    if (walked.broken.length > 0) return { walks, met, failure: { seed, ...walked } };
  }
  const [one, other] = [await walk(first), await walk(first)];
  const differs = one.story.findIndex((line, index) => line !== other.story[index]);
  if (differs < 0) return { walks: count, met };
  const broken = [`the same seed goes two ways: ${one.story[differs]} | ${other.story[differs]}`];
  return { walks: count, met, failure: { seed: first, broken, story: one.story } };
}

/** The report of the first walk that detects the bug, and its number; undefined if none does. */
export async function findBreakage(
  name: string,
  { count, seed: first }: { count: number; seed: number },
): Promise<{ seed: number; says: string } | undefined> {
  const found = breakages[name];
  if (!found) throw new Error(`No breakage is called ${name}.`);
  for (let seed = first; seed < first + count; seed += 1) {
    const { broken } = await walk(seed, found.breakage());
    const says = broken.find((one) => found.seen.test(one));
    if (says !== undefined) return { seed, says };
  }
  return undefined;
}
