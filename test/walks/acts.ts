import type { CardMove } from '../../src/domain/alert-card.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import type { Engine } from './engine.ts';
import { newFailure, newPayment } from './events.ts';
import { channels, plans } from './plans.ts';
import type { Kept } from './slack.ts';
import type { Sent, World } from './world.ts';

type Act = (world: World, engine: Engine) => Promise<void> | void;

const people = ['U0ADA00001', 'U0BOLA0001'] as const;
const minuteMs = 60_000;

export function deliverEvent(world: World, engine: Engine, sent: Sent, print = 'f'): void {
  const { event } = sent;
  engine.ask(
    (bot) => bot.receive(event, print),
    (result) => {
      world.tell(`${event.key} is answered ${result}`);
      world.answered.push({ key: event.key, print, result });
      sent.ackedAtMs ??= world.clock.nowMs;
      sent.plansAtAck ??= world.plans.length;
    },
  );
}

function send(world: World, engine: Engine, event: PaymentEvent): void {
  const known = world.sent.get(event.key);
  const sent = known ?? { event, firstSentAtMs: world.clock.nowMs };
  world.sent.set(event.key, sent);
  world.tell(`${event.key} is sent ${JSON.stringify(event)}`);
  deliverEvent(world, engine, sent);
}

function failures({ sent }: World): PaymentEvent[] {
  return [...sent.values()].map(({ event }) => event).filter(({ kind }) => kind === 'payment_failed');
}

function fail(world: World, engine: Engine): void {
  send(world, engine, newFailure(world));
}

function pay(world: World, engine: Engine): void {
  const known = failures(world);
  // Of an order whose failure is still to come, too.
  if (known.length === 0 || world.random.chance(0.2)) {
    const failed = newFailure(world);
    send(world, engine, newPayment(world, failed));
    if (world.random.chance(0.7)) send(world, engine, failed);
    return;
  }
  send(world, engine, newPayment(world, world.random.pick(known)));
}

async function burst(world: World, engine: Engine): Promise<void> {
  const count = 4 + world.random.below(8);
  for (let number = 0; number < count; number += 1) {
    if (world.random.chance(0.8)) fail(world, engine);
    else pay(world, engine);
    // oxlint-disable-next-line no-await-in-loop -- one after the other, as a sender sends
    await engine.go(world.random.below(20));
  }
}

function repeat(world: World, engine: Engine): void {
  const all = [...world.sent.values()];
  if (all.length === 0) return;
  const known = world.random.pick(all);
  deliverEvent(world, engine, known, world.random.chance(0.25) ? 'another amount' : 'f');
}

/** What people see and can press: a message shows its buttons until it is edited. */
function shownAlerts({ slack, clock }: World): { id: string; isOpen: boolean }[] {
  return slack.messages.flatMap(({ post, goneAtMs, visibleAtMs, shown }) => {
    if (post.kind !== 'alert' || !post.alert.card || goneAtMs !== undefined || visibleAtMs > clock.nowMs)
      return [];
    if (!shown.blocks.some(({ type }) => type === 'actions')) return [];
    return [{ id: post.alert.card.id, isOpen: post.alert.card.card.kind === 'open' }];
  });
}

function click(world: World, engine: Engine): void {
  const shown = shownAlerts(world);
  if (shown.length === 0) return;
  const { random } = world;
  const { id, isOpen } = random.pick(shown);
  const count = random.chance(0.4) ? 2 : 1;
  for (let number = 0; number < count; number += 1) {
    const by = random.pick(people);
    if (random.chance(0.15))
      engine.ask(
        (bot) => bot.cards.lookUpNow(id),
        () => undefined,
      );
    else press(world, engine, id, moveOf(world, by, isOpen));
  }
}

function moveOf({ random }: World, by: string, isOpen: boolean): CardMove {
  if (isOpen)
    return random.chance(0.75) ? { kind: 'acknowledge', by } : { kind: 'close', by, reason: 'settled' };
  switch (random.below(5)) {
    case 0:
      return { kind: 'close', by, reason: 'settled' };
    case 1:
    case 2:
      return { kind: 'assign', by, to: random.pick(people) };
    default:
      return { kind: 'snooze', by, forMs: random.pick([minuteMs, 20 * minuteMs, 60 * minuteMs]) };
  }
}

