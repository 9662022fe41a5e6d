import { z } from 'zod';
import type { Alarm } from '../../../domain/notice.ts';

const alarm: z.ZodType<Alarm> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('webhooks_silent'),
    minutes: z.number(),
    /** `mostCharges` stands for that many or more. */
    approvals: z.number(),
    sinceMs: z.number(),
  }),
  z.object({
    kind: z.literal('deliveries_refused'),
    refusals: z.number(),
    accepted: z.number().optional(),
    sinceMs: z.number(),
    cause: z.string(),
  }),
  z.object({
    kind: z.literal('events_missing'),
    references: z.array(z.string()),
    more: z.number(),
    minutes: z.number(),
  }),
]);

const refusal = z.object({ id: z.string(), atMs: z.number() });
const charge = z.object({ reference: z.string(), atMs: z.number() });
const cause = z.object({ words: z.string(), atMs: z.number() });
/** All deliveries to one replica within about a minute from `atMs` on. */
const tally = z.object({ id: z.string(), atMs: z.number(), accepted: z.number(), refused: z.number() });

/**
 * What one replica saw within about a minute. Taken in twice it counts once. `approvals`, here and below, are charges
 * that the service surely processed, the declined ones too: older releases, which read this as well, knew no others.
 */
const batch = z.object({
  acceptedAtMs: z.number().optional(),
  /** Since the last accepted one. */
  refusals: z.array(refusal),
  /** Of the last refusal. */
  cause: cause.optional(),
  approvals: z.array(charge),
  /** More than one when some could not be put on record in their time. An older release has none. */
  tallies: z.array(tally).default([]),
});

export type WebhookBatch = z.infer<typeof batch>;

/** What all replicas together know; small, however long nothing comes. */
const state = z.object({
  acceptedAtMs: z.number().optional(),
  /** Since the last accepted delivery, the first ones. */
  approvals: z.array(charge),
  /** Of a silence that was told. */
  silentSinceMs: z.number().optional(),
  /** Since when this is judged once a minute; absent when that was never interrupted. */
  watchedSinceMs: z.number().optional(),
  /** Of the last ten minutes, since the last accepted delivery. */
  refusals: z.array(refusal),
  cause: cause.optional(),
  /** Of the last ten minutes. */
  tallies: z.array(tally).default([]),
  /** Of a run of refusals that was told. */
  refused: z.object({ sinceMs: z.number(), lastMs: z.number() }).optional(),
  refusedToldAtMs: z.number().optional(),
  /** Charges whose event never came, and who are not told yet. */
  missing: z.array(charge),
  missingToldAtMs: z.number().optional(),
  /** Decided and not surely on record yet; the name is the same however often it is told. */
  toTell: z.array(z.object({ name: z.string(), notice: alarm })),
});

export type WebhookState = z.infer<typeof state>;

export type AlarmRules = {
  /** 0: never. */
  silenceMs: number;
  /** How many refusals within ten minutes, in a row or as a fifth of all deliveries; 0: never. */
  refusals: number;
  /** How long an approved charge's event may take; 0: nobody asks. */
  missingMs: number;
};

export const unexplained = 'It could not be found out.';
export const mostCharges = 100;
export const mostRefusals = 100;
/** Of ten replicas, for ten minutes. */
export const mostTallies = 100;
const mostMissing = 200;
const mostListed = 10;

const refusalsWithinMs = 600_000;
/** Fewer of all deliveries are a stranger's tries among good ones; one of two senders, or one of two events, is more. */
const refusedShare = 0.2;
/** Without a refusal for so long the next run of them is another incident. */
const calmMs = 3_600_000;
/** No alarm of these comes more often. Anybody can send deliveries to be refused, and good ones may come in between. */
const everyMs = 3_600_000;
/** A charge so soon after a delivery may be what that delivery told. */
const graceMs = 120_000;

export const nothingSeen: WebhookState = {
  approvals: [],
  refusals: [],
  tallies: [],
  missing: [],
  toTell: [],
};

