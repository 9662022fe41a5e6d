import { expect, it } from 'vitest';
import type { AlertMute, AlertState } from '../../../src/domain/alert.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { alertMessages } from '../../../src/features/alerts/alert.ts';
import { shownSeverities } from '../../../src/features/alerts/escalation.ts';
import { openAlerts } from '../../../src/features/alerts/event-case.ts';
import { readMessageRecord } from '../../../src/messages/message-record.ts';
import { createRandom } from '../../chaos/random.ts';
import { countOf } from '../../support/counts.ts';
import {
  type AlertsHouse,
  type AlertsWorld,
  failed,
  openAlertsWorld,
  paidBy,
  type Pass,
  recordOf,
  slackFaults,
  startAlerts,
} from '../alerts-house.ts';

// Random days of one or two channels, with a storm in either, both or none: failures, payments, second payments, refunds,
// mutes, presses, outages of Slack and of the service, lost answers, and kills. `SEED=7` begins with that walk.

const walks = countOf({ full: 1_500, share: 20 });
const firstSeed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1_000_000));
const ada = 'U0ADA00001';
const channels = ['C0ONE00001', 'C0TWO00001'];
const leaseMs = 45_000;

function failureOf(number: number): PaymentEvent {
  // Three customers, so payments resolve other orders' alerts, too.
  const customer = { customerId: `cust-${number % 3}`, customerEmail: `c${number % 3}@example.com` };
  const orderReference = `ORDER-${number}`;
  const whole = { ...failed, ...customer, key: `payment_failed/order/${orderReference}`, orderReference };
  if (number % 5 !== 2) return whole;
  const { amountMinor: _amount, reason: _reason, ...bare } = whole;
  return bare;
}

function paymentOf(number: number, reference: string): PaymentEvent {
  const { customerId = '', customerEmail = '' } = failureOf(number);
  return paidBy(reference, { customerId, customerEmail });
}

function refundOf(number: number): PaymentEvent {
  return {
    ...failureOf(number),
    kind: 'payment_given_back',
    key: `payment_given_back/order/ORDER-${number}`,
  };
}

/** A world, its process, which may be killed at any await, and what happened in it. */
function openScene(seed: number) {
  const random = createRandom(seed);
  const world = openAlertsWorld({ threshold: 3 });
  const { clock, records, service, slack, store } = world;
  const used = channels.slice(0, 1 + random.below(2));
  world.routes.rules = used.map((channel, index) => ({
    name: channel,
    match: {},
    channels: [channel],
    continues: index < used.length - 1,
    ...(index === 1 && random.chance(0.5) && { digestAfter: 0 }),
  }));
  const mutes: AlertMute[] = [];
  const needs = { mutes: async () => mutes };
  let dead = Promise.withResolvers<'dead'>();
  let isDead = false;
  const pass: Pass = async (_name, effect) => {
    const result = isDead ? undefined : await effect();
    if (!isDead && !random.chance(1 / 150)) return result as Awaited<ReturnType<typeof effect>>;
    isDead = true;
    dead.resolve('dead');
    return await new Promise(() => undefined);
  };
  let house = startAlerts(world, pass, { needs });
  /** False: the process died. */
  async function run(work: (house: AlertsHouse) => Promise<unknown>): Promise<boolean> {
    if ((await Promise.race([work(house), dead.promise])) !== 'dead') return true;
    isDead = false;
    dead = Promise.withResolvers();
    clock.nowMs += leaseMs + 1_000;
    house = startAlerts(world, pass, { needs });
    return false;
  }
  /** A sender repeats an event until it is acknowledged. */
  async function send(event: PaymentEvent): Promise<void> {
    while (!(await run(({ receive }) => receive(event))));
  }
  const happened = { failed: 0, paid: new Set<number>(), refunded: new Set<number>() };
  async function pay(number: number, reference: string): Promise<void> {
    records.set(reference, recordOf(reference, 'SUCCESS'));
    await send(paymentOf(number, reference));
  }
  async function fail(): Promise<void> {
    happened.failed += 1;
    const { orderReference = '' } = failureOf(happened.failed);
    records.set(orderReference, recordOf(orderReference, 'FAILED'));
    await send(failureOf(happened.failed));
  }
  async function mute(): Promise<void> {
    const channel = random.pick(channels);
    for (const one of mutes) one.isOver ||= one.channel === channel;
    const until = { fromMs: clock.nowMs, untilMs: clock.nowMs + 120_000, isOver: random.chance(0.5) };
    mutes.push({ id: `V${mutes.length}`, channel, match: {}, why: 'noise', by: ada, ...until });
  }
  async function loseAnswers(): Promise<void> {
    let left = 3;
    slack.meets = ({ method }) => (method === 'post' && (left -= 1) >= 0 ? slackFaults.unheard : undefined);
  }
  async function acknowledgeStorm(): Promise<void> {
    const [storm] = (await store.list('open-storms', { max: 1 })).entries;
    if (storm) await run(({ storms }) => storms.acknowledge(storm.key.slice('storm:'.length), ada));
  }
  const about = (act: (number: number) => Promise<unknown>) => async () => {
    if (happened.failed > 0) await act(1 + random.below(happened.failed));
  };
  const move = (kind: 'acknowledge' | 'close') =>
    about((number) =>
      run(({ alerts }) => alerts.move(failureOf(number).key, { kind, by: ada, reason: 'cash' })),
    );
  const drain = async () => {
    const forMs = random.pick([1_000, 5_000, 20_000, 400_000]);
    await run((one) => one.drain(forMs, forMs > 20_000 ? 10_000 : 1_000));
  };
  const acts: (() => Promise<unknown>)[] = [
    fail,
    fail,
    fail,
    fail,
    drain,
    drain,
    drain,
    drain,
    drain,
    drain,
    about((number) => send(failureOf(number))),
    about(async (number) => {
      happened.paid.add(number);
      await pay(number, `ORDER-${number}`);
    }),
    about((number) => pay(number, `PAID-${number}`)),
    about(async (number) => {
      happened.refunded.add(number);
      await send(refundOf(number));
    }),
    move('acknowledge'),
    move('close'),
    acknowledgeStorm,
    mute,
    loseAnswers,
    async () => {
      const isAway = random.chance(0.5);
      slack.meets = () => (isAway ? slackFaults.notSent : undefined);
    },
    async () => {
      service.isAway = random.chance(0.5);
    },
  ];
  return { random, world, needs, happened, acts };
}