function press(world: World, engine: Engine, id: string, move: CardMove): void {
  const pressed: World['clicks'][number] = { id, move, atMs: world.clock.nowMs };
  world.clicks.push(pressed);
  world.tell(`a press on ${id}: ${JSON.stringify(move)}`);
  engine.ask(
    (bot) => bot.cards.move(id, move),
    (answer) => {
      pressed.answer = answer;
      world.tell(`the press on ${id} is answered ${JSON.stringify(answer)}`);
    },
  );
}

function takeStorm(world: World, engine: Engine): void {
  const digests = world.slack.messages.flatMap(({ post, goneAtMs }) =>
    post.kind === 'digest' && goneAtMs === undefined && post.storm.gathers === 'payment_failed'
      ? [post.storm.id]
      : [],
  );
  if (digests.length === 0) return;
  const storm = world.random.pick(digests);
  for (const by of world.random.chance(0.3) ? people : [world.random.pick(people)]) {
    const asked: World['stormClicks'][number] = { storm, by };
    world.stormClicks.push(asked);
    world.tell(`${by} takes ${storm}`);
    engine.ask(
      (bot) => bot.takeStorm.acknowledge(storm, by),
      (answer) => {
        asked.answer = answer;
      },
    );
  }
}

async function passTime(world: World, engine: Engine): Promise<void> {
  const { random } = world;
  const ms = random.pick([500, 2_000, 5_000, 20_000, minuteMs, 6 * minuteMs, 25 * minuteMs]);
  await engine.pass(1 + random.below(ms));
}

/** A moment in which calls that are under way stay so. */
async function crawl(world: World, engine: Engine): Promise<void> {
  for (let step = 0; step < 5; step += 1) {
    // oxlint-disable-next-line no-await-in-loop
    await engine.go(world.random.below(12));
    // oxlint-disable-next-line no-await-in-loop
    await engine.advance(world.random.below(1_500));
  }
}

async function kill(world: World, engine: Engine): Promise<void> {
  if (!world.weather.mayKill) return;
  if (engine.running.length === 0) return engine.start();
  await engine.go(world.random.below(60));
  engine.kill(world.random.pick(engine.running));
  // Else it stays away for a while.
  if (world.random.chance(0.7)) engine.start();
}

async function freeze(world: World, engine: Engine): Promise<void> {
  if (!world.weather.mayKill || engine.running.length === 0) return;
  await engine.go(world.random.below(60));
  engine.freeze(world.random.pick(engine.running), 1_000 + world.random.below(90_000));
}

/** A person deletes a message, or Slack lets nobody edit it any more. */
function meddle(world: World): void {
  if (!world.weather.peopleDelete) return;
  const standing = world.slack.messages.filter(
    ({ goneAtMs, visibleAtMs }) => goneAtMs === undefined && visibleAtMs <= world.clock.nowMs,
  );
  if (standing.length === 0) return;
  const message: Kept = world.random.pick(standing);
  const isDeleted = world.random.chance(0.6);
  message[isDeleted ? 'goneAtMs' : 'closedAtMs'] ??= world.clock.nowMs;
  world.tell(`${message.key} in ${message.channel} is ${isDeleted ? 'deleted' : 'closed to edits'}`);
}

function changePlan(world: World, engine: Engine): void {
  if (!world.weather.plansMove) return;
  world.plans.push(world.random.pick(plans));
  world.tell(`the rules become ${plans.indexOf(world.plans.at(-1) ?? plans[0]!)}`);
  engine.restart();
}

async function slackAway(world: World, engine: Engine): Promise<void> {
  const { random, slack, clock } = world;
  // A history is waited for a quarter of an hour, and two outages in a row are one of twice the length.
  if (clock.nowMs - slack.backAtMs < 15 * minuteMs) return;
  slack.away = random.pick(['not_sent', 'unsure', 'rate_limited']);
  world.tell(`Slack is away: ${slack.away}`);
  await amid(world, engine, random.pick([5_000, minuteMs, 10 * minuteMs]));
  slack.away = undefined;
  slack.backAtMs = clock.nowMs;
  world.tell('Slack is back');
}

