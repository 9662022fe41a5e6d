import { timingSafeEqual } from 'node:crypto';
import { valueAt } from '../domain/json.ts';
import { parsed, problem, type Parsed } from '../domain/wording.ts';
import { readJson, type JsonReading } from './json.ts';
import {
  coverageOf,
  isTextSource,
  nameOfSource,
  type SignatureTemplate,
  type TextSource,
} from './signature-template.ts';

/**
 * How a sender signs; the names are those of the settings.
 *
 * Spec: not shown (Events: signature scheme).
 */
export type SignatureScheme = {
  /** Header names in lower case. The first one that a delivery has carries the signature. */
  headers: readonly string[];
  /** `none`: the header holds the secret itself; nothing is signed. */
  algorithm: 'sha256' | 'sha512' | 'none';
  encoding: 'hex' | 'base64';
  /** `whsec`: base64 after an optional `whsec_`. */
  secretEncoding: 'utf8' | 'hex' | 'base64' | 'whsec';
  template: SignatureTemplate;
  /**
   * Where the signature is in the header: all of it, each pair with this key, or each `version,signature` in a spaced
   * list.
   */
  place: { kind: 'whole' } | { kind: 'pair'; key: string } | { kind: 'list'; version: string };
  /** Refuses deliveries signed outside the tolerance. The source must be signed. */
  timestamp?: SignedTime;
};

/** The time of signing. `iso` needs a zone; `s` and `ms` count from 1970. */
type SignedTime = { source: TextSource; unit: 'iso' | 's' | 'ms'; toleranceSeconds: number };

/** Header names in lower case. Pass arrays (`headersDistinct`): otherwise node:http joins repeated headers. */
export type SignedRequest = {
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body: Buffer;
};

export type DeliveryParts = SignedRequest & {
  pairs: ReadonlyMap<string, readonly string[]>;
  /** Absent if the scheme reads no field. */
  document?: Parsed<JsonReading>;
};

type ReadDelivery =
  | { ok: true; value: DeliveryParts & { signatures: readonly string[] } }
  | { ok: false; problem: string; cause: 'no_signature' | 'malformed' };

/** Finds a delivery's signatures, and reads the parts its scheme needs. */
export function readDelivery(
  { headers, algorithm, place, template, timestamp }: SignatureScheme,
  request: SignedRequest,
): ReadDelivery {
  const name = headers.find((name) => ownHeader(request.headers, name) !== undefined);
  if (name === undefined) {
    return { ...problem(`no signature header (${headers.join(', ')})`), cause: 'no_signature' };
  }
  const header = onlyText(request.headers[name], `header ${name}`);
  if (!header.ok) return { ...header, cause: 'malformed' };
  const pairs = readPairs(header.value);
  const signatures = [
    ...signaturesIn(place, header.value, pairs),
    ...(algorithm === 'none' && name === 'authorization' ? bearerIn(header.value) : []),
  ];
  if (signatures.length === 0) {
    const why = `header ${name} carries no signature where the scheme has it`;
    return { ...problem(why), cause: 'no_signature' };
  }
  const readsFields = [...template, timestamp?.source].some((part) => part?.kind === 'json');
  const document = readsFields ? { document: readJson(request.body) } : {};
  return { ok: true, value: { ...request, pairs, signatures, ...document } };
}

type Headers = SignedRequest['headers'];
type PickedHeaders = [name: string, value: string][];

/** Returns a function that picks the headers which the signature check needs, and `content-type`. */
export function signedHeaders(scheme: SignatureScheme | undefined): (headers: Headers) => PickedHeaders {
  const read = [...(scheme?.template ?? []), scheme?.timestamp?.source];
  const named = read.flatMap((part) => (part?.kind === 'header' ? [part.name] : []));
  const names = new Set(['content-type', ...(scheme?.headers ?? []), ...named]);
  return (headers) => [...names].flatMap((name) => valuesOf(headers, name));
}