/** Throws when the text is none. */
export function readState(text: string): WebhookState {
  return state.parse(JSON.parse(text));
}

/** Throws when the text is none. */
export function readBatch(text: string): WebhookBatch {
  return batch.parse(JSON.parse(text));
}

/** In whatever order the batches of all replicas come, and however often one comes, the same is known. */
export function takeIn(before: WebhookState, seen: WebhookBatch): WebhookState {
  const acceptedAtMs = latest(before.acceptedAtMs, seen.acceptedAtMs);
  const { silentSinceMs, refused, ...kept } = before;
  const newerCause = [before.cause, seen.cause]
    .filter((one) => one !== undefined)
    .toSorted((a, b) => b.atMs - a.atMs)[0];
  const isAfter = (atMs: number): boolean => acceptedAtMs === undefined || atMs > acceptedAtMs;
  const refusals = distinct([...before.refusals, ...seen.refusals], ({ id }) => id)
    .filter(({ atMs }) => isAfter(atMs))
    .slice(-mostRefusals);
  const approvals = distinct([...before.approvals, ...seen.approvals], ({ reference }) => reference)
    .filter(({ atMs }) => isAfter(atMs - graceMs))
    .slice(0, mostCharges);
  return {
    ...kept,
    approvals,
    refusals,
    tallies: distinct([...before.tallies, ...seen.tallies], ({ id }) => id).slice(-mostTallies),
    ...(acceptedAtMs === undefined ? {} : { acceptedAtMs }),
    ...(newerCause && { cause: newerCause }),
    ...(silentSinceMs !== undefined && isAfter(silentSinceMs) ? { silentSinceMs } : {}),
    ...(refused && isAfter(refused.lastMs) ? { refused } : {}),
  };
}

export function addMissing(before: WebhookState, charge: { reference: string; atMs: number }): WebhookState {
  const missing = distinct([...before.missing, charge], ({ reference }) => reference);
  return { ...before, missing: missing.slice(0, mostMissing) };
}

/** The charges that would be told of now: none while others were just told of, however many wait. */
export function missingDue(state: WebhookState, nowMs: number): string[] {
  return wasJustTold(state.missingToldAtMs, nowMs) ? [] : state.missing.map(({ reference }) => reference);
}

/** Their events came late, but they came. */
export function dropMissing(before: WebhookState, references: ReadonlySet<string>): WebhookState {
  return { ...before, missing: before.missing.filter(({ reference }) => !references.has(reference)) };
}

export function dropTold(before: WebhookState, names: ReadonlySet<string>): WebhookState {
  return { ...before, toTell: before.toTell.filter(({ name }) => !names.has(name)) };
}

/** Nobody judged for a while, so that probably nobody could receive either: webhooks get their time anew. */
export function watchAnew(before: WebhookState, nowMs: number): WebhookState {
  return { ...before, watchedSinceMs: nowMs };
}

/**
 * What must be told by now, put down in `toTell`, each incident once: its name includes when it began. Silence
 * ends with the next accepted delivery; so does a run of refusals, or when there was none for an hour. Refusals
 * between accepted deliveries count when they are a good share of all. Refusals are told once an hour at most, and
 * so are charges without their event, all that came up in between together.
 */
export function judgeWebhooks(before: WebhookState, rules: AlarmRules, nowMs: number): WebhookState {
  return [judgeSilence, judgeRefusals, judgeMissing].reduce(
    (known, judge) => judge(known, rules, nowMs),
    before,
  );
}

function judgeSilence(before: WebhookState, { silenceMs }: AlarmRules, nowMs: number): WebhookState {
  const [first] = before.approvals;
  if (silenceMs === 0 || before.silentSinceMs !== undefined || !first) return before;
  if (nowMs - Math.max(first.atMs, before.watchedSinceMs ?? 0) < silenceMs) return before;
  const notice: Alarm = {
    kind: 'webhooks_silent',
    minutes: Math.round(silenceMs / 60_000),
    approvals: before.approvals.length,
    sinceMs: first.atMs,
  };
  return { ...withTold(before, `silence:${first.atMs}`, notice), silentSinceMs: first.atMs };
}

