import type { Account } from '../../../account.ts';
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { withLookUp, type Destination } from '../route-event.ts';
import type { AlertState, RoutedRule } from '../../../domain/alert.ts';
import { type Escalated, openEvidence } from '../alert.ts';
import {
  type Escalation,
  escalate,
  escalationOf,
  highest,
  nextCall,
  type ShownSeverity,
  withEscalation,
} from '../escalation.ts';
import { type AuditEntry, stored } from '../../../records/shapes.ts';
import type { PaymentEvent, GatheredKind } from '../../../domain/payment-event.ts';
import { withoutUndefined } from '../../../domain/json.ts';
import type { Sealer, Entry, Index, Store } from '../../../store/store.ts';
import { openEvent, messageKey, readMessageRecord, stormAlerts } from '../../../messages/message-record.ts';
import { createMessages, type Messages } from '../../../messages/messages.ts';
import { eventPrefix, stormRecovered } from '../event-case.ts';
import { createTally, type Tally } from '../tally.ts';
import { ifReadable, openRecord, undefinedIfUnreadable } from '../../../records/records.ts';
import { caseKind, type CaseRules, createCases } from '../../../records/cases.ts';
import { pagesOf } from '../../../records/pages.ts';

/** An event that a digest counts instead of a message of its own. Times are UTC ms. */
export type StormItem = {
  /** Completed by its look-up. */
  event: PaymentEvent;
  receivedAtMs: number;
  /** When it was added to the digest. */
  addedAtMs: number;
  /** A look-up proved the payment. */
  isConfirmed: boolean;
};

/** Totals of a storm's alerts. */
export type StormCount = Tally & {
  firstMs: number;
  lastMs: number;
  /** When the third-newest alert was added, or with fewer the newest. One window later the storm is over. */
  calmSinceMs: number;
  /** For payments: how many a look-up proved. */
  confirmed: number;
  /** How many alerts a later payment resolved. */
  recovered: number;
};

/** A storm of one channel. Its alerts are records of their own, on a list of the store. Times are UTC ms. */
export type Storm = {
  id: string;
  channel: string;
  /** Failures or payments, never both: only failures need a person. */
  gathers: GatheredKind;
  /** Counts the storms of one channel and kind. */
  number: number;
  sinceMs: number;
  /** The groups whose alerts it counts; see `groupOf`. */
  groups: readonly string[];
  counted: StormCount;
  /** Who acknowledged all its alerts. */
  taken?: { by: string; at: number };
  /** Who resolved, once it was over, all that no payment had. */
  closed?: { by: string; at: number; reason: string };
  /** The highest severity among its rules. */
  severity?: ShownSeverity;
  escalations?: readonly Escalation[];
  /** Steps whose notes aren't stored yet; the first is number `told` + 1. A step's number never changes. */
  steps?: readonly Escalated[];
  told?: number;
  endedMs?: number;
  /** The next count; absent: once another alert is resolved. */
  lookAtMs?: number;
  /** The last count found nothing new, so the next change brings the count forward. */
  isQuiet: boolean;
};

type StormEvent =
  /** A group reached its threshold, so the storm counts its alerts. `rule` sends them. */
  | { kind: 'joined'; group: string; rule: RoutedRule | undefined }
  /** `paceMs`: how long until they are counted again. */
  | { kind: 'counted'; counted: StormCount; paceMs: number }
  | { kind: 'acknowledged'; by: string }
  | { kind: 'closed'; by: string; reason: string }
  /** A step of this escalation is due. */
  | { kind: 'escalated'; about: string }
  /** An alert is about to be listed or was, or a payment resolved one. */
  | { kind: 'changed' };

export const stormPrefix = 'storm:';

/** Alerts are counted over this time, for a storm's begin and for its end. */
export const stormWindowMs = 5 * 60_000;
/** With this many alerts in a window a storm goes on; fewer can be posted one by one. */
const stormPace = 3;
/** Delay of the last count after a storm's end: late alerts are listed by then. */
export const settleMs = 120_000;
/** Delay of a count: by then the alert that caused it is on the list. */
const soonMs = 1_000;
/** Time between a digest's edits, for each storm at work: Slack limits the edits of all of them together. */
const editPaceMs = 5_000;
const mostListed = 100;
const minuteMs = 60_000;

