import { setImmediate as breathe } from 'node:timers/promises';
import { withLookUp, type AlertRule, type Destination } from '../../../domain/alert-route.ts';
import { contradicts, type Environment, type Lookup } from '../../../domain/alert.ts';
import type { NoteAudit } from '../../../domain/audit-entry.ts';
import type { PaymentEvent, PaymentEventKind } from '../../../domain/payment-event.ts';
import type { Sealer } from '../../../domain/sealer.ts';
import {
  countedWith,
  dueInMs,
  newStorm,
  stepStorm,
  type Storm,
  type StormCount,
  type StormEvent,
} from '../../../domain/storm.ts';
import {
  emptySummary,
  itemOf,
  summarise,
  type StormItem,
  type StormSeen,
} from '../../../domain/storm-summary.ts';
import { withoutUndefined } from '../../../domain/without-undefined.ts';
import type { Entry, Index, Store } from '../../../store/store.ts';
import {
  openEvent,
  outboxKey,
  type OutboxRecord,
  readOutboxRecord,
  stormAlerts,
} from '../../../messages/message-record.ts';
import { createMessages } from '../../../messages/messages.ts';
import { openEvidence } from '../alert-record.ts';
import { isUnreadable } from '../../../records/records.ts';
import { createChangeRecord, pagesOf, type RecordStore } from '../../../records/change-record.ts';

/** A storm is work while it is on, and whenever something is to be told of it. */
export const stormPrefix = 'storm:';

/** The alerts of one kind that a channel is told, by when they came or were posted: what makes a storm. */
export function arrivals({ channel, rule }: Destination, gathers: PaymentEventKind): string {
  return arrivalsOf(streamOf(channel, gathers), countedWith(rule, 0).group);
}

const arrivalsOf = (stream: string, group: string): string => `channel-alerts:${stream}/${group}`;
/** The storms of one channel and kind, one after the other. */
const stormsOf = (stream: string): string => `storms:${stream}`;
/** Those that are work: they share what Slack takes of edits. */
const stormsAtWork = 'storms-at-work';
/** The storm above whose digest the message of an alert stands. */
const aboveOf = (alert: string): string => `storm-above:${alert}`;
/** The cards of a storm that a payment resolved. */
export const stormRecovered = (storm: string): string => `storm-recovered:${storm}`;

/** Each storm at work may edit its messages once in so long for every storm at work: Slack counts the edits of all. */
const paceMs = 5_000;
const mostListed = 100;
const minuteMs = 60_000;

export type StormsDeps = {
  store: RecordStore & Pick<Store, 'list'>;
  sealer: Sealer;
  /** Alerts of one channel that pass singly in a window, where no rule says otherwise; 0: all of them. */
  threshold: number;
  /** The window they are counted in, and how long no more than a few come before a storm is over. */
  windowMs: number;
  rememberMs: number;
  /** How long one piece of work may be held. */
  leaseMs: number;
  environment: Environment;
  account: string;
  /** The rules that are muted now and name that channel. */
  mutedIn: (channel: string) => readonly AlertRule[];
  now: () => number;
  /** Called after work was stored, so that a worker need not wait for its next round. */
  wake: () => void;
  /** Writes into the audit, in the background; absent: nothing is written down. */
  note?: NoteAudit;
};

export type TakenStorm =
  | { kind: 'taken'; count: number }
  /** Somebody had it before; `by` may be who asks. */
  | { kind: 'had'; by: string; at: number; isOver: boolean }
  | { kind: 'unknown_storm' };

/**
 * The storms of the channels, each one record that `stepStorm` moves, and its alerts, which are on the storm’s list by
 * their own records. Failures and payments of a channel have storms apart. All of it throws StoreUnavailable.
 */
export type Storms = {
  /** The storm that tells an alert which is about to be posted; undefined: its own message does. */
  ask(
    to: Destination,
    key: string,
    gathers: PaymentEventKind,
  ): Promise<{ id: string; isTaken: boolean } | undefined>;
  /** The last one of a channel, on or over. */
  newest(channel: string, gathers: PaymentEventKind): Promise<NamedStorm | undefined>;
  /** Undefined: there is no such storm, or it is forgotten. */
  see(storm: string): Promise<StormSeen | undefined>;
  /** Its alerts from that place on, those above the digest first, up to so many of them. */
  items(storm: string, from?: number, max?: number): Promise<readonly StormItem[]>;
  /** Where the digest stands; undefined while it stands nowhere. */
  place(storm: string): Promise<{ channel: string; ts: string } | undefined>;
  /** One decision on all replicas, and one field of the storm, which every card of it reads: those still to come too. */
  take(storm: string, by: string): Promise<TakenStorm>;
  /** One more of its alerts is about to be on the list of those that a payment resolved. */
  recovered(storm: string): Promise<void>;
  /** For work of the prefix `stormPrefix`. `retell`: the messages of a card are made once more. */
  work(entry: Entry, cards: { retell: (id: string) => Promise<void> }): Promise<void>;
};

