import { describe, expect, it } from 'vitest';
import { readUndelivered, redrive } from '../../src/messages/undelivered.ts';
import {
  messageKey,
  readMessageRecord,
  newCounters,
  reschedule,
  writeMessageRecord,
} from '../../src/messages/message-record.ts';
import type { FeatureMessages } from '../../src/messages/deliver.ts';
import type { PostAttempt } from '../../src/slack/kit/note.ts';
import { createChargePosts } from '../../src/features/charge/charge-messages.ts';
import type { Store } from '../../src/store/store.ts';
import { openAlertsWorld, type SlackFault, slackFaults, startAlerts } from '../features/alerts-house.ts';
import { channel, ops } from '../features/house.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const other = 'C0OTHER001';

const refused = slackFaults.refuses('not_in_channel');

/** Messages that say nothing; only their delivery matters here. */
async function blank(_body: unknown, _work: unknown, { key }: PostAttempt) {
  const metadata = { event_type: 'test', event_payload: { key } };
  return { kind: 'shown' as const, message: { text: '', blocks: [], metadata } };
}
const blanks: FeatureMessages = { alert: blank, alert_direct: blank, charge_direct: blank };

/** A store with messages, and a Slack that answers by channel; undefined: it accepts the message. */
function refusals(slack: (to: string, method: string) => SlackFault | undefined = () => refused) {
  const world = openAlertsWorld();
  const { clock, store } = world;
  const bot = startAlerts(world, undefined, { messages: blanks });
  const { account } = bot;
  const pass = (ms: number, stepMs?: number): Promise<void> => bot.drain(ms, stepMs);
  const tried: { key: string; atMs: number }[] = [];
  const alerts: string[] = [];
  world.slack.meets = ({ method, channel: to, key: whole = '', atMs }) => {
    if (whole.includes(':notice:')) return undefined;
    const fault = slack(to, method);
    const key = whole.split(':').at(-1) ?? '';
    if (fault) tried.push({ key, atMs });
    else alerts.push(key);
    return fault;
  };

  async function put(key: string, to = channel, receivedAtMs = clock.nowMs): Promise<void> {
    await putRecord('alert', key, { to, receivedAtMs });
  }

  async function putRecord(
    name: string,
    key: string,
    { to = channel, receivedAtMs = clock.nowMs },
  ): Promise<void> {
    const id = messageKey(name, key);
    const record = { channel: to, sealed: account.sealer.seal(id, '{}'), ...newCounters, receivedAtMs };
    await store.create(id, writeMessageRecord(record), { delayMs: 0, lane: to });
  }

  const notices = () => store.keys().filter((key) => key.startsWith('message:notice:'));
  const letters = { all: () => readUndelivered(store), redrive: (of?: string) => redrive(store, of) };
  return { clock, store, account, put, putRecord, pass, tried, alerts, notices, letters };
}

