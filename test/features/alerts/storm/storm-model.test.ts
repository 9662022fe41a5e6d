import { describe, expect, it } from 'vitest';
import type { AlertRule } from '../../../../src/domain/alert.ts';
import {
  type PaymentEvent,
  type PaymentEventKind,
  referenceOfEventKey,
} from '../../../../src/domain/payment-event.ts';
import { StoreUnavailable } from '../../../../src/domain/failure.ts';
import { settleMs, stormPrefix, stormWindowMs } from '../../../../src/features/alerts/storm/storm.ts';
import { countOf, someOf } from '../../../support/counts.ts';
import { everyPoint, momentsOf } from '../../../support/every-point.ts';
import { visibleText } from '../../../support/visible-text.ts';
import {
  type AlertsWorld as World,
  type Message,
  openAlertsWorld,
  type Pass,
  startAlerts,
} from '../../alerts-house.ts';
import { channel } from '../../house.ts';

// Checks the promises of `stepStorm` on whole bots, from webhook to channel: first killed at every await, then at random with
// two replicas, kills, suspensions longer than a lease, lost store answers, repeated events, presses and payments.

const threshold = 2;
const leaseMs = 45_000;
const money = { minor: 1_000, currency: 'NGN' };
const paid = { reference: 'PAID-1', isSameReference: false, money, afterMs: 1 };

const late: AlertRule = {
  name: 'late',
  match: {},
  channels: [channel],
  escalate: [{ afterMs: 7 * 60_000, to: { kind: 'group', id: 'S0ONCALL01' } }],
  continues: false,
};

function openWorld(): World {
  const world = openAlertsWorld({ threshold });
  world.routes.rules = [late];
  return world;
}

function eventOf(number: number, kind: PaymentEventKind = 'payment_failed'): PaymentEvent {
  const orderReference = `BURST-${number}`;
  const said = { orderReference, amountMinor: 1_000 + number, currency: 'NGN', reason: 'Insufficient funds' };
  return { kind, key: `${kind}/order/${orderReference}`, ...said };
}

/** The service confirms payments, and finds no failure. */
function startProcess(world: World, pass: Pass = everyPoint().pass) {
  const process = startAlerts(world, pass);
  return {
    ...process,
    async receive(event: PaymentEvent) {
      const { kind, orderReference = '', amountMinor = 0 } = event;
      const record = { status: 'SUCCESS', orderReference, amountMinor, currency: 'NGN' };
      if (kind === 'payment_success') world.records.set(orderReference, record);
      return await process.receive(event);
    },
    pays: (number: number) => process.alerts.move(eventOf(number).key, { kind: 'recover', payment: paid }),
  };
}

/** The rest of a message's key after `start`; empty: another key. */
function keyAfter(start: string, { metadata }: Message['shown']): string[] {
  const key = metadata?.event_payload.key ?? '';
  return key.startsWith(start) ? [key.slice(start.length)] : [];
}

/** Reads a digest's message. */
function readDigest(shown: Message['shown']) {
  return keyAfter('message:digest:', shown).map((id) => {
    const text = visibleText(shown.blocks);
    const [, count = '', sum = ''] = /: (\d+).* · NGN ([\d,.]+)/.exec(shown.text) ?? [];
    const recovered = Number(/(\d+) by payment/.exec(text)?.[1] ?? 0);
    const isClosed = shown.text.startsWith('☑️ Storm resolved');
    const takenBy = /Acknowledged by +(?:<@)?(U0\w+)/.exec(text)?.[1];
    return {
      id,
      isOver: shown.text.startsWith('☑️'),
      count: Number(count),
      sum: Number(sum.replaceAll(/[,.]/g, '')),
      recovered,
      takenBy,
      isClosed,
      isWaiting: shown.text.includes('failed charge') && takenBy === undefined && Number(count) > recovered,
    };
  });
}

/** All digests in Slack. */
function digestsOf({ slack }: World) {
  return slack.messages.flatMap(({ shown, editedAtMs }) =>
    readDigest(shown).map((digest) => ({ ...digest, editedAtMs })),
  );
}