type StormReader = { store: Pick<Store, 'read' | 'list'>; sealer: Sealer };
type NamedStorm = Storm & { id: string };

export function createStorms(deps: StormsDeps): Storms {
  const { store, sealer, windowMs, now } = deps;
  const changeRecord = createChangeRecord(store);
  const messages = createMessages(deps);

  /** Undefined: nothing becomes of it, or it is forgotten. */
  function change(id: string, event: StormEvent): Promise<{ before?: Storm; after?: Storm }> {
    const key = stormPrefix + id;
    return changeRecord<{ before?: Storm; after?: Storm }>(key, (value) => {
      if (value === undefined) return { kind: 'keep', result: {} };
      const before = openStorm(sealer, { key, value });
      const after = stepStorm(before, event, now());
      if (!after) return { kind: 'keep', result: { before } };
      return { kind: 'write', value: sealed(key, after), ...fate(id, after), result: { before, after } };
    });
  }

  function sealed(key: string, storm: Storm): string {
    return sealer.seal(key, JSON.stringify(storm));
  }

  function fate(id: string, storm: Storm): { index: Index } & ({ delayMs: number } | { ttlMs: number }) {
    const { stream, number } = nameOf(id);
    const delayMs = dueInMs(storm, now());
    const index = {
      [stormsOf(stream)]: number,
      ...Object.fromEntries(storm.above.map((key) => [aboveOf(key), number])),
      ...(delayMs === undefined ? {} : { [stormsAtWork]: number }),
    };
    return delayMs === undefined ? { index, ttlMs: deps.rememberMs } : { index, delayMs };
  }

  /** False: somebody else was faster. */
  async function begin(id: string, event: Extract<StormEvent, { kind: 'joined' }>): Promise<boolean> {
    const storm = stepStorm(newStorm(now()), event, now());
    const key = stormPrefix + id;
    return storm !== undefined && (await store.create(key, sealed(key, storm), fate(id, storm)));
  }

  /** Tells the storm to its channel, or to one person; a message that stands is edited. */
  function tell(id: string, userId?: string): Promise<void> {
    const channel = userId ?? nameOf(id).channel;
    const key = outboxKey('digest', userId === undefined ? id : `${id}:${userId}`);
    const body = { storm: id, ...withoutUndefined({ to: userId }) };
    return messages.keep(key, { kind: 'digest', channel, body });
  }

  async function tellAll(id: string, storm: Storm, retell: (alert: string) => Promise<void>): Promise<void> {
    const { untold, taken } = storm;
    if (untold.includes('digest')) await tell(id);
    if (untold.includes('taker') && taken) await tell(id, taken.by);
    if (untold.includes('alerts')) {
      await Promise.all(storm.above.map((key) => messages.refresh(key)));
      for await (const items of itemsOf(deps, id, storm)) {
        await Promise.all(items.map((item) => retell(item.id)));
        // Those above come first. What a digest tells shows who took it only where it has a message elsewhere.
        if (!taken) break;
      }
    }
    deps.wake();
  }

  async function pace({ counted }: Storm): Promise<number> {
    const { entries } = await store.list(stormsAtWork, { max: mostListed });
    // A thousand alerts are counted in some thirty milliseconds.
    return Math.max(paceMs * Math.max(1, entries.length), counted.count);
  }

  return {
    async ask({ channel, rule }, key, gathers) {
      const { group, threshold } = countedWith(rule, deps.threshold);
      if (threshold === 0) return undefined;
      const stream = streamOf(channel, gathers);
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- once more only where another replica was faster
        const newest = await newestOf(deps, stream);
        const isOn = newest?.endedMs === undefined;
        if (newest && isOn && newest.groups.includes(group)) {
          // oxlint-disable-next-line no-await-in-loop
          if (newest.isQuiet) await change(newest.id, { kind: 'stirred' });
          return { id: newest.id, isTaken: newest.taken !== undefined };
        }
        const list = arrivalsOf(stream, group);
        const from = now() - windowMs + 1;
        // oxlint-disable-next-line no-await-in-loop
        const { entries } = await store.list(list, { from, max: threshold + 1 });
        if (entries.filter((entry) => entry.key !== key).length < threshold) return undefined;
        // oxlint-disable-next-line no-await-in-loop
        const joined = { kind: 'joined', group, above: await postedIn(store, list, from) } as const;
        if (newest && isOn) {
          // oxlint-disable-next-line no-await-in-loop
          await change(newest.id, joined);
          continue;
        }
        // One that followed none begins no more than once a minute: so no number comes again after it was forgotten.
        const number = newest ? nameOf(newest.id).number + 1 : Math.floor(now() / minuteMs);
        // oxlint-disable-next-line no-await-in-loop
        await begin(`${stream}/${number}`, joined);
      }
    },

    newest: (channel, gathers) => newestOf(deps, streamOf(channel, gathers)),

    async see(id) {
      const storm = await readStorm(deps, id);
      if (!storm) return undefined;
      const { channel, gathers } = nameOf(id);
      const { counted, endedMs, taken } = storm;
      return {
        id,
        gathers,
        ...counted,
        isOver: endedMs !== undefined,
        ...withoutUndefined({ taken }),
        muted: deps.mutedIn(channel),
        environment: deps.environment,
        account: deps.account,
      };
    },

    async items(id, from = 0, max = Infinity) {
      const storm = await readStorm(deps, id);
      const found: StormItem[] = [];
      if (!storm) return found;
      for await (const items of itemsOf(deps, id, storm)) {
        found.push(...items);
        if (found.length >= from + max) break;
      }
      return found.slice(from, from + max);
    },

    async place(id) {
      const entry = await store.read(outboxKey('digest', id));
      return entry && readOutboxRecord(entry.value).posted;
    },

    async take(id, by) {
      // Payments ask nobody for anything.
      if (readStormId(id)?.gathers !== 'payment_failed') return { kind: 'unknown_storm' };
      const { before, after } = await change(id, { kind: 'taken', by });
      if (!before) return { kind: 'unknown_storm' };
      const { taken = { by, at: now() }, endedMs, counted } = before;
      if (!after) return { kind: 'had', ...taken, isOver: endedMs !== undefined };
      const { count: all } = counted;
      const result = 'storm_acknowledged';
      deps.note?.({ what: 'step', who: by, reference: id, result, reason: `${all} alerts` });
      deps.wake();
      return { kind: 'taken', count: all };
    },

    async recovered(id) {
      await change(id, { kind: 'stirred' });
    },

    async work(entry, { retell }) {
      const id = entry.key.slice(stormPrefix.length);
      const storm = openStorm(sealer, entry);
      let event: StormEvent = { kind: 'told' };
      if (storm.untold.length > 0) await tellAll(id, storm, retell);
      else
        event = {
          kind: 'counted',
          counted: await count(deps, id, storm),
          paceMs: await pace(storm),
          windowMs,
        };
      const next = stepStorm(storm, event, now()) ?? storm;
      // Lost: it was changed meanwhile, and is work for that.
      await store.write(entry, sealed(entry.key, next), fate(id, next));
    },
  };
}

