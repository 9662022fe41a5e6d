import type { Config } from '../config/config.ts';

/** Who may decide, as `payops.yml` lists them by user id. Members of groups see the card in the approvals channel. */
export function approvers({ policy, merchant }: Pick<Config, 'policy' | 'merchant'>): Promise<string[]> {
  const holders = Object.values(policy.roles).filter(
    ({ may, accounts }) =>
      (may.includes('approve') || may.includes('*')) &&
      (accounts === undefined || (merchant !== undefined && accounts.includes(merchant.name))),
  );
  return Promise.resolve(holders.flatMap(({ users }) => users));
}
