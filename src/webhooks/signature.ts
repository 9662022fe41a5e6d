import { hash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { parsed, type Parsed } from '../domain/wording.ts';
import { coverageOf, isSigned, nameOfSource, unseparated, type Coverage } from './signature-template.ts';
import {
  exactBytes,
  readDelivery,
  sameBytes,
  signedBytes,
  timeOf,
  timeProblem,
  type DeliveryParts,
  type SignatureScheme,
  type SignedRequest,
} from './signed-delivery.ts';

/** Why a delivery is refused. `no_signature`: probably not of the service. */
export const signatureRefusals = ['no_signature', 'mismatch', 'time', 'not_set_up', 'malformed'] as const;
export type SignatureRefusal = (typeof signatureRefusals)[number];

/** `why` is for the log: it may name a setting, a header or a field, but no value. */
type SignatureVerdict =
  | ({ kind: 'valid' } & Coverage)
  | { kind: 'invalid'; cause: SignatureRefusal; why: string };

function invalid(cause: SignatureRefusal, why: string): SignatureVerdict {
  return { kind: 'invalid', cause, why };
}

/**
 * Checks a delivery's signature. Valid only if one of the secrets made one of its signatures, over exactly the bytes
 * that the template names, at a time within the tolerance. No scheme, no secret, and missing, malformed or repeated
 * parts are invalid. Never throws; compares in constant time. A static token signs nothing, yet counts as covering the
 * body: anybody who can change a body has seen the token and could send any other body.
 *
 * Spec: Events, rule 2.
 */
export function createVerifier(
  scheme: SignatureScheme | undefined,
  secrets: readonly string[],
): (request: SignedRequest, nowMs: number) => SignatureVerdict {
  const unusable = signatureProblem(scheme, secrets);
  if (!scheme || unusable !== undefined) return () => invalid('not_set_up', unusable ?? noScheme);
  // Key objects, made once: Node checks raw key bytes at every use, which takes longer than the signature itself.
  const keys = secrets.map((secret) => createSecretKey(keyBytes(scheme, secret)));
  const coverage = coverageOf(scheme.template);
  return function verify(request, nowMs) {
    const delivery = readDelivery(scheme, request);
    if (!delivery.ok) return invalid(delivery.cause, delivery.problem);
    const untimely = timeProblem(scheme, delivery.value, nowMs);
    if (untimely !== undefined) return invalid('time', untimely);
    const expected = expectedDigests(scheme, keys, delivery.value);
    if (!expected.ok) return invalid('malformed', expected.problem);
    let matches = false;
    for (const signature of delivery.value.signatures) {
      const given = givenDigest(scheme, signature);
      for (const digest of expected.value) matches = sameBytes(digest, given) || matches;
    }
    if (!matches) return invalid('mismatch', 'the signature is not one of ours');
    if (coverage.covers === 'body' || !scheme.timestamp) return { kind: 'valid', ...coverage };
    return { kind: 'valid', ...coverage, atMs: timeOf(scheme.timestamp, delivery.value) };
  };
}

const noScheme = 'no signature scheme is configured';

/**
 * Why this scheme with these secrets would refuse every delivery; undefined: it can accept some. Checked at start,
 * before a delivery is refused by mistake.
 */
export function signatureProblem(
  scheme: SignatureScheme | undefined,
  secrets: readonly string[],
): string | undefined {
  if (!scheme) return noScheme;
  if (scheme.headers.length === 0) return 'the scheme names no signature header';
  if (secrets.length === 0) return 'no secret is configured';
  const bad = secrets.findIndex((secret) => keyBytes(scheme, secret).length === 0);
  if (bad >= 0) {
    return `secret ${bad + 1} of ${secrets.length} is empty or not written as ${scheme.secretEncoding}`;
  }
  return templateProblem(scheme);
}

function templateProblem({ template, place, timestamp }: SignatureScheme): string | undefined {
  const coverage = coverageOf(template);
  if (coverage.covers === 'fields') {
    if (coverage.pointers.length === 0) return 'the template covers neither the body nor a field of it';
    const pair = unseparated(template, timestamp?.source);
    if (pair) {
      const [first, second] = pair.map(nameOfSource);
      return `in the template nothing stands between ${first} and ${second}, so one signature would fit other values of both`;
    }
  }
  if (place.kind !== 'pair' && template.some((part) => part.kind === 'pair')) {
    return 'the template reads a pair of the signature’s header, and the place of the signature is not a pair';
  }
  const source = timestamp?.source;
  if (!source || isSigned(source, template)) return undefined;
  return `the timestamp (${nameOfSource(source)}) is not part of what is signed`;
}

function expectedDigests(
  { algorithm, template }: SignatureScheme,
  keys: readonly KeyObject[],
  delivery: DeliveryParts,
): Parsed<Buffer[]> {
  if (algorithm === 'none') return parsed(keys.map((key) => sha256(key.export())));
  const signed = signedBytes(template, delivery);
  if (!signed.ok) return signed;
  return parsed(
    keys.map((key) => {
      const hmac = createHmac(algorithm, key);
      for (const bytes of signed.value) hmac.update(bytes);
      return hmac.digest();
    }),
  );
}

function givenDigest({ algorithm, encoding }: SignatureScheme, signature: string): Buffer {
  // node:http gives header bytes as latin1.
  if (algorithm === 'none') return sha256(Buffer.from(signature, 'latin1'));
  return exactBytes(signature, encoding);
}

function sha256(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}

/** The key's bytes; empty unless all of the secret is in the scheme's encoding, because half a key must not verify. */
export function keyBytes({ secretEncoding }: SignatureScheme, secret: string): Buffer {
  if (secretEncoding === 'utf8') return Buffer.from(secret);
  if (secretEncoding === 'whsec') return exactBytes(secret.replace(/^whsec_/, ''), 'base64');
  return exactBytes(secret, secretEncoding);
}
