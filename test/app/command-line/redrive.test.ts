import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openKept, type Kept } from '../../../src/app/kept.ts';
import type { Outside } from '../../../src/app/outside.ts';
import { runCommand } from '../../../src/app/command-line/run-command.ts';
import { createUndelivered, undeliveredMetric } from '../../../src/app/undelivered.ts';
import { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import { createDeadLetters } from '../../../src/operations/outbox/dead-letters.ts';
import { writeOutboxRecord } from '../../../src/operations/outbox/outbox.ts';
import { findProgram } from '../../support/programs.ts';
import { startRedis } from '../../support/redis-server.ts';
import { outsideOf } from '../outside-of.ts';

const channel = 'C0ALERTS01';
const other = 'C0OTHER001';
const sealingKeys = `k1:${randomBytes(32).toString('base64')}`;

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'redrive-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

function outside(more: Record<string, string> = {}): Outside {
  return outsideOf({ DATA_DIR: dataDir, ...more });
}

async function withKept<T>(settings: Record<string, string>, use: (kept: Kept) => Promise<T>): Promise<T> {
  const kept = openKept(outside(settings));
  try {
    await kept.checked();
    return await use(kept);
  } finally {
    await kept.close();
  }
}

/** Two dead letters for one channel and one for another. */
async function giveUpSome(settings: Record<string, string> = {}): Promise<void> {
  await withKept(settings, async ({ store }) => {
    const letters = createDeadLetters({ store, now: () => Date.now() });
    const nowMs = Date.now();
    for (const [index, to] of [channel, channel, other].entries()) {
      const key = `outbox:alert:k${index}`;
      const refused = { channel: to, sinceMs: nowMs, givenUp: true };
      const record = { kind: 'alert', channel: to, fingerprint: '', sealed: '', misses: 9, refused } as const;
      await store.create(key, writeOutboxRecord({ ...record, receivedAtMs: nowMs }), {});
      const about = { slackError: 'is_archived', fix: 'Unarchive it.', untilMs: nowMs + 86_400_000 };
      await letters.add({ key, channel: to, receivedAtMs: nowMs, refusedSinceMs: nowMs + index, ...about });
    }
  });
}

function workOf(settings: Record<string, string> = {}): Promise<string[]> {
  return withKept(settings, async ({ store }) => {
    const keys: string[] = [];
    for (;;) {
      const [entry] = await store.take(60_000);
      if (!entry) return keys;
      keys.push(entry.key);
    }
  });
}

describe('redrive', () => {
  it('makes everything work again that Slack refused, says how much, and running it again does nothing', async () => {
    await giveUpSome();
    const end = await runCommand('redrive', [], outside());
    expect(end.exitCode).toBe(0);
    expect(end.words).toMatch(/^3 messages are on the way again/);
    expect(end.words.split('\n').slice(1).toSorted()).toEqual([`  ${channel}: 2`, `  ${other}: 1`]);
    expect(await runCommand('redrive', [], outside())).toEqual({
      exitCode: 0,
      words: 'Nothing is undelivered. Run this with the very settings of the bot.',
    });
    expect((await workOf()).toSorted()).toEqual(['outbox:alert:k0', 'outbox:alert:k1', 'outbox:alert:k2']);
  });

  it('does so for one channel alone', async () => {
    await giveUpSome();
    const end = await runCommand('redrive', ['--channel', other], outside());
    expect(end).toEqual({
      exitCode: 0,
      words: expect.stringMatching(/^One message is .*\n {2}C0OTHER001: 1$/),
    });
    expect(await workOf()).toEqual(['outbox:alert:k2']);
  });

  it.each([['--channel'], ['--channel', 'alerts'], [channel], ['--all'], ['--channel', channel, other]])(
    'refuses what it does not understand, and does nothing (%s %s)',
    async (...words: string[]) => {
      await giveUpSome();
      expect(await runCommand('redrive', words, outside())).toMatchObject({
        exitCode: 2,
        words: expect.stringContaining('npm run redrive -- --channel C0123ABCD'),
      });
      expect(await workOf()).toEqual([]);
    },
  );

  it('does not claim anything when the store cannot be opened or reached', async () => {
    const noFolder = await runCommand('redrive', [], outside({ DATA_DIR: '/dev/null/none' }));
    expect(noFolder).toMatchObject({ exitCode: 1, words: expect.stringContaining('DATA_DIR') });
    const away = outside({ REDIS_URL: 'redis://127.0.0.1:1', SEALING_KEYS: sealingKeys });
    expect(await runCommand('redrive', [], away)).toMatchObject({
      exitCode: 1,
      words: expect.stringContaining('The store does not answer'),
    });
  });

  it.skipIf(findProgram('redis-server') === undefined)('works on Redis too', async () => {
    const server = await startRedis();
    try {
      const settings = { REDIS_URL: server.url, SEALING_KEYS: sealingKeys };
      await giveUpSome(settings);
      const end = await runCommand('redrive', [], outside(settings));
      expect(end).toMatchObject({ exitCode: 0, words: expect.stringMatching(/^3 messages/) });
      expect(await workOf(settings)).toHaveLength(3);
    } finally {
      await server.stop();
    }
  });
});

describe('what health and metrics say of undelivered messages', () => {
  it('is nothing while there are none', () =>
    withKept({}, async (kept) => {
      const undelivered = createUndelivered(outside(), { kept, wake: () => undefined });
      expect(await undelivered.health()).toEqual({ state: 'ok' });
      expect(await undeliveredMetric([{ undelivered }]).read()).toEqual([{ value: 0 }]);
    }));

  it('is how many, where, why and the fix, and the bot stays ready; it wakes when they are delivered again', async () => {
    await giveUpSome();
    await withKept({}, async (kept) => {
      let woken = 0;
      const undelivered = createUndelivered(outside(), { kept, wake: () => void (woken += 1) });
      expect(await undelivered.health()).toEqual({
        state: 'degraded',
        detail: `2 undelivered for ${channel}: is_archived, and 1 for another channel or person`,
        fix: 'Unarchive it. Then /pay undelivered, or npm run redrive.',
      });
      expect(await undeliveredMetric([{ undelivered }]).read()).toEqual([{ value: 3 }]);
      expect([await undelivered.deliverAgain(channel), await undelivered.deliverAgain(channel)]).toEqual([
        2, 0,
      ]);
      expect(woken).toBe(2);
      expect(await undeliveredMetric([{ undelivered }]).read()).toEqual([{ value: 1 }]);
    });
  });

  it('is read from the store once in a few seconds, however often it is asked for', () =>
    withKept({}, async (kept) => {
      let nowMs = Date.now();
      let reads = 0;
      const read: typeof kept.store.read = (key) => {
        reads += 1;
        return kept.store.read(key);
      };
      const watched = { ...kept, store: { ...kept.store, read } };
      const undelivered = createUndelivered(
        { ...outside(), now: () => nowMs },
        { kept: watched, wake: () => undefined },
      );
      for (let round = 0; round < 5; round += 1) {
        // oxlint-disable-next-line no-await-in-loop -- each probe comes after the other
        await Promise.all([undelivered.health(), undeliveredMetric([{ undelivered }]).read()]);
      }
      const once = reads;
      nowMs += 5_000;
      await undelivered.health();
      expect(reads).toBe(2 * once);
      expect(once).toBe(8);
    }));

  it('does not take the bot out when the store is away', () =>
    withKept({}, async (kept) => {
      const away = { ...kept.store, read: () => Promise.reject(new StoreUnavailable('away')) };
      const broken = { ...kept, store: away };
      const undelivered = createUndelivered(outside(), { kept: broken, wake: () => undefined });
      expect(await undelivered.health()).toMatchObject({ state: 'degraded' });
    }));
});
