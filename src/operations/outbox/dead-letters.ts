import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Undelivered } from '../../domain/delivery.ts';
import { toChannelLane } from './alert-age.ts';
import { createChangeRecord, type RecordStore } from '../work/change-record.ts';
import { readOutboxRecord, writeOutboxRecord } from './outbox.ts';

/** A message that Slack has refused for so long that it is tried no more by itself. */
export type DeadLetter = {
  /** The outbox record. */
  key: string;
  /** The channel, or the person, that Slack refuses it for. */
  channel: string;
  receivedAtMs: number;
  /** Since when Slack refuses what is for that channel. */
  refusedSinceMs: number;
  slackError: string;
  fix: string;
  /** When the record is forgotten. */
  untilMs: number;
};

/** Since when a channel is refused, and when the last message for it was given up. */
export type Refused = { sinceMs: number; lastAtMs: number };

export type DeadLetters = {
  /**
   * Lists the letter, before its record is finished: the list may hold one that is not dead, and never lacks one.
   * Again: it is listed for as long as this one says. False when there is no room: the letter has to stay work then.
   */
  add(letter: DeadLetter): Promise<boolean>;
  /** Takes a letter off the list that went out all the same, because what it tells of went on. */
  delivered(channel: string, key: string): Promise<void>;
  /** Undefined when nothing for this channel is listed. */
  refused(channel: string): Promise<Refused | undefined>;
  /** What could not be delivered, by channel, the longest refused first. */
  all(): Promise<readonly Undelivered[]>;
  /**
   * Makes the letters of one channel, or of all, work again, the oldest first, and says how many. A letter is made
   * work by one caller alone, however many ask at once, and one that is being delivered is left alone.
   */
  redrive(channel?: string): Promise<readonly { channel: string; messages: number }[]>;
};

/** Enough that channels seldom share one, few enough to read at each look. */
const parts = 8;
/** What one part holds, in about half a megabyte. */
const mostLetters = 4_000;

const letter = z.tuple([z.string(), z.number(), z.number()]);
const listed = z.record(
  z.string(),
  z.object({
    sinceMs: z.number(),
    lastAtMs: z.number(),
    slackError: z.string(),
    fix: z.string(),
    /** Key, when it came, and when it is forgotten. */
    letters: z.array(letter),
  }),
);
type Listed = z.infer<typeof listed>;

/** The dead letters of all channels, shared by all replicas. */
export function createDeadLetters({ store, now }: { store: RecordStore; now: () => number }): DeadLetters {
  const changeRecord = createChangeRecord(store);

  async function readPart(key: string): Promise<Listed> {
    return read((await store.read(key))?.value, now());
  }

  function drop(channel: string, isGone: (one: z.infer<typeof letter>) => boolean): Promise<void> {
    return changeRecord(partOf(channel), (text) => {
      const all = read(text, now());
      const found = all[channel];
      if (!found?.letters.some(isGone)) return { kind: 'keep', result: undefined };
      const letters = found.letters.filter((one) => !isGone(one));
      const value = write({ ...all, [channel]: { ...found, letters } });
      return { kind: 'write', value, result: undefined };
    });
  }

  /** In turn, so that they are due in their old order, also when somebody else does the same. */
  async function reviveAll(channel: string, letters: Listed[string]['letters']): Promise<number> {
    const gone = new Map<string, number>();
    let revived = 0;
    for (const [index, [key, , untilMs]] of letters.toSorted(([, one], [, other]) => one - other).entries()) {
      // A moment apart, because a store may not tell apart what is due in the same one.
      // oxlint-disable-next-line no-await-in-loop
      const became = await revive(store, key, index);
      if (became !== 'under_way') gone.set(key, untilMs);
      if (became === 'revived') revived += 1;
    }
    // As they were listed: what was given up once more meanwhile is listed for longer, and stays.
    await drop(channel, ([key, , untilMs]) => gone.get(key) === untilMs);
    return revived;
  }

  return {
    add: ({ key, channel, receivedAtMs, refusedSinceMs, slackError, fix, untilMs }) =>
      changeRecord(partOf(channel), (text) => {
        const nowMs = now();
        const all = read(text, nowMs);
        const found = all[channel];
        const others = found?.letters.filter(([known]) => known !== key) ?? [];
        const isKnown = others.length < (found?.letters.length ?? 0);
        if (!isKnown && countOf(all) >= mostLetters) return { kind: 'keep', result: false };
        const letters = [...others, [key, receivedAtMs, untilMs] satisfies z.infer<typeof letter>];
        const sinceMs = found?.sinceMs ?? refusedSinceMs;
        const next = { sinceMs, lastAtMs: nowMs, slackError, fix, letters };
        return { kind: 'write', value: write({ ...all, [channel]: next }), result: true };
      }),

    delivered: (channel, key) => drop(channel, ([listedKey]) => listedKey === key),

    refused: async (channel) => (await readPart(partOf(channel)))[channel],

    async all() {
      const listedParts = await Promise.all(partKeys.map(readPart));
      return listedParts
        .flatMap((part) => Object.entries(part))
        .map(([channel, { letters, sinceMs, slackError, fix }]) => {
          return { channel, messages: letters.length, sinceMs, slackError, fix };
        })
        .toSorted((one, other) => one.sinceMs - other.sinceMs);
    },

    async redrive(channel) {
      const keys = channel === undefined ? partKeys : [partOf(channel)];
      const channels = (await Promise.all(keys.map(readPart)))
        .flatMap((part) => Object.entries(part))
        .filter(([name]) => channel === undefined || name === channel);
      return await Promise.all(
        channels.map(async ([name, { letters }]) => {
          return { channel: name, messages: await reviveAll(name, letters) };
        }),
      );
    },
  };
}

