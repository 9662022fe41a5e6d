import { setImmediate as breathe } from 'node:timers/promises';
import { z } from 'zod';
import { withLookUp } from '../routing.ts';
import type { AlertRule, Destination } from '../../../domain/alert-route.ts';
import type { Environment } from '../../../domain/alert.ts';
import type { AuditEntry } from '../../../domain/audit-entry.ts';
import type { PaymentEventKind } from '../../../domain/payment-event.ts';
import type { Sealer, Entry, Index, Store } from '../../../store/store.ts';
import {
  type Storm,
  type StormCount,
  type StormEvent,
  type StormItem,
  type StormSeen,
  type StormTaken,
  countedWith,
  emptySummary,
  isNews,
  newStorm,
  stepStorm,
  summarise,
} from './storm.ts';
import { withoutUndefined } from '../../../domain/without-undefined.ts';
import {
  findMessageRecord,
  openEvent,
  messageKey,
  readMessageRecord,
  stormAlerts,
} from '../../../messages/message-record.ts';
import { createMessages, type Messages } from '../../../messages/messages.ts';
import { alertCardPrefix, openEvidence } from '../alert-record.ts';
import { isUnreadable } from '../../../records/records.ts';
import { createCases, type CasesDeps } from '../../../records/cases.ts';
import { pagesOf } from '../../../records/pages.ts';

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
/** The alerts that payments resolved of those that were about to be told by its digest. */
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
};

/** A storm, told to its channel. */
export type DigestBodies = { digest: { storm: string } };

type TakenStorm =
  | { kind: 'taken'; count: number }
  /** Somebody had it before; `by` may be who asks. */
  | { kind: 'had'; by: string; at: number; isOver: boolean }
  | { kind: 'unknown_storm' };

export type Storms = ReturnType<typeof createStorms>;

type NamedStorm = Storm & { id: string };

const named = z.looseObject({ id: z.string(), sinceMs: z.number() });
const stormCase = z.custom<NamedStorm>((value) => named.safeParse(value).success);

/**
 * The storms of the channels, each one case that `stepStorm` moves, and its alerts, which are on the storm’s list by
 * their own records. Failures and payments of a channel have storms apart. All of it throws StoreUnavailable.
 */