/** Headers that belong to one connection; each hop sets its own. */
const hopHeaders =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|host|content-length)$/;

/** All headers that the sender set. */
export function wholeHeaders(headers: Headers): PickedHeaders {
  const names = Object.keys(headers).filter((name) => !hopHeaders.test(name));
  return names.flatMap((name) => valuesOf(headers, name));
}

function valuesOf(headers: Headers, name: string): PickedHeaders {
  const found = ownHeader(headers, name) ?? [];
  return (typeof found === 'string' ? [found] : found).map((value) => [name, value]);
}

function readPairs(header: string): Map<string, string[]> {
  const pairs = new Map<string, string[]>();
  for (const element of header.includes('=') ? header.split(',') : []) {
    const [, key, value] = /^([^=\s]+)=(.*)$/.exec(element.trim()) ?? [];
    if (key === undefined || value === undefined) continue;
    const known = pairs.get(key);
    if (known) known.push(value);
    else pairs.set(key, [value]);
  }
  return pairs;
}

/** A static token in `authorization` usually follows the word Bearer. */
function bearerIn(header: string): string[] {
  const [, token] = /^bearer +(\S+)$/i.exec(header) ?? [];
  return token === undefined ? [] : [token];
}

function signaturesIn(
  place: SignatureScheme['place'],
  header: string,
  pairs: DeliveryParts['pairs'],
): readonly string[] {
  if (place.kind === 'whole') return [header];
  if (place.kind === 'pair') return pairs.get(place.key) ?? [];
  const lead = `${place.version},`;
  return header.split(' ').flatMap((item) => (item.startsWith(lead) ? [item.slice(lead.length)] : []));
}

/**
 * The signed bytes, or why they can't be known. A template without `{body}` signs fields joined to one text, which an
 * attacker could split into other fields with the same signature. So repeated JSON keys are refused, and so is a
 * field that doesn't read back unchanged from the joined text.
 */
export function signedBytes(template: SignatureTemplate, delivery: DeliveryParts): Parsed<Buffer[]> {
  const isJoined = coverageOf(template).covers === 'fields';
  if (isJoined && delivery.document?.ok && delivery.document.value.hasDuplicateKeys()) {
    return problem('a key stands twice in the JSON, and only fields of it are signed');
  }
  const signed: Buffer[] = [];
  for (const part of template) {
    if (part.kind === 'body') signed.push(delivery.body);
    else if (part.kind === 'text') signed.push(Buffer.from(part.text));
    else {
      const text = readText(part, delivery);
      if (!text.ok) return text;
      // node:http gives header bytes as latin1.
      signed.push(Buffer.from(text.value, part.kind === 'json' ? 'utf8' : 'latin1'));
    }
  }
  const doubtful = isJoined ? ambiguousSource(template, signed) : undefined;
  if (doubtful) return problem(`${nameOfSource(doubtful)} cannot be told from what is signed after it`);
  return parsed(signed);
}

/**
 * Reads the joined text back from the left, each value up to the next separator (a time may contain separators);
 * returns the first source whose value reads back differently. Only one reading passes, so a signature fits one set of
 * values. Sources without a separator after them are `unseparated`'s task.
 */
function ambiguousSource(template: SignatureTemplate, signed: readonly Buffer[]): TextSource | undefined {
  // latin1: one character per byte.
  const texts = signed.map((bytes) => bytes.toString('latin1'));
  let rest = texts.join('');
  for (const [index, part] of template.entries()) {
    const written = texts[index] ?? '';
    const separator = template[index + 1]?.kind === 'text' ? texts[index + 1] : undefined;
    if (isTextSource(part) && separator !== undefined && readUpTo(separator, rest) !== written) return part;
    rest = rest.slice(written.length);
  }
  return undefined;
}

/** A time at the start of a text; group 1: its zone, which may be missing. */
const leadingTime = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?/;
const isoTime = new RegExp(`${leadingTime.source}$`);