/** The list of a group's alerts in a channel, by the time they came or were posted. Enough of them begin a storm. */
export function arrivals({ channel, rule }: Destination, gathers: GatheredKind): string {
  return arrivalsOf(streamOf(channel, gathers), groupOf(rule, 0).group);
}

const arrivalsOf = (stream: string, group: string): string => `channel-alerts:${stream}/${group}`;
/** The list of a stream's storms, by number. */
const stormsOf = (stream: string): string => `storms:${stream}`;
/** The list of storms that are counted again; see `editPaceMs`. */
const stormsAtWork = 'storms-at-work';
const openStorms = 'open-storms';
/** The list of a person's acknowledged storms that aren't resolved. */
const stormsOfPerson = (userId: string): string => `storms-of-person:${userId}`;

/** A stream: the failures of a channel, or its payments. */
function streamOf(channel: string, gathers: GatheredKind): string {
  return gathers === 'payment_failed' ? channel : `${channel}~paid`;
}

/** Whether the storm is one of this channel's failures. */
export function isStormOf(channel: string, storm: string): boolean {
  return storm.slice(0, storm.lastIndexOf('/')) === streamOf(channel, 'payment_failed');
}

/**
 * The alerts that are counted together, and how many of them get a message of their own in a window (0: all). A rule that has
 * its own threshold or calls somebody is a group of its own, by its name; all other alerts of a stream are group ''.
 */
function groupOf(rule: RoutedRule | undefined, usualThreshold: number): { group: string; threshold: number } {
  const { name = '', mention, escalate: steps, digestAfter } = rule ?? {};
  const isAlone = (digestAfter ?? mention ?? steps) !== undefined;
  return { group: isAlone ? name : '', threshold: digestAfter ?? usualThreshold };
}

/**
 * The next state of a storm; undefined: no change. `storm-model.test.ts` holds its promises:
 * - Each alert is either counted once by a digest or posted in a message of its own.
 * - While a storm is on, it counts all alerts of its groups. It has one digest, and ends when few alerts come.
 * - The first person who acknowledges it has all its alerts, later ones too. Until then each escalation step is made once.
 * - The digest is updated after each stored change.
 */
function stepStorm(storm: Storm, event: StormEvent, nowMs: number): Storm | undefined {
  switch (event.kind) {
    case 'joined':
      return storm.endedMs === undefined ? withGroup(storm, event, nowMs) : undefined;
    case 'acknowledged':
      // Nobody needs to act on payments.
      if (storm.taken || storm.gathers === 'payment_success') return undefined;
      return { ...storm, taken: { by: event.by, at: nowMs } };
    case 'closed':
      // While it is on, its next failure would be resolved before anybody saw it.
      if (!storm.taken || storm.endedMs === undefined || !isUnresolved(storm)) return undefined;
      return { ...storm, closed: { by: event.by, at: nowMs, reason: event.reason } };
    case 'escalated': {
      if (!isWaiting(storm)) return undefined;
      const after = escalate(storm.escalations, event.about, { nowMs });
      const { steps = [] } = storm;
      return after?.made && { ...storm, escalations: after.escalations, steps: [...steps, after.made] };
    }
    case 'changed':
      // Only if quiet: in a burst, writes would make every count lose its swap.
      return storm.isQuiet ? { ...storm, isQuiet: false, lookAtMs: nowMs + soonMs } : undefined;
    case 'counted':
      return afterCount(storm, event, nowMs);
  }
}

function newStorm(first: Pick<Storm, 'id' | 'channel' | 'gathers' | 'number' | 'sinceMs'>): Storm {
  const none = { firstMs: 0, lastMs: 0, calmSinceMs: 0, confirmed: 0, recovered: 0 };
  const counted = { ...createTally().total(), ...none };
  return { ...first, groups: [], counted, lookAtMs: first.sinceMs + soonMs, isQuiet: false };
}

