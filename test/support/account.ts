import type { Account } from '../../src/account.ts';

type Parts = {
  [Name in keyof Account]?: Account[Name] extends (...given: never[]) => unknown
    ? Account[Name]
    : Partial<Account[Name]>;
};

/** An account with the parts that a test gives; the rest does nothing, and using a part that was not given throws. */
export function accountOf(parts: Parts): Account {
  return {
    shownAccount: { environment: 'live', account: 'main account' },
    fingerprint: async () => 'card',
    rememberMs: 365 * 86_400_000,
    leaseMs: 45_000,
    audit: { note: () => undefined, write: async () => true },
    wake: () => undefined,
    wait: async () => undefined,
    log: () => undefined,
    ...parts,
  } as unknown as Account;
}
