import { z } from 'zod';
import type { Account } from '../../account.ts';
import {
  claimTimes,
  type CurrencyLimits,
  type LimitKind,
  type LimitRefusal,
  type LimitRules,
} from '../../domain/charge.ts';
import {
  type DayUse,
  type HeldLimits,
  type LimitVerdict,
  type OwnLimits,
  heldLimits,
  limitsFor,
  overLimit,
  rolesThatCould,
} from './charge-limits.ts';
import type { Money } from '../../domain/money.ts';
import type { Standing } from '../../slack/people/role.ts';
import { createRecords, type RecordChange, type RecordsDeps } from '../../records/records.ts';
import { type ChargeRecords, type ChargeStanding, standingOf } from './charge-record.ts';

const dayClaim = z.object({
  reference: z.string(),
  minor: z.int(),
  at: z.number(),
  /** Its money has moved for good: its charge is not asked about again. */
  isFinal: z.literal(true).exactOptional(),
});

/** One charge as one day of one agent or card counts it. */
type DayClaim = z.infer<typeof dayClaim>;

/** `card` is the fingerprint, `by` a Slack user id; `atMs` is when it was submitted, which decides its day. */
export type LimitedCharge = { reference: string; by: string; card: string; money: Money; atMs: number };

export type LimitClaims = ReturnType<typeof createLimitClaims>;

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
    chargeStanding: (reference) => standingOf(charges, reference),
  });
}

/** Without limits in the policy: nothing is asked and nothing is kept. */
export const noLimits: LimitClaims = {
  claim: () => Promise.resolve({ kind: 'allowed' }),
  check: () => Promise.resolve({ kind: 'allowed' }),
  of: () => Promise.resolve({ kind: 'none' }),
};

type LimitClaimsDeps = RecordsDeps & {
  rules: LimitRules;
  /** Of whoever may charge; never throws. */
  standingOf: (userId: string) => Promise<Standing>;
  /** Of the charge, as it is stored; undefined: there is none. */
  chargeStanding: (reference: string) => Promise<ChargeStanding | undefined>;
  now: () => number;
};

/**
 * How much whom their roles let charge, counted over all replicas: the claims of an agent's day and of a card's day are
 * one record each, and what each claim counts is asked of its charge. Two records cannot be changed in one step, so the
 * agent's is counted first, then the card's, then the charge is stored; a claim that no charge stands behind counts for
 * `claimTimes.lostMs`. So too much may count for a while, never too little. All of it throws StoreUnavailable.
 *
 * Spec: not shown; limits are the policy's own.
 */
