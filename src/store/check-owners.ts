import type { Merchant } from '../domain/merchant.ts';
import { StoreUnavailable } from '../domain/failure.ts';
import type { Store } from './store.ts';

type Owned = {
  paymentsAccountId: string | undefined;
  paymentsEnvironment: string;
  payopsFile: string;
  merchant?: Merchant;
  further?: readonly (Owned & { merchant: Merchant })[];
};

/**
 * Checks that the store's records belong to the configured accounts; call it before anything reads them. If a name now
 * means another account, or another account is first, one account's charges would move another's money. The account of
 * a bot with one may change, but not its environment: a real event would be dropped as the repeat of a test's. Throws
 * an error that says what to do, or StoreUnavailable.
 */
export async function checkOwners(store: Store, config: Owned): Promise<void> {
  const { merchant, further = [], payopsFile } = config;
  if (!merchant) {
    // If the store is away, the next start checks it.
    await replaceOwner(store, config).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
    });
    return;
  }
  const all = [{ scope: '', config }, ...further.map((one) => ({ scope: one.merchant.name, config: one }))];
  for (const { scope, config: one } of all) {
    const name = one.merchant?.name ?? '';
    const recorded = await recordOwner(store, scope, ownerOf(one));
    if (recorded === ownerOf(one)) continue;
    const fix =
      scope === ''
        ? `put the account ${recorded} first in ${payopsFile}`
        : `give the account ${ownerOf(one)} a name of its own in ${payopsFile}`;
    throw new Error(
      `What the store holds for ${name} belongs to the account ${recorded}, and ${payopsFile} says that ${name} is ${ownerOf(one)}: ${fix}, or give the bot a new store (DATA_DIR, REDIS_PREFIX).`,
    );
  }
}

function ownerOf({ paymentsAccountId, paymentsEnvironment }: Owned): string {
  return `${paymentsAccountId?.toLowerCase() ?? ''} (${paymentsEnvironment})`;
}

function ownerKey(scope: string): string {
  return `merchant:${scope}`;
}

/** Records the owner if there is none; returns the owner on record. */
async function recordOwner(store: Store, scope: string, owner: string): Promise<string> {
  if (await store.create(ownerKey(scope), owner)) return owner;
  return (await store.read(ownerKey(scope)))?.value ?? owner;
}

async function replaceOwner(store: Store, config: Owned): Promise<void> {
  const owner = ownerOf(config);
  const recorded = await recordOwner(store, '', owner);
  if (recorded === owner) return;
  const { paymentsEnvironment: environment } = config;
  const [, before] = /\((\w+)\)$/.exec(recorded) ?? [];
  if (before !== environment) {
    throw new Error(
      `The store is of the environment ${before}, and PAYMENTS_ENVIRONMENT is ${environment}: a real payment with the reference of a test would be taken for its repeat. Give the bot a new store (DATA_DIR, REDIS_PREFIX), or set PAYMENTS_ENVIRONMENT back.`,
    );
  }
  const entry = await store.read(ownerKey(''));
  if (entry) await store.write(entry, owner);
}
