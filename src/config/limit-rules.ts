import type { ChargingRoles, CurrencyLimits, LimitKind, LimitRules } from '../domain/charge-limits.ts';
import { formatMoney } from '../domain/money.ts';
import { policyCheck } from './config.ts';
import type { Policy } from './policy.ts';

type Role = Policy['roles'][string];

/** The permission whose roles are limited. */
const chargePermission = 'charge';

/**
 * The limits that hold for charges of this account, by role; undefined when the policy limits none of them. `account`
 * is undefined in a bot that knows one account alone.
 */
export function limitRules(
  { roles, timezone: timeZone = 'UTC' }: Pick<Policy, 'roles' | 'timezone'>,
  account: string | undefined,
): LimitRules | undefined {
  const charging = Object.entries(roles).filter(([, role]) => mayCharge(role) && isFor(role, account));
  if (charging.every(([, { limits }]) => limits === undefined)) return undefined;
  const limited = charging.map(([name, { limits }]) => [name, limits ? { limits } : {}]);
  return { timeZone, roles: Object.fromEntries(limited) as ChargingRoles };
}

function mayCharge({ may }: Role): boolean {
  return may.includes(chargePermission) || may.includes('*');
}

function isFor({ accounts }: Role, account: string | undefined): boolean {
  return accounts === undefined || (account !== undefined && accounts.includes(account));
}

/** Limits that limit nothing, or nobody. */
export const limitsCheck = policyCheck(
  ['roles'],
  ['payopsFile', 'chargeCurrencies'],
  ({ policy, payopsFile, chargeCurrencies }) =>
    Object.entries(policy.roles).flatMap(([name, role]) => {
      if (role.limits === undefined) return [];
      const at = `${payopsFile}: roles.${name}.limits`;
      if (!mayCharge(role)) {
        return [
          `${at}: the role may not charge, so they limit nobody. Take them out, or write charge under may.`,
        ];
      }
      return Object.entries(role.limits).flatMap(([currency, limits]) => [
        ...currencyProblems(`${at}.${currency}`, currency, chargeCurrencies),
        ...uselessProblems(`${at}.${currency}`, currency, limits),
      ]);
    }),
);

function currencyProblems(at: string, currency: string, known: readonly string[]): string[] {
  if (known.includes(currency)) return [];
  return [`${at}: nobody can charge ${currency}, CHARGE_CURRENCIES names ${known.join(', ')} alone.`];
}

const ofDay: readonly LimitKind[] = ['per_agent_per_day', 'per_card_per_day'];

function uselessProblems(at: string, currency: string, limits: CurrencyLimits): string[] {
  const { per_charge: minor } = limits;
  return ofDay.flatMap((kind) => {
    const dayMinor = limits[kind];
    if (minor === undefined || dayMinor === undefined || minor <= dayMinor) return [];
    const [one, day] = [minor, dayMinor].map((amount) => formatMoney({ minor: amount, currency }));
    return [
      `${at}.per_charge is ${one}, and ${kind} never lets more than ${day} through: lower the one, or raise the other.`,
    ];
  });
}
