import { z } from 'zod';
import type { Account } from '../../account.ts';
import { longestRequestMinutes } from '../../domain/approval.ts';
import {
  claimTimes,
  type ChargingRoles,
  type CurrencyLimits,
  type LimitKind,
  type LimitRules,
  type RoleLimits,
} from '../../domain/charge.ts';
import { localDays, type LocalDay } from '../../domain/local-day.ts';
import type { Money } from '../../domain/money.ts';
import { createRecords, type RecordChange } from '../../records/records.ts';
import type { HeldRoles } from '../../slack/people/role.ts';
import { type ChargeRecords, hasEnded } from './charge-record.ts';
import { hourMs } from '../../domain/span.ts';

/** Why an amount is refused. Nothing was sent. */
export type LimitRefusal =
  | {
      kind: 'over';
      limit: LimitKind;
      money: Money;
      limitMinor: number;
      leftMinor: number;
      /** When a daily limit frees up, UTC ms; absent for a limit per charge, and for a day that is over (`isPast`). */
      freesAtMs?: number;
      isPast?: true;
      timeZone: string;
      /** Other roles that may charge this amount. */
      whoCan: readonly string[];
    }
  /** None of the person's roles may charge in this currency. */
  | { kind: 'currency'; currency: string; allowed: readonly string[]; whoCan: readonly string[] }
  /** The person no longer has a role that may charge. */
  | { kind: 'no_role' }
  /** Slack could not say which roles the person has. */
  | { kind: 'roles_unknown' };

/** The amounts used in a day, in minor units: by the agent, and of the card by all agents. */
export type DayUse = Partial<Record<Exclude<LimitKind, 'per_charge'>, number>>;

/** A person's limits in all currencies, with what they used today. `none`: unlimited, or the person may not charge. */
export type OwnLimits =
  | { kind: 'none' }
  | { kind: 'unknown' }
  | {
      kind: 'limited';
      timeZone: string;
      freesAtMs: number;
      currencies: readonly { currency: string; limits: CurrencyLimits; usedMinor: number }[];
    };

/** The limits of a person, by their roles. `none`: unlimited. */
type PersonLimits =
  | { kind: 'none' }
  | { kind: 'limited'; byCurrency: RoleLimits; roles: readonly string[] }
  | Extract<LimitRefusal, { kind: 'no_role' | 'roles_unknown' }>;

/**
 * Combines the limits of these roles. For each kind of limit and each currency the most generous role counts, and a
 * role without limits lifts all: a second role never takes anything away.
 */
export function limitsOfRoles(roles: ChargingRoles, ofPerson: HeldRoles): PersonLimits {
  if (ofPerson.kind === 'unknown') return { kind: 'roles_unknown' };
  const held = ofPerson.roles.filter((name) => Object.hasOwn(roles, name));
  if (held.length === 0) return { kind: 'no_role' };
  const all = held.map((name) => roles[name]?.limits);
  if (all.includes(undefined)) return { kind: 'none' };
  const limited = all.filter((limits) => limits !== undefined);
  const currencies = new Set(limited.flatMap((limits) => Object.keys(limits)));
  const byCurrency = [...currencies].map((currency) => [
    currency,
    mostGenerous(limited.flatMap((limits) => limits[currency] ?? [])),
  ]);
  return { kind: 'limited', byCurrency: Object.fromEntries(byCurrency) as RoleLimits, roles: held };
}

const kinds: readonly LimitKind[] = ['per_charge', 'per_agent_per_day', 'per_card_per_day'];

function mostGenerous(all: readonly CurrencyLimits[]): CurrencyLimits {
  const found: CurrencyLimits = {};
  for (const kind of kinds) {
    const amounts = all.map((limits) => limits[kind]);
    const known = amounts.filter((amount) => amount !== undefined);
    if (known.length === amounts.length) found[kind] = Math.max(...known);
  }
  return found;
}

/** The limits in this currency (undefined: unlimited), or why it can't be charged. */
export function limitsFor(
  roles: ChargingRoles,
  person: PersonLimits,
  money: Money,
): { kind: 'found'; limits: CurrencyLimits | undefined } | LimitRefusal {
  if (person.kind === 'none') return { kind: 'found', limits: undefined };
  if (person.kind !== 'limited') return person;
  const { byCurrency } = person;
  const { currency } = money;
  const limits = Object.hasOwn(byCurrency, currency) ? byCurrency[currency] : undefined;
  if (limits) return { kind: 'found', limits };
  const whoCan = rolesThatCould(roles, person.roles, { money, cardMinor: 0 });
  return { kind: 'currency', currency, allowed: Object.keys(byCurrency), whoCan };
}

/** What is left of a limit; 0 if more was used, which a late correction can cause. */
export function minorLeft(limitMinor: number, usedMinor: number): number {
  return Math.max(0, limitMinor - usedMinor);
}

/**
 * The first limit that this amount exceeds; undefined: none. Daily limits are checked only where `used` has the day.
 */