/** The event keys of the alerts with a message of their own. */
function singlesOf({ slack }: World): string[] {
  return slack.messages.flatMap(({ shown }) => keyAfter('message:alert:', shown));
}

/** The broken promises, once all work is done and every storm is over. `takenBy`: who acknowledged each storm, by the answers. */
async function broken(
  world: World,
  events: readonly PaymentEvent[],
  takenBy: ReadonlyMap<string, string> = new Map(),
): Promise<string[]> {
  const process = startProcess(world);
  const { storms, alerts } = process;
  const singles = singlesOf(world).map((key) => referenceOfEventKey(key) ?? '');
  const digests = digestsOf(world);
  const listed = new Map(
    await Promise.all(digests.map(async ({ id }) => [id, await storms.items(id)] as const)),
  );
  const inDigests = [...listed.values()].flat().map(({ event }) => event.orderReference ?? '');
  const told = [...singles, ...inDigests];
  const wrongs: [boolean, string][] = [
    [told.length !== new Set(told).size, `doubled: ${told.toSorted().join()}`],
    [
      events.some(({ orderReference = '' }) => !told.includes(orderReference)),
      `lost: told of ${told.toSorted().join()}`,
    ],
    [new Set(digests.map(({ id }) => id)).size !== digests.length, 'a storm with two digests'],
  ];
  for (const { id, isOver, count, sum: said, recovered, takenBy: by, isClosed, editedAtMs } of digests) {
    const items = listed.get(id) ?? [];
    const sum = items.reduce((all, { event: { amountMinor = 0 } }) => all + amountMinor, 0);
    const found = await Promise.all(items.map(async (item) => (await alerts.read(item.event.key)).state));
    const resolved = found.filter(({ kind }) => kind === 'recovered').length;
    const open = found.filter(({ kind }) => kind === 'open').length;
    const others = found.filter((card) => card.kind === 'acknowledged' && card.by !== by).length;
    const unresolved = found.some(({ kind }) => kind === 'open' || kind === 'acknowledged');
    const isHasty = editedAtMs.some((atMs, index) => atMs - (editedAtMs[index - 3] ?? 0) < 5_000);
    wrongs.push(
      [!isOver, `${id} never ends`],
      [count !== items.length, `${id} counts ${count} of ${items.length}`],
      [new Set(items.map(({ event }) => event.key)).size !== items.length, `${id} lists one twice`],
      [said !== sum, `${id} sums ${said} of ${sum}`],
      [recovered !== resolved, `${id} says that ${recovered} are resolved, not ${resolved}`],
      [by !== undefined && open + others > 0, `${id} is taken by ${by}, ${open} open, ${others} others’`],
      [takenBy.has(id) && takenBy.get(id) !== by, `${id} was taken by ${takenBy.get(id)}, says ${by}`],
      [isClosed && unresolved, `${id} is resolved, and not all of its alerts`],
      [isHasty, `${id} is edited too often`],
    );
  }
  wrongs.push(...(await wrongCalls(world, process)));
  return wrongs.filter(([isWrong]) => isWrong).map(([, words]) => words);
}

function times(calls: readonly string[], id: string): number {
  return calls.filter((one) => one === id).length;
}

function wasResolved(id: string): (message: Message) => boolean {
  return ({ earlier }) => earlier.flatMap(readDigest).some((digest) => digest.id === id && !digest.isWaiting);
}

