import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import type { Log } from '../log.ts';
import type { Store, Sealer } from '../store/store.ts';

/** A keyed hash. It is the same on every replica and never changes; it can't be computed without the store. */
export type Fingerprint = (text: string) => Promise<string>;

const keyName = 'secret:fingerprint';
const keyBytes = 32;
const hashCharacters = 32;

/**
 * A fingerprint is the first 32 hex characters of an HMAC-SHA256, and names a card without its token key. The HMAC's key
 * is made once for all replicas, stored sealed, and resealed with the first of SEALING_KEYS. The first call reads the
 * key; if that fails (StoreUnavailable, or the sealing key is missing), the next call tries again. A key that can't be
 * opened is never replaced: histories and holds are stored by fingerprint, so another key would lose them all.
 */
export function openFingerprint(
  store: Pick<Store, 'create' | 'read' | 'write'>,
  sealer: Sealer,
  log: Log,
): Fingerprint {
  let opening: Promise<KeyObject> | undefined;
  async function open(): Promise<KeyObject> {
    try {
      // A KeyObject, because Node checks raw bytes at every call, which takes four times as long as the hash.
      return createSecretKey(await openKey(store, sealer, log));
    } catch (error) {
      opening = undefined;
      throw error;
    }
  }
  return async function fingerprint(text) {
    opening ??= open();
    return createHmac('sha256', await opening)
      .update(text)
      .digest('hex')
      .slice(0, hashCharacters);
  };
}

async function openKey(
  store: Pick<Store, 'create' | 'read' | 'write'>,
  sealer: Sealer,
  log: Log,
): Promise<Buffer> {
  let entry = await store.read(keyName);
  if (!entry) {
    const made = sealer.seal(keyName, randomBytes(keyBytes).toString('hex'));
    if (await store.create(keyName, made)) log('info', 'Made the key that names saved cards');
    // Use the stored key even if our `create` succeeded, so that all replicas have the same one.
    entry = await store.read(keyName);
    if (!entry) throw new Error(`The record ${keyName} was removed from the store while it was made.`);
  }
  const key = readKey(sealer, entry.value);
  const fresh = sealer.seal(keyName, key.toString('hex'));
  // If this write loses, another replica has resealed the same key.
  if (sealingKeyOf(fresh) !== sealingKeyOf(entry.value) && (await store.write(entry, fresh))) {
    log('info', 'Sealed the key that names saved cards with the first sealing key');
  }
  return key;
}

function readKey(sealer: Sealer, sealed: string): Buffer {
  let key: Buffer;
  try {
    key = Buffer.from(sealer.open(keyName, sealed), 'hex');
  } catch (cause) {
    throw new Error(lostKey, { cause });
  }
  if (key.length !== keyBytes) throw new Error(lostKey);
  return key;
}

/** Sealed text begins with the id of its key and a dot. */
function sealingKeyOf(sealed: string): string | undefined {
  return sealed.split('.', 1)[0];
}

const lostKey = [
  `The key that names saved cards (record ${keyName}) cannot be opened, so neither the waits after declines nor the remembered cards can be found, and no saved card is charged.`,
  'Put the sealing key it was sealed with back: at the end of SEALING_KEYS, or as the file sealing.key in DATA_DIR.',
  `Only if that key is gone for good, remove the record ${keyName} from the store: a new key is made then, and all waits and remembered cards are lost.`,
].join(' ');