export function overLimit(
  limits: CurrencyLimits,
  { minor }: Money,
  used: DayUse,
): { limit: LimitKind; limitMinor: number; leftMinor: number } | undefined {
  for (const limit of kinds) {
    const limitMinor = limits[limit];
    const usedMinor = limit === 'per_charge' ? 0 : used[limit];
    if (limitMinor === undefined || usedMinor === undefined) continue;
    const leftMinor = minorLeft(limitMinor, usedMinor);
    if (minor > leftMinor) return { limit, limitMinor, leftMinor };
  }
  return undefined;
}

/** Other roles with which this amount could be charged by a person who has used nothing today. */
export function rolesThatCould(
  roles: ChargingRoles,
  held: readonly string[],
  { money, cardMinor }: { money: Money; cardMinor: number },
): string[] {
  return Object.entries(roles).flatMap(([name, { limits }]) => {
    if (held.includes(name)) return [];
    if (limits === undefined) return [name];
    const own = Object.hasOwn(limits, money.currency) ? limits[money.currency] : undefined;
    const used = { per_agent_per_day: 0, per_card_per_day: cardMinor };
    return own && !overLimit(own, money, used) ? [name] : [];
  });
}

// Counting of used amounts, over all replicas.

const dayClaim = z.object({ reference: z.string(), minor: z.int(), at: z.number() });

/** One charge that is counted in an agent's or a card's day. */
type DayClaim = z.infer<typeof dayClaim>;

/**
 * The charge to count. `card`: fingerprint. `by`: Slack user id. `atMs`: when it was submitted or requested, which
 * decides its day.
 */
export type LimitedCharge = { reference: string; by: string; card: string; money: Money; atMs: number };

export type LimitClaims = ReturnType<typeof createLimitClaims>;

/** One account's limits. If the policy has none, nothing is read or stored. */
export function openLimits(account: Account, charges: Pick<ChargeRecords, 'read'>): LimitClaims {
  const { limits } = account.rules;
  if (limits) return createLimitClaims(account, limits, (reference) => hasEnded(charges, reference));
  return { claim: async () => undefined, judge: async () => undefined, of: async () => ({ kind: 'none' }) };
}

/**
 * Limits charges by role, over all replicas. An agent's day and a card's day are one record each. A claim counts
 * unless its charge has ended without taking money. Since two records can't change in one step, the agent's is
 * counted first, then the card's, then the charge is stored; a claim without a charge counts for `claimTimes.lostMs`.
 * So for a while too much may be counted, but never too little. Methods throw StoreUnavailable.
 */