async function newestOf({ store, sealer }: StormReader, stream: string): Promise<NamedStorm | undefined> {
  const { entries } = await store.list(stormsOf(stream), { max: 1, newestFirst: true });
  const [entry] = entries;
  return entry && named(sealer, entry);
}

/** Of these alerts, those that were posted, or may have been. */
async function postedIn(store: StormReader['store'], list: string, from: number): Promise<string[]> {
  const posted: string[] = [];
  for await (const page of pagesOf(store, list, { from })) {
    const isPosted = page.map(({ value }) => {
      const record = ifReadable(() => readOutboxRecord(value));
      return record && isOrMayBePosted(record);
    });
    posted.push(...page.filter((_, index) => isPosted[index]).map(({ key }) => key));
    await breathe();
  }
  return posted;
}

async function* itemsOf(
  { store, sealer }: StormReader,
  id: string,
  { above }: Storm,
): AsyncGenerator<StormItem[]> {
  const posted = readAlerts(sealer, await Promise.all(above.map((key) => store.read(key))));
  yield posted
    .filter((alert) => alert.record.posted && mayBeGathered(alert))
    .map((alert) => ({ ...itemOfAlert(alert), isAbove: true }));
  for await (const page of pagesOf(store, stormAlerts(id))) {
    yield readAlerts(sealer, page).map(itemOfAlert);
    // A long list must not keep everything else waiting.
    await breathe();
  }
}

