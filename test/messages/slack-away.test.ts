import { describe, expect, it } from 'vitest';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import {
  type AlertsHouse,
  failed,
  linesOf,
  type Message,
  openAlertsWorld,
  pressables,
  type SlackFault,
  slackFaults,
  startAlerts,
} from '../features/alerts-house.ts';
import { countOf } from '../support/counts.ts';

const outages: readonly [string, SlackFault][] = [
  ['cannot be reached', slackFaults.notSent],
  ['answers 503, or nothing at all', slackFaults.lost],
  ['asks to wait', slackFaults.slow(30)],
  ['refuses the token', slackFaults.refuses('token_revoked')],
];

const ada = 'U0ADA00001';
const bola = 'U0BOLA0001';
const threshold = 12;
/** Three channels: with few alerts, with a storm all the time, and with a storm that begins while Slack is away. */
const calm = 'C0CALM0001';
const stormy = 'C0STORMY01';
const late = 'C0LATE0001';

/** Whether a channel gets a failure in a given second. */
const arrivals: readonly [string, (second: number) => boolean][] = [
  [calm, (second) => second % 61 === 0],
  [stormy, (second) => second % 2 === 0],
  [late, (second) => second > 240 && second <= 300],
];
const leftAt = 60;
const backAt = leftAt + 600;

function failureIn(channel: string, number: number): PaymentEvent {
  const orderReference = `${channel}-${String(number).padStart(4, '0')}`;
  const key = `payment_failed/order/${orderReference}`;
  const who = { customerId: orderReference, customerEmail: `${orderReference}@example.com` };
  return { ...failed, ...who, key, orderReference };
}

function routed(): AlertsHouse {
  const world = openAlertsWorld({ threshold });
  world.routes.rules = [calm, stormy, late].map((channel) => ({
    name: channel,
    match: { customer: { kind: 'prefix', text: `${channel}-` } },
    channels: [channel],
    continues: false,
  }));
  return startAlerts(world);
}

function digestsIn(house: AlertsHouse, channel: string): Message[] {
  return house.parents().filter((one) => one.channel === channel && /Storm/.test(one.shown.text));
}

function stormOf(digest: Message | undefined): string {
  const block = digest?.shown.blocks.findLast(({ type }) => type === 'actions');
  const [button] = block?.type === 'actions' ? block.elements : [];
  return button?.type === 'button' ? (button.value ?? '') : '';
}

/** The keys of the events that a digest counts. */
async function itemsOf(house: AlertsHouse, digest: Message | undefined): Promise<string[]> {
  const items = await house.storms.items(stormOf(digest));
  return items.map(({ event }) => event.key);
}

/**
 * Runs the outage second by second, until five minutes after Slack is back; returns what arrived and what Slack accepted.
 * Where answers are lost, the first post to each channel arrives all the same.
 */
async function live(away: SlackFault, mayRead: boolean) {
  const house = routed();
  const { slack } = house;
  let isAway = false;
  const lost = new Set<string>();
  const tried = { post: 0, edit: 0, history: 0 };
  slack.meets = ({ method, channel, threadTs }) => {
    if (!isAway) return method === 'history' && !mayRead ? slackFaults.refuses('missing_scope') : undefined;
    tried[method] += 1;
    const isFirst = away === slackFaults.lost && method === 'post' && threadTs === undefined;
    if (!isFirst || lost.has(channel)) return away;
    lost.add(channel);
    return slackFaults.unheard;
  };
  const received = new Map<string, string[]>([calm, stormy, late].map((channel) => [channel, []]));
  const acknowledged = new Set<string>();
  async function acknowledge(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      acknowledged.add(key);
      await house.alerts.move(key, { kind: 'acknowledge', by: ada });
    }
  }
  for (let second = 0; second < backAt + 290; second += 1) {
    if (second === leftAt || second === backAt) isAway = second === leftAt;
    for (const [channel, isDue] of second < backAt + 20 ? arrivals : []) {
      const keys = received.get(channel) ?? [];
      if (!isDue(second)) continue;
      const event = failureIn(channel, keys.length);
      keys.push(event.key);
      await house.receive(event);
    }
    // First alerts that Slack already shows, later a storm's digest that it may not show yet.
    if (second === 200)
      await acknowledge([calm, stormy].flatMap((one) => received.get(one)?.slice(0, 3) ?? []));
    if (second === 400) await house.storms.acknowledge(stormOf(digestsIn(house, stormy)[0]), bola);
    await house.drain(1_000);
  }
  return { house, tried, lost, received, acknowledged };
}

