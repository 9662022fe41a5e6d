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

/** What must hold between settings, beyond what each says by itself. Judged only when all it reads was readable. */
export type SettingsCheck = {
  reads: readonly (keyof Config)[];
  /** The problems, each naming the setting and what to write. */
  judge: (config: Config) => readonly string[];
};

/** The judge is given no more than it says it reads, so that a setting that could not be read misleads nobody. */
export function settingsCheck<const K extends keyof Config>(
  reads: readonly K[],
  judge: (config: Pick<Config, K>) => readonly string[],
): SettingsCheck {
  return { reads, judge };
}

/** What every part of the app is made from. */
export type Outside = { config: Config; log: Log; now: () => number };