async function count(reader: StormReader, id: string, storm: Storm): Promise<StormCount> {
  let summary = emptySummary;
  let all = 0;
  for await (const items of itemsOf(reader, id, storm)) {
    summary = items.reduce(summarise, summary);
    all += items.length;
  }
  let recovered = 0;
  for await (const page of pagesOf(reader.store, stormRecovered(id))) recovered += page.length;
  return { count: all, recovered, summary };
}

/** Failures and payments of a channel, each counted for itself. */
function streamOf(channel: string, gathers: PaymentEventKind): string {
  return gathers === 'payment_failed' ? channel : `${channel}~paid`;
}

type StormName = { stream: string; channel: string; gathers: PaymentEventKind; number: number };

/** Undefined for a text that no storm is called by. */
function readStormId(id: string): StormName | undefined {
  const [, stream, channel, paid, number] = /^(([A-Z0-9]+)(~paid)?)\/(\d+)$/.exec(id) ?? [];
  if (stream === undefined || channel === undefined) return undefined;
  const gathers = paid === undefined ? 'payment_failed' : 'payment_success';
  return { stream, channel, gathers, number: Number(number) };
}

function nameOf(id: string): StormName {
  const name = readStormId(id);
  if (!name) throw new Error('No storm is called so.');
  return name;
}

function openStorm(sealer: Sealer, { key, value }: Pick<Entry, 'key' | 'value'>): Storm {
  return JSON.parse(sealer.open(key, value)) as Storm;
}

/** One that cannot be read is over: what comes next is told by another. */
function named(sealer: Sealer, entry: Entry): NamedStorm {
  const storm = ifReadable(() => openStorm(sealer, entry)) ?? { ...newStorm(0), endedMs: 0 };
  return { ...storm, id: entry.key.slice(stormPrefix.length) };
}

async function readStorm({ store, sealer }: StormReader, id: string): Promise<Storm | undefined> {
  const entry = readStormId(id) && (await store.read(stormPrefix + id));
  return entry && openStorm(sealer, entry);
}

/** The storms that the messages of an alert belong to: told by a digest, or above one. */
export async function stormsOfAlert(
  { store, sealer }: StormReader,
  messages: readonly { key: string; record: Pick<OutboxRecord, 'digest' | 'posted'> }[],
): Promise<NamedStorm[]> {
  const found = await Promise.all(
    messages.map(async ({ key, record }): Promise<readonly (Entry | undefined)[]> => {
      const { digest, posted } = record;
      if (digest) return [await store.read(stormPrefix + digest.storm)];
      return posted ? (await store.list(aboveOf(key), { max: mostListed })).entries : [];
    }),
  );
  return found.flat().flatMap((entry) => (entry ? [named(sealer, entry)] : []));
}

/** Undefined: nobody can read it, and the worker puts it aside. */
function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

type StoredAlert = { record: OutboxRecord; event: PaymentEvent; lookup: Lookup | undefined };

/** Those that can be read. */
function readAlerts(sealer: Sealer, entries: readonly (Entry | undefined)[]): StoredAlert[] {
  return entries.flatMap((entry) => (entry && ifReadable(() => readAlert(sealer, entry))) ?? []);
}

function readAlert(sealer: Sealer, { key, value }: Entry): StoredAlert {
  const record = readOutboxRecord(value);
  const lookup = openEvidence(sealer, key, record)?.lookup;
  return { record, event: openEvent(sealer, key, record), lookup };
}

function itemOfAlert({ record, event, lookup }: StoredAlert): StormItem {
  const { receivedAtMs, digest } = record;
  const times = { receivedAtMs, addedAtMs: digest?.atMs ?? receivedAtMs };
  return itemOf(lookup ? withLookUp(event, lookup) : event, times, lookup?.kind === 'confirmed');
}

/** Such a one goes on as a message. */
export function isOrMayBePosted({ posted, doubt, replaced }: OutboxRecord): boolean {
  return (posted ?? doubt ?? replaced) !== undefined;
}

/**
 * Whether a digest may tell it: every failure, and a payment that asks nobody for anything. One that its look-up does
 * not confirm, or whose card could not be kept, is told on its own.
 */
export function mayBeGathered({ event, lookup }: Pick<StoredAlert, 'event' | 'lookup'>): boolean {
  if (event.kind === 'payment_failed') return true;
  if (event.cardSaved && event.cardSaved.kind !== 'kept') return false;
  return !contradicts(lookup?.kind);
}
