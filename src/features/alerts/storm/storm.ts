import type { Account } from '../../../account.ts';
import { setImmediate as breathe } from 'node:timers/promises';
import { z } from 'zod';
import { withLookUp, type Destination } from '../routing.ts';
import type { RoutedRule } from '../../../domain/alert.ts';
import type { Escalated } from '../alert.ts';
import {
  type Escalation,
  escalate,
  escalationOf,
  highest,
  nextCall,
  type ShownSeverity,
  withEscalation,
} from '../escalation.ts';
import type { AuditEntry } from '../../../records/shapes.ts';
import type { PaymentEvent, GatheredKind } from '../../../domain/payment-event.ts';
import { withoutUndefined } from '../../../domain/json.ts';
import type { Sealer, Entry, Index } from '../../../store/store.ts';
import { openEvent, messageKey, readMessageRecord, stormAlerts } from '../../../messages/message-record.ts';
import { createMessages, type Messages } from '../../../messages/messages.ts';
import { alertMessages, eventPrefix, openEvidence } from '../alert-record.ts';
import { createTally, type Tally } from '../tally.ts';
import { isUnreadable } from '../../../records/records.ts';
import { type CaseRules, createCases } from '../../../records/cases.ts';
import { pagesOf } from '../../../records/pages.ts';

/**
 * One failure, or one payment, that a digest tells instead of a message of its own: its event, and where that is silent
 * what a look-up added. Times are UTC milliseconds.
 */
export type StormItem = {
  event: PaymentEvent;
  receivedAtMs: number;
  /** When it was added to the digest. */
  addedAtMs: number;
  /** A look-up proved the payment. */
  isConfirmed: boolean;
};

/** What the alerts of a storm come to. */
export type StormCount = Tally & {
  firstMs: number;
  lastMs: number;
  /** Since when too few have been added for a storm. */
  calmSinceMs: number;
  /** Of payments: how many a look-up proved. */
  confirmed: number;
  /** How many of them a later payment resolved. */
  recovered: number;
};

/**
 * A storm of one channel. Its alerts are on a list of the store, each by its own record; here is what holds for all of
 * them. Times are UTC milliseconds.
 */
export type Storm = {
  id: string;
  channel: string;
  /** Failures, or payments: never both, because nobody can read from one card what each of them asks for. */
  gathers: GatheredKind;
  /** The storms of one channel and kind follow one another. */
  number: number;
  sinceMs: number;
  /** The alerts that it takes in: of rules that count alone, by their names, and '' for those of all others. */
  groups: readonly string[];
  /** As they were last counted. */
  counted: StormCount;
  taken?: { by: string; at: number };
  /** The highest severity of the rules whose alerts it takes in. */
  severity?: ShownSeverity;
  /** Who is called while nobody takes it, by those rules. */
  escalations?: readonly Escalation[];
  /** What its thread is still to tell, behind the first `told` steps: a step's number never changes. */
  steps?: readonly Escalated[];
  told?: number;
  endedMs?: number;
  /** When its alerts are counted again; absent: not before another of them is resolved. */
  lookAtMs?: number;
  /** The last count found nothing new: what comes next has them counted soon. Else they are counted twice more anyway. */
  isQuiet: boolean;
};

/** `channel` is the other one. */
export type TakenElsewhere = { by: string; at: number; channel: string };

type StormEvent =
  /** A group reached its threshold, so its alerts belong to it. `rule` sends them. */
  | { kind: 'joined'; group: string; rule: RoutedRule | undefined }
  /** `paceMs`: how long until they are counted again. */
  | { kind: 'counted'; counted: StormCount; paceMs: number }
  | { kind: 'taken'; by: string }
  /** A step of that escalation is due. */
  | { kind: 'escalated'; about: string }
  /** An alert is about to be put on its list, or a payment resolved one. */
  | { kind: 'stirred' };

/** A storm is work while it is on, and whenever something is to be told of it. */
export const stormPrefix = 'storm:';