async function refuse(world: World, engine: Engine): Promise<void> {
  if (!world.weather.channelsRefuse) return;
  const { random, slack } = world;
  const channel = random.chance(0.1) ? '*' : random.pick(channels);
  const slackError = random.pick(['is_archived', 'not_in_channel', 'a_new_word']);
  const about = channel === '*' ? 'bot' : slackError === 'a_new_word' ? 'unclear' : 'channel';
  slack.refusals.set(channel, { kind: 'refused', slackError, fix: 'Mend it.', about });
  world.tell(`${channel} is refused: ${slackError}`);
  await amid(world, engine, random.pick([20_000, 6 * minuteMs, 40 * minuteMs, 3 * 60 * minuteMs]));
  if (random.chance(0.7)) slack.refusals.delete(channel);
}

/** A channel is given up, and a person does what the fix says: other rules, and delivered again. */
async function abandon(world: World, engine: Engine): Promise<void> {
  const { weather, random, slack } = world;
  if (!weather.abandons) return;
  const channel = random.pick(channels);
  const refusal = { kind: 'refused', slackError: 'is_archived', fix: 'Mend it.', about: 'channel' } as const;
  slack.refusals.set(channel, refusal);
  world.tell(`${channel} is given up`);
  await amid(world, engine, weather.giveUpMs + 40 * minuteMs);
  changePlan(world, engine);
  if (random.chance(0.5)) slack.refusals.delete(channel);
  await redrive(world, engine);
  await amid(world, engine, 2 * minuteMs);
  slack.refusals.delete(channel);
  if (random.chance(0.5)) await redrive(world, engine);
}

async function serviceAway(world: World, engine: Engine): Promise<void> {
  world.serviceAway = true;
  await amid(world, engine, world.random.pick([3_000, 20_000, 5 * minuteMs]));
  world.serviceAway = false;
}

async function storeAway(world: World, engine: Engine): Promise<void> {
  if (world.weather.storeFaults === 0) return;
  world.storeAway = true;
  world.tell('the store is away');
  await engine.go(world.random.below(60));
  await engine.advance(world.random.below(4_000));
  world.storeAway = false;
}

/** Some time, in which things happen. */
async function amid(world: World, engine: Engine, ms: number): Promise<void> {
  const count = 1 + world.random.below(4);
  for (let number = 0; number < count; number += 1) {
    world.random.pick([fail, fail, pay, click, repeat])(world, engine);
    // oxlint-disable-next-line no-await-in-loop
    await engine.pass(Math.ceil(ms / count));
  }
}

function proveLate({ records, lateRecords, random }: World): void {
  for (const [reference, record] of lateRecords) {
    if (random.chance(0.5)) continue;
    records.set(reference, record);
    lateRecords.delete(reference);
  }
}

async function redrive(_world: World, engine: Engine): Promise<void> {
  engine.ask(
    (bot) => bot.redrive(),
    () => undefined,
  );
  await engine.go(20);
}

/** What may happen next, and how often. */
const acts: readonly [weight: number, act: Act][] = [
  [14, fail],
  [8, pay],
  [5, repeat],
  [14, click],
  [3, takeStorm],
  [3, burst],
  [14, passTime],
  [6, crawl],
  [6, kill],
  [3, freeze],
  [4, meddle],
  [2, changePlan],
  [2, slackAway],
  [2, refuse],
  [2, serviceAway],
  [2, storeAway],
  [2, proveLate],
  [1, redrive],
  [4, abandon],
];
const weights = acts.reduce((sum, [weight]) => sum + weight, 0);

export function pickAct({ random }: World): Act {
  let left = random.below(weights);
  for (const [weight, act] of acts) {
    left -= weight;
    if (left < 0) return act;
  }
  return passTime;
}