/** Wrong escalations: each unacknowledged storm calls once; an unacknowledged alert too, unless a storm calls instead. */
async function wrongCalls(
  world: World,
  { alerts }: ReturnType<typeof startProcess>,
): Promise<[boolean, string][]> {
  const { messages } = world.slack;
  const digests = digestsOf(world);
  const calls = messages.filter(({ shown }) => shown.text.startsWith('📣'));
  const calledIn = (start: string): string[] =>
    calls.flatMap(({ shown }) => keyAfter(start, shown)).map((key) => key.replace(/#\d+$/, ''));
  const toStorms = calledIn('message:digest_note:');
  const toAlerts = calledIn('message:alert_note:');
  const open = await Promise.all(
    singlesOf(world).map(async (key) =>
      key.startsWith('payment_failed') && (await alerts.read(key)).state.kind === 'open' ? [key] : [],
    ),
  );
  return [
    ...digests.map((storm): [boolean, string] => {
      const calls = times(toStorms, storm.id);
      // No call if all failures were resolved when it was due, even if another failure came later.
      const isUncalled = calls === 0 && storm.isWaiting && !messages.some(wasResolved(storm.id));
      return [calls > 1 || isUncalled, `${storm.id} is called for ${calls} times`];
    }),
    ...open.flat().map((key): [boolean, string] => {
      const calls = times(toAlerts, key);
      return [calls > 1 || (calls === 0 && digests.length === 0), `${key} is called for ${calls} times`];
    }),
  ];
}

const ada = 'U0ADA00001';
const bola = 'U0BOLA0001';

/** A burst: its digest is posted and acknowledged, one failure is paid, and the storm ends. */
async function live(world: World, kind: PaymentEventKind, pass?: Pass, digestByMs = 8_000): Promise<void> {
  const process = startProcess(world, pass);
  for (const number of [1, 2, 3, 4, 5]) {
    await process.receive(eventOf(number, kind));
    if (number === 1) await process.drain(0);
  }
  await process.drain(digestByMs);
  const [digest] = digestsOf(world);
  if (digest && kind === 'payment_failed') {
    await process.storms.acknowledge(digest.id, ada);
    await process.pays(4);
  }
  await process.drain(stormWindowMs + settleMs + 60_000, 10_000);
  if (kind === 'payment_failed') {
    // After its end, when it is no longer counted.
    await process.pays(5);
    await process.drain(20_000);
  }
}

/** After a kill: the sender repeats, the person presses again, and another process works. */
async function recover(world: World, kind: PaymentEventKind): Promise<string[]> {
  // The killed process's leases expire first.
  await live(world, kind, undefined, 60_000);
  const digests = digestsOf(world);
  const wrongs = await broken(
    world,
    [1, 2, 3, 4, 5].map((number) => eventOf(number, kind)),
  );
  const isTaken = kind === 'payment_success' || digests[0]?.takenBy === ada;
  const [first] = digests;
  // Alerts posted before the storm began aren't counted.
  const isWhole = digests.length === 1 && (first?.count ?? 0) >= 5 - threshold && isTaken;
  return isWhole ? wrongs : [...wrongs, `${digests.length} digests, of ${first?.count}, ${first?.takenBy}`];
}

describe.each(['payment_failed', 'payment_success'] as const)(
  'a burst of %s killed at every await',
  (kind) => {
    it('has one digest, which counts each alert once and ends', async () => {
      const whole = everyPoint();
      const untouched = openWorld();
      await live(untouched, kind, whole.pass);
      expect(await recover(untouched, kind)).toEqual([]);
      expect(whole.passed.length).toBeGreaterThan(200);
      const wrong: string[] = [];
      for (const { killAt, name } of someOf(momentsOf(whole.passed))) {
        const world = openWorld();
        const points = everyPoint(killAt);
        await Promise.race([live(world, kind, points.pass), points.killed]);
        const wrongs = await recover(world, kind);
        wrong.push(...wrongs.map((words) => `killed at ${killAt}, ${name}: ${words}`));
      }
      expect(wrong).toEqual([]);
    });
  },
);

/** The same numbers for the same seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (sides) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
    return Math.floor((((state ^ (state >>> 13)) >>> 0) / 2 ** 32) * sides);
  };
}

/** One await in sixty fails: the process dies, sleeps until `wake`, or loses the store's answer. */
function troubled(roll: (sides: number) => number) {
  let left = Promise.withResolvers<void>();
  let asleep = Promise.withResolvers<void>();
  let isDead = false;
  async function trouble(maySleep = true): Promise<void> {
    const what = isDead ? 0 : roll(240);
    if (what > (maySleep ? 2 : 0)) return;
    isDead ||= what === 0;
    left.resolve();
    await (isDead ? new Promise(() => undefined) : asleep.promise);
  }
  const pass: Pass = async (name, effect) => {
    const isStore = !/^(post|edit|history|look_up)$/.test(name);
    // No sleep right before a post: it would arrive after the lease, which nothing can prevent.
    await trouble(isStore);
    if (isStore && roll(240) === 0) throw new StoreUnavailable('not carried out');
    const result = await effect();
    if (isStore && roll(240) === 0) throw new StoreUnavailable('carried out, and the answer lost');
    await trouble();
    return result;
  };
  return {
    pass,
    isDead: () => isDead,
    /** Resolves when the work is done, or the process died or sleeps. */
    async run<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
      const done = work().catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) throw error;
        return undefined;
      });
      return await Promise.race([done, left.promise.then(() => undefined)]);
    },
    wake() {
      asleep.resolve();
      left = Promise.withResolvers<void>();
      asleep = Promise.withResolvers<void>();
    },
  };
}

