import type { Log } from '../log.ts';
import type { Merchant } from '../domain/merchant.ts';
import type { Policy } from './policy.ts';
import type { SettingValues } from './settings.ts';

/**
 * The whole configuration, frozen. If the policy file has `accounts`, ids, addresses and secrets are those of the first
 * account.
 */
export type Config = SettingValues & {
  readonly policy: Policy;
  /** Absent if the bot has one account only. */
  readonly merchant?: Merchant;
  /** The whole configuration of each further account. */
  readonly further?: readonly (Config & { readonly merchant: Merchant })[];
};

/** How long requests are served after SIGTERM: longer with replicas, which take over meanwhile. */
export function drainSecondsOf({ drainSeconds, redisUrl }: Pick<SettingValues, 'drainSeconds' | 'redisUrl'>) {
  return drainSeconds ?? (redisUrl === undefined ? 0 : 5);
}

/**
 * Checks a rule between settings. Returns the problems, each naming the setting and what to write. Its problems are
 * dropped if it reads a setting whose value was unreadable: that setting is not missing.
 */
export type SettingsCheck = (config: Config) => false | string | readonly string[];

export type Runtime = { config: Config; log: Log; now: () => number };
