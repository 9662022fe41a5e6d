import type { Account } from '../../account.ts';
import { standingOf, type ChargeRecords } from './charge-record.ts';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  heldLimits,
  limitsFor,
  overLimit,
  rolesThatCould,
  type CurrencyLimits,
  type DayUse,
  type HeldLimits,
  type LimitKind,
  type LimitRefusal,
  type LimitRules,
  type LimitVerdict,
  type OwnLimits,
} from '../../domain/charge-limits.ts';
import { claimTimes } from '../../domain/charge.ts';
import type { Money } from '../../domain/money.ts';
import type { Standing } from '../../domain/standing.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { createRecords, type RecordChange, type Records, type RecordsDeps } from '../../records/records.ts';

/** `final`: it will count whatever comes. `ended`: it moved no money, or there is no such charge. */
export type ChargeStanding = 'final' | 'counts' | 'ended';

const dayClaim = z.object({
  reference: z.string(),
  /** One submit of the charge: what one takes back is not what another counted. */
  holder: z.string(),
  minor: z.number().int(),
  at: z.number(),
  isFinal: z.literal(true).exactOptional(),
});

/** One charge as one day of one agent or card counts it. */
type DayClaim = z.infer<typeof dayClaim>;

/** `card` is the fingerprint, `by` a Slack user id; `atMs` is when it was submitted, which decides its day. */
export type LimitedCharge = { reference: string; by: string; card: string; money: Money; atMs: number };

export type LimitClaimResult =
  /** Counted. `release` takes back what this very claim counted, for a charge that was not stored; never throws StoreUnavailable. */
  { kind: 'claimed'; release: () => Promise<void> } | { kind: 'refused'; refusal: LimitRefusal };

/** How much whom their roles let charge, counted over all replicas. All of it throws StoreUnavailable when the store is away. */
export type LimitClaims = {
  /**
   * Counts the charge, if no limit is gone beyond: with those of the agent's day and of the card's day in one record
   * each, so that no two replicas both use what is left. A reference counts once, however often it is claimed.
   */
  claim(charge: LimitedCharge): Promise<LimitClaimResult>;
  /** What a claim would say now. Changes nothing. */
  check(charge: LimitedCharge): Promise<LimitVerdict>;
  /** It counts from now on, whatever the limits say: a charge that had ended without money may have moved some. */
  count(charge: LimitedCharge): Promise<void>;
  /** It counts no more, if by now it has ended without money moved. */
  release(charge: LimitedCharge): Promise<void>;
  /** The limits of this person, and what is used of their day. */
  of(userId: string): Promise<OwnLimits>;
};

type LimitClaimsDeps = RecordsDeps & {
  rules: LimitRules;
  /** Of whoever may charge; never throws. */
  standingOf: (userId: string) => Promise<Standing>;
  /** What became of the charge, as it is stored. */
  chargeStanding: (reference: string) => Promise<ChargeStanding>;
  now: () => number;
};

/** The limits of one merchant account; none where the policy has none for it. */
export function openLimits(
  account: RecordsDeps & Pick<Account, 'rules' | 'people' | 'now'>,
  charges: Pick<ChargeRecords, 'read'>,
): LimitClaims {
  const { rules, people } = account;
  if (!rules.limits) return noLimits;
  return createLimitClaims({
    ...account,
    rules: rules.limits,
    standingOf: (userId) => people.standingOf('charge', userId),
    chargeStanding: async (reference) => (await standingOf(charges, reference)) ?? 'ended',
  });
}

/** Without limits in the policy: nothing is asked and nothing is kept. */
export const noLimits: LimitClaims = {
  claim: () => Promise.resolve({ kind: 'claimed', release: () => Promise.resolve() }),
  check: () => Promise.resolve({ kind: 'allowed' }),
  count: () => Promise.resolve(),
  release: () => Promise.resolve(),
  of: () => Promise.resolve({ kind: 'none' }),
};