type Replica = ReturnType<typeof startProcess> & ReturnType<typeof troubled>;

async function work(replica: Replica): Promise<void> {
  for (let round = 0; round < 6; round += 1) await replica.run(replica.once);
}

async function wake(replica: Replica): Promise<void> {
  replica.wake();
  await new Promise((resolve) => setImmediate(resolve));
}

/** The acts of senders, people and payments, and their answers. */
function openScene(seed: number) {
  const roll = dice(seed);
  const world = openWorld();
  const { clock } = world;
  const events: PaymentEvent[] = [];
  const takenBy = new Map<string, string>();
  const some = (): PaymentEvent => events[roll(events.length)] ?? eventOf(1);

  async function receive(replica: Replica): Promise<void> {
    // Some events are sent again, to either replica.
    const isNew = events.length === 0 || roll(4) > 0;
    const event = isNew ? eventOf(events.length + 1) : some();
    if (isNew) events.push(event);
    await replica.run(() => replica.receive(event));
  }
  async function take(replica: Replica): Promise<void> {
    const [digest] = digestsOf(world).slice(-1);
    if (!digest) return;
    const by = roll(2) === 0 ? ada : bola;
    const taken = await replica.run(() => replica.storms.acknowledge(digest.id, by));
    if (taken) takenBy.set(digest.id, taken.by);
  }
  async function resolve(replica: Replica): Promise<void> {
    const [digest] = digestsOf(world).filter((one) => one.isOver && !one.isClosed);
    if (digest) await replica.run(() => replica.storms.close(digest.id, ada, 'The bank works again'));
  }
  async function pay(replica: Replica): Promise<void> {
    if (events.length === 0) return;
    const { key } = some();
    await replica.run(() => replica.alerts.move(key, { kind: 'recover', payment: paid }));
  }
  function pass(): void {
    clock.nowMs += [1_000, 5_000, leaseMs + 1_000, stormWindowMs][roll(4)] ?? 0;
  }
  const acts = [receive, receive, receive, receive, work, work, work, work, take, resolve, pay, wake, pass];
  return { roll, world, events, takenBy, acts };
}

async function walk(seed: number): Promise<string[]> {
  const { roll, world, events, takenBy, acts } = openScene(seed);
  function start(): Replica {
    const troubles = troubled(roll);
    return { ...troubles, ...startProcess(world, troubles.pass) };
  }
  const replicas = [start(), start()];
  // In sequence.
  for (let act = 0; act < 60; act += 1) {
    const which = roll(replicas.length);
    const standing = replicas[which];
    const replica = standing && !standing.isDead() ? standing : start();
    replicas[which] = replica;
    await acts[roll(acts.length)]?.(replica);
  }
  for (const replica of replicas) await wake(replica);
  const calm = startProcess(world);
  for (const event of events) await calm.receive(event);
  await calm.drain(2 * stormWindowMs + settleMs, 5_000);
  return await broken(world, events, takenBy);
}

describe('storms of two replicas, amid kills, suspended workers, lost answers and repeats', () => {
  it('keep every promise', async () => {
    const wrong: string[] = [];
    for (let seed = 1; seed <= countOf({ full: 2_400, share: 20 }); seed += 1) {
      wrong.push(...(await walk(seed)).map((words) => `seed ${seed}: ${words}`));
    }
    expect(wrong).toEqual([]);
  });
});

