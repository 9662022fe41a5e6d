import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { parsed, problem, type Parsed } from '../domain/parsed.ts';
import type { SignaturePreset } from '../config/webhook-settings.ts';
import { readJson } from './json.ts';
import { exactBytes, sameBytes, sha256 } from './signature-bytes.ts';
import {
  coverageOf,
  isSigned,
  nameOfSource,
  parseSignatureTemplate,
  unseparated,
  type Coverage,
  type SignatureTemplate,
} from './signature-template.ts';
import {
  readDelivery,
  signedBytes,
  timeOf,
  timeProblem,
  writeTime,
  type DeliveryParts,
  type SignaturePlace,
  type SignedRequest,
  type SignedTime,
} from './signed-delivery.ts';

/**
 * How a sender signs, as settings can say it.
 *
 * Spec: not shown (Events: signature scheme).
 */
export type SignatureScheme = {
  /** In lower case; the first of these that a delivery has carries the signature. */
  headers: readonly string[];
  /** `none`: the header holds the secret itself, and nothing is signed. */
  algorithm: 'sha256' | 'sha512' | 'none';
  encoding: 'hex' | 'base64';
  /** `whsec`: base64 after an optional `whsec_`. */
  secretEncoding: 'utf8' | 'hex' | 'base64' | 'whsec';
  template: SignatureTemplate;
  place: SignaturePlace;
  /** Refuses deliveries signed longer ago, or further ahead, than the tolerance. The source must be signed. */
  timestamp?: SignedTime;
};

/** `why` is for the log: it names a setting, a header or a field, never a value. */
export type SignatureVerdict = ({ kind: 'valid' } & Coverage) | { kind: 'invalid'; why: string };

const rawBody = {
  headers: ['x-webhook-signature', 'x-signature'],
  algorithm: 'sha256',
  encoding: 'hex',
  secretEncoding: 'utf8',
  template: presetTemplate('{body}'),
  place: { kind: 'whole' },
} as const satisfies SignatureScheme;

/**
 * Recipes to start from. Header names, fields and their order are the sender's own, so settings replace
 * them; `field-concatenation` is made of what the spec shows of a payload.
 */
export const signaturePresets: Readonly<Record<SignaturePreset, SignatureScheme>> = {
  'raw-body': rawBody,
  'static-token': {
    ...rawBody,
    headers: ['x-webhook-token', 'authorization'],
    algorithm: 'none',
    template: [],
  },
  'timestamped-pairs': {
    ...rawBody,
    template: presetTemplate('{pair:t}.{body}'),
    place: { kind: 'pair', key: 'v1' },
    timestamp: { source: { kind: 'pair', key: 't' }, unit: 's', toleranceSeconds: 300 },
  },
  'standard-webhooks': {
    ...rawBody,
    headers: ['webhook-signature'],
    encoding: 'base64',
    secretEncoding: 'whsec',
    template: presetTemplate('{header:webhook-id}.{header:webhook-timestamp}.{body}'),
    place: { kind: 'list', version: 'v1' },
    timestamp: { source: { kind: 'header', name: 'webhook-timestamp' }, unit: 's', toleranceSeconds: 300 },
  },
  'field-concatenation': {
    ...rawBody,
    encoding: 'base64',
    template: presetTemplate(
      '{json:/event_type}:{json:/data/order/orderReference}:{json:/data/order/orderId}:{header:x-webhook-timestamp}',
    ),
    timestamp: {
      source: { kind: 'header', name: 'x-webhook-timestamp' },
      unit: 'iso',
      toleranceSeconds: 300,
    },
  },
};

/**
 * Valid only when one of the secrets made one of the signatures that the delivery carries, over exactly
 * the bytes the template names, at a time within the tolerance. No scheme, no secret, and anything
 * malformed, missing or standing twice is invalid. It never throws, and compares in constant time.
 *
 * A static token signs nothing, yet counts as covering the body: whoever could alter a body has seen the
 * token and could as well write a whole one, so trusting less of it would stop nobody.
 *
 * Spec: Events, rule 2.
 */
export function verifySignature(
  scheme: SignatureScheme | undefined,
  secrets: readonly string[],
  request: SignedRequest,
  nowMs: number,
): SignatureVerdict {
  return createVerifier(scheme, secrets)(request, nowMs);
}