/** The time in which messages are counted, and in which fewer than three must come until a storm is over. */
export const stormWindowMs = 5 * 60_000;
/** As long as so many come within a window a storm goes on: fewer can be told one by one again. */
const stormPace = 3;
/** How long after its end it is counted once more: what was on its way to its list by then stands there. */
export const settleMs = 120_000;
/** Delay of a count: by then the alert that caused it is on the list. */
const soonMs = 1_000;
/**
 * Each storm at work waits this long times the number of storms at work between edits: Slack counts the edits of all.
 */
const editPaceMs = 5_000;
const mostListed = 100;
/** So many of the newest alerts are compared to find other channels' storms. */
const mostCompared = 20;
const minuteMs = 60_000;

/** The alerts of one kind that a channel is told, by when they came or were posted: what makes a storm. */
export function arrivals({ channel, rule }: Destination, gathers: GatheredKind): string {
  return arrivalsOf(streamOf(channel, gathers), countedWith(rule, 0).group);
}

const arrivalsOf = (stream: string, group: string): string => `channel-alerts:${stream}/${group}`;
/** The storms of one channel and kind, one after the other. */
const stormsOf = (stream: string): string => `storms:${stream}`;
/** Those that are work: they share what Slack takes of edits. */
const stormsAtWork = 'storms-at-work';
const openStorms = 'open-storms';
/** The alerts that payments resolved of those that were about to be told by its digest. */
export const stormRecovered = (storm: string): string => `storm-recovered:${storm}`;

/** Failures and payments of a channel, each counted for itself. */
function streamOf(channel: string, gathers: GatheredKind): string {
  return gathers === 'payment_failed' ? channel : `${channel}~paid`;
}

/**
 * What an alert is counted with, and how many of these pass singly in a window; 0: all of them. A rule with its own
 * number, or that calls somebody, is counted apart.
 */
function countedWith(rule: RoutedRule | undefined, usual: number): { group: string; threshold: number } {
  const { name = '', mention, escalate: steps, digestAfter } = rule ?? {};
  const isAlone = (digestAfter ?? mention ?? steps) !== undefined;
  return { group: isAlone ? name : '', threshold: digestAfter ?? usual };
}

/**
 * What becomes of a storm; undefined: nothing. The promises, which `storm-model.test.ts` holds it to:
 * - An alert that it takes in is told by its digest, and counted once; one that it does not, by its own message.
 * - As long as it is on, all alerts of its groups belong to it. It has one digest, and ends when few come.
 * - The first who takes it has all of its alerts, those still to come too; nobody else can. Until then each step of its
 *   rules' escalations is made once.
 * - Its digest is told of a change after the change is stored, and again until that is known to have happened.
 */
function stepStorm(storm: Storm, event: StormEvent, nowMs: number): Storm | undefined {
  switch (event.kind) {
    case 'joined':
      return storm.endedMs === undefined ? joined(storm, event, nowMs) : undefined;
    case 'taken':
      // Payments ask nobody for anything.
      if (storm.taken || storm.gathers === 'payment_success') return undefined;
      return { ...storm, taken: { by: event.by, at: nowMs } };
    case 'escalated': {
      if (!isWaiting(storm)) return undefined;
      const after = escalate(storm.escalations, event.about, { nowMs });
      const { steps = [] } = storm;
      return after?.made && { ...storm, escalations: after.escalations, steps: [...steps, after.made] };
    }
    case 'stirred':
      // Only if quiet: in a burst, writes would make every count lose its swap.
      return storm.isQuiet ? { ...storm, isQuiet: false, lookAtMs: nowMs + soonMs } : undefined;
    case 'counted':
      return counted(storm, event, nowMs);
  }
}

function joined(
  storm: Storm,
  { group, rule }: Extract<StormEvent, { kind: 'joined' }>,
  nowMs: number,
): Storm {
  const isFailures = storm.gathers === 'payment_failed';
  const escalation = isFailures && rule ? escalationOf(rule, nowMs) : undefined;
  return {
    ...storm,
    groups: [...new Set([...storm.groups, group])],
    severity: highest(storm.severity, rule?.severity) ?? 'none',
    escalations: withEscalation(storm.escalations, escalation),
  };
}

/** Some of its failures are neither taken nor resolved. */
export function isWaiting({ gathers, taken, counted: { count, recovered } }: Storm): boolean {
  return gathers === 'payment_failed' && !taken && count > recovered;
}

