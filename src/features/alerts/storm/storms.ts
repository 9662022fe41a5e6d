import type { Account } from '../../../account.ts';
import { setImmediate as breathe } from 'node:timers/promises';
import { z } from 'zod';
import { withLookUp, type AlertRule, type Destination } from '../../../domain/alert-route.ts';
import { contradicts, type Environment, type Lookup } from '../../../domain/alert.ts';
import type { AuditEntry } from '../../../domain/audit-entry.ts';
import type { PaymentEvent, PaymentEventKind } from '../../../domain/payment-event.ts';
import type { Sealer } from '../../../domain/sealer.ts';
import {
  type Storm,
  type StormCount,
  type StormEvent,
  type StormItem,
  type StormSeen,
  countedWith,
  dueInMs,
  emptySummary,
  itemOf,
  newStorm,
  stepStorm,
  summarise,
} from './storm.ts';
import { withoutUndefined } from '../../../domain/without-undefined.ts';
import type { Entry, Index, Store } from '../../../store/store.ts';
import {
  findMessageRecord,
  openEvent,
  messageKey,
  type MessageRecord,
  readMessageRecord,
  stormAlerts,
} from '../../../messages/message-record.ts';
import { createMessages, type Messages } from '../../../messages/messages.ts';
import type { DigestBodies } from './prepare-digest.ts';
import { openEvidence } from '../alert-record.ts';
import { isUnreadable } from '../../../records/records.ts';
import { createCases, type CasesDeps } from '../../../records/cases.ts';
import { pagesOf } from '../../../records/change-record.ts';

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

type StormsDeps = CasesDeps & {
  /** Alerts of one channel that pass singly in a window, where no rule says otherwise; 0: all of them. */
  threshold: number;
  /** The window they are counted in, and how long no more than a few come before a storm is over. */
  windowMs: number;
  /** How long one piece of work may be held. */
  leaseMs: number;
  environment: Environment;
  account: string;
  /** The rules that are muted now and name that channel. */
  mutedIn: (channel: string) => Promise<readonly AlertRule[]>;
  /** The messages of a card are made once more. */
  retell: (id: string) => Promise<unknown>;
};

type TakenStorm =
  | { kind: 'taken'; count: number }
  /** Somebody had it before; `by` may be who asks. */
  | { kind: 'had'; by: string; at: number; isOver: boolean }
  | { kind: 'unknown_storm' };

/**
 * The storms of the channels, each one case that `stepStorm` moves, and its alerts, which are on the storm’s list by
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
  /** Those that the messages of an alert belong to: told by a digest, or above one. */
  ofAlert(
    messages: readonly { key: string; record: Pick<MessageRecord, 'digest' | 'posted'> }[],
  ): Promise<NamedStorm[]>;
  /** One more of its alerts is about to be on the list of those that a payment resolved. */
  recovered(storm: string): Promise<void>;
  /** For work of the prefix `stormPrefix`. */
  work(entry: Entry): Promise<void>;
};

type NamedStorm = Storm & { id: string };

const stormCase = z.custom<NamedStorm>(
  (value) => z.looseObject({ id: z.string(), sinceMs: z.number() }).safeParse(value).success,
);

