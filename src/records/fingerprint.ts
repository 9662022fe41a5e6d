import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import type { Log } from '../log.ts';
import type { Store, Sealer } from '../store/store.ts';

/** A keyed hash: the same text has the same one on every replica and for ever, and nobody without the store can make it. */
export type Fingerprint = (text: string) => Promise<string>;

const keyName = 'secret:fingerprint';
const keyBytes = 32;
const shownCharacters = 32;

/**
 * Names a card by its token key without telling it: HMAC-SHA256, the first 32 hex characters. The key is made
 * once for all replicas and kept sealed; it survives the rotation of the sealing keys, because whoever opens
 * it under an old one seals it under the first. Nothing is read before the first call, and a call that found
 * the store away (StoreUnavailable) or the key sealed with one that is not here is tried anew by the next.
 *
 * A key that cannot be opened is never replaced: every wait after a decline stands under names made with it,
 * and with another key every card would look like one that was never charged.
 */
export function openFingerprint(
  store: Pick<Store, 'create' | 'read' | 'write'>,
  sealer: Sealer,
  log: Log,
): Fingerprint {
  let opening: Promise<KeyObject> | undefined;
  async function open(): Promise<KeyObject> {
    try {
      // Node checks bytes that are given as a key anew each time, which takes four times as long as the hash.
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
      .slice(0, shownCharacters);
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
    // Read back also when ours was stored: what counts is what every other replica reads.
    entry = await store.read(keyName);
    if (!entry) throw new Error(`The record ${keyName} was removed from the store while it was made.`);
  }
  const key = readKey(sealer, entry.value);
  const fresh = sealer.seal(keyName, key.toString('hex'));
  // Losing the swap is no harm: another replica has sealed the same key.
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
