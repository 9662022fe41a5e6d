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

const cause = z.object({ words: z.string(), atMs: z.number() });
const charge = z.object({ reference: z.string(), atMs: z.number() });
/** All deliveries to one replica within about a minute from `atMs` on. */
const tally = z.object({ atMs: z.number(), accepted: z.number(), refused: z.number() });

/** What all replicas together know; small, however long nothing comes. */
export const webhookState = z.object({
  judgedAtMs: z.number(),
  acceptedAtMs: z.number().exactOptional(),
  /** Since the last accepted delivery, the first charges that the service surely processed. */
  processed: z.array(charge),
  /** Of the last ten minutes. */
  tallies: z.array(tally),
  /** Of the last refusal. */
  cause: cause.exactOptional(),
  /** Of a silence that was told. */
  silentSinceMs: z.number().exactOptional(),
  /** Since when this is judged once a minute; absent when that was never interrupted. */
  watchedSinceMs: z.number().exactOptional(),
  /** The last refusal since none was accepted and that was told. */
  refusedLastMs: z.number().exactOptional(),
  refusedToldAtMs: z.number().exactOptional(),
  /** Charges whose event never came, and who are not told yet. */
  missing: z.array(charge),
  missingToldAtMs: z.number().exactOptional(),
  /** Decided and not surely on record yet; the name is the same however often it is told. */
  toTell: z.array(z.object({ name: z.string(), notice: alarm })),
});

export type WebhookState = z.infer<typeof webhookState>;
export type Charge = z.infer<typeof charge>;

/** What one replica saw within about a minute. */
export type Seen = {
  tally: z.infer<typeof tally>;
  acceptedAtMs?: number;
  processed: readonly Charge[];
  /** Of the last refusal. */
  cause?: z.infer<typeof cause>;
};

export type WebhookEvent =
  | { kind: 'seen'; seen: Seen }
  | { kind: 'missing'; charge: Charge }
  /** Once a minute; `come`: of the missing, those whose event came late. */
  | { kind: 'judged'; come: ReadonlySet<string> };

export type AlarmRules = {
  /** 0: never. */
  silenceMs: number;
  /** How many refusals within ten minutes, of a fifth of all deliveries at least; 0: never. */
  refusals: number;
  /** How long an approved charge's event may take; 0: nobody asks. */
  missingMs: number;
};

export const unexplained = 'It could not be found out.';
export const minuteMs = 60_000;
/** Work that is due for so long says that no replica was there to do it, nor to receive anything. */
export const awayMs = 5 * minuteMs;
export const mostCharges = 100;
/** Of ten replicas, for ten minutes. */
const mostTallies = 100;
const mostMissing = 200;
const mostListed = 10;

const refusalsWithinMs = 10 * minuteMs;
/** Fewer of all deliveries are a stranger's tries among good ones; one of two senders, or one of two events, is more. */
const refusedShare = 0.2;
/** Without a refusal for so long the next run of them is another incident. */
const calmMs = 60 * minuteMs;
/** No alarm of these comes more often. Anybody can send deliveries to be refused, and good ones may come in between. */
const everyMs = 60 * minuteMs;
/** A charge so soon after a delivery may be what that delivery told. */
const graceMs = 2 * minuteMs;

export function nothingSeen(nowMs: number): WebhookState {
  return { judgedAtMs: nowMs, processed: [], tallies: [], missing: [], toTell: [] };
}

export function stepWebhooks(
  before: WebhookState,
  event: WebhookEvent,
  nowMs: number,
  rules: AlarmRules,
): WebhookState {
  switch (event.kind) {
    case 'seen':
      return takeIn(before, event.seen);
    case 'missing':
      return { ...before, missing: distinct([...before.missing, event.charge]).slice(0, mostMissing) };
    case 'judged': {
      const missing = before.missing.filter(({ reference }) => !event.come.has(reference));
      const wasAway = nowMs - before.judgedAtMs > awayMs;
      const known = { ...before, missing, judgedAtMs: nowMs, ...(wasAway ? { watchedSinceMs: nowMs } : {}) };
      return [judgeSilence, judgeRefusals, judgeMissing].reduce(
        (state, judge) => judge(state, rules, nowMs),
        known,
      );
    }
  }
}