/**
 * Two records cannot be changed in one step, so the agent's is counted first, then the card's, then the charge is
 * stored; and it is taken off only once the charge has ended. A crash anywhere in between counts too much for a while,
 * never too little: what no charge stands behind is taken for lost, as a card's claim is.
 *
 * Spec: not shown; limits are the policy's own.
 */
export function createLimitClaims(deps: LimitClaimsDeps): LimitClaims {
  const desk: Desk = {
    ...deps,
    days: createRecords<DayClaim[]>(deps, { prefix: 'limit:', schema: z.array(dayClaim) }),
    dayOf: localDays(deps.rules.timeZone),
  };
  return {
    claim: (charge) => claim(desk, charge),
    check: (charge) => check(desk, charge),
    count: (charge) => count(desk, charge),
    release: (charge) => release(desk, charge),
    of: (userId) => ownLimits(desk, userId),
  };
}

/** What counts of each agent and each card, by day and currency. */
type Desk = LimitClaimsDeps & { days: Records<DayClaim[]>; dayOf: (atMs: number) => LocalDay };

type DayChange<Result = void> = RecordChange<DayClaim[], Result>;

function agentDay({ by, money }: Pick<LimitedCharge, 'by' | 'money'>, { date }: LocalDay): string {
  return `agent:${date}:${money.currency}:${by}`;
}

function cardDay({ card, money }: Pick<LimitedCharge, 'card' | 'money'>, { date }: LocalDay): string {
  return `card:${date}:${money.currency}:${card}`;
}

async function claim(desk: Desk, charge: LimitedCharge): Promise<LimitClaimResult> {
  const held = heldLimits(desk.rules.roles, await desk.standingOf(charge.by));
  const found = limitsFor(desk.rules.roles, held, charge.money);
  if (found.kind === 'refused') return found;
  // Whoever nothing limits is counted all the same: the card's other agents are limited.
  const claiming: Claiming = { charge, held, limits: found.limits ?? {}, day: desk.dayOf(charge.atMs) };
  const one = overLimit(claiming.limits, charge.money, nothingUsed, ['per_charge']);
  if (one) return { kind: 'refused', refusal: refusalOf(desk, claiming, one, nothingUsed) };
  const holder = randomUUID();
  const agent = await claimIn(desk, claiming, { holder, limit: 'per_agent_per_day' });
  if (agent) return { kind: 'refused', refusal: agent };
  const drop = (id: string): Promise<void> => dropHolder(desk, id, holder, claiming.day);
  const card = await claimIn(desk, claiming, { holder, limit: 'per_card_per_day' });
  if (card) {
    await drop(agentDay(charge, claiming.day));
    return { kind: 'refused', refusal: card };
  }
  return {
    kind: 'claimed',
    async release() {
      await drop(cardDay(charge, claiming.day));
      await drop(agentDay(charge, claiming.day));
    },
  };
}

type Claiming = { charge: LimitedCharge; held: HeldLimits; limits: CurrencyLimits; day: LocalDay };

const nothingUsed: DayUse = { agentMinor: 0, cardMinor: 0 };

/** Undefined: it counts there now. */
function claimIn(
  desk: Desk,
  claiming: Claiming,
  { holder, limit }: { holder: string; limit: 'per_agent_per_day' | 'per_card_per_day' },
): Promise<LimitRefusal | undefined> {
  const { charge, limits, day } = claiming;
  const { reference, money } = charge;
  const isCard = limit === 'per_card_per_day';
  const id = isCard ? cardDay(charge, day) : agentDay(charge, day);
  return desk.days.change(id, async (before = []): Promise<DayChange<LimitRefusal | undefined>> => {
    const claims = await standingClaims(desk, before);
    // What counts already is not judged again: another delivery of the same submit may have charged with it.
    const isCounted = claims.some((one) => one.reference === reference && one.minor >= money.minor);
    const usedMinor = usedBy(claims, reference);
    const used = isCard
      ? { ...nothingUsed, cardMinor: usedMinor }
      : { ...nothingUsed, agentMinor: usedMinor };
    const over = isCounted ? undefined : overLimit(limits, money, used, [limit]);
    if (over) return { kind: 'keep', result: refusalOf(desk, claiming, over, used) };
    const own: DayClaim = { reference, holder, minor: money.minor, at: desk.now() };
    return written(desk, [...claims, own], day);
  });
}

