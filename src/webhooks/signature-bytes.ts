import { createHash, timingSafeEqual } from 'node:crypto';

/** The bytes, or none at all when the text is not wholly in the encoding: node:buffer decodes as far as it can and drops the rest. */
export function exactBytes(written: string, encoding: 'hex' | 'base64'): Buffer {
  const bytes = Buffer.from(written, encoding);
  const unpadded = bytes.toString(encoding).replace(/=+$/, '');
  // Counting the bytes is not enough: of hex node:buffer reads the lower half of a character, and takes š for a.
  const wanted = encoding === 'hex' ? written.toLowerCase() : written.replace(/={1,2}$/, '');
  return unpadded === wanted ? bytes : Buffer.alloc(0);
}

export function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

export function sameBytes(expected: Buffer, given: Buffer): boolean {
  return expected.length === given.length && timingSafeEqual(expected, given);
}