function readUpTo(separator: string, rest: string): string {
  const time = leadingTime.exec(rest)?.[0];
  if (time !== undefined && rest.startsWith(separator, time.length)) return time;
  return rest.slice(0, rest.indexOf(separator));
}

export function readText(source: TextSource, delivery: DeliveryParts): Parsed<string> {
  if (source.kind === 'json') return readField(source, delivery.document);
  const found =
    source.kind === 'header' ? ownHeader(delivery.headers, source.name) : delivery.pairs.get(source.name);
  return onlyText(found, nameOfSource(source));
}

/** Missing, null and "null" read as empty text: senders sign that. */
function readField(source: TextSource, document: DeliveryParts['document']): Parsed<string> {
  if (!document?.ok) return document ?? problem('the body was not read');
  const value = valueAt(document.value.value, source.name) ?? '';
  if (value === 'null') return parsed('');
  if (typeof value === 'boolean') return parsed(String(value));
  // Refuse lone surrogates: all become the same bytes, so different texts would have one signature.
  return typeof value === 'string' && value.isWellFormed()
    ? parsed(value)
    : problem(`${nameOfSource(source)} is no plain text`);
}

/** The header's value. Own properties only: a header may be called `constructor`. */
function ownHeader(headers: DeliveryParts['headers'], name: string): string | readonly string[] | undefined {
  return Object.hasOwn(headers, name) ? headers[name] : undefined;
}

/** The text, if there is exactly one and it isn't empty. */
function onlyText(found: string | readonly string[] | undefined, name: string): Parsed<string> {
  const [value, second] = typeof found === 'string' ? [found] : (found ?? []);
  if (second !== undefined) return problem(`${name} is there more than once`);
  return value === undefined || value === '' ? problem(`${name} is missing`) : parsed(value);
}

/** Why the delivery's time is outside the tolerance; undefined if it is within, or the scheme has none. */
export function timeProblem(
  { algorithm, timestamp }: SignatureScheme,
  delivery: DeliveryParts,
  nowMs: number,
): string | undefined {
  if (algorithm === 'none' || !timestamp) return undefined;
  const written = readText(timestamp.source, delivery);
  if (!written.ok) return written.problem;
  const aheadMs = timeOf(timestamp, delivery) - nowMs;
  if (Number.isNaN(aheadMs)) return `the timestamp (${nameOfSource(timestamp.source)}) is not readable`;
  if (Math.abs(aheadMs) <= timestamp.toleranceSeconds * 1000) return undefined;
  return aheadMs < 0 ? 'the timestamp is too old' : 'the timestamp is too far ahead';
}

/** UTC ms; NaN without a readable time. */
export function timeOf({ source, unit }: SignedTime, delivery: DeliveryParts): number {
  const text = readText(source, delivery);
  const written = text.ok ? text.value : '';
  if (unit === 'iso') return isoTime.exec(written)?.[1] === undefined ? Number.NaN : Date.parse(written);
  return /^\d{1,15}$/.test(written) ? Number(written) * (unit === 's' ? 1000 : 1) : Number.NaN;
}

/**
 * Decodes strictly: empty unless all of the text is in the encoding. node:buffer would drop the undecodable rest. For
 * base64 also its URL-safe alphabet.
 */
export function exactBytes(written: string, encoding: 'hex' | 'base64'): Buffer {
  const bytes = Buffer.from(written, encoding);
  const alphabet = encoding === 'base64' && /[-_]/.test(written) ? 'base64url' : encoding;
  const unpadded = bytes.toString(alphabet).replace(/=+$/, '');
  // Compare the text, not its length: for hex, node:buffer reads only a character's low byte, so š decodes like a.
  const wanted = encoding === 'hex' ? written.toLowerCase() : written.replace(/={1,2}$/, '');
  return unpadded === wanted ? bytes : Buffer.alloc(0);
}

export function sameBytes(expected: Buffer, given: Buffer): boolean {
  return expected.length === given.length && timingSafeEqual(expected, given);
}