/** What this claim alone counted. It is best effort: what is left counts until it is taken for lost. */
async function dropHolder(desk: Desk, id: string, holder: string, day: LocalDay): Promise<void> {
  try {
    await desk.days.change(id, (claims = []): DayChange => {
      const rest = claims.filter((one) => one.holder !== holder);
      if (rest.length === claims.length) return { kind: 'keep', result: undefined };
      return written(desk, rest, day);
    });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}

async function check(desk: Desk, charge: LimitedCharge): Promise<LimitVerdict> {
  const held = heldLimits(desk.rules.roles, await desk.standingOf(charge.by));
  const found = limitsFor(desk.rules.roles, held, charge.money);
  if (found.kind === 'refused') return found;
  const { limits } = found;
  if (!limits) return { kind: 'allowed' };
  const day = desk.dayOf(charge.atMs);
  const { money, reference } = charge;
  const [agentMinor, cardMinor] = await Promise.all([
    usedIn(desk, agentDay(charge, day), reference),
    usedIn(desk, cardDay(charge, day), reference),
  ]);
  const used = { agentMinor, cardMinor };
  const over = overLimit(limits, money, used);
  if (over) return { kind: 'refused', refusal: refusalOf(desk, { charge, held, limits, day }, over, used) };
  return { kind: 'allowed', seen: { currency: money.currency, limits, used, freesAtMs: day.endsAtMs } };
}

async function usedIn(desk: Desk, id: string, except?: string): Promise<number> {
  return usedBy(await standingClaims(desk, (await desk.days.read(id)) ?? []), except);
}

function refusalOf(
  { rules }: Desk,
  { charge: { money }, held, day }: Claiming,
  over: { limit: LimitKind; limitMinor: number; usedMinor: number; leftMinor: number },
  { cardMinor }: DayUse,
): LimitRefusal {
  const names = held.kind === 'limited' ? held.held : [];
  return {
    kind: 'over',
    money,
    ...over,
    ...(over.limit === 'per_charge' ? {} : { freesAtMs: day.endsAtMs }),
    timeZone: rules.timeZone,
    whoCan: rolesThatCould(rules.roles, names, { money, cardMinor }),
  };
}

/**
 * Written even when it counts already: somebody who read before that the charge had ended, and is about to take it
 * off, loses the swap and looks again.
 */
async function count(desk: Desk, charge: LimitedCharge): Promise<void> {
  await inBoth(desk, charge, (claims, day) => {
    const { reference, money } = charge;
    const others = withoutReference(claims, reference);
    const own: DayClaim = { reference, holder: 'charge', minor: money.minor, at: desk.now() };
    return written(desk, [...others, own], day);
  });
}

async function release(desk: Desk, charge: LimitedCharge): Promise<void> {
  const { reference } = charge;
  await inBoth(desk, charge, async (claims, day) => {
    const rest = withoutReference(claims, reference);
    const isGone = rest.length === claims.length;
    // Asked inside the swap: whoever counts it again writes the record after they have stored why.
    if (isGone || (await desk.chargeStanding(reference)) !== 'ended')
      return { kind: 'keep', result: undefined };
    return written(desk, rest, day);
  });
}

/** A day that is over limits nobody any more. */
async function inBoth(
  desk: Desk,
  charge: LimitedCharge,
  change: (claims: DayClaim[], day: LocalDay) => DayChange | Promise<DayChange>,
): Promise<void> {
  const day = desk.dayOf(charge.atMs);
  if (desk.now() >= day.endsAtMs) return;
  await desk.days.change(agentDay(charge, day), (claims = []) => change(claims, day));
  await desk.days.change(cardDay(charge, day), (claims = []) => change(claims, day));
}

async function ownLimits(desk: Desk, userId: string): Promise<OwnLimits> {
  const { roles, timeZone } = desk.rules;
  const held = heldLimits(roles, await desk.standingOf(userId));
  if (held.kind === 'none') return held;
  if (held.kind === 'refused') return { kind: held.refusal.kind === 'no_role' ? 'none' : 'unknown' };
  const day = desk.dayOf(desk.now());
  const currencies = await Promise.all(
    Object.entries(held.byCurrency).map(async ([currency, limits]) => {
      const id = agentDay({ by: userId, money: { minor: 0, currency } }, day);
      return { currency, limits, agentMinor: await usedIn(desk, id) };
    }),
  );
  return { kind: 'limited', timeZone, freesAtMs: day.endsAtMs, currencies };
}

/** Longer than two replicas' clocks may differ about when a day ended. */
const keepAfterMs = 3_600_000;

/**
 * Those that count, without what a crash left: a claim whose charge was never stored, or has ended and was not taken
 * off. Only what is older than `claimTimes.lostMs` is asked about, and what has moved money for good never again.
 */
async function standingClaims(
  deps: { chargeStanding: (reference: string) => Promise<ChargeStanding>; now: () => number },
  claims: readonly DayClaim[],
): Promise<DayClaim[]> {
  const now = deps.now();
  const judged = await Promise.all(
    claims.map(async (claim): Promise<DayClaim[]> => {
      if (claim.isFinal || now - claim.at < claimTimes.lostMs) return [claim];
      const standing = await deps.chargeStanding(claim.reference);
      if (standing === 'ended') return [];
      return [standing === 'final' ? { ...claim, isFinal: true } : claim];
    }),
  );
  return judged.flat();
}

/** What the others count together; a reference that was claimed more than once counts once, at its largest. */
function usedBy(claims: readonly DayClaim[], except?: string): number {
  const most = new Map<string, number>();
  for (const { reference, minor } of claims) {
    if (reference !== except) most.set(reference, Math.max(minor, most.get(reference) ?? 0));
  }
  return [...most.values()].reduce((sum, minor) => sum + minor, 0);
}

function withoutReference(claims: readonly DayClaim[], reference: string): DayClaim[] {
  return claims.filter((claim) => claim.reference !== reference);
}

function written({ now }: Desk, value: DayClaim[], { endsAtMs }: LocalDay): DayChange<undefined> {
  const ttlMs = Math.max(0, endsAtMs - now()) + keepAfterMs;
  return { kind: 'write', value, rest: { ttlMs }, result: undefined };
}

/** One day of a time zone: its date, like `2026-11-21`, and the moment the next one begins (UTC ms). */
export type LocalDay = { date: string; endsAtMs: number };

/** No local day is longer, whatever summer time or a moved date line does to it. */
const longestDayMs = 48 * 3_600_000;

/**
 * The day that a moment belongs to, by the wall clock of that zone. A day ends where the date changes, which is not
 * always at 00:00: where summer time begins at midnight the next day begins at 01:00.
 */
export function localDays(timeZone: string): (atMs: number) => LocalDay {
  // Canada writes a date like ISO does, so that later dates compare as greater.
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
  let last: (LocalDay & { fromMs: number }) | undefined;
  return (atMs) => {
    // Nearly always asked about the same day again.
    if (last && atMs >= last.fromMs && atMs < last.endsAtMs)
      return { date: last.date, endsAtMs: last.endsAtMs };
    const date = format.format(atMs);
    let before = atMs;
    let after = atMs + longestDayMs;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (format.format(middle) > date) after = middle;
      else before = middle;
    }
    last = { date, endsAtMs: after, fromMs: atMs };
    return { date, endsAtMs: after };
  };
}
