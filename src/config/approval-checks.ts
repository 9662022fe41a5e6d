import type { ApprovalRule } from '../domain/approval.ts';
import { policyCheck } from './config.ts';
import type { Policy } from './policy.ts';

type Written = NonNullable<Policy['approvals']>['rules'][number];

/** The rules of the policy file in domain words, of one merchant account; `undefined` in a bot that knows one alone. */
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

/** What can never come to pass: a rule that fits nothing, and one that nobody, or too few people, could satisfy. */
export const approvalsCheck = policyCheck(
  ['approvals', 'accounts', 'roles'],
  ['payopsFile', 'chargeCurrencies'],
  ({ policy, payopsFile, chargeCurrencies }) => {
    const rules = policy.approvals?.rules ?? [];
    return rules
      .flatMap((rule, index) => [
        ...twinProblems(rules, index),
        ...placeProblems(policy, rule, index),
        ...currencyProblems(chargeCurrencies, rule, index),
        ...peopleProblems(policy, rule, index),
      ])
      .map((words) => `${payopsFile}: ${words}`);
  },
);

function twinProblems(rules: readonly Written[], index: number): string[] {
  const first = rules.findIndex((rule) => objectOf(rule) === objectOf(rules[index]));
  return first === index
    ? []
    : [`approvals.rules.${index} is about the same as approvals.rules.${first}: keep one of them.`];
}

function objectOf(rule: Written | undefined): string {
  return JSON.stringify({ ...rule, needed: undefined });
}

function placeProblems(
  { accounts = [] }: Pick<Policy, 'accounts'>,
  { account }: Written,
  index: number,
): string[] {
  if (account === undefined || accounts.some(({ name }) => name === account)) return [];
  const known = accounts.map(({ name }) => name).join(', ');
  return [
    `approvals.rules.${index}.account: ${account} is none of the accounts${known === '' ? ', because the file has no accounts' : ` (${known})`}.`,
  ];
}

/** Misspelt, a threshold would never be reached and nobody would notice. */
function currencyProblems(currencies: readonly string[], rule: Written, index: number): string[] {
  if (rule.what !== 'charge' || currencies.includes(rule.currency)) return [];
  return [
    `approvals.rules.${index}.currency: nothing is charged in ${rule.currency}, CHARGE_CURRENCIES is ${currencies.join(',')}.`,
  ];
}

/** Members of user groups cannot be counted here; people who are listed by user id can. */
function peopleProblems(policy: Pick<Policy, 'accounts' | 'roles'>, rule: Written, index: number): string[] {
  const names =
    rule.account === undefined ? (policy.accounts?.map(({ name }) => name) ?? []) : [rule.account];
  const places = names.length === 0 ? [undefined] : names;
  return places.flatMap((place) => {
    const at = place === undefined ? '' : ` at the account ${place}`;
    const holders = Object.values(policy.roles).filter(
      ({ may, accounts }) =>
        (may.includes('approve') || may.includes('*')) &&
        (accounts === undefined || (place !== undefined && accounts.includes(place))),
    );
    const people = new Set(holders.flatMap(({ users }) => users));
    if (holders.some(({ groups }) => groups.length > 0)) return [];
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
