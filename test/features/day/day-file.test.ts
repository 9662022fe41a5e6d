import { describe, expect, it } from 'vitest';
import type { Entry, Store } from '../../../src/store/store.ts';
import { createDayFiles } from '../../../src/features/day/day-file.ts';
import { messageKey, newCounters, writeMessageRecord } from '../../../src/messages/message-record.ts';
import { workOnce } from '../../../src/records/worker.ts';
import type { UploadFile } from '../../../src/slack/kit/upload-file.ts';
import type { Account } from '../../../src/account.ts';
import { channel, killed, sealer } from '../house.ts';
import { memoryStore } from '../memory-store.ts';

const summary = messageKey('daily_summary', `${channel}/2026-11-21`);
const ts = '1795785190.817000';
const atMs = Date.UTC(2026, 10, 21, 7);
const record = { channel, sealed: '', receivedAtMs: atMs, ...newCounters };

/** A daily summary whose thread gets a file. `answer`: Slack's answer to an upload. */
function stage(answer: UploadFile = async () => ({ kind: 'uploaded', fileId: 'F1' })) {
  const clock = { nowMs: atMs };
  const store = memoryStore(clock);
  const sent: Parameters<UploadFile>[] = [];
  function filesOn(using: Store) {
    const account = {
      store: using,
      sealer,
      rememberMs: 86_400_000,
      leaseMs: 45_000,
      name: 'lagos',
      now: () => clock.nowMs,
      wake: () => undefined,
      settings: { policy: { timezone: 'Africa/Lagos' } },
      slack: {
        uploadFile: async (...upload: Parameters<UploadFile>) => {
          sent.push(upload);
          return await answer(...upload);
        },
      },
    } as unknown as Account;
    return createDayFiles(account, async (date) => ({
      text: `csv of ${date}`,
      words: `words of ${date}`,
      isWhole: true,
    }));
  }
  async function drain(using: Partial<Store> = {}): Promise<void> {
    const on = { ...store, ...using };
    const kinds = [...filesOn(on).cases, { prefix: 'message:', work: (entry: Entry) => done(on, entry) }];
    while (await workOnce({ store: on, leaseMs: 45_000, kinds }));
  }
  return {
    store,
    sent,
    ask: () => filesOn(store).ask(channel, summary, atMs),
    post: () =>
      store.create(summary, writeMessageRecord({ ...record, settled: 1, posted: { channel, ts } }), {}),
    /** Works for ten minutes. */
    run: async (using?: Partial<Store>): Promise<void> => {
      for (let passed = 0; passed < 40; passed += 1, clock.nowMs += 15_000) await drain(using);
    },
    told: () => store.keys().filter((key) => key.startsWith(messageKey('no_day_file', ''))),
  };
}

async function done(store: Store, entry: Entry): Promise<void> {
  await store.write(entry, entry.value);
}

describe('the file in a daily summary’s thread', () => {
  it('covers yesterday, is sent once however often it is requested, and waits for its summary', async () => {
    const { ask, post, run, sent, store, told } = stage();
    await store.create(summary, writeMessageRecord(record), {});
    await ask();
    await run();
    expect(sent).toEqual([]);
    const [entry] = [await store.read(summary)];
    await store.write(entry!, '', { ttlMs: 0 });
    await post();
    await ask();
    await run();
    const file = {
      name: 'lagos-2026-11-20.csv',
      title: 'The day 2026-11-20',
      text: 'csv of 2026-11-20',
      comment: 'words of 2026-11-20',
    };
    expect(sent).toEqual([[{ channel, threadTs: ts }, file]]);
    expect(told()).toEqual([]);
    await ask();
    await run();
    expect(sent).toHaveLength(1);
  });

  it.each([1, 2, 3])(
    'is uploaded at most once if the worker is killed at store call %i, and one note says that it may be missing',
    async (fatal) => {
      const { ask, post, run, sent, store, told } = stage();
      await post();
      await ask();
      let calls = 0;
      const dies = (): boolean => (calls += 1) === fatal;
      const dying: Partial<Store> = {
        create: (...given) => (dies() ? killed() : store.create(...given)),
        read: (...given) => (dies() ? killed() : store.read(...given)),
        write: (...given) => (dies() ? killed() : store.write(...given)),
      };
      await run(dying).catch(() => undefined);
      await run();
      expect(sent.length).toBeLessThanOrEqual(1);
      expect(sent.length + told().length).toBeGreaterThanOrEqual(1);
    },
  );

  it('is replaced by one note if Slack refuses it, and dropped if its summary is gone', async () => {
    const refused = stage(async () => ({ kind: 'failed', why: 'Slack says “missing_scope”.', fix: '' }));
    await refused.post();
    await refused.ask();
    await refused.run();
    await refused.run();
    expect([refused.sent.length, refused.told().length]).toEqual([1, 1]);
    const gone = stage();
    await gone.ask();
    await gone.run();
    expect([gone.sent, gone.told(), gone.store.keys()]).toEqual([[], [], []]);
  });
});