export function createStorms(deps: StormsDeps): Storms {
  const { store, sealer, windowMs, now } = deps;
  const messages = createMessages(deps);
  const storms = createCases<NamedStorm, StormEvent>(
    deps,
    {
      prefix: stormPrefix,
      schema: stormCase,
      lists: listsOf,
      step(before, event, nowMs) {
        const after = stepStorm(before, event, nowMs);
        return after && { ...after, id: before.id };
      },
      restMs: (storm, nowMs) => dueInMs(storm, nowMs),
      isTold: (before, after) => after.untold !== before.untold,
      settled: (storm) => ({ ...storm, untold: [] }),
      history: ({ event, after, turn, atMs }) =>
        event?.kind === 'taken' ? [auditOfTaking(after, event.by, turn, atMs)] : [],
    },
    {
      async due(storm, nowMs) {
        if (storm.lookAtMs === undefined || nowMs < storm.lookAtMs) return undefined;
        const [counted, paceMs] = await Promise.all([count(storm), pace(store, storm)]);
        return { event: { kind: 'counted', counted, paceMs, windowMs } };
      },
      tell,
    },
  );

  async function tell(storm: NamedStorm): Promise<void> {
    const { untold, taken, above } = storm;
    if (untold.includes('digest')) await tellOne(messages, storm);
    if (untold.includes('taker') && taken) await tellOne(messages, storm, taken.by);
    if (!untold.includes('alerts')) return;
    await Promise.all(above.map((key) => messages.refresh(key)));
    for await (const items of itemsOf(storm)) {
      await Promise.all(items.map((item) => deps.retell(item.id)));
      // Those above come first. What a digest tells shows who took it only where it has a message elsewhere.
      if (!taken) break;
    }
  }

  async function newestOf(stream: string): Promise<NamedStorm | undefined> {
    // Of those that can be read.
    return (await storms.list(stormsOf(stream), { max: 10, newestFirst: true }))[0];
  }

  async function count({ id, above }: NamedStorm): Promise<StormCount> {
    let summary = emptySummary;
    let all = 0;
    for await (const items of itemsOf({ id, above })) {
      summary = items.reduce(summarise, summary);
      all += items.length;
    }
    let recovered = 0;
    for await (const page of pagesOf(store, stormRecovered(id))) recovered += page.length;
    return { count: all, recovered, summary };
  }

  async function* itemsOf({ id, above }: Pick<NamedStorm, 'id' | 'above'>): AsyncGenerator<StormItem[]> {
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

  return {
    async ask({ channel, rule }, key, gathers) {
      const { group, threshold } = countedWith(rule, deps.threshold);
      if (threshold === 0) return undefined;
      const stream = streamOf(channel, gathers);
      let unreadable = 0;
      // oxlint-disable no-await-in-loop -- once more only where another replica was faster
      for (;;) {
        const newest = await newestOf(stream);
        const isOn = newest?.endedMs === undefined;
        if (newest && isOn && newest.groups.includes(group)) {
          if (newest.isQuiet) await storms.hear(newest.id, { kind: 'stirred' });
          return { id: newest.id, isTaken: newest.taken !== undefined };
        }
        const list = arrivalsOf(stream, group);
        const from = now() - windowMs + 1;
        const { entries } = await store.list(list, { from, max: threshold + 1 });
        if (entries.filter((entry) => entry.key !== key).length < threshold) return undefined;
        const joined = { kind: 'joined', group, above: await postedIn(store, list, from) } as const;
        if (newest && isOn) {
          await storms.hear(newest.id, joined);
          continue;
        }
        // One that followed none begins no more than once a minute: so no number comes again after it was forgotten.
        const number = newest ? nameOf(newest.id).number + 1 : Math.floor(now() / minuteMs);
        const storm = stepStorm(newStorm(now()), joined, now());
        const id = `${stream}/${number + unreadable}`;
        if (!storm) continue;
        await storms.begin(id, { ...storm, id }).catch((error: unknown) => {
          unlessReadable(error);
          unreadable += 1;
        });
      }
      // oxlint-enable no-await-in-loop
    },

    newest: (channel, gathers) => newestOf(streamOf(channel, gathers)),

    async see(id) {
      const storm = await storms.find(id);
      if (!storm) return undefined;
      const { channel, gathers } = nameOf(id);
      const { counted, endedMs, taken } = storm;
      return {
        id,
        gathers,
        ...counted,
        isOver: endedMs !== undefined,
        ...withoutUndefined({ taken }),
        muted: await deps.mutedIn(channel),
        environment: deps.environment,
        account: deps.account,
      };
    },

    async items(id, from = 0, max = Infinity) {
      const storm = await storms.find(id);
      const found: StormItem[] = [];
      if (!storm) return found;
      for await (const items of itemsOf(storm)) {
        found.push(...items);
        if (found.length >= from + max) break;
      }
      return found.slice(from, from + max);
    },

    place: async (id) => (await findMessageRecord(store, messageKey('digest', id)))?.posted,

    async take(id, by) {
      // Payments ask nobody for anything.
      const heard = id.includes(paidMark) ? undefined : await storms.hear(id, { kind: 'taken', by });
      if (!heard) return { kind: 'unknown_storm' };
      const { taken = { by, at: now() }, endedMs, counted } = heard.state;
      if (heard.isMoved) return { kind: 'taken', count: counted.count };
      return { kind: 'had', ...taken, isOver: endedMs !== undefined };
    },

    async ofAlert(all) {
      const found = await Promise.all(
        all.map(async ({ key, record: { digest, posted } }): Promise<readonly (NamedStorm | undefined)[]> => {
          if (digest) return [await storms.find(digest.storm).catch(unlessReadable)];
          return posted ? await storms.list(aboveOf(key), { max: mostListed }) : [];
        }),
      );
      return found.flat().filter((storm) => storm !== undefined);
    },

    async recovered(id) {
      await storms.hear(id, { kind: 'stirred' });
    },

    async work(entry) {
      await storms.work(entry);
    },
  };
}

/** Tells the storm to its channel, or to one person; a message that stands is edited. */
function tellOne(messages: Messages<DigestBodies>, { id }: NamedStorm, userId?: string): Promise<void> {
  const channel = userId ?? nameOf(id).channel;
  const key = messageKey('digest', userId === undefined ? id : `${id}:${userId}`);
  const body = { storm: id, ...withoutUndefined({ to: userId }) };
  return messages.keep(key, { kind: 'digest', channel, body });
}

async function pace(store: Pick<Store, 'list'>, { counted }: Storm): Promise<number> {
  const { entries } = await store.list(stormsAtWork, { max: mostListed });
  // A thousand alerts are counted in some thirty milliseconds.
  return Math.max(paceMs * Math.max(1, entries.length), counted.count);
}

function listsOf(storm: NamedStorm): Index {
  const { stream, number } = nameOf(storm.id);
  return {
    [stormsOf(stream)]: number,
    ...Object.fromEntries(storm.above.map((key) => [aboveOf(key), number])),
    ...(storm.lookAtMs === undefined ? {} : { [stormsAtWork]: number }),
  };
}

function auditOfTaking({ id, counted }: NamedStorm, by: string, turn: number, atMs: number): AuditEntry {
  const reason = `${counted.count} alerts`;
  return {
    id: `storm:${id}:${turn}`,
    atMs,
    what: 'step',
    who: by,
    reference: id,
    result: 'storm_acknowledged',
    reason,
  };
}

/** Of these alerts, those that were posted, or may have been. */
async function postedIn(store: Pick<Store, 'list'>, list: string, from: number): Promise<string[]> {
  const posted: string[] = [];
  for await (const page of pagesOf(store, list, { from })) {
    const isPosted = page.map(({ value }) => {
      const record = ifReadable(() => readMessageRecord(value));
      return record && isOrMayBePosted(record);
    });
    posted.push(...page.filter((_, index) => isPosted[index]).map(({ key }) => key));
    await breathe();
  }
  return posted;
}

const paidMark = '~paid';

/** Failures and payments of a channel, each counted for itself. */
function streamOf(channel: string, gathers: PaymentEventKind): string {
  return gathers === 'payment_failed' ? channel : channel + paidMark;
}

type StormName = { stream: string; channel: string; gathers: PaymentEventKind; number: number };

/** Throws for a text that no storm is called by. */
function nameOf(id: string): StormName {
  const [, stream, channel, paid, number] = /^(([A-Z0-9]+)(~paid)?)\/(\d+)$/.exec(id) ?? [];
  if (stream === undefined || channel === undefined) throw new Error('No storm is called so.');
  const gathers = paid === undefined ? 'payment_failed' : 'payment_success';
  return { stream, channel, gathers, number: Number(number) };
}

/** Undefined: nobody can read it, and the worker puts it aside. */
function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    return unlessReadable(error);
  }
}

