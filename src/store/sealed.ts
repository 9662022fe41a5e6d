import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { SealBroken, type Sealer } from './store.ts';

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Seals with AES-256-GCM and a random nonce. The context is authenticated: a sealed text that is copied into another
 * record doesn't open there. The first key seals, and every key opens; to rotate, put the new key first and keep the
 * old one until nothing is sealed with it. Sealed text is `<key id>.<base64url of nonce, tag, ciphertext>`. Throws
 * RangeError for invalid keys.
 */
export function createSealer(keys: readonly SealingKey[]): Sealer {
  const [first] = keys;
  if (first === undefined) throw new RangeError('Sealing needs at least one key.');
  for (const { id, key } of keys) {
    if (!/^[\w-]{1,32}$/.test(id))
      throw new RangeError('A sealing key id is 1 to 32 letters, digits, - or _.');
    if (key.length !== 32)
      throw new RangeError(`Sealing key ${id} has ${key.length} bytes; it must have 32.`);
  }
  // Key objects, because Node checks raw key bytes at every use, which takes longer than sealing.
  const byId = new Map(keys.map(({ id, key }) => [id, createSecretKey(key)]));
  const firstKey = createSecretKey(first.key);
  const nextNonce = createNonces();
  if (byId.size !== keys.length) throw new RangeError('Two sealing keys have the same id.');

  return {
    seal(context, plain) {
      const nonce = nextNonce();
      const cipher = createCipheriv('aes-256-gcm', firstKey, nonce).setAAD(Buffer.from(context));
      const text = cipher.update(plain, 'utf8');
      const end = cipher.final();
      return `${first.id}.${Buffer.concat([nonce, cipher.getAuthTag(), text, end]).toString('base64url')}`;
    },
    open(context, sealed) {
      const dot = sealed.indexOf('.');
      const key = byId.get(sealed.slice(0, Math.max(dot, 0)));
      // Don't repeat the id: in a damaged text it could be a part of a secret.
      if (key === undefined) {
        throw new SealBroken('Sealed with a key that is not configured: add the old key after the new one.');
      }
      return decrypt(key, context, Buffer.from(sealed.slice(dot + 1), 'base64url'));
    },
  };
}

/** Makes nonces, each used once. Random bytes cost a system call, so it draws many at a time. */
function createNonces(): () => Buffer {
  const drawnAtOnce = 128;
  let drawn = Buffer.alloc(0);
  return function nextNonce() {
    if (drawn.length === 0) drawn = randomBytes(nonceBytes * drawnAtOnce);
    const nonce = drawn.subarray(0, nonceBytes);
    drawn = drawn.subarray(nonceBytes);
    return nonce;
  };
}

function decrypt(key: KeyObject, context: string, bytes: Buffer): string {
  if (bytes.length < nonceBytes + tagBytes) throw new SealBroken('The sealed text is cut short.');
  const nonce = bytes.subarray(0, nonceBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    throw new SealBroken(
      'The sealed text was changed, sealed for another record, or sealed with another key.',
    );
  }
}

export type SealingKey = {
  /** Written unencrypted before everything sealed with the key: letters, digits, `-` and `_`. */
  id: string;
  /** 32 bytes. */
  key: Uint8Array;
};
