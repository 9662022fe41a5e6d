import type { Log } from '../log.ts';
import type { Merchant } from '../domain/merchant.ts';
import type { Policy } from './policy.ts';
import type { Environment } from './settings.ts';

/**
 * Everything the program is told from outside, frozen. With `accounts` in the policy file it is the first one's:
 * ids, addresses and secrets are its own.
 */
export type Config = Environment & {
  readonly policy: Policy;
  /** Absent when the bot knows one account alone. */
  readonly merchant?: Merchant;
  /** The same for each further account. */
  readonly further?: readonly (Config & { readonly merchant: Merchant })[];
};

/** How long requests are still served after SIGTERM. A bot alone on its store has no replica that takes them over meanwhile. */
export function drainSecondsOf({ drainSeconds, redisUrl }: Pick<Environment, 'drainSeconds' | 'redisUrl'>) {
  return drainSeconds ?? (redisUrl === undefined ? 0 : 5);
}

/**
 * What must hold between settings, beyond what each says by itself: the problem, or problems, each naming the setting and
 * what to write. It is asked only where all that it looks at was readable, so that nothing unreadable is called missing.
 */
export type SettingsCheck = (config: Config) => false | string | readonly string[];

/** What every part of the app is made from. */
export type Outside = { config: Config; log: Log; now: () => number };