/** In whatever order the replicas' come, the same is known. */
function takeIn(before: WebhookState, { tally: counted, ...seen }: Seen): WebhookState {
  const acceptedAtMs = Math.max(before.acceptedAtMs ?? -Infinity, seen.acceptedAtMs ?? -Infinity);
  const isAfter = (atMs: number): boolean => atMs > acceptedAtMs;
  const { silentSinceMs, refusedLastMs, ...kept } = before;
  return {
    ...kept,
    processed: distinct([...before.processed, ...seen.processed])
      .filter(({ atMs }) => isAfter(atMs - graceMs))
      .slice(0, mostCharges),
    tallies: [...before.tallies, ...(counted.accepted + counted.refused > 0 ? [counted] : [])].slice(
      -mostTallies,
    ),
    ...(acceptedAtMs === -Infinity ? {} : { acceptedAtMs }),
    ...(seen.cause && !(before.cause && before.cause.atMs > seen.cause.atMs) ? { cause: seen.cause } : {}),
    ...(silentSinceMs !== undefined && isAfter(silentSinceMs) ? { silentSinceMs } : {}),
    ...(refusedLastMs !== undefined && isAfter(refusedLastMs) ? { refusedLastMs } : {}),
  };
}

/** Silence is told once, as long as it lasts. */
function judgeSilence(before: WebhookState, { silenceMs }: AlarmRules, nowMs: number): WebhookState {
  const [first] = before.processed;
  if (silenceMs === 0 || before.silentSinceMs !== undefined || !first) return before;
  if (nowMs - Math.max(first.atMs, before.watchedSinceMs ?? 0) < silenceMs) return before;
  const minutes = Math.round(silenceMs / minuteMs);
  const approvals = before.processed.length;
  const notice = { kind: 'webhooks_silent', minutes, approvals, sinceMs: first.atMs } as const;
  return { ...withTold(before, `silence:${first.atMs}`, notice), silentSinceMs: first.atMs };
}

/** Refusals are told once an hour at most; where nothing is accepted at all, anew after an accepted one or an hour of calm. */
function judgeRefusals(before: WebhookState, { refusals }: AlarmRules, nowMs: number): WebhookState {
  const tallies = before.tallies
    .filter(({ atMs }) => nowMs - atMs < refusalsWithinMs)
    .toSorted((one, other) => one.atMs - other.atMs);
  const refusedOnes = tallies.filter(({ refused }) => refused > 0);
  const { refusedLastMs, ...calm } = { ...before, tallies };
  const lastMs = refusedOnes.at(-1)?.atMs ?? refusedLastMs;
  if (refusedLastMs !== undefined && lastMs !== undefined && nowMs - lastMs < calmMs) {
    return { ...calm, refusedLastMs: lastMs };
  }
  const [first] = refusedOnes;
  const refused = tallies.reduce((sum, one) => sum + one.refused, 0);
  const accepted = tallies.reduce((sum, one) => sum + one.accepted, 0);
  const isEnough = refusals > 0 && refused >= refusals && refused >= refusedShare * (refused + accepted);
  if (!first || !isEnough || wasJustTold(calm.refusedToldAtMs, nowMs)) return calm;
  const notice: Alarm = {
    kind: 'deliveries_refused',
    refusals: refused,
    ...(accepted === 0 ? {} : { accepted }),
    sinceMs: first.atMs,
    cause: before.cause?.words ?? unexplained,
  };
  const told = { ...withTold(calm, `refused:${first.atMs}`, notice), refusedToldAtMs: nowMs };
  return accepted === 0 && lastMs !== undefined ? { ...told, refusedLastMs: lastMs } : told;
}

/** Charges without their event are told once an hour at most, all that came up in between together. */
function judgeMissing(before: WebhookState, { missingMs }: AlarmRules, nowMs: number): WebhookState {
  const { missing, missingToldAtMs } = before;
  const [first] = missing;
  if (!first || wasJustTold(missingToldAtMs, nowMs)) return before;
  const notice: Alarm = {
    kind: 'events_missing',
    references: missing.slice(0, mostListed).map(({ reference }) => reference),
    more: Math.max(0, missing.length - mostListed),
    minutes: Math.round(missingMs / minuteMs),
  };
  const told = withTold(before, `missing:${first.reference}:${first.atMs}`, notice);
  return { ...told, missing: [], missingToldAtMs: nowMs };
}

function wasJustTold(toldAtMs: number | undefined, nowMs: number): boolean {
  return toldAtMs !== undefined && nowMs - toldAtMs < everyMs;
}

function withTold(before: WebhookState, name: string, notice: Alarm): WebhookState {
  return { ...before, toTell: [...before.toTell, { name, notice }] };
}

/** Oldest first, each once. */
function distinct(all: readonly Charge[]): Charge[] {
  const byName = new Map<string, Charge>();
  for (const one of all) if (!byName.has(one.reference)) byName.set(one.reference, one);
  return [...byName.values()].toSorted((a, b) => a.atMs - b.atMs);
}