/** Expects every failure of a channel once: as an alert, in order, or counted by one digest. */
async function expectTold(
  house: AlertsHouse,
  channel: string,
  singles: readonly string[],
  received: readonly string[],
): Promise<void> {
  expect(singles).toEqual([...singles].toSorted());
  // More than one is fine: a storm whose window passes before its digest is posted ends, and the next post begins another.
  const digests = digestsIn(house, channel);
  expect(digests.length).toBeGreaterThan(0);
  const counted = await Promise.all(digests.map((digest) => itemsOf(house, digest)));
  for (const [index, digest] of digests.entries()) {
    expect(digest.shown.text).toContain(`: ${counted[index]?.length} failed charges`);
  }
  expect([...new Set([...singles, ...counted.flat()])].toSorted()).toEqual(received);
  expect(new Set(counted.flat()).size).toBe(counted.flat().length);
}

/** Expects each acknowledgement once, in its message and its thread, although Slack was away. */
function expectAcknowledged(house: AlertsHouse, acknowledged: ReadonlySet<string>): void {
  expect(acknowledged.size).toBe(6);
  for (const key of acknowledged) {
    const [, reference = ''] = key.split('/order/');
    const parents = house.parents().filter(({ shown }) => shown.text.includes(reference));
    // The last one: after a repeat, the bot edits only the repeat.
    const parent = parents.at(-1);
    expect(parent?.shown.text).toMatch(/^👀 Acknowledged: /);
    expect(parent && linesOf(parent)).toContain(ada);
    expect(parent && pressables(parent)).not.toContain('Acknowledge');
    expect(parents.flatMap(({ ts }) => house.notes(ts)).map(linesOf)).toHaveLength(1);
  }
}

describe.each([
  ['that may be read', true],
  ['that may not be read', false],
])('Slack away for ten minutes amid alerts and storms, with a history %s', (_history, mayRead) => {
  it.each(outages.slice(0, countOf({ full: outages.length, share: 2 })))(
    'that %s: nothing is lost or reordered, and all is posted and edited within five minutes of its return',
    async (_what, away) => {
      const { house, tried, lost, received, acknowledged } = await live(away, mayRead);
      // Both posts and edits were tried during the outage.
      expect(tried.post).toBeGreaterThan(0);
      expect(tried.edit).toBeGreaterThan(0);
      // One message a lane is tried, not all: about thirty tries a channel in ten minutes.
      expect(tried.post + tried.edit).toBeLessThan(150);
      expect(lost.size > 0).toBe(away === slackFaults.lost);

      const alertsIn = (channel: string, isRepeat: boolean) =>
        house
          .parents()
          .filter((one) => one.channel === channel && !/Storm/.test(one.shown.text))
          .filter((one) => linesOf(one).includes('May be a repeat') === isRepeat)
          .map(({ shown }) => `payment_failed/order/${/C0\w+-\d{4}/.exec(shown.text)?.[0]}`);
      const repeats = [calm, stormy, late].flatMap((channel) => alertsIn(channel, true));
      expect(repeats).toHaveLength(!mayRead && away === slackFaults.lost ? lost.size : 0);
      const singlesIn = (channel: string): string[] => {
        const keys = alertsIn(channel, false);
        for (const key of alertsIn(channel, true)) expect(keys).toContain(key);
        return keys;
      };

      expect(singlesIn(calm)).toEqual(received.get(calm));
      for (const channel of [stormy, late]) {
        await expectTold(house, channel, singlesIn(channel), received.get(channel) ?? []);
      }
      // The digest and all its alerts name the person who acknowledged the storm.
      const [digest] = digestsIn(house, stormy);
      expect(digest && linesOf(digest)).toContain(bola);
      for (const key of await itemsOf(house, digest)) {
        const by = acknowledged.has(key) ? ada : bola;
        expect((await house.alerts.read(key)).state).toMatchObject({ kind: 'acknowledged', by });
      }

      expectAcknowledged(house, acknowledged);
    },
  );
});
