import type { Config } from '../config/config.ts';
import { merchantPrefix, type Merchant } from '../domain/merchant.ts';
import { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { ChargePlace } from '../slack/words/charge-place.ts';
import { scopeStore } from '../store/scoped-store.ts';
import type { Entry, Store } from '../store/store.ts';
import type { Kept } from '../store/kept.ts';
import type { Outside } from './outside.ts';

/** One merchant account: its own settings, and the part of the store that is its own. */
export type MerchantPlace = {
  /** Undefined when the bot knows one account alone. */
  merchant: Merchant | undefined;
  outside: Outside;
  kept: Kept;
  /** Until when the payments service wants no calls, of all accounts; see the client. */
  pauses: Map<string, number>;
  /** An entry of the whole store as the account knows it; undefined when it is another's. */
  entryOf: (entry: Entry) => Entry | undefined;
};

/**
 * The accounts of the bot, each with what its parts are made from, the first one first. Whatever is made of one
 * place can neither send another account's token or id nor read another's record: it has none of them.
 */
export function merchantPlaces(outside: Outside, kept: Kept): [MerchantPlace, ...MerchantPlace[]] {
  const { merchant, further = [] } = outside.config;
  const pauses = new Map<string, number>();
  const first = {
    pauses,
    merchant,
    outside: { ...outside, log: namedLog(outside, merchant) },
    kept,
  };
  return [
    { ...first, entryOf: (entry) => (entry.key.startsWith('@') ? undefined : entry) },
    ...further.map((config) => ({
      ...furtherPlace({ ...outside, config }, config.merchant, kept),
      pauses,
    })),
  ];
}

/** The part of the store that belongs to the account of this configuration. */
export function keptFor({ config, ...outside }: Outside, kept: Kept): Kept {
  const { merchant } = config;
  if (!merchant || merchant.isFirst) return kept;
  return furtherPlace({ ...outside, config }, merchant, kept).kept;
}

/** Where money moves, as messages say it. */
export function chargePlace(config: Config): ChargePlace {
  const { paymentsEnvironment: environment, paymentsAccountName: account, merchant, policy } = config;
  const otherAccounts = (policy.accounts ?? [])
    .map(({ name }) => name)
    .filter((name) => name !== merchant?.name);
  return { environment, account, isMixed: merchant?.isMixed === true, otherAccounts };
}

function furtherPlace(outside: Outside, merchant: Merchant, kept: Kept): Omit<MerchantPlace, 'pauses'> {
  const { name } = merchant;
  const { store, entryOf } = scopeStore(kept.store, name);
  const { sealer } = kept;
  const prefix = merchantPrefix(name);
  return {
    merchant,
    outside: { ...outside, log: namedLog(outside, merchant) },
    kept: {
      ...kept,
      whole: kept,
      store,
      // What one account has sealed opens under no other's key.
      sealer: {
        seal: (key, text) => sealer.seal(prefix + key, text),
        open: (key, sealed) => sealer.open(prefix + key, sealed),
      },
    },
    entryOf,
  };
}

function namedLog({ log }: Outside, merchant: Merchant | undefined): Outside['log'] {
  if (!merchant) return log;
  return (level, message, fields, error) => log(level, message, { account: merchant.name, ...fields }, error);
}

/**
 * Whose the records of the store are, checked before anything uses them: a name that was given to another account,
 * or another account put first, would charge with one account's money what belongs to another. Throws in words that
 * say what to do, and StoreUnavailable. A bot with one account alone writes down whose its records are, and refuses nothing.
 */
export async function checkOwners(store: Store, config: Config): Promise<void> {
  const { merchant, further = [], payopsFile } = config;
  if (!merchant) {
    // The next start notes it.
    await noteOwner(store, '', ownerOf(config)).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
    });
    return;
  }
  const all = [{ scope: '', config }, ...further.map((one) => ({ scope: one.merchant.name, config: one }))];
  for (const { scope, config: one } of all) {
    const name = one.merchant?.name ?? '';
    // oxlint-disable-next-line no-await-in-loop -- a handful, and the first that is wrong is told
    const noted = await claimOwner(store, scope, ownerOf(one));
    if (noted === ownerOf(one)) continue;
    const fix =
      scope === ''
        ? `put the account ${noted} first in ${payopsFile}`
        : `give the account ${ownerOf(one)} a name of its own in ${payopsFile}`;
    throw new Error(
      `What the store holds for ${name} belongs to the account ${noted}, and ${payopsFile} says that ${name} is ${ownerOf(one)}: ${fix}, or give the bot a new store (DATA_DIR, REDIS_PREFIX).`,
    );
  }
}

function ownerOf({ paymentsAccountId, paymentsEnvironment }: Config): string {
  return `${paymentsAccountId?.toLowerCase() ?? ''} (${paymentsEnvironment})`;
}

function ownerKey(scope: string): string {
  return `merchant:${scope}`;
}

/** The one on record: this one, if there was none. */
async function claimOwner(store: Store, scope: string, owner: string): Promise<string> {
  if (await store.create(ownerKey(scope), owner)) return owner;
  return (await store.read(ownerKey(scope)))?.value ?? owner;
}

async function noteOwner(store: Store, scope: string, owner: string): Promise<void> {
  const noted = await claimOwner(store, scope, owner);
  if (noted === owner) return;
  const entry = await store.read(ownerKey(scope));
  if (entry) await store.write(entry, owner);
}