export function createLimitClaims(deps: LimitClaimsDeps) {
  const { rules, chargeStanding, now } = deps;
  const days = createRecords<DayClaim[]>(deps, { prefix: 'limit:', schema: z.array(dayClaim) });
  const dayOf = localDays(rules.timeZone);

  /** Each with what it counts now. */
  function judged(claims: readonly DayClaim[] = []): Promise<Judged[]> {
    return Promise.all(
      claims.map(async (claim): Promise<Judged> => {
        const standing = claim.isFinal ? 'final' : await chargeStanding(claim.reference);
        if (standing === 'final') return { claim: { ...claim, isFinal: true }, countedMinor: claim.minor };
        const counts = standing ? standing === 'counts' : now() - claim.at < claimTimes.lostMs;
        return { claim, countedMinor: counts ? claim.minor : 0 };
      }),
    );
  }

  const read = async (id: string): Promise<Judged[]> => await judged(await days.read(id));

  async function held(by: string): Promise<HeldLimits> {
    return heldLimits(rules.roles, await deps.standingOf(by));
  }

  function refused(asked: Asked, over: OverLimit, { cardMinor }: DayUse): Refused {
    const names = asked.held.kind === 'limited' ? asked.held.held : [];
    const { money } = asked.charge;
    const refusal: LimitRefusal = {
      kind: 'over',
      money,
      ...over,
      ...(over.limit === 'per_charge' ? {} : { freesAtMs: asked.day.endsAtMs }),
      timeZone: rules.timeZone,
      whoCan: rolesThatCould(rules.roles, names, { money, cardMinor }),
    };
    return { kind: 'refused', refusal };
  }

  /** What counts already is not judged again: another delivery of the same submit may have charged with it. */
  async function judge(asked: Asked): Promise<LimitVerdict> {
    const { charge, limits, day } = asked;
    if (!limits) return { kind: 'allowed' };
    const { money, reference } = charge;
    const [agent, card] = await Promise.all([read(agentDay(charge, day)), read(cardDay(charge, day))]);
    const used = { agentMinor: usedBy(agent, reference), cardMinor: usedBy(card, reference) };
    const kinds: LimitKind[] = ['per_charge'];
    if (!counts(agent, charge)) kinds.push('per_agent_per_day');
    if (!counts(card, charge)) kinds.push('per_card_per_day');
    const over = overLimit(limits, money, used, kinds);
    return over ? refused(asked, over, used) : { kind: 'allowed' };
  }

  async function ask(charge: LimitedCharge): Promise<Asked | Refused> {
    const own = await held(charge.by);
    const found = limitsFor(rules.roles, own, charge.money);
    if (found.kind === 'refused') return found;
    return { kind: 'asked', charge, held: own, limits: found.limits, day: dayOf(charge.atMs) };
  }

  /** Undefined: it counts there now. */
  function claimIn(id: string, asked: Asked, limit: LimitKind): Promise<Refused | undefined> {
    const { charge, limits = {}, day } = asked;
    const { reference, money } = charge;
    return days.change(id, async (before): Promise<RecordChange<DayClaim[], Refused | undefined>> => {
      const claims = await judged(before);
      const usedMinor = usedBy(claims, reference);
      const used = { agentMinor: usedMinor, cardMinor: limit === 'per_card_per_day' ? usedMinor : 0 };
      const over = counts(claims, charge) ? undefined : overLimit(limits, money, used, [limit]);
      if (over) return { kind: 'keep', result: refused(asked, over, used) };
      const own = claims.find(({ claim }) => claim.reference === reference)?.claim;
      const others = claims.map(({ claim }) => claim).filter((claim) => claim.reference !== reference);
      const minor = Math.max(money.minor, own?.minor ?? 0);
      const value = [...others, { reference, minor, at: now() }];
      const ttlMs = Math.max(0, day.endsAtMs - now()) + keepAfterMs;
      return { kind: 'write', value, rest: { ttlMs }, result: undefined };
    });
  }

  return {
    /** What a claim would say now. Changes nothing. */
    async check(charge: LimitedCharge): Promise<LimitVerdict> {
      const asked = await ask(charge);
      return asked.kind === 'refused' ? asked : await judge(asked);
    },

    /**
     * Counts the charge if no limit is gone beyond, so that no two replicas both use what is left. A reference counts
     * once, however often it is claimed; whoever nothing limits is counted for the card's other agents.
     */
    async claim(charge: LimitedCharge): Promise<LimitVerdict> {
      const asked = await ask(charge);
      if (asked.kind === 'refused') return asked;
      // Judged before anything is counted: what is refused takes nothing.
      const verdict = await judge(asked);
      if (verdict.kind === 'refused') return verdict;
      return (
        (await claimIn(agentDay(charge, asked.day), asked, 'per_agent_per_day')) ??
        (await claimIn(cardDay(charge, asked.day), asked, 'per_card_per_day')) ??
        verdict
      );
    },

    /** The limits of this person, and what is used of their day. */
    async of(userId: string): Promise<OwnLimits> {
      const own = await held(userId);
      if (own.kind === 'none') return own;
      if (own.kind === 'refused') return { kind: own.refusal.kind === 'no_role' ? 'none' : 'unknown' };
      const day = dayOf(now());
      const currencies = await Promise.all(
        Object.entries(own.byCurrency).map(async ([currency, limits]) => {
          const id = agentDay({ by: userId, money: { minor: 0, currency } }, day);
          return { currency, limits, agentMinor: usedBy(await read(id)) };
        }),
      );
      return { kind: 'limited', timeZone: rules.timeZone, freesAtMs: day.endsAtMs, currencies };
    },
  };
}

type Judged = { claim: DayClaim; countedMinor: number };
type OverLimit = NonNullable<ReturnType<typeof overLimit>>;
type Refused = Extract<LimitVerdict, { kind: 'refused' }>;
type Asked = {
  kind: 'asked';
  charge: LimitedCharge;
  held: HeldLimits;
  limits: CurrencyLimits | undefined;
  day: LocalDay;
};

function agentDay({ by, money }: Pick<LimitedCharge, 'by' | 'money'>, { date }: LocalDay): string {
  return `agent:${date}:${money.currency}:${by}`;
}

function cardDay({ card, money }: Pick<LimitedCharge, 'card' | 'money'>, { date }: LocalDay): string {
  return `card:${date}:${money.currency}:${card}`;
}

function counts(claims: readonly Judged[], { reference, money }: LimitedCharge): boolean {
  return claims.some(
    ({ claim, countedMinor }) => claim.reference === reference && countedMinor >= money.minor,
  );
}

/** What the others count together. */
function usedBy(claims: readonly Judged[], except?: string): number {
  return claims.reduce(
    (sum, { claim, countedMinor }) => sum + (claim.reference === except ? 0 : countedMinor),
    0,
  );
}

/** Longer than two replicas' clocks may differ about when a day ended. */
const keepAfterMs = 3_600_000;

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
  return (atMs) => {
    const date = format.format(atMs);
    let before = atMs;
    let after = atMs + longestDayMs;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (format.format(middle) > date) after = middle;
      else before = middle;
    }
    return { date, endsAtMs: after };
  };
}