function unlessReadable(error: unknown): undefined {
  if (!isUnreadable(error)) throw error;
}

type StoredAlert = { record: MessageRecord; event: PaymentEvent; lookup: Lookup | undefined };

/** Those that can be read. */
function readAlerts(sealer: Sealer, entries: readonly (Entry | undefined)[]): StoredAlert[] {
  return entries.flatMap((entry) => (entry && ifReadable(() => readAlert(sealer, entry))) ?? []);
}

function readAlert(sealer: Sealer, { key, value }: Entry): StoredAlert {
  const record = readMessageRecord(value);
  const lookup = openEvidence(sealer, key, record)?.lookup;
  return { record, event: openEvent(sealer, key, record), lookup };
}

function itemOfAlert({ record, event, lookup }: StoredAlert): StormItem {
  const { receivedAtMs, digest } = record;
  const times = { receivedAtMs, addedAtMs: digest?.atMs ?? receivedAtMs };
  return itemOf(lookup ? withLookUp(event, lookup) : event, times, lookup?.kind === 'confirmed');
}

/** Such a one goes on as a message. */
export function isOrMayBePosted({ posted, doubt, replaced }: MessageRecord): boolean {
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

/** What makes a storm where no rule of `payops.yml` says otherwise; a threshold of 0: nothing. */
export function stormTerms({
  digestThreshold,
  digestWindowMinutes,
}: Pick<Account['settings'], 'digestThreshold' | 'digestWindowMinutes'>): {
  threshold: number;
  windowMs: number;
} {
  return { threshold: digestThreshold, windowMs: digestWindowMinutes * 60_000 };
}