describe('a channel that Slack refuses', () => {
  it.each(['not_in_channel', 'never_heard_of'])(
    'is retried with growing back-off for a day, then no more (%s)',
    async (slackError) => {
      const { put, pass, tried, letters, store } = refusals(() => slackFaults.refuses(slackError));
      await put('a');
      await pass(dayMs - 60_000, 10_000);
      const gaps = tried.slice(1).map(({ atMs }, index) => (atMs - tried[index]!.atMs) / 60_000);
      expect(gaps).toEqual([1, 1, 2, 4, 8, ...gaps.slice(5).map(() => 10)]);
      expect(await letters.all()).toEqual([]);
      const { length } = tried;
      await pass(60_000);
      expect(await letters.all()).toHaveLength(1);
      await pass(3 * dayMs, 60_000);
      expect(tried).toHaveLength(length + 1);
      expect(await store.read('message:alert:a')).toBeDefined();
      expect(await letters.all()).toEqual([
        { channel, messages: 1, sinceMs: expect.any(Number), slackError, fix: expect.any(String) },
      ]);
    },
  );

  it('is retried without end if Slack refuses the whole bot', async () => {
    const { put, pass, tried, letters, notices } = refusals(() => slackFaults.refuses('token_revoked'));
    await put('a');
    await pass(3 * dayMs, 60_000);
    expect(tried.length).toBeGreaterThan(4_000);
    expect(await letters.all()).toEqual([]);
    expect(notices()).toEqual([]);
  });

  it.each([
    ['refuses it', refused],
    ['cannot be reached', slackFaults.notSent],
    ['loses the answers', slackFaults.lost],
    ['asks to wait', slackFaults.slow(30)],
  ])('gets all its messages in order, after few tries, if Slack %s for ten minutes', async (_what, fault) => {
    let isMended = false;
    const { put, pass, alerts, tried } = refusals((_to, method) =>
      isMended || method === 'history' ? undefined : fault,
    );
    for (const key of ['a', 'b', 'c']) await put(key);
    await pass(600_000);
    expect(tried.length).toBeLessThan(150);
    await put('d');
    await pass(5_000);
    isMended = true;
    await pass(600_000);
    // A look into the history has no key.
    expect(alerts.filter((key) => key !== '')).toEqual(['a', 'b', 'c', 'd']);
  });

  it('has its messages given up one by one when they are old enough, while newer ones are retried', async () => {
    const { put, pass, letters, tried } = refusals();
    for (const key of ['a', 'b', 'c']) await put(key);
    await pass(12 * hourMs, 10_000);
    await put('d');
    await pass(12 * hourMs + 60_000, 10_000);
    expect(await letters.all()).toMatchObject([{ channel, messages: 3 }]);
    expect(new Set(tried.slice(-3).map(({ key }) => key))).toEqual(new Set(['c', 'd']));
    await pass(11 * hourMs, 10_000);
    expect(await letters.all()).toMatchObject([{ messages: 3 }]);
    await pass(hourMs, 10_000);
    expect(await letters.all()).toMatchObject([{ messages: 4 }]);
  });

  it('has a long backlog given up at once, not a part of it each day', async () => {
    const { put, pass, tried } = refusals();
    for (let number = 0; number < 1_000; number += 1) await put(`b${number}`);
    await pass(dayMs, 60_000);
    await pass(hourMs);
    expect(new Set(tried.map(({ key }) => key)).size).toBe(1_000);
  });

  it('gets at least two tries of each message, however late the first one is', async () => {
    const { put, pass, tried } = refusals();
    for (const key of ['a', 'b', 'c']) await put(key);
    await pass(dayMs + hourMs, 10_000);
    for (const key of ['b', 'c']) expect(tried.filter((one) => one.key === key)).toHaveLength(2);
  });

  it('is retried without end for a charge’s result, while messages behind it are given up', async () => {
    const { account, putRecord, pass, letters, tried } = refusals(() => slackFaults.refuses('user_disabled'));
    const posts = createChargePosts(account, undefined);
    await posts.direct('U0AGENT01', 'verdict', { reference: 'pay-1', what: 'declined' });
    await putRecord('alert_direct', 'step', { to: 'U0AGENT01' });
    await pass(10 * dayMs, 60_000);
    expect(await letters.all()).toMatchObject([{ channel: 'U0AGENT01', messages: 1 }]);
    const before = tried.length;
    await pass(dayMs, 60_000);
    expect(tried.slice(before).map(({ key }) => key)).toEqual(Array.from({ length: 24 }, () => 'verdict'));
  });

  it('blocks no other message if the error word is unknown: it may be about one message', async () => {
    const { put, pass, tried } = refusals(() => slackFaults.refuses('never_heard_of'));
    for (const key of ['a', 'b']) await put(key);
    await pass(2_000);
    expect(tried.map(({ key }) => key)).toEqual(['a', 'b']);
  });

  it.each(['not_in_channel', 'never_heard_of'])(
    'causes one notice while it has dead letters, and another one when it fails again later (%s)',
    async (slackError) => {
      let isMended = false;
      const { put, pass, notices, letters } = refusals(() =>
        isMended ? undefined : slackFaults.refuses(slackError),
      );
      for (const key of ['a', 'b', 'c']) await put(key);
      await pass(2 * dayMs, 10_000);
      await put('d');
      await pass(2 * dayMs, 60_000);
      expect(notices()).toHaveLength(1);
      isMended = true;
      await letters.redrive();
      await pass(hourMs, 10_000);
      isMended = false;
      await put('e');
      await pass(hourMs, 60_000);
      expect(notices()).toHaveLength(2);
    },
  );

  it('causes no notice if it is the operators’ own channel', async () => {
    const { put, pass, notices, letters } = refusals();
    await put('a', ops);
    await pass(2 * dayMs, 60_000);
    expect(notices()).toEqual([]);
    expect(await letters.all()).toMatchObject([{ channel: ops, messages: 1 }]);
  });
});

async function twoChannels() {
  const state = { isMended: false };
  const made = refusals(() => (state.isMended ? undefined : refused));
  for (const key of ['a', 'b', 'c']) await made.put(key);
  made.clock.nowMs += hourMs;
  for (const key of ['x', 'y']) await made.put(key, other);
  await made.pass(2 * dayMs, 10_000);
  return { state, ...made };
}