/** The same for many deliveries: what hangs on scheme and secrets alone is worked out once. */
export function createVerifier(
  scheme: SignatureScheme | undefined,
  secrets: readonly string[],
): (request: SignedRequest, nowMs: number) => SignatureVerdict {
  const unusable = signatureProblem(scheme, secrets);
  if (!scheme || unusable !== undefined) return () => ({ kind: 'invalid', why: unusable ?? noScheme });
  const keys = secretKeys(scheme, secrets);
  const coverage: Coverage = scheme.algorithm === 'none' ? { covers: 'body' } : coverageOf(scheme.template);
  return function verify(request, nowMs) {
    const delivery = readDelivery(scheme, request);
    if (!delivery.ok) return { kind: 'invalid', why: delivery.problem };
    const expected = expectedDigests(scheme, keys, delivery.value, nowMs);
    if (!expected.ok) return { kind: 'invalid', why: expected.problem };
    let matches = false;
    for (const signature of delivery.value.signatures) {
      const given = givenDigest(scheme, signature);
      for (const digest of expected.value) matches = sameBytes(digest, given) || matches;
    }
    if (!matches) return { kind: 'invalid', why: 'the signature is not one of ours' };
    const atMs = coverage.covers === 'fields' && scheme.timestamp && timeOf(scheme.timestamp, delivery.value);
    return { kind: 'valid', ...coverage, ...(typeof atMs === 'number' ? { atMs } : {}) };
  };
}

const noScheme = 'no signature scheme is configured';

/**
 * Why this scheme and these secrets refuse every delivery, whatever it holds; undefined when they can
 * accept one. For the start of the bot, so that the reason is told before a delivery is lost.
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
  return scheme.algorithm === 'none' ? undefined : templateProblem(scheme);
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

/**
 * The headers that make `body` a delivery of this scheme, for tests and tools: the time where the scheme
 * has one, and an id made from the body in any other header that is signed. Throws when the scheme, the
 * secret or the body cannot be signed with.
 */
export function signDelivery(
  scheme: SignatureScheme,
  secret: string,
  body: Buffer,
  nowMs: number,
): Record<string, string> {
  const unusable = signatureProblem(scheme, [secret]);
  if (unusable !== undefined) throw new Error(`Cannot sign: ${unusable}.`);
  const [name = ''] = scheme.headers;
  if (scheme.algorithm === 'none') return { [name]: carrierOf(scheme.place, secret) };
  const delivery = unsignedDelivery(scheme, body, nowMs);
  const expected = expectedDigests(scheme, secretKeys(scheme, [secret]), delivery, nowMs);
  if (!expected.ok) throw new Error(`Cannot sign: ${expected.problem}.`);
  const signature = expected.value.map((digest) => digest.toString(scheme.encoding)).join('');
  const beside = [...delivery.pairs].map(([key, [value]]) => `${key}=${value}`);
  return { ...delivery.headers, [name]: carrierOf(scheme.place, signature, beside) };
}

function carrierOf(place: SignaturePlace, signature: string, beside: readonly string[] = []): string {
  if (place.kind === 'whole') return signature;
  if (place.kind === 'list') return `${place.version},${signature}`;
  return [...beside, `${place.key}=${signature}`].join(',');
}

function unsignedDelivery(scheme: SignatureScheme, body: Buffer, nowMs: number) {
  const headers: Record<string, string> = {};
  const pairs = new Map<string, [string]>();
  const id = `msg_${sha256(body).toString('hex').slice(0, 24)}`;
  const { timestamp } = scheme;
  for (const part of scheme.template) {
    if (part.kind !== 'header' && part.kind !== 'pair') continue;
    const isTime = timestamp && nameOfSource(timestamp.source) === nameOfSource(part);
    const value = isTime ? writeTime(timestamp.unit, nowMs) : id;
    if (part.kind === 'header') headers[part.name] = value;
    else pairs.set(part.key, [value]);
  }
  return { headers, pairs, body, document: readJson(body) };
}

function presetTemplate(words: string): SignatureTemplate {
  const template = parseSignatureTemplate(words);
  if (!template.ok) throw new Error(template.problem);
  return template.value;
}

/** Node checks bytes that are given as a key anew each time, which takes longer than the signature of a delivery. */
function secretKeys(scheme: SignatureScheme, secrets: readonly string[]): KeyObject[] {
  return secrets.map((secret) => createSecretKey(keyBytes(scheme, secret)));
}

function expectedDigests(
  scheme: SignatureScheme,
  keys: readonly KeyObject[],
  delivery: DeliveryParts,
  nowMs: number,
): Parsed<Buffer[]> {
  const { algorithm, template, timestamp } = scheme;
  if (algorithm === 'none') return parsed(keys.map((key) => sha256(key.export())));
  const untimely = timestamp && timeProblem(timestamp, delivery, nowMs);
  if (untimely !== undefined) return problem(untimely);
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

function givenDigest(scheme: SignatureScheme, signature: string): Buffer {
  // node:http gives the bytes of a header as latin1.
  if (scheme.algorithm === 'none') return sha256(Buffer.from(signature, 'latin1'));
  return exactBytes(signature, scheme.encoding);
}

/** Empty when the secret is not written in the scheme's encoding: half a key must not verify. */
function keyBytes(scheme: Pick<SignatureScheme, 'algorithm' | 'secretEncoding'>, secret: string): Buffer {
  if (scheme.secretEncoding === 'utf8' || scheme.algorithm === 'none') return Buffer.from(secret);
  if (scheme.secretEncoding === 'whsec') return exactBytes(secret.replace(/^whsec_/, ''), 'base64');
  return exactBytes(secret, scheme.secretEncoding);
}