/** Whether somebody took it, or its digest calls people, for the group's alerts of that time. */
function calls(storm: Storm, group: string, atMs: number): boolean {
  const { groups, taken, sinceMs, endedMs = Infinity } = storm;
  const isThen = sinceMs - stormWindowMs < atMs && atMs < endedMs;
  return isThen && groups.includes(group) && (taken !== undefined || isWaiting(storm));
}

function nextCallOf(storm: Storm, nowMs: number): ReturnType<typeof nextCall> {
  return nextCall(isWaiting(storm) ? storm.escalations : [], nowMs);
}

function counted(
  { lookAtMs: _last, ...storm }: Storm,
  { counted: now, paceMs }: Extract<StormEvent, { kind: 'counted' }>,
  nowMs: number,
): Storm {
  const endsMs = Math.max(storm.sinceMs, now.calmSinceMs) + stormWindowMs;
  const endedMs = storm.endedMs ?? (nowMs < endsMs ? undefined : nowMs);
  const isSame = JSON.stringify(now) === JSON.stringify(storm.counted);
  const isQuiet = isSame && endedMs === storm.endedMs;
  const lastMs = endedMs === undefined ? endsMs : endedMs + settleMs;
  const lookAtMs = !isQuiet || !storm.isQuiet ? nowMs + paceMs : nowMs < lastMs ? lastMs : undefined;
  const counted = isSame ? storm.counted : now;
  return { ...storm, counted, isQuiet, ...withoutUndefined({ endedMs, lookAtMs }) };
}

const named = z.looseObject({ id: z.string(), sinceMs: z.number() });

const stormRules: CaseRules<Storm, StormEvent> = {
  prefix: stormPrefix,
  schema: z.custom<Storm>((value) => named.safeParse(value).success),
  lists: listsOf,
  step: stepStorm,
  restMs(storm, nowMs) {
    const atMs = Math.min(storm.lookAtMs ?? Infinity, nextCallOf(storm, nowMs).atMs);
    return atMs === Infinity ? undefined : Math.max(0, atMs - nowMs);
  },
  isTold: (before, after) =>
    before.counted !== after.counted ||
    before.taken !== after.taken ||
    before.steps !== after.steps ||
    before.endedMs !== after.endedMs,
  settled: ({ steps = [], told = 0, ...storm }) => ({ ...storm, told: told + steps.length }),
  history: ({ event, after, turn, atMs }) =>
    event?.kind === 'taken' ? [auditOfTaking(after, event.by, turn, atMs)] : [],
};

/** A storm, told to its channel, and what is said in its thread. */
export type DigestBodies = { digest: { storm: string }; digest_note: { storm: string; step: Escalated } };

export type Storms = ReturnType<typeof createStorms>;

/**
 * The storms of the channels, each one case that `stepStorm` moves, and its alerts, which are on the storm’s list by
 * their own records. `usual`: how many alerts of one channel pass singly in a window, where no rule says otherwise; 0: all
 * of them. All of it throws StoreUnavailable.
 */