describe('dead letters', () => {
  it('that Slack refuses again wait as long as new ones, and are listed again', async () => {
    const { letters, pass, tried } = await twoChannels();
    await letters.redrive(channel);
    const before = tried.length;
    await pass(dayMs - hourMs, 10_000);
    expect(tried.length - before).toBeGreaterThan(100);
    expect(await letters.all()).toMatchObject([{ channel: other }]);
    await pass(2 * hourMs, 10_000);
    expect(await letters.all()).toMatchObject([{ channel: other }, { channel, messages: 3 }]);
  });

  it('are delivered once, in the old order, however many ask for it at the same time', async () => {
    const { state, letters, alerts, pass } = await twoChannels();
    state.isMended = true;
    const asked = [undefined, channel, undefined, channel].map((of) => letters.redrive(of));
    const due = (await Promise.all(asked)).flat().map(({ messages }) => messages);
    expect(due.reduce((sum, messages) => sum + messages, 0)).toBe(5);
    await pass(60_000);
    expect(alerts.filter((key) => 'abc'.includes(key))).toEqual(['a', 'b', 'c']);
    expect(alerts.filter((key) => 'xy'.includes(key))).toEqual(['x', 'y']);
    expect(await letters.all()).toEqual([]);
  });

  it('that are given up a second time before all of them are due again stay listed', async () => {
    const { put, pass, store, letters } = refusals();
    for (const key of ['a', 'b']) await put(key);
    await pass(dayMs + 300_000, 10_000);
    expect(await letters.all()).toMatchObject([{ messages: 2 }]);
    const slow: Store = {
      ...store,
      async write(entry, value, options) {
        // Slack refuses the first again before the second is due.
        if (entry.key === 'message:alert:b') await pass(5_000);
        return await store.write(entry, value, options);
      },
    };
    await redrive(slow, channel);
    await pass(10_000);
    const givenUp = ['a', 'b'].map(async (key) => {
      const entry = await store.read(`message:alert:${key}`);
      return readMessageRecord(entry?.value ?? '').refused?.givenUp !== undefined;
    });
    expect(await Promise.all(givenUp)).toContain(true);
    expect(await letters.all()).toMatchObject([{ messages: 2 }]);
  });

  it('that are now refused for another channel leave the list until they are given up there', async () => {
    const { put, pass, store, letters } = refusals();
    await put('a');
    await pass(dayMs + hourMs, 10_000);
    const entry = (await store.read('message:alert:a'))!;
    const moved = writeMessageRecord({ ...readMessageRecord(entry.value), channel: other });
    await store.write(entry, moved, { delayMs: 0, lane: other });
    await pass(hourMs, 10_000);
    expect((await store.list('undelivered', { max: 10 })).entries).toEqual([]);
    await pass(dayMs, 10_000);
    expect(await letters.all()).toMatchObject([{ channel: other, messages: 1 }]);
    expect((await store.list(`undelivered:${channel}`, { max: 10 })).entries).toEqual([]);
  });

  it('that a worker already delivers are left to it: made due again they would be posted twice', async () => {
    const { put, pass, store, letters } = refusals();
    await put('a');
    await pass(dayMs + hourMs, 10_000);
    const entry = (await store.read('message:alert:a'))!;
    const record = readMessageRecord(entry.value);
    const wanted = writeMessageRecord({ ...record, wanted: record.wanted + 1 });
    await store.write(entry, wanted, { delayMs: 0, lane: channel });
    expect(await store.take(45_000)).toHaveLength(1);
    expect(await letters.redrive()).toEqual([]);
    expect(await store.take(45_000)).toEqual([]);
  });

  it('are forgotten, and unlisted, at the same age as other messages', async () => {
    const { letters, pass, store } = await twoChannels();
    await pass(31 * dayMs, hourMs);
    expect(await letters.all()).toEqual([]);
    expect(await store.read('message:alert:a')).toBeUndefined();
  });
});

describe('a message that holds its lane', () => {
  it.each([
    ['stays first in it', 10_000, 0, ['a', 'b']],
    ['waits just as long if its lease expired before the write', 1, 20, ['a']],
  ])('%s, and keeps its change', async (_what, leaseMs, passedMs, keys) => {
    const { clock, store, put } = refusals();
    for (const key of keys) await put(key);
    const [entry] = await store.take(leaseMs);
    if (!entry) throw new Error('Nothing is due.');
    clock.nowMs += passedMs;
    const work = { entry, record: readMessageRecord(entry.value) };
    expect(await reschedule({ store }, work, { misses: 7 }, { holdMs: 50 })).toBe(true);
    clock.nowMs += 49;
    expect(await store.take(leaseMs)).toEqual([]);
    clock.nowMs += 1;
    const [next] = await store.take(leaseMs);
    expect(next?.key).toBe('message:alert:a');
    expect(readMessageRecord(next?.value ?? '')).toMatchObject({ misses: 7 });
  });
});
