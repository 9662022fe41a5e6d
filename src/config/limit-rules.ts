import type { ChargingRoles, LimitRules } from '../domain/charge.ts';
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

/** Limits of what nobody can charge, or of nobody. */
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
      return Object.keys(role.limits)
        .filter((currency) => !chargeCurrencies.includes(currency))
        .map(
          (currency) =>
            `${at}.${currency}: nobody can charge ${currency}, CHARGE_CURRENCIES names ${chargeCurrencies.join(', ')} alone.`,
        );
    }),
);