function judgeRefusals(before: WebhookState, rules: AlarmRules, nowMs: number): WebhookState {
  const isRecent = ({ atMs }: { atMs: number }): boolean => nowMs - atMs < refusalsWithinMs;
  const refusals = before.refusals.filter(isRecent);
  const tallies = before.tallies.filter(isRecent);
  const lastMs = refusals.at(-1)?.atMs;
  const { refused, ...calm } = { ...before, refused: before.refused, refusals, tallies };
  if (refused) {
    const isOver = nowMs - (lastMs ?? refused.lastMs) >= calmMs;
    return isOver ? calm : { ...calm, refused: { ...refused, lastMs: lastMs ?? refused.lastMs } };
  }
  if (wasJustTold(calm.refusedToldAtMs, nowMs)) return calm;
  const run = refusedRun(refusals, rules);
  if (run && lastMs !== undefined) {
    return { ...withRefused(calm, run, nowMs), refused: { sinceMs: run.sinceMs, lastMs } };
  }
  const part = refusedPart(tallies, rules);
  return part ? withRefused(calm, part, nowMs) : calm;
}

function withRefused(before: WebhookState, found: Refused, nowMs: number): WebhookState {
  const words = before.cause?.words ?? unexplained;
  const notice: Alarm = { kind: 'deliveries_refused', ...found, cause: words };
  return { ...withTold(before, `refused:${found.sinceMs}`, notice), refusedToldAtMs: nowMs };
}

type Refused = { refusals: number; accepted?: number; sinceMs: number };

function refusedRun(run: WebhookState['refusals'], { refusals }: AlarmRules): Refused | undefined {
  const [first] = run;
  if (!first || !isEnough(run.length, refusals)) return undefined;
  return { refusals: run.length, sinceMs: first.atMs };
}

function refusedPart(tallies: WebhookState['tallies'], { refusals }: AlarmRules): Refused | undefined {
  const first = tallies.find(({ refused }) => refused > 0);
  const refused = tallies.reduce((sum, one) => sum + one.refused, 0);
  const accepted = tallies.reduce((sum, one) => sum + one.accepted, 0);
  const isPart = refused >= refusedShare * (refused + accepted);
  if (!first || !isPart || !isEnough(refused, refusals)) return undefined;
  return { refusals: refused, accepted, sinceMs: first.atMs };
}

function judgeMissing(before: WebhookState, { missingMs }: AlarmRules, nowMs: number): WebhookState {
  const { missing, missingToldAtMs } = before;
  const [first] = missing;
  if (!first || wasJustTold(missingToldAtMs, nowMs)) return before;
  const notice: Alarm = {
    kind: 'events_missing',
    references: missing.slice(0, mostListed).map(({ reference }) => reference),
    more: Math.max(0, missing.length - mostListed),
    minutes: Math.round(missingMs / 60_000),
  };
  const told = withTold(before, `missing:${first.reference}:${first.atMs}`, notice);
  return { ...told, missing: [], missingToldAtMs: nowMs };
}

function isEnough(count: number, refusals: number): boolean {
  return refusals > 0 && count >= refusals;
}

function wasJustTold(toldAtMs: number | undefined, nowMs: number): boolean {
  return toldAtMs !== undefined && nowMs - toldAtMs < everyMs;
}

function withTold(before: WebhookState, name: string, notice: Alarm): WebhookState {
  return { ...before, toTell: [...before.toTell, { name, notice }] };
}

function latest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

/** Oldest first, each once. */
function distinct<T extends { atMs: number }>(all: readonly T[], nameOf: (one: T) => string): T[] {
  const byName = new Map<string, T>();
  for (const one of all) if (!byName.has(nameOf(one))) byName.set(nameOf(one), one);
  return [...byName.values()].toSorted((a, b) => a.atMs - b.atMs);
}
