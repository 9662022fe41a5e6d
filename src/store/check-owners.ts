import type { Merchant } from '../domain/merchant.ts';
import { StoreUnavailable } from '../domain/failure.ts';
import type { Store } from './store.ts';

/** The settings of the bot, or of one of its accounts. */
export type Owned = {
  paymentsAccountId: string | undefined;
  paymentsEnvironment: string;
  payopsFile: string;
  merchant?: Merchant;
  further?: readonly (Owned & { merchant: Merchant })[];
};

type OwnerStore = Pick<Store, 'create' | 'read' | 'write'>;

/**
 * Checks that the store's records belong to the configured accounts; call it before anything reads them. If a name now
 * means another account, or another account is first, one account's charges would move another's money. The account of
 * a bot with one may change, but not its environment: a real event would be dropped as the repeat of a test's. Throws
 * an error that says what to do, or StoreUnavailable.
 */
export async function checkOwners(store: OwnerStore, config: Owned): Promise<void> {
  try {
    for (const one of allOf(config)) await checkOwner(store, one);
  } catch (error) {
    // If the store is away, the next start of a bot with one account checks it.
    if (config.merchant || !(error instanceof StoreUnavailable)) throw error;
  }
}

async function checkOwner(store: OwnerStore, one: Owned): Promise<void> {
  if (await store.create(ownerKey(one), ownerOf(one))) return;
  const entry = await store.read(ownerKey(one));
  if (!entry || entry.value === ownerOf(one)) return;
  const wrong = whyOther(entry.value, one);
  if (wrong !== undefined) throw new Error(wrong);
  await store.write(entry, ownerOf(one));
}

/** Why `checkOwners` would keep a bot from starting; undefined if it would not. Changes nothing. */
export async function foreseeOwners(store: Pick<Store, 'read'>, config: Owned): Promise<string | undefined> {
  for (const one of allOf(config)) {
    const recorded = (await store.read(ownerKey(one)))?.value ?? ownerOf(one);
    const wrong = recorded === ownerOf(one) ? undefined : whyOther(recorded, one);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function allOf(config: Owned): Owned[] {
  return [config, ...(config.further ?? [])];
}

/** Why records of the account `recorded` can't be worked on; undefined if they may. */
function whyOther(recorded: string, one: Owned): string | undefined {
  const { merchant, payopsFile, paymentsEnvironment: environment } = one;
  if (merchant) {
    const fix = merchant.isFirst
      ? `Put the account ${recorded} first in ${payopsFile}`
      : `Give the account ${ownerOf(one)} a name of its own in ${payopsFile}`;
    return `What the store holds for ${merchant.name} belongs to the account ${recorded}, and ${payopsFile} says that ${merchant.name} is ${ownerOf(one)}. ${fix}, or give the bot a new store (DATA_DIR, REDIS_PREFIX).`;
  }
  const [, before] = /\((\w+)\)$/.exec(recorded) ?? [];
  if (before === environment) return undefined;
  return `The store is of the environment ${before}, and PAYMENTS_ENVIRONMENT is ${environment}: a real payment with the reference of a test would be taken for its repeat. Give the bot a new store (DATA_DIR, REDIS_PREFIX), or set PAYMENTS_ENVIRONMENT back.`;
}

function ownerOf({ paymentsAccountId, paymentsEnvironment }: Owned): string {
  return `${paymentsAccountId?.toLowerCase() ?? ''} (${paymentsEnvironment})`;
}

function ownerKey({ merchant }: Owned): string {
  return `merchant:${merchant === undefined || merchant.isFirst ? '' : merchant.name}`;
}
