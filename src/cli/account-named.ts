import type { Config } from '../config/config.ts';
import { parsed, problem, type Parsed } from '../domain/parsed.ts';

/** The settings of each merchant account, the first one first. */
export function allAccounts(config: Config): readonly Config[] {
  return [config, ...(config.further ?? [])];
}

/** The settings of the account of that name; a bot that knows one account alone has no names. */
export function accountNamed(name: string | undefined, all: readonly Config[]): Parsed<Config> {
  const named = all.find(({ merchant }) => merchant !== undefined && merchant.name === name?.toLowerCase());
  if (named) return parsed(named);
  const names = namesOf(all);
  const known = names === '' ? 'The policy file has no accounts.' : `The accounts are ${names}.`;
  return problem(`Nothing was done. There is no account of that name. ${known}`);
}

export function sayWhich(all: readonly Config[]): string {
  return `Nothing was done. Say for which account: --account with ${namesOf(all)}.`;
}

function namesOf(all: readonly Config[]): string {
  return all.flatMap(({ merchant }) => merchant?.name ?? []).join(', ');
}