export function createStorms(deps: StormsDeps) {
  const { store, sealer, windowMs, now } = deps;
  const messages: Messages<DigestBodies> = createMessages(deps);
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
      restMs: ({ lookAtMs }, nowMs) => (lookAtMs === undefined ? undefined : Math.max(0, lookAtMs - nowMs)),
      isTold: isNews,
      history: ({ event, after, turn, atMs }) =>
        event?.kind === 'taken' ? [auditOfTaking(after, event.by, turn, atMs)] : [],
    },
    {
      async due(storm, nowMs) {
        const { lookAtMs } = storm;
        if (lookAtMs === undefined || nowMs < lookAtMs) return undefined;
        const [counted, paceMs] = await Promise.all([count(storm.id), pace(store, storm)]);
        return { event: { kind: 'counted', counted, paceMs, windowMs } };
      },
      async tell({ id, counted }) {
        // One whose first alert was posted after all has nothing to say.
        if (counted.count === 0) return;
        const { channel } = nameOf(id);
        await messages.keep(messageKey('digest', id), { kind: 'digest', channel, body: { storm: id } });
      },
    },
  );

  async function newestOf(stream: string): Promise<NamedStorm | undefined> {
    // Of those that can be read.
    return (await storms.list(stormsOf(stream), { max: 10, newestFirst: true }))[0];
  }

  async function count(id: string): Promise<StormCount> {
    let summary = emptySummary;
    const keys = new Set<string>();
    for await (const items of itemsOf(id)) {
      summary = items.reduce(summarise, summary);
      for (const { event } of items) keys.add(event.key);
    }
    let recovered = 0;
    for await (const page of pagesOf(store, stormRecovered(id))) {
      // One that a crash kept from its list was posted, or is of another storm.
      recovered += page.filter(({ key }) => keys.has(key.slice(alertCardPrefix.length))).length;
    }
    return { count: keys.size, recovered, summary };
  }

  async function* itemsOf(id: string): AsyncGenerator<StormItem[]> {
    for await (const page of pagesOf(store, stormAlerts(id))) {
      yield page.flatMap((entry) => ifReadable(() => itemOf(sealer, entry)) ?? []);
      // A long list must not keep everything else waiting.
      await breathe();
    }
  }

  return {
    /** The storm that tells an alert which is about to be posted; undefined: its own message does. */
    async ask(
      { channel, rule }: Destination,
      key: string,
      gathers: PaymentEventKind,
    ): Promise<string | undefined> {
      const { group, threshold } = countedWith(rule, deps.threshold);
      if (threshold === 0) return undefined;
      const stream = streamOf(channel, gathers);
      let unreadable = 0;
      // oxlint-disable no-await-in-loop -- once more only where another replica was faster
      for (;;) {
        const newest = await newestOf(stream);
        const isOn = newest !== undefined && newest.endedMs === undefined;
        if (isOn && newest.groups.includes(group)) {
          if (newest.isQuiet) await storms.hear(newest.id, { kind: 'stirred' });
          return newest.id;
        }
        const from = now() - windowMs + 1;
        const { entries } = await store.list(arrivalsOf(stream, group), { from, max: threshold + 1 });
        if (entries.filter((entry) => entry.key !== key).length < threshold) return undefined;
        if (isOn) {
          await storms.hear(newest.id, { kind: 'joined', group });
          continue;
        }
        // One that followed none begins no more than once a minute: so no number comes again after it was forgotten.
        const number = newest ? nameOf(newest.id).number + 1 : Math.floor(now() / minuteMs);
        const id = `${stream}/${number + unreadable}`;
        await storms.begin(id, { ...newStorm(now(), group), id }).catch((error: unknown) => {
          unlessReadable(error);
          unreadable += 1;
        });
      }
      // oxlint-enable no-await-in-loop
    },

    /** The last one of a channel, on or over. */
    newest: (channel: string, gathers: PaymentEventKind) => newestOf(streamOf(channel, gathers)),

    /** Undefined: there is no such storm, or it is forgotten. */
    async see(id: string): Promise<StormSeen | undefined> {
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

    /** Its alerts, the oldest first, up to so many of them. */
    async items(id: string, max = Infinity): Promise<StormItem[]> {
      const found: StormItem[] = [];
      for await (const items of itemsOf(id)) {
        found.push(...items);
        if (found.length >= max) break;
      }
      return found.slice(0, max);
    },

    /** Where the digest stands; undefined while it stands nowhere. */
    place: async (id: string) => (await findMessageRecord(store, messageKey('digest', id)))?.posted,

    /** One decision on all replicas, and one field of the storm, which every card of it reads: those still to come too. */
    async take(id: string, by: string): Promise<TakenStorm> {
      // Payments ask nobody for anything.
      const heard = id.includes(paidMark) ? undefined : await storms.hear(id, { kind: 'taken', by });
      if (!heard) return { kind: 'unknown_storm' };
      const { taken = { by, at: now() }, endedMs, counted } = heard.state;
      if (heard.isMoved) return { kind: 'taken', count: counted.count };
      return { kind: 'had', ...taken, isOver: endedMs !== undefined };
    },

    /** Who took it, and when. */
    taker: async (id: string): Promise<StormTaken | undefined> =>
      (await storms.find(id).catch(unlessReadable))?.taken,

    /** One of its alerts is on the list of those that a payment resolved. */
    async recovered(id: string): Promise<void> {
      await storms.hear(id, { kind: 'stirred' }).catch(unlessReadable);
    },

    async work(entry: Entry): Promise<void> {
      await storms.work(entry);
    },
  };
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

function itemOf(sealer: Sealer, { key, value }: Entry): StormItem {
  const record = readMessageRecord(value);
  const lookup = openEvidence(sealer, key, record)?.lookup;
  const event = openEvent(sealer, key, record);
  const { receivedAtMs, digest } = record;
  return {
    event: lookup ? withLookUp(event, lookup) : event,
    receivedAtMs,
    addedAtMs: digest?.atMs ?? receivedAtMs,
    isConfirmed: lookup?.kind === 'confirmed',
  };
}

/** The time in which messages are counted, and in which fewer than three must come until a storm is over. */
export const stormWindowMs = 5 * 60_000;