/** How a message of its own begins, by its alert's state. */
const firstWord: Record<AlertState['kind'], RegExp> = {
  open: /^(❌|❔|🚨)/u,
  acknowledged: /^👀/u,
  recovered: /^✅/u,
  closed: /^☑️/u,
};

type Scene = ReturnType<typeof openScene>;

/** A claim that must hold, and what is wrong if it doesn't. */
type Claim = readonly [holds: boolean, wrong: string];

async function claimsOfMessages({ slack, store }: AlertsWorld): Promise<Claim[]> {
  const posts = slack.messages.map(({ channel, shown }) => `${channel} ${shown.metadata?.event_payload.key}`);
  const keys = store.keys().filter((key) => key.startsWith('message:'));
  const records = await Promise.all(keys.map(async (key) => [key, await store.read(key)] as const));
  return [
    [new Set(posts).size === posts.length, 'a message is posted twice'],
    ...records.map(([key, entry]): Claim => {
      const { settled, wanted } = readMessageRecord(entry?.value ?? '');
      return [settled >= wanted, `${key} is not settled`];
    }),
  ];
}

/** Each channel of an alert has its message, or a digest that counts it; and its state is shown everywhere. */
async function claimsOfAlert(
  { slack, store }: AlertsWorld,
  { alerts }: AlertsHouse,
  id: string,
): Promise<Claim[]> {
  const messages = await alertMessages(store, id);
  const { routed = [], keptBy } = messages[0]?.record ?? {};
  const posted = messages.filter(({ record }) => record.posted && !record.digest);
  const counted = messages.filter(({ record }) => record.digest);
  const { state } = await alerts.read(id);
  const lists = shownSeverities.map((severity) => alerts.cases.list(openAlerts(severity), { max: 500 }));
  const isListed = (await Promise.all(lists)).flat().some((one) => one.id === id);
  const isOpen = state.kind === 'open' && posted.length > 0 && counted.length === 0;
  // Acknowledged by its storm in another channel: its own message shows that once somebody presses.
  const isByStorm = state.kind === 'acknowledged' && (await alerts.cases.find(id))?.card.kind === 'open';
  const texts = posted.map(
    ({ record }) => slack.messages.find(({ ts }) => ts === record.posted?.ts)?.shown.text ?? '',
  );
  return [
    [routed.length > 0 || keptBy !== undefined, `${id} has no channel`],
    [posted.length + counted.length === routed.length, `${id} is lost`],
    [counted.every(({ record }) => record.posted === undefined), `${id} is posted, and counted by a digest`],
    [isListed === isOpen, `${id} is ${state.kind}, and ${isListed ? '' : 'not '}among the open alerts`],
    ...texts.map((text): Claim => {
      return [isByStorm || firstWord[state.kind].test(text), `${id} is ${state.kind}, and says ${text}`];
    }),
  ];
}

/** Payments end alerts; second payments and refunds are told. */
async function claimsOfMoney(
  { slack, store }: AlertsWorld,
  { alerts }: AlertsHouse,
  { paid, refunded }: Scene['happened'],
  number: number,
): Promise<Claim[]> {
  const order = `ORDER-${number}`;
  const isTold = (words: RegExp): boolean =>
    slack.messages.some(({ shown: { text } }) => words.test(text) && text.endsWith(` · ${order}`));
  const { state } = await alerts.read(failureOf(number).key);
  const isIts = state.kind === 'recovered' && state.payment.reference === order;
  const [refund] = await alertMessages(store, refundOf(number).key);
  const isMuted = refund?.record.keptBy !== undefined;
  return [
    [
      !paid.has(number) || state.kind === 'recovered' || state.kind === 'closed',
      `${order} is paid, but open`,
    ],
    [!paid.has(number) || isIts || isTold(/^🚨 Paid (twice|after)/u), `${order}’s second payment is untold`],
    [!refunded.has(number) || isMuted || isTold(/given back/i), `${order}’s refund is untold`],
  ];
}

async function walk(seed: number): Promise<string[]> {
  const { random, world, needs, happened, acts } = openScene(seed);
  for (let act = 0; act < 50; act += 1) await random.pick(acts)();
  world.slack.meets = () => undefined;
  world.service.isAway = false;
  const calm = startAlerts(world, undefined, { needs });
  world.clock.nowMs += leaseMs + 1_000;
  await calm.drain(1_800_000, 15_000);
  const claims = [await claimsOfMessages(world)];
  for (let number = 1; number <= happened.failed; number += 1) {
    claims.push(await claimsOfAlert(world, calm, failureOf(number).key));
    claims.push(await claimsOfMoney(world, calm, happened, number));
  }
  return claims.flat().flatMap(([holds, wrong]) => (holds ? [] : [wrong]));
}

it('alerts of random days: none is lost, doubled or out of date, and nothing about money is told to nobody', async () => {
  for (let seed = firstSeed; seed < firstSeed + walks; seed += 1) {
    expect({ seed, wrongs: await walk(seed) }).toEqual({ seed, wrongs: [] });
  }
});