function withGroup(
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

/** Some of its failures aren't resolved, neither by payments nor all of them by a person. */
export function isUnresolved({ gathers, closed, counted: { count, recovered } }: Storm): boolean {
  return gathers === 'payment_failed' && !closed && count > recovered;
}

/** Nobody has acknowledged it, and some of its failures aren't resolved. */
export function isWaiting(storm: Storm): boolean {
  return !storm.taken && isUnresolved(storm);
}

/**
 * `over`: the storm replaces an alert's own escalation, because it called people or somebody acknowledged it. `later`: its call
 * isn't due yet, and a payment may still resolve all that it counts; then the alert must call itself.
 */
type Replaced = 'over' | 'later' | undefined;

function replacesEscalation(storm: Storm, group: string, atMs: number): Replaced {
  const { groups, taken, sinceMs, endedMs = Infinity, escalations = [] } = storm;
  const isThen = sinceMs - stormWindowMs < atMs && atMs < endedMs;
  if (!isThen || !groups.includes(group)) return undefined;
  if (taken) return 'over';
  if (!isWaiting(storm) || escalations.length === 0) return undefined;
  return escalations.some(({ made }) => made > 0) ? 'over' : 'later';
}

function nextCallOf(storm: Storm, nowMs: number): ReturnType<typeof nextCall> {
  return nextCall(isWaiting(storm) ? storm.escalations : [], nowMs);
}

function afterCount(
  { lookAtMs: _last, closed: before, ...storm }: Storm,
  { counted: latest, paceMs }: Extract<StormEvent, { kind: 'counted' }>,
  nowMs: number,
): Storm {
  const endsMs = Math.max(storm.sinceMs, latest.calmSinceMs) + stormWindowMs;
  const endedMs = storm.endedMs ?? (nowMs < endsMs ? undefined : nowMs);
  const isSame = JSON.stringify(latest) === JSON.stringify(storm.counted);
  const isQuiet = isSame && endedMs === storm.endedMs;
  const lastMs = endedMs === undefined ? endsMs : endedMs + settleMs;
  const lookAtMs = !isQuiet || !storm.isQuiet ? nowMs + paceMs : nowMs < lastMs ? lastMs : undefined;
  // The same object if nothing changed: `needsMessage` compares by reference.
  const counted = isSame ? storm.counted : latest;
  // An alert that is counted later was not in the digest when somebody resolved all of it.
  const closed = latest.count > storm.counted.count ? undefined : before;
  return { ...storm, counted, isQuiet, ...withoutUndefined({ endedMs, lookAtMs, closed }) };
}

const stormRules: CaseRules<Storm, StormEvent> = {
  prefix: stormPrefix,
  schema: stored<Storm>('id', 'sinceMs'),
  lists: listsOf,
  step: stepStorm,
  dueInMs(storm, nowMs) {
    const atMs = Math.min(storm.lookAtMs ?? Infinity, nextCallOf(storm, nowMs).atMs);
    return atMs === Infinity ? undefined : Math.max(0, atMs - nowMs);
  },
  needsMessage: (before, after) =>
    before.counted !== after.counted ||
    before.taken !== after.taken ||
    before.closed !== after.closed ||
    before.steps !== after.steps ||
    before.endedMs !== after.endedMs,
  shortened: ({ steps = [], told = 0, ...storm }) => ({ ...storm, told: told + steps.length }),
  auditEntries: ({ event, after, turn, atMs }) =>
    event?.kind === 'acknowledged' || event?.kind === 'closed' ? [auditOf(after, event, turn, atMs)] : [],
};

const stormKind = caseKind(stormRules);

/** A storm's digest, and an escalation step in the digest's thread. */
export type DigestBodies = { digest: { storm: string }; digest_note: { storm: string; step: Escalated } };

export type Storms = ReturnType<typeof createStorms>;

/**
 * When too many alerts come to one channel, a storm's digest counts them instead of posting each. `usualThreshold`: see
 * `groupOf`. Everything throws StoreUnavailable.
 */
export function createStorms(
  deps: Pick<Account, 'store' | 'sealer' | 'wait' | 'rememberMs' | 'leaseMs' | 'now' | 'wake'> & {
    audit?: Account['audit']['write'];
  },
  usualThreshold: number,
) {
  const { store, now } = deps;
  const messages: Messages<DigestBodies> = createMessages(deps);
  const storms = createCases<Storm, StormEvent>(deps, stormRules, {
    async due(storm, nowMs) {
      const { id, lookAtMs, counted } = storm;
      const { escalation, atMs } = nextCallOf(storm, nowMs);
      if (escalation && atMs <= nowMs) return { event: { kind: 'escalated', about: escalation.about } };
      if (lookAtMs === undefined || nowMs < lookAtMs) return undefined;
      const { entries } = await store.list(stormsAtWork, { max: mostListed });
      // At least 1 ms per alert, so counting (30 ms for a thousand) never takes all the time.
      const paceMs = Math.max(editPaceMs * Math.max(1, entries.length), counted.count);
      return { event: { kind: 'counted', counted: await count(id), paceMs } };
    },
    async tell({ id, channel, counted, steps = [], told = 0 }) {
      // Nothing to show: its first alert was posted after all.
      if (counted.count === 0) return;
      // In the channel's own lane it would wait behind a backlog until the storm is over.
      const lane = 'digest:';
      await messages.postOrRefresh(messageKey('digest', id), { channel, lane, body: { storm: id } });
      for (const [index, step] of steps.entries()) {
        const key = messageKey('digest_note', `${id}#${told + index + 1}`);
        await messages.post(key, { channel, lane, body: { storm: id, step }, isNote: true });
      }
    },
  });

  async function newestOf(stream: string): Promise<Storm | undefined> {
    // More than one, because `list` leaves out unreadable ones.
    return (await storms.list(stormsOf(stream), { max: 10, newestFirst: true }))[0];
  }

  async function count(id: string): Promise<StormCount> {
    const tally = createTally();
    const keys = new Set<string>();
    let [firstMs, lastMs, confirmed, recovered] = [Number.MAX_SAFE_INTEGER, 0, 0, 0];
    let lately: number[] = [];
    for await (const items of itemsOf(deps, id)) {
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
      // After a crash the list may hold alerts that were posted, or that another storm counts.
      recovered += page.filter(({ key }) => keys.has(key.slice(eventPrefix.length))).length;
    }
    const calmSinceMs = (lately.length < stormPace ? lately.at(-1) : lately[0]) ?? 0;
    return { ...tally.total(), firstMs, lastMs, calmSinceMs, confirmed, recovered };
  }

  return {
    /**
     * Called before an alert is posted. Returns the storm whose digest counts it instead, and begins one if the threshold is
     * reached. Undefined: post it.
     */
    async join(
      { channel, rule }: Destination,
      key: string,
      gathers: GatheredKind,
    ): Promise<string | undefined> {
      const { group, threshold } = groupOf(rule, usualThreshold);
      if (threshold === 0) return undefined;
      const stream = streamOf(channel, gathers);
      let unreadable = 0;
      for (;;) {
        const newest = await newestOf(stream);
        const current = newest?.endedMs === undefined ? newest : undefined;
        if (current?.groups.includes(group)) {
          if (current.isQuiet) await storms.applyAndWake(current.id, { kind: 'changed' });
          return current.id;
        }
        const sinceMs = now();
        const from = sinceMs - stormWindowMs + 1;
        const { entries } = await store.list(arrivalsOf(stream, group), { from, max: threshold + 1 });
        if (entries.filter((entry) => entry.key !== key).length < threshold) return undefined;
        if (current) {
          await storms.applyAndWake(current.id, { kind: 'joined', group, rule });
          continue;
        }
        // A stream's first storm is numbered by the minute, so that the number of a forgotten storm isn't used again.
        const number = (newest ? newest.number + 1 : Math.floor(sinceMs / minuteMs)) + unreadable;
        const id = `${stream}/${number}`;
        const storm = newStorm({ id, channel, gathers, number, sinceMs });
        await storms
          .begin(id, withGroup(storm, { kind: 'joined', group, rule }, sinceMs))
          .catch((error: unknown) => {
            undefinedIfUnreadable(error);
            unreadable += 1;
          });
      }
    },

    /** Whether a storm replaces the escalation of a failure that went to this destination at that time. */
    async replacesEscalation({ channel, rule }: Destination, atMs: number): Promise<Replaced> {
      const { group } = groupOf(rule, usualThreshold);
      const last = { max: 10, newestFirst: true };
      const lately = await storms.list(stormsOf(streamOf(channel, 'payment_failed')), last);
      const all = lately.map((storm) => replacesEscalation(storm, group, atMs));
      return all.find((one) => one === 'over') ?? all.find((one) => one === 'later');
    },

    /** Storms that nobody has acknowledged and whose failures aren't all resolved. */
    waiting: (): Promise<Storm[]> => storms.list(openStorms, { max: mostListed }),

    /** The channel's storms that are on: one of failures, one of payments. */
    async on(channel: string): Promise<Storm[]> {
      const kinds = ['payment_failed', 'payment_success'] as const;
      const newest = await Promise.all(kinds.map((kind) => newestOf(streamOf(channel, kind))));
      return newest.flatMap((storm) => (storm && storm.endedMs === undefined ? [storm] : []));
    },

    /** Undefined: unknown or forgotten. */
    find: (id: string): Promise<Storm | undefined> => storms.find(id),

    /** Its alerts, oldest first. */
    async items(id: string, max = Infinity): Promise<StormItem[]> {
      const found: StormItem[] = [];
      for await (const items of itemsOf(deps, id)) {
        found.push(...items);
        if (found.length >= max) break;
      }
      return found.slice(0, max);
    },

    /**
     * Acknowledges all its alerts, later ones too: one decision over all replicas. `isFirst`: this call did it; else `by`
     * says who did. Undefined: unknown storm.
     */
    async acknowledge(id: string, by: string) {
      const heard = await storms.applyAndWake(id, { kind: 'acknowledged', by });
      const { taken, endedMs } = heard?.state ?? {};
      return heard && taken && { ...taken, isFirst: heard.isMoved, isOver: endedMs !== undefined };
    },

    /** Resolves what no payment has, once it is over; a later payment still does. Undefined: unknown storm. */
    close: (id: string, by: string, reason: string) =>
      storms.applyAndWake(id, { kind: 'closed', by, reason }),

    /** The storms that this person acknowledged and that aren't resolved, newest first. */
    ofPerson: (userId: string): Promise<Storm[]> =>
      storms.list(stormsOfPerson(userId), { max: mostListed, newestFirst: true }),

    /** The state that it gives its alerts; undefined: nobody acknowledged it. */
    stateOfAlerts: (id: string) => stateByStorm(deps, id),

    /**
     * Has it counted again: a payment resolved one of its alerts, or one was added after its end. False: it is forgotten or
     * can't be read.
     */
    async recount(id: string): Promise<boolean> {
      return (await storms.applyAndWake(id, { kind: 'changed' }).catch(undefinedIfUnreadable)) !== undefined;
    },

    work: (entry: Entry) => storms.work(entry),
  };
}

/** The state that a storm gives its alerts; undefined also if its record is forgotten or can't be read. */
export async function stateByStorm(
  { store, sealer }: { store: Pick<Store, 'read'>; sealer: Sealer },
  id: string,
): Promise<Exclude<AlertState, { kind: 'open' | 'recovered' }> | undefined> {
  const entry = await store.read(stormPrefix + id);
  const { taken, closed } = ifReadable(() => entry && openRecord(sealer, stormKind, entry).state) ?? {};
  const acknowledged = taken && ({ kind: 'acknowledged', ...taken } as const);
  return closed && acknowledged ? { kind: 'closed', ...closed, acknowledged } : acknowledged;
}

function listsOf(storm: Storm): Index {
  const { channel, gathers, number, sinceMs, lookAtMs, taken } = storm;
  return {
    [stormsOf(streamOf(channel, gathers))]: number,
    ...(lookAtMs === undefined ? {} : { [stormsAtWork]: number }),
    ...(isWaiting(storm) ? { [openStorms]: sinceMs } : {}),
    ...(taken && isUnresolved(storm) ? { [stormsOfPerson(taken.by)]: taken.at } : {}),
  };
}

function auditOf(
  { id, counted }: Storm,
  event: Extract<StormEvent, { kind: 'acknowledged' | 'closed' }>,
  turn: number,
  atMs: number,
): AuditEntry {
  const reason = event.kind === 'closed' ? event.reason : `${counted.count} alerts`;
  return {
    id: `storm:${id}:${turn}`,
    atMs,
    what: 'step',
    who: event.by,
    reference: id,
    result: `storm_${event.kind}`,
    reason,
  };
}

/** Its alerts, oldest first, in pages: a long list must not block the process. */
async function* itemsOf(
  { store, sealer }: Pick<Account, 'store' | 'sealer'>,
  id: string,
): AsyncGenerator<StormItem[]> {
  for await (const page of pagesOf(store, stormAlerts(id))) {
    yield page.flatMap((entry) => ifReadable(() => itemOf(sealer, entry)) ?? []);
    await letOthersRun();
  }
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