it.each([3, 4, 5, 6, 7, 8, 9])(
  'a payment that resolves an alert right after store list %i of the count is counted too',
  async (at) => {
    const world = openWorld();
    await burst(world, 1, 5);
    const other = startProcess(world);
    await other.drain(2 * stormWindowMs, 10_000);
    let lists = Infinity;
    const counting = startProcess(world, async (name, effect) => {
      const result = await effect();
      if (name === 'list') lists -= 1;
      if (lists !== 0) return result;
      lists = Infinity;
      await other.pays(5);
      await other.drain(0);
      return result;
    });
    await other.pays(4);
    lists = at;
    await counting.drain(20_000);
    expect(digestsOf(world)).toMatchObject([{ isOver: true, recovered: 2 }]);
  },
);

function rule(name: string, more: Partial<AlertRule> = {}): AlertRule {
  return { name, match: {}, channels: [channel], continues: false, ...more };
}

async function told(rules: readonly (AlertRule | undefined)[]): Promise<string[]> {
  const world = openWorld();
  const process = startProcess(world);
  const asked: string[] = [];
  for (const [index, one] of rules.entries()) {
    const event = eventOf(index);
    world.routes.rules = one ? [one] : [];
    await process.receive(event);
    const to = { channel, ...(one && { rule: one }) };
    const storm = await process.storms.join(to, `message:alert:${event.key}`, 'payment_failed');
    asked.push(storm ? 'digest' : 'single');
    world.clock.nowMs += 1_000;
  }
  return asked;
}

describe('which alerts make a storm', () => {
  it('posts alerts whose rule mentions somebody although another storm is on: an edited digest mentions nobody', async () => {
    const calling = rule('large', { mention: { kind: 'group', id: 'S0ONCALL01' } });
    expect(await told([undefined, undefined, undefined, calling, calling, calling, undefined])).toEqual(
      // The burst, three with a mention, and one more of the burst.
      ['single', 'single', 'digest', 'single', 'single', 'digest', 'digest'],
    );
  });

  it('counts the alerts of all rules without a mention together', async () => {
    expect(await told([rule('one'), rule('two'), rule('three')])).toEqual(['single', 'single', 'digest']);
  });

  it('counts a rule with its own threshold separately, even if another storm is on', async () => {
    const own = rule('own', { digestAfter: 2 });
    const usual = [undefined, undefined, undefined];
    expect(await told([...usual, own, own, own, undefined])).toEqual(
      // The burst, three of the rule, and one more of the burst.
      ['single', 'single', 'digest', 'single', 'single', 'digest', 'digest'],
    );
  });

  it('never counts a rule whose threshold is 0', async () => {
    const never = rule('never', { digestAfter: 0 });
    expect(await told([never, never, never, never])).toEqual(['single', 'single', 'single', 'single']);
  });
});

async function spoil({ store }: World, isIt: (key: string) => boolean): Promise<void> {
  const [key = ''] = store.keys().filter(isIt);
  const entry = await store.read(key);
  // As the worker stores an unreadable record.
  expect(
    entry && (await store.write(entry, 'sealed with a lost key', { ttlMs: 30 * 86_400_000 })),
  ).toBeDefined();
}
async function burst(world: World, from: number, to: number): Promise<void> {
  const process = startProcess(world);
  for (let number = from; number <= to; number += 1) await process.receive(eventOf(number));
  await process.drain(20_000);
}

describe('an unreadable record', () => {
  it('of a storm loses no alert: a new storm counts the next ones', async () => {
    const world = openWorld();
    await burst(world, 1, 5);
    await spoil(world, (key) => key.startsWith(stormPrefix));
    await burst(world, 6, 10);
    const digests = digestsOf(world);
    expect(digests.map(({ count }) => count)).toEqual([5, 5]);
    expect(new Set(digests.map(({ id }) => id)).size).toBe(2);
  });

  it('of one alert does not stop its storm', async () => {
    const world = openWorld();
    await burst(world, 1, 5);
    await spoil(world, (key) => key.endsWith('BURST-3') && key.startsWith('message:alert:'));
    await burst(world, 6, 7);
    await startProcess(world).drain(stormWindowMs + settleMs, 10_000);
    expect(digestsOf(world)).toMatchObject([{ count: 6, isOver: true }]);
  });
});
