import type { ChargingRoles, LimitRules } from '../domain/charge.ts';
import type { Policy } from './policy.ts';
import type { ApprovalRule } from '../domain/approval.ts';
import { nearestWord } from '../domain/wording.ts';
import type { Config, SettingsCheck } from './config.ts';

type Role = Policy['roles'][string];

type Charging = Pick<Config, 'policy' | 'payopsFile' | 'chargeCurrencies'>;

/** The permission that limits apply to. */
const chargePermission = 'charge';

/**
 * The limits for charges of this account, by role; undefined if the policy has none. `account` is undefined if the bot
 * has one account only.
 */
export function limitRules(
  { roles, timezone: timeZone }: Pick<Policy, 'roles' | 'timezone'>,
  account: string | undefined,
): LimitRules | undefined {
  const charging = Object.entries(roles).filter(
    ([, role]) => may(role, chargePermission) && isFor(role, account),
  );
  if (charging.every(([, { limits }]) => limits === undefined)) return undefined;
  const limited = charging.map(([name, { limits }]) => [name, limits ? { limits } : {}]);
  return { timeZone, roles: Object.fromEntries(limited) as ChargingRoles };
}

function may({ may: permissions }: Role, permission: string): boolean {
  return permissions.includes(permission) || permissions.includes('*');
}

function isFor({ accounts }: Role, account: string | undefined): boolean {
  return accounts === undefined || (account !== undefined && accounts.includes(account));
}

/** Reports limits without effect: of roles that may not charge, or for currencies that can't be charged. */
export function limitsCheck({ policy, payopsFile, chargeCurrencies }: Charging): string[] {
  return Object.entries(policy.roles).flatMap(([name, role]) => {
    if (role.limits === undefined) return [];
    const at = `${payopsFile}: roles.${name}.limits`;
    if (!may(role, chargePermission)) {
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
  });
}

type PolicyRule = NonNullable<Policy['approvals']>['rules'][number];

/** The policy file's approval rules for this account. `merchant` is undefined if the bot has one account only. */
export function approvalRules(
  { approvals }: Pick<Policy, 'approvals'>,
  merchant: string | undefined,
): ApprovalRule[] {
  return (approvals?.rules ?? [])
    .filter(({ account }) => account === undefined || account === merchant)
    .map((rule) =>
      rule.what === 'charge'
        ? { what: rule.what, currency: rule.currency, fromMinor: rule.amount_from, needed: rule.needed }
        : { what: rule.what, needed: rule.needed },
    );
}

/** Reports approval rules that match nothing, and rules that too few people could approve. */
export function approvalsCheck({ policy, payopsFile, chargeCurrencies }: Charging): string[] {
  const rules = policy.approvals?.rules ?? [];
  return rules
    .flatMap((rule, index) => [
      ...duplicateProblems(rules, index),
      ...currencyProblems(chargeCurrencies, rule, index),
      ...peopleProblems(policy, rule, index),
    ])
    .map((words) => `${payopsFile}: ${words}`);
}

function duplicateProblems(rules: readonly PolicyRule[], index: number): string[] {
  const first = rules.findIndex((rule) => conditionOf(rule) === conditionOf(rules[index]));
  return first === index
    ? []
    : [`approvals.rules.${index} is about the same as approvals.rules.${first}: keep one of them.`];
}

/** When the rule applies, as text to compare: all of it but the number of approvers. */
function conditionOf(rule: PolicyRule | undefined): string {
  return JSON.stringify({ ...rule, needed: undefined });
}

/** A threshold in a misspelt currency would never be reached, without any error. */
function currencyProblems(currencies: readonly string[], rule: PolicyRule, index: number): string[] {
  if (rule.what !== 'charge' || currencies.includes(rule.currency)) return [];
  return [
    `approvals.rules.${index}.currency: nothing is charged in ${rule.currency}, CHARGE_CURRENCIES is ${currencies.join(',')}.`,
  ];
}

const askPermissions: Readonly<Record<PolicyRule['what'], string>> = {
  charge: chargePermission,
  retry: chargePermission,
  card_email: 'card-email',
};

/** Each approval rule, once per account, with the roles that may approve and the roles that may ask. */
export function rolesOfRules(policy: Pick<Policy, 'accounts' | 'approvals' | 'roles'>) {
  return (policy.approvals?.rules ?? []).flatMap((rule) => rolesOfRule(policy, rule));
}

function rolesOfRule(policy: Pick<Policy, 'accounts' | 'roles'>, rule: PolicyRule) {
  const names =
    rule.account === undefined ? (policy.accounts?.map(({ name }) => name) ?? []) : [rule.account];
  const accounts = names.length === 0 ? [undefined] : names;
  const { what, needed } = rule;
  return accounts.map((account) => {
    const rolesWith = (permission: string): Role[] =>
      Object.values(policy.roles).filter((role) => may(role, permission) && isFor(role, account));
    return { what, needed, account, approve: rolesWith('approve'), ask: rolesWith(askPermissions[what]) };
  });
}

/** Counts only user ids. Skips a rule whose approvers include user groups: their members are unknown here. */
function peopleProblems(
  policy: Pick<Policy, 'accounts' | 'roles'>,
  rule: PolicyRule,
  index: number,
): string[] {
  return rolesOfRule(policy, rule).flatMap(({ account, approve: approvers }) => {
    const at = account === undefined ? '' : ` at the account ${account}`;
    const people = new Set(approvers.flatMap(({ users }) => users));
    if (approvers.some(({ groups }) => groups.length > 0)) return [];
    if (people.size === 0) {
      return [
        `approvals.rules.${index}: nobody may approve${at}. Give a role the permission approve, and people.`,
      ];
    }
    return rule.needed <= people.size
      ? []
      : [
          `approvals.rules.${index}.needed: ${rule.needed} different people must approve${at}, and only ${people.size} may: no request could ever be approved.`,
        ];
  });
}

/** Reports permissions of a role that no verb asks for: a misspelt one would allow nothing. */
export function permissionCheck(permissions: readonly string[]): SettingsCheck {
  return ({ policy, payopsFile }) =>
    Object.entries(policy.roles).flatMap(([role, { may }]) =>
      may
        .filter((permission) => permission !== '*' && !permissions.includes(permission))
        .map((permission) => {
          const nearest = nearestWord(permission, permissions);
          const hint = nearest
            ? `Did you mean ${nearest}?`
            : `Write ${permissions.join(', ')}, or '*' for all.`;
          return `${payopsFile}: roles.${role}.may: “${permission}” is not a permission. ${hint}`;
        }),
    );
}