export function createStorms(
  deps: Pick<Account, 'store' | 'sealer' | 'wait' | 'rememberMs' | 'leaseMs' | 'now' | 'wake'> & {
    audit?: Account['audit']['write'];
  },
  usual: number,
) {
  const { store, sealer, now } = deps;
  const messages: Messages<DigestBodies> = createMessages(deps);
  const storms = createCases<Storm, StormEvent>(deps, stormRules, {
    async due(storm, nowMs) {
      const { id, lookAtMs, counted } = storm;
      const { escalation, atMs } = nextCallOf(storm, nowMs);
      if (escalation && atMs <= nowMs) return { event: { kind: 'escalated', about: escalation.about } };
      if (lookAtMs === undefined || nowMs < lookAtMs) return undefined;
      const { entries } = await store.list(stormsAtWork, { max: mostListed });
      // A thousand alerts are counted in some thirty milliseconds.
      const paceMs = Math.max(editPaceMs * Math.max(1, entries.length), counted.count);
      return { event: { kind: 'counted', counted: await count(id), paceMs } };
    },
    async tell({ id, channel, counted, taken, steps = [], told = 0 }) {
      // One whose first alert was posted after all has nothing to say.
      if (counted.count === 0) return;
      // Behind a backlog in the channel’s lane it would come when the storm is over.
      const lane = 'digest:';
      await messages.keep(messageKey('digest', id), { channel, lane, body: { storm: id } });
      for (const [index, step] of steps.entries()) {
        const key = messageKey('digest_note', `${id}#${told + index + 1}`);
        await messages.post(key, { channel, lane, body: { storm: id, step }, isNote: true });
      }
      const others = taken ? await elsewhere(id) : [];
      await Promise.all(others.map((other) => messages.refresh(messageKey('digest', other.id))));
    },
  });

  async function newestOf(stream: string): Promise<Storm | undefined> {
    // Of those that can be read.
    return (await storms.list(stormsOf(stream), { max: 10, newestFirst: true }))[0];
  }

  /** The storms of other channels that tell its newest alerts too. */
  async function elsewhere(id: string): Promise<Storm[]> {
    const { entries } = await store.list(stormAlerts(id), { max: mostCompared, newestFirst: true });
    const items = entries.flatMap((entry) => ifReadable(() => itemOf(sealer, entry)) ?? []);
    const all = await Promise.all(items.map(({ event }) => alertMessages(store, event.key)));
    const ids = new Set(all.flat().flatMap(({ record }) => record.digest?.storm ?? []));
    ids.delete(id);
    const found = await Promise.all([...ids].map((other) => storms.find(other).catch(unlessReadable)));
    return found.filter((storm) => storm !== undefined);
  }

  async function count(id: string): Promise<StormCount> {
    const tally = createTally();
    const keys = new Set<string>();
    let [firstMs, lastMs, confirmed, recovered] = [Number.MAX_SAFE_INTEGER, 0, 0, 0];
    let lately: number[] = [];
    for await (const items of itemsOf(id)) {
      for (const { event, receivedAtMs, isConfirmed } of items) {
        tally.add(event);
        keys.add(event.key);
        firstMs = Math.min(firstMs, receivedAtMs);
        lastMs = Math.max(lastMs, receivedAtMs);
        if (isConfirmed && event.kind === 'payment_success') confirmed += 1;
      }
      lately = [...lately, ...items.map(({ addedAtMs }) => addedAtMs)].slice(-stormPace);
    }
    for await (const page of pagesOf(store, stormRecovered(id))) {
      // One that a crash kept from its list was posted, or is of another storm.
      recovered += page.filter(({ key }) => keys.has(key.slice(eventPrefix.length))).length;
    }
    const calmSinceMs = (lately.length < stormPace ? lately.at(-1) : lately[0]) ?? 0;
    return { ...tally.total(), firstMs, lastMs, calmSinceMs, confirmed, recovered };
  }

  /** Its alerts, the oldest first, some at a time: a long list must not keep everything else waiting. */
  async function* itemsOf(id: string): AsyncGenerator<StormItem[]> {
    for await (const page of pagesOf(store, stormAlerts(id))) {
      yield page.flatMap((entry) => ifReadable(() => itemOf(sealer, entry)) ?? []);
      await breathe();
    }
  }

  return {
    /** The storm that tells an alert which is about to be posted; undefined: its own message does. */
    async ask(
      { channel, rule }: Destination,
      key: string,
      gathers: GatheredKind,
    ): Promise<string | undefined> {
      const { group, threshold } = countedWith(rule, usual);
      if (threshold === 0) return undefined;
      const stream = streamOf(channel, gathers);
      let unreadable = 0;
      for (;;) {
        const newest = await newestOf(stream);
        const isOn = newest !== undefined && newest.endedMs === undefined;
        if (isOn && newest.groups.includes(group)) {
          if (newest.isQuiet) await storms.hear(newest.id, { kind: 'stirred' });
          return newest.id;
        }
        const sinceMs = now();
        const from = sinceMs - stormWindowMs + 1;
        const { entries } = await store.list(arrivalsOf(stream, group), { from, max: threshold + 1 });
        if (entries.filter((entry) => entry.key !== key).length < threshold) return undefined;
        if (isOn) {
          await storms.hear(newest.id, { kind: 'joined', group, rule });
          continue;
        }
        // Without a storm before it the number is the minute, so no forgotten number returns.
        const number = (newest ? newest.number + 1 : Math.floor(sinceMs / minuteMs)) + unreadable;
        const id = `${stream}/${number}`;
        const first = { sinceMs, groups: [], lookAtMs: sinceMs + soonMs, isQuiet: false };
        const empty = { firstMs: 0, lastMs: 0, calmSinceMs: 0, confirmed: 0, recovered: 0 };
        const counted = { ...createTally().total(), ...empty };
        const storm = { id, channel, gathers, number, ...first, counted };
        await storms
          .begin(id, joined(storm, { kind: 'joined', group, rule }, sinceMs))
          .catch((error: unknown) => {
            unlessReadable(error);
            unreadable += 1;
          });
      }
    },

    /** Whether the digest of a storm calls people for all failures that such a destination was told then. */
    async callsFor({ channel, rule }: Destination, atMs: number): Promise<boolean> {
      const { group } = countedWith(rule, usual);
      const last = { max: 10, newestFirst: true };
      const lately = await storms.list(stormsOf(streamOf(channel, 'payment_failed')), last);
      return lately.some((storm) => calls(storm, group, atMs));
    },

    /** Those that nobody has taken, or that payments have not resolved. */
    waiting: (): Promise<Storm[]> => storms.list(openStorms, { max: mostListed }),

    /** Of a channel: the one of failures, and the one of payments. */
    async on(channel: string): Promise<Storm[]> {
      const kinds = ['payment_failed', 'payment_success'] as const;
      const newest = await Promise.all(kinds.map((kind) => newestOf(streamOf(channel, kind))));
      return newest.filter((storm) => storm !== undefined && storm.endedMs === undefined) as Storm[];
    },

    /** Undefined: there is no such storm, or it is forgotten. */
    find: (id: string): Promise<Storm | undefined> => storms.find(id),

    /** Its alerts, the oldest first, up to so many of them. */
    async items(id: string, max = Infinity): Promise<StormItem[]> {
      const found: StormItem[] = [];
      for await (const items of itemsOf(id)) {
        found.push(...items);
        if (found.length >= max) break;
      }
      return found.slice(0, max);
    },

    /**
     * One decision on all replicas, for all its alerts, those still to come too. `isFirst`: not somebody before; `by`
     * may be who asks. Undefined: there is no such storm.
     */
    async take(
      id: string,
      by: string,
    ): Promise<{ by: string; at: number; isFirst: boolean; isOver: boolean } | undefined> {
      const heard = await storms.hear(id, { kind: 'taken', by });
      const { taken, endedMs } = heard?.state ?? {};
      return heard && taken && { ...taken, isFirst: heard.isMoved, isOver: endedMs !== undefined };
    },

    /** Who took it, and when. */
    taker: async (id: string): Promise<Storm['taken']> =>
      (await storms.find(id).catch(unlessReadable))?.taken,

    /** Who was the first to take alerts of it by another channel’s digest, and where. */
    async takenElsewhere(id: string): Promise<TakenElsewhere | undefined> {
      const found = await elsewhere(id);
      const all = found.flatMap(({ channel, taken }) => (taken ? [{ ...taken, channel }] : []));
      return all.toSorted((one, other) => one.at - other.at)[0];
    },

    /** One of its alerts is on the list of those that a payment resolved. */
    async recovered(id: string): Promise<void> {
      await storms.hear(id, { kind: 'stirred' }).catch(unlessReadable);
    },

    work: async (entry: Entry): Promise<void> => void (await storms.work(entry)),
  };
}

function listsOf(storm: Storm): Index {
  const { channel, gathers, number, sinceMs, lookAtMs } = storm;
  return {
    [stormsOf(streamOf(channel, gathers))]: number,
    ...(lookAtMs === undefined ? {} : { [stormsAtWork]: number }),
    ...(isWaiting(storm) ? { [openStorms]: sinceMs } : {}),
  };
}

function auditOfTaking({ id, counted }: Storm, by: string, turn: number, atMs: number): AuditEntry {
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
