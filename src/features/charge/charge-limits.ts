import type {
  ChargeState,
  LimitKind,
  CurrencyLimits,
  RoleLimits,
  ChargingRoles,
  LimitRefusal,
} from '../../domain/charge.ts';
import type { Money } from '../../domain/money.ts';
import type { Standing } from '../../slack/people/role.ts';

/** What counts already of one day: of the agent, and of the card whoever charged it. */
export type DayUse = { agentMinor: number; cardMinor: number };

export type LimitVerdict = { kind: 'allowed' } | { kind: 'refused'; refusal: LimitRefusal };

/** The limits of a person over all currencies. */
export type OwnLimits =
  | { kind: 'none' }
  | { kind: 'unknown' }
  | {
      kind: 'limited';
      timeZone: string;
      freesAtMs: number;
      currencies: readonly { currency: string; limits: CurrencyLimits; agentMinor: number }[];
    };

/**
 * Whether a charge in this state counts: all but those that are known to have moved no money. In doubt counts; a
 * later success of one that had ended counts again.
 */
export function countsForLimits({ kind }: Pick<ChargeState, 'kind'>): boolean {
  return !movedNothing.has(kind);
}

const movedNothing = new Set<ChargeState['kind']>([
  'declined',
  'rejected',
  'abandoned',
  'wrong_codes',
  'expired',
]);

/** Whose roles' limits are judged by. */
export type HeldLimits =
  | { kind: 'none' }
  | { kind: 'limited'; byCurrency: RoleLimits; held: readonly string[] }
  | { kind: 'refused'; refusal: Extract<LimitRefusal, { kind: 'no_role' | 'unknown_standing' }> };

/**
 * The limits that hold for whoever has these roles. Of several roles the most generous one counts, for each kind and
 * currency by itself, and a role without limits lifts them all: a second role never takes away what the first gives.
 */
export function heldLimits(roles: ChargingRoles, standing: Standing): HeldLimits {
  if (standing.kind === 'unknown') return { kind: 'refused', refusal: { kind: 'unknown_standing' } };
  const held = standing.roles.filter((name) => Object.hasOwn(roles, name));
  if (held.length === 0) return { kind: 'refused', refusal: { kind: 'no_role' } };
  const all = held.map((name) => roles[name]?.limits);
  if (all.includes(undefined)) return { kind: 'none' };
  const limited = all.filter((limits) => limits !== undefined);
  const currencies = new Set(limited.flatMap((limits) => Object.keys(limits)));
  const byCurrency = [...currencies].map((currency) => [
    currency,
    mostGenerous(limited.flatMap((limits) => limits[currency] ?? [])),
  ]);
  return { kind: 'limited', byCurrency: Object.fromEntries(byCurrency) as RoleLimits, held };
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

/** Those of the charge's currency; undefined: nothing limits it. */
export function limitsFor(
  roles: ChargingRoles,
  held: HeldLimits,
  money: Money,
): { kind: 'held'; limits: CurrencyLimits | undefined } | { kind: 'refused'; refusal: LimitRefusal } {
  if (held.kind === 'refused') return held;
  if (held.kind === 'none') return { kind: 'held', limits: undefined };
  const { byCurrency } = held;
  const { currency } = money;
  const limits = Object.hasOwn(byCurrency, currency) ? byCurrency[currency] : undefined;
  if (limits) return { kind: 'held', limits };
  const whoCan = rolesThatCould(roles, held.held, { money, cardMinor: 0 });
  return {
    kind: 'refused',
    refusal: { kind: 'currency', currency, allowed: Object.keys(byCurrency), whoCan },
  };
}

/** How much a limit leaves, never less than nothing: a correction may have counted beyond it. */
export function leftOf(limitMinor: number, usedMinor: number): number {
  return Math.max(0, limitMinor - usedMinor);
}

/** The first limit that this amount would go beyond, of the kinds asked about; undefined: none. */
export function overLimit(
  limits: CurrencyLimits,
  { minor }: Money,
  used: DayUse,
  asked: readonly LimitKind[] = kinds,
): { limit: LimitKind; limitMinor: number; leftMinor: number } | undefined {
  for (const limit of asked) {
    const limitMinor = limits[limit];
    if (limitMinor === undefined) continue;
    const leftMinor = leftOf(limitMinor, usedOf(limit, used));
    if (minor > leftMinor) return { limit, limitMinor, leftMinor };
  }
  return undefined;
}

function usedOf(limit: LimitKind, { agentMinor, cardMinor }: DayUse): number {
  switch (limit) {
    case 'per_charge':
      return 0;
    case 'per_agent_per_day':
      return agentMinor;
    case 'per_card_per_day':
      return cardMinor;
  }
}

/** Roles the person does not have whose people may charge this today, had they charged nothing yet. */
export function rolesThatCould(
  roles: ChargingRoles,
  held: readonly string[],
  { money, cardMinor }: { money: Money; cardMinor: number },
): string[] {
  return Object.entries(roles).flatMap(([name, { limits }]) => {
    if (held.includes(name)) return [];
    if (limits === undefined) return [name];
    const own = Object.hasOwn(limits, money.currency) ? limits[money.currency] : undefined;
    return own && !overLimit(own, money, { agentMinor: 0, cardMinor }) ? [name] : [];
  });
}
