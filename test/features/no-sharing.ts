import type { Account } from '../../src/account.ts';
import { createAsk, type Lookups } from '../../src/features/lookup/look-up.ts';

/** Look-ups for tests of what neither shares nor reveals one. */
export function lookupsOf(findTransaction: Account['payments']['findTransaction']): Lookups {
  const place = { environment: 'sandbox', account: 'Main shop' } as const;
  const account = {
    place,
    payments: { findTransaction },
    now: () => 1_700_000_000_000,
  } as unknown as Account;
  const press = { actionId: 'reveal', press: () => Promise.reject(new Error('nothing is revealed here')) };
  return {
    account,
    reveals: { press, may: () => Promise.resolve(false) },
    ask: createAsk(account, () => Promise.resolve(undefined)),
  };
}
