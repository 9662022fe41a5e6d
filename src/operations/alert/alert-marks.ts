import { z } from 'zod';
import { endsCard, type AlertCard } from '../../domain/alert-card.ts';
import type { ReactionOutcome } from '../../domain/delivery.ts';
import { growingDelayMs } from '../../domain/growing-delay.ts';
import type { Entry, Store, WriteOptions } from '../../store/store.ts';
import { readOutboxRecord } from '../outbox/outbox.ts';

/** Slack's names of the symbols that the message's own first line begins with. */
const marks = ['eyes', 'white_check_mark', 'ballot_box_with_check'] as const;

/** A reaction, by Slack's name of it. */
export type Mark = (typeof marks)[number];

export type AlertMarksDeps = {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  readCard: (id: string) => Promise<AlertCard>;
  /** Neither throws for anything Slack or the network does. */
  add: (message: { channel: string; ts: string }, mark: Mark) => Promise<ReactionOutcome>;
  remove: (message: { channel: string; ts: string }, mark: Mark) => Promise<ReactionOutcome>;
  rememberMs: number;
};

/**
 * The second sign of a card, on its message: 👀 acknowledged, ✅ recovered, ☑️ closed. Best effort: tried until Slack has
 * answered, for a quarter of an hour, and nothing waits for it: it is work of its own, in a lane of its own. Throws
 * StoreUnavailable alone.
 */
export type AlertMarks = {
  /** Called whenever the message with this key in the outbox is made anew; `ts`: where it stands, if it does. */
  ask(id: string, message: string, ts: string | undefined): Promise<void>;
  /** For work of the prefix `alertMarkPrefix`. */
  work(entry: Entry): Promise<void>;
};

export const alertMarkPrefix = 'alert-mark:';

/** `set`: what was last put, and on which message; `tries`: since it was asked for. */
const markRecord = z.object({
  id: z.string(),
  set: z.object({ ts: z.string(), mark: z.enum(marks) }).optional(),
  tries: z.number().int(),
});
type MarkRecord = z.infer<typeof markRecord>;

const lane = 'alert-marks';
/** Slack takes about fifty reactions a minute from a bot, and lets it take twenty away. */
const addPaceMs = 1_500;
const removePaceMs = 3_200;
/** By then the message is mostly edited, or posted. */
const askedAfterMs = 1_000;
const mostTries = 20;
const longestWaitMs = 60_000;

export function createAlertMarks(deps: AlertMarksDeps): AlertMarks {
  const { store } = deps;
  return {
    async ask(id, message, ts) {
      const key = alertMarkPrefix + message;
      const wanted = markOf(await deps.readCard(id));
      if (!wanted) return;
      const due = { delayMs: askedAfterMs };
      /* oxlint-disable no-await-in-loop -- each round looks at what the one before lost to */
      for (;;) {
        if (await store.create(key, write({ id, tries: 0 }), { ...due, lane })) return;
        const entry = await store.read(key);
        if (!entry) continue;
        const { set } = read(entry);
        if (set && set.ts === ts && set.mark === wanted) return;
        // Lost to whoever takes it or has just put it: a card at its end has no later edit that would ask again.
        if (await store.write(entry, write({ id, tries: 0, ...(set ? { set } : {}) }), due)) return;
      }
      /* oxlint-enable no-await-in-loop */
    },

    async work(entry) {
      const record = read(entry);
      const next = await put(deps, entry.key.slice(alertMarkPrefix.length), record);
      await store.write(entry, write(next.record), next.options);
    },
  };
}

type Next = { record: MarkRecord; options: WriteOptions };

async function put(deps: AlertMarksDeps, message: string, record: MarkRecord): Promise<Next> {
  const card = await deps.readCard(record.id);
  const mark = markOf(card);
  const entry = await deps.store.read(message);
  // No card is open again, and what is forgotten has no message.
  if (!mark || !entry) return over(deps, record);
  const { posted } = readOutboxRecord(entry.value);
  if (!posted) return later(deps, record, undefined);
  const added = await deps.add(posted, mark);
  if (added.kind === 'later') return later(deps, record, added.retryAfterMs);
  const older = olderMark(record, card, { ts: posted.ts, mark });
  const removed = older ? await deps.remove(posted, older) : added;
  if (removed.kind === 'later') return later(deps, record, removed.retryAfterMs);
  return over(deps, { ...record, set: { ts: posted.ts, mark } }, older ? removePaceMs : addPaceMs);
}

function over({ rememberMs }: AlertMarksDeps, record: MarkRecord, pauseMs = 0): Next {
  return { record, options: { ttlMs: rememberMs, pauseMs } };
}

function later(deps: AlertMarksDeps, record: MarkRecord, retryAfterMs: number | undefined): Next {
  const tries = record.tries + 1;
  if (tries >= mostTries) return over(deps, record);
  const delayMs = Math.max(retryAfterMs ?? 0, growingDelayMs(addPaceMs, record.tries, longestWaitMs));
  return { record: { ...record, tries }, options: { delayMs, pauseMs: retryAfterMs ?? addPaceMs } };
}

function markOf(card: AlertCard): Mark | undefined {
  switch (card.kind) {
    case 'open':
      return undefined;
    case 'acknowledged':
      return 'eyes';
    case 'recovered':
      return 'white_check_mark';
    case 'closed':
      return 'ballot_box_with_check';
  }
}

/** The one on record; else the one that may have been put without being written down, by whoever was killed then. */
function olderMark(
  { set }: MarkRecord,
  card: AlertCard,
  next: NonNullable<MarkRecord['set']>,
): Mark | undefined {
  if (set?.ts === next.ts && set.mark !== next.mark) return set.mark;
  return endsCard(card) && card.acknowledged ? 'eyes' : undefined;
}

function write(record: MarkRecord): string {
  return JSON.stringify(record);
}

function read(entry: Entry): MarkRecord {
  return markRecord.parse(JSON.parse(entry.value));
}