export function createLimitClaims(
  account: Account,
  rules: LimitRules,
  /** Whether the charge ended without taking money; undefined: it is not stored. */
  hasEnded: (reference: string) => Promise<boolean | undefined>,
) {
  const { now } = account;
  const days = createRecords<DayClaim[]>(account, { prefix: 'limit:', schema: z.array(dayClaim) });
  const dayOf = localDays(rules.timeZone);
  // A request made today counts for today, also if it is approved days later.
  const keepMs = keepAfterMs + (account.rules.approvals.length > 0 ? longestRequestMinutes * 60_000 : 0);

  /** The claims with the amount that each counts now. */
  function withCounts(claims: readonly DayClaim[] = []): Promise<CountedClaim[]> {
    return Promise.all(
      claims.map(async (claim): Promise<CountedClaim> => {
        const isFree = (await hasEnded(claim.reference)) ?? now() - claim.at >= claimTimes.lostMs;
        return { claim, countedMinor: isFree ? 0 : claim.minor };
      }),
    );
  }

  const read = async (id: string): Promise<CountedClaim[]> => await withCounts(await days.read(id));

  async function limitsOf(userId: string): Promise<PersonLimits> {
    return limitsOfRoles(rules.roles, await account.people.rolesOf('charge', userId));
  }

  function freesAt({ limit }: OverLimit, { endsAtMs }: LocalDay) {
    if (limit === 'per_charge') return {};
    return endsAtMs > now() ? { freesAtMs: endsAtMs } : ({ isPast: true } as const);
  }

  function refused(check: LimitCheck, over: OverLimit, cardMinor: number): LimitRefusal {
    const names = check.person.kind === 'limited' ? check.person.roles : [];
    const { money } = check.charge;
    return {
      kind: 'over',
      money,
      ...over,
      ...freesAt(over, check.day),
      timeZone: rules.timeZone,
      whoCan: rolesThatCould(rules.roles, names, { money, cardMinor }),
    };
  }

  /**
   * Why the limits refuse the charge; undefined: they allow it. A charge that is counted already is not checked again:
   * an earlier delivery of the same submit may have charged.
   */
  async function checkLimits(check: LimitCheck): Promise<LimitRefusal | undefined> {
    const { charge, limits, day } = check;
    if (!limits) return undefined;
    const { money, reference } = charge;
    const [agent, card] = await Promise.all([read(agentDay(charge, day)), read(cardDay(charge, day))]);
    const cardMinor = minorUsed(card, reference);
    const over = overLimit(limits, money, {
      ...(isCounted(agent, charge) ? {} : { per_agent_per_day: minorUsed(agent, reference) }),
      ...(isCounted(card, charge) ? {} : { per_card_per_day: cardMinor }),
    });
    return over && refused(check, over, cardMinor);
  }

  async function findLimits(charge: LimitedCharge): Promise<LimitCheck | LimitRefusal> {
    const person = await limitsOf(charge.by);
    const found = limitsFor(rules.roles, person, charge.money);
    if (found.kind !== 'found') return found;
    return { kind: 'found', charge, person, limits: found.limits, day: dayOf(charge.atMs) };
  }

  /** Counts the charge in one record, unless it exceeds the limit; undefined: it is counted. */
  function claimIn(id: string, check: LimitCheck, limit: keyof DayUse): Promise<LimitRefusal | undefined> {
    const { charge, limits = {}, day } = check;
    const { reference, money } = charge;
    return days.change(id, async (before): Promise<RecordChange<DayClaim[], LimitRefusal | undefined>> => {
      const claims = await withCounts(before);
      const usedMinor = minorUsed(claims, reference);
      const over = isCounted(claims, charge) ? undefined : overLimit(limits, money, { [limit]: usedMinor });
      const cardMinor = limit === 'per_card_per_day' ? usedMinor : 0;
      if (over) return { kind: 'keep', result: refused(check, over, cardMinor) };
      const own = claims.find(({ claim }) => claim.reference === reference)?.claim;
      const others = claims.map(({ claim }) => claim).filter((claim) => claim.reference !== reference);
      const minor = Math.max(money.minor, own?.minor ?? 0);
      const value = [...others, { reference, minor, at: now() }];
      const ttlMs = Math.max(0, day.endsAtMs - now()) + keepMs;
      return { kind: 'write', value, schedule: { ttlMs }, result: undefined };
    });
  }

  return {
    /** What `claim` would return now. Changes nothing. */
    async judge(charge: LimitedCharge): Promise<LimitRefusal | undefined> {
      const check = await findLimits(charge);
      return check.kind === 'found' ? await checkLimits(check) : check;
    },

    /**
     * Counts the charge, or returns why it is refused; undefined: it is counted. Two replicas can't both use the
     * remainder. Idempotent for a reference. Unlimited agents still count towards the card's limit.
     */
    async claim(charge: LimitedCharge): Promise<LimitRefusal | undefined> {
      const check = await findLimits(charge);
      if (check.kind !== 'found') return check;
      return (
        // Check both before counting, so that a refused charge uses nothing.
        (await checkLimits(check)) ??
        (await claimIn(agentDay(charge, check.day), check, 'per_agent_per_day')) ??
        (await claimIn(cardDay(charge, check.day), check, 'per_card_per_day'))
      );
    },

    /** The person's limits, and how much of today's is used. */
    async of(userId: string): Promise<OwnLimits> {
      const own = await limitsOf(userId);
      if (own.kind === 'none') return own;
      if (own.kind !== 'limited') return { kind: own.kind === 'no_role' ? 'none' : 'unknown' };
      const day = dayOf(now());
      const currencies = await Promise.all(
        Object.entries(own.byCurrency).map(async ([currency, limits]) => {
          const id = agentDay({ by: userId, money: { minor: 0, currency } }, day);
          return { currency, limits, usedMinor: minorUsed(await read(id)) };
        }),
      );
      return { kind: 'limited', timeZone: rules.timeZone, freesAtMs: day.endsAtMs, currencies };
    },
  };
}

type CountedClaim = { claim: DayClaim; countedMinor: number };
type OverLimit = NonNullable<ReturnType<typeof overLimit>>;
/** A charge with the limits to check it by; `limits` undefined: unlimited. */
type LimitCheck = {
  kind: 'found';
  charge: LimitedCharge;
  person: PersonLimits;
  limits: CurrencyLimits | undefined;
  day: LocalDay;
};

function agentDay({ by, money }: Pick<LimitedCharge, 'by' | 'money'>, { date }: LocalDay): string {
  return `agent:${date}:${money.currency}:${by}`;
}

function cardDay({ card, money }: Pick<LimitedCharge, 'card' | 'money'>, { date }: LocalDay): string {
  return `card:${date}:${money.currency}:${card}`;
}

function isCounted(claims: readonly CountedClaim[], { reference, money }: LimitedCharge): boolean {
  return claims.some(
    ({ claim, countedMinor }) => claim.reference === reference && countedMinor >= money.minor,
  );
}

function minorUsed(claims: readonly CountedClaim[], except?: string): number {
  return claims.reduce(
    (sum, { claim, countedMinor }) => sum + (claim.reference === except ? 0 : countedMinor),
    0,
  );
}

/** For how long a day's record is kept after the day: longer than replicas' clocks may differ. */
const keepAfterMs = hourMs;
