import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { unsaid, writeMessageRecord } from '../../src/messages/message-record.ts';
import type { Post } from '../features/deliver-post.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { outages, silent, type Away } from '../features/away-house.ts';
import { deliverNext, house, sealer, type Delivering } from '../features/house.ts';

const folder = mkdtempSync(join(tmpdir(), 'payops-away-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

const channels = ['C0ONE00001', 'C0TWO00001', 'C0THREE001'];

/** A bot with nothing but notices on the real store, whose clock the test moves, and a Slack that can be away. */
function bot(mayRead: boolean) {
  const { clock, deliver: plain } = house();
  files += 1;
  const path = join(folder, `${files}.sqlite`);
  const store = openSqliteStore({ path, now: () => clock.nowMs });
  const posted: { channel: string; key: string; atMs: number; mayBeRepeat: boolean }[] = [];
  const slack: { away: Away | undefined } = { away: undefined };
  const sent: number[] = [];
  const deliver: Delivering = {
    ...plain,
    store,
    compose: (post: Post) => ({
      digest: '',
      post(channel) {
        sent.push(clock.nowMs);
        if (slack.away) return Promise.resolve(slack.away.post);
        const { key = '', mayBeRepeat = false } = post as { key?: string; mayBeRepeat?: boolean };
        posted.push({ channel, key, atMs: clock.nowMs, mayBeRepeat });
        return Promise.resolve({ kind: 'posted', channel, ts: '1.1' });
      },
      edit: () => Promise.reject(new Error('nothing is edited here')),
    }),
    findByKey(channel, key) {
      if (slack.away) return Promise.resolve(slack.away.history);
      if (!mayRead) return Promise.resolve({ kind: 'unreadable', slackError: 'missing_scope' });
      const isThere = posted.some((one) => one.channel === channel && one.key === key);
      return Promise.resolve(isThere ? { kind: 'found', ts: '1.1' } : { kind: 'absent' });
    },
  };
  let count = 0;
  async function receive(channel: string): Promise<void> {
    count += 1;
    const key = `message:notice:${String(count).padStart(5, '0')}`;
    const notice = { kind: 'unknown_event', eventKind: 'x' };
    const sealed = sealer.seal(key, JSON.stringify(notice));
    const record = { kind: 'notice', channel, ...unsaid, sealed } as const;
    const value = writeMessageRecord({ ...record, receivedAtMs: clock.nowMs });
    await store.create(key, value, { delayMs: 0, lane: channel });
  }
  async function second(): Promise<void> {
    while (await deliverNext(deliver));
    clock.nowMs += 1_000;
  }
  return { clock, slack, posted, sent, receive, second, store };
}

describe.each([
  ['that may be read', true],
  ['that may not be read', false],
])('Slack away for ten minutes, with a history %s', (_history, mayRead) => {
  it.each(outages)(
    'that %s: nothing is lost or doubled, the order stays, and all is told within five minutes of its return',
    async (_what, away) => {
      const { slack, posted, receive, second, clock, store } = bot(mayRead);
      let received = 0;
      for (let time = 0; time < 660; time += 1) {
        if (time === 30) slack.away = away;
        if (time === 630) slack.away = undefined;
        // Three channels, one of them as busy as the pace lets it drain in time.
        if (time % 4 === 0) await receive(channels[0]!);
        if (time % 31 === 0) await receive(channels[1]!);
        if (time % 97 === 0) await receive(channels[2]!);
        received += [4, 31, 97].filter((every) => time % every === 0).length;
        await second();
      }
      const returnedAtMs = clock.nowMs - 30_000;
      while (posted.length < received && clock.nowMs < returnedAtMs + 600_000) await second();
      for (const channel of channels) {
        const keys = posted.filter((one) => one.channel === channel).map(({ key }) => key);
        expect(keys).toEqual([...new Set(keys)].toSorted());
      }
      expect(posted).toHaveLength(received);
      expect(Math.max(...posted.map(({ atMs }) => atMs)) - returnedAtMs).toBeLessThan(300_000);
      // Only what may have arrived says so, and only where nobody can look.
      const marked = posted.filter(({ mayBeRepeat }) => mayBeRepeat).length;
      expect(marked).toBe(!mayRead && away.post.kind === 'unsure' ? channels.length : 0);
      await store.close();
    },
  );

  it('that refuses the token for three hours finds all of it in its order again', async () => {
    const { slack, posted, receive, second } = bot(mayRead);
    const [, , , [, revoked]] = outages as [unknown, unknown, unknown, [string, Away]];
    slack.away = revoked;
    for (let time = 0; time < 3 * 3_600; time += 1) {
      if (time % 900 === 0) await receive(channels[0]!);
      await second();
    }
    slack.away = undefined;
    for (let time = 0; time < 120; time += 1) await second();
    expect(posted.map(({ key }) => key)).toHaveLength(12);
    expect(posted.map(({ key }) => key)).toEqual(posted.map(({ key }) => key).toSorted());
  });

  it('is asked seldom meanwhile: not every waiting message knocks', async () => {
    const { slack, sent, receive, second } = bot(mayRead);
    slack.away = { post: { kind: 'not_sent', cause: new Error('away') }, history: silent };
    for (let time = 0; time < 600; time += 1) {
      await receive(channels[0]!);
      await second();
    }
    expect(sent.length).toBeLessThan(25);
  });
});