/**
 * `under_way`: it is work, or about to be given up once more; it stays listed. `over`: it was delivered meanwhile,
 * or is forgotten.
 */
async function revive(
  store: RecordStore,
  key: string,
  delayMs: number,
): Promise<'revived' | 'under_way' | 'over'> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each round looks at what the one before lost to
    const entry = await store.read(key);
    if (!entry) return 'over';
    const record = readOutboxRecord(entry.value);
    const { refused, progress, kind } = record;
    if (!refused) return 'over';
    // Nothing of it is under way: its storm went on, and it rests before it is tried for that.
    const isResting = kind === 'digest' && progress?.kind === 'waiting';
    // A charge that went on made its message work by itself: ending a lease of that would post it twice.
    const isAtRest = !progress || progress.kind === 'done' || isResting;
    if (refused.givenUp !== true || !isAtRest) return 'under_way';
    const mended = { refused: undefined, misses: 0, redriven: true, reposted: undefined };
    const again = { ...record, ...mended, ...(progress ? { progress: waiting } : {}) };
    // oxlint-disable-next-line no-await-in-loop
    if (await store.write(entry, writeOutboxRecord(again), { delayMs, ...toChannelLane(entry, record) }))
      return 'revived';
  }
}

const waiting = { kind: 'waiting' } as const;

/** Without what is forgotten by now. */
function read(text: string | undefined, nowMs: number): Listed {
  const all = text === undefined ? {} : listed.parse(JSON.parse(text));
  return tidy(all, ([, , untilMs]) => untilMs > nowMs);
}

function write(all: Listed): string {
  return JSON.stringify(tidy(all, () => true));
}

function tidy(all: Listed, keep: (one: z.infer<typeof letter>) => boolean): Listed {
  const channels = Object.entries(all).map(
    ([channel, found]) => [channel, { ...found, letters: found.letters.filter(keep) }] as const,
  );
  return Object.fromEntries(channels.filter(([, { letters }]) => letters.length > 0));
}

function countOf(all: Listed): number {
  return Object.values(all).reduce((sum, { letters }) => sum + letters.length, 0);
}

const partKeys = Array.from({ length: parts }, (_, index) => keyOf(index));

function partOf(channel: string): string {
  return keyOf((createHash('sha256').update(channel).digest()[0] ?? 0) % parts);
}

function keyOf(part: number): string {
  return `undelivered:${part}`;
}
