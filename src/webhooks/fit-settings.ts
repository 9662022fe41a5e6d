import { createHmac, createSecretKey } from 'node:crypto';
import { signaturePresetNames } from '../config/webhook-settings.ts';
import { plainLeavesOf } from '../domain/json.ts';
import type { EventPointers } from './event.ts';
import { readJson } from './json.ts';
import { isSame, isTextSource, wordsOfTemplate, type TextSource } from './signature-template.ts';
import { createVerifier, keyBytes } from './signature.ts';
import {
  exactBytes,
  readDelivery,
  readText,
  wholeHeaders,
  type DeliveryParts,
  type SignatureScheme,
  type SignedRequest,
} from './signed-delivery.ts';
import { presetScheme } from './webhook-settings.ts';

/** New values of settings by variable. They name headers and fields of a delivery, never their values. */
type SettingChanges = Readonly<Record<string, string>>;

export type FitSettings = {
  scheme: SignatureScheme | undefined;
  secrets: readonly string[];
  pointers: EventPointers;
};

const ways = (['sha256', 'sha512'] as const).flatMap((algorithm) =>
  (['hex', 'base64'] as const).flatMap((encoding) =>
    (['utf8', 'hex', 'base64', 'whsec'] as const).map((secretEncoding) => ({
      algorithm,
      encoding,
      secretEncoding,
    })),
  ),
);
const mostSignatureHeaders = 20;

/**
 * The fewest changes with which a delivery verifies (its time isn't checked): first tries the present scheme and each
 * preset with other headers and encodings, then other templates. Empty: it verifies already. Undefined: nothing fits.
 */
export function fitSettings(
  { scheme, secrets, pointers }: FitSettings,
  request: SignedRequest,
): SettingChanges | undefined {
  if (secrets.length === 0) return undefined;
  const bases = [
    ...(scheme ? [{ changes: {}, base: scheme }] : []),
    ...signaturePresetNames.map((name) => ({
      changes: { WEBHOOK_SIGNATURE_PRESET: name },
      base: presetScheme(name),
    })),
  ];
  const headers = Object.keys(request.headers).slice(0, mostSignatureHeaders);
  const fits: SettingChanges[] = [];
  for (const { changes, base: whole } of bases) {
    const { timestamp: _unchecked, ...base } = whole;
    for (const header of headers) {
      for (const way of base.algorithm === 'none' ? [base] : ways) {
        const tried = { ...base, ...way, headers: [header] };
        if (createVerifier(tried, secrets)(request, 0).kind === 'valid')
          fits.push({ ...changes, ...changesOf(base, tried, request) });
      }
    }
  }
  const [best] = fits.toSorted((a, b) => Object.keys(a).length - Object.keys(b).length);
  if (best) return best;
  // A static token has no template to change.
  const isSigned = scheme !== undefined && scheme.algorithm !== 'none';
  const fit = fitTemplate(
    isSigned ? scheme : presetScheme('raw-body'),
    secrets,
    Object.values(pointers).flat(),
    request,
  );
  return fit && { ...(!isSigned && { WEBHOOK_SIGNATURE_PRESET: 'raw-body' }), ...fit };
}

/** The unit of a delivery's time, if it isn't the one in the settings. */
export function otherUnit(scheme: SignatureScheme, request: SignedRequest): Unit | undefined {
  const delivery = readDelivery(scheme, request);
  const { timestamp } = scheme;
  const text = timestamp && delivery.ok ? readText(timestamp.source, delivery.value) : undefined;
  const unit = text?.ok ? unitOfTime(text.value) : undefined;
  return unit === timestamp?.unit ? undefined : unit;
}

type Unit = NonNullable<SignatureScheme['timestamp']>['unit'];

const separators = [':', '.', '|', ',', '-', '_', '&', ''];
/** With these limits at most half a million signatures are tried per secret, which takes seconds. */
const mostSources = 10;
const mostJoined = 4;
/** Headers added by proxies must not crowd out the fields. */
const mostHeaders = 4;
/** Headers that no sender signs. */
const plainHeader = /^(?:accept.*|content-.*|user-agent|x-forwarded-.*|forwarded|via|date|authorization)$/;

/**
 * Searches a template under which the delivery verifies (its time isn't checked): the body, the body with a header or
 * pair, or up to four headers and fields in any order. Undefined: none found. `known`: pointers to try before other fields.
 */
function fitTemplate(
  current: SignatureScheme,
  secrets: readonly string[],
  known: readonly string[],
  request: SignedRequest,
): SettingChanges | undefined {
  const signatures = signaturesOf(request);
  const joined = joinedTexts(sourcesOf(current, known, request), request);
  const algorithms = [...new Set([...signatures.values()].map(({ algorithm }) => algorithm))];
  for (const secretEncoding of ['utf8', 'base64', 'hex', 'whsec'] as const) {
    const keys = secrets.map((secret) => keyBytes({ ...current, secretEncoding }, secret));
    for (const bytes of keys.filter(({ length }) => length > 0)) {
      const key = createSecretKey(bytes);
      for (const algorithm of algorithms) {
        for (const { template, signed } of joined) {
          const hmac = createHmac(algorithm, key);
          for (const piece of signed) hmac.update(piece);
          const found = signatures.get(hmac.digest('hex'));
          if (!found) continue;
          const { header, place, encoding } = found;
          const { timestamp: _unused, ...rest } = { ...current, algorithm, place, encoding, secretEncoding };
          const timestamp = signedTime(template, current, request);
          const tried = { ...rest, headers: [header], template, ...(timestamp && { timestamp }) };
          const timeless = timestamp && { timestamp: { ...timestamp, toleranceSeconds: Infinity } };
          if (createVerifier({ ...tried, ...timeless }, secrets)(request, 0).kind === 'valid')
            return changesOf(current, tried, request);
        }
      }
    }
  }
  return undefined;
}

/** The unit of a time written as text; undefined: it is no time. */
function unitOfTime(text: string): Unit | undefined {
  if (/^\d{10}$/.test(text)) return 's';
  if (/^\d{13}$/.test(text)) return 'ms';
  return /^\d{4}-\d\d-\d\dT\S*(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? 'iso' : undefined;
}

function isTime(text: string): boolean {
  return unitOfTime(text) !== undefined;
}

type Found = Pick<SignatureScheme, 'place' | 'encoding'> & { header: string; algorithm: 'sha256' | 'sha512' };

/** All texts in headers that are as long as a digest, keyed by that digest in hexadecimal. */
function signaturesOf({ headers }: SignedRequest): Map<string, Found> {
  const found = new Map<string, Found>();
  for (const [header, value] of wholeHeaders(headers)) {
    const places: [SignatureScheme['place'], string][] = [[{ kind: 'whole' }, value]];
    for (const [, key = '', text = ''] of value.matchAll(/([^=,\s]+)=([^,\s]+)/g))
      places.push([{ kind: 'pair', key }, text]);
    for (const [, version = '', text = ''] of value.matchAll(/([^,\s]+),([^,\s]+)/g))
      places.push([{ kind: 'list', version }, text]);
    for (const [place, text] of places) {
      for (const encoding of ['hex', 'base64'] as const) {
        const digest = exactBytes(text, encoding);
        const algorithm = digest.length === 32 ? 'sha256' : 'sha512';
        if (digest.length === 32 || digest.length === 64)
          found.set(digest.toString('hex'), { header, place, encoding, algorithm });
      }
    }
  }
  return found;
}

/**
 * Texts that may be signed besides the body: first the current template's, then headers, pairs, fields the bot reads,
 * other fields.
 */
function sourcesOf(
  { template }: SignatureScheme,
  known: readonly string[],
  { headers, body }: SignedRequest,
): TextSource[] {
  const signed = new Set([...signaturesOf({ headers, body }).values()].map(({ header }) => header));
  const sent = wholeHeaders(headers);
  const named = sent
    .filter(([name]) => !plainHeader.test(name) && !signed.has(name))
    .toSorted(([, one], [, other]) => Number(isTime(other)) - Number(isTime(one)))
    .slice(0, mostHeaders);
  const pairs = sent
    .filter(([name]) => signed.has(name))
    .flatMap(([, value]) => [...value.matchAll(/([^=,\s]+)=(\d{10}|\d{13})(?=,|$)/g)]);
  const document = readJson(body);
  const fields = document.ok ? fieldsOf(document.value.value) : [];
  const all: TextSource[] = [
    ...template.filter(isTextSource),
    ...named.map(([name]) => ({ kind: 'header' as const, name })),
    ...pairs.map(([, name = '']) => ({ kind: 'pair' as const, name })),
    ...[...known.filter((one) => fields.includes(one)), ...fields].map((name) => ({
      kind: 'json' as const,
      name,
    })),
  ];
  return all.filter((one, index) => all.findIndex((other) => isSame(one, other)) === index);
}

/** JSON pointers of all fields whose value is text, a number or a boolean. */
function fieldsOf(document: unknown): string[] {
  return plainLeavesOf(document).flatMap(([pointer, value]) =>
    typeof value === 'string' || typeof value === 'boolean' ? [pointer] : [],
  );
}

type Joined = { template: SignatureScheme['template']; signed: readonly Buffer[] };

function joinedTexts(sources: readonly TextSource[], request: SignedRequest): Joined[] {
  const texts = new Map<TextSource, Buffer>();
  const delivery = deliveryOf(request);
  for (const source of sources) {
    const text = readText(source, delivery);
    if (!text.ok || text.value === '' || text.value.length > 256) continue;
    texts.set(source, Buffer.from(text.value, source.kind === 'json' ? 'utf8' : 'latin1'));
    if (texts.size === mostSources) break;
  }
  const body = { kind: 'body' } as const;
  const parts: [TextSource | typeof body, Buffer][] = [[body, request.body], ...texts];
  let rows: (typeof parts)[] = [[]];
  const joined: Joined[] = [];
  for (let size = 1; size <= mostJoined; size += 1) {
    rows = rows.flatMap((row) =>
      parts
        .filter((part) => !row.includes(part))
        // The body with at most two other texts: it is long, and hashing it more often takes too long.
        .filter((part) => size <= 3 || ![...row, part].some(([{ kind }]) => kind === 'body'))
        .map((part) => [...row, part]),
    );
    for (const row of rows) {
      if (row.every(([{ kind }]) => kind !== 'body' && kind !== 'json')) continue;
      if (row.some(([{ kind }]) => kind === 'body') && row.some(([{ kind }]) => kind === 'json')) continue;
      for (const text of size === 1 ? [''] : separators) {
        const between = { kind: 'text' as const, text };
        joined.push({
          template: row.flatMap(([part], index) => (index > 0 && text !== '' ? [between, part] : [part])),
          signed: row.flatMap(([, bytes], index) => (index > 0 ? [Buffer.from(text), bytes] : [bytes])),
        });
      }
    }
  }
  return joined;
}

/** Reads pairs from every header, and of a repeated name the first. Only for guessing: the verifier decides. */
function deliveryOf(request: SignedRequest): DeliveryParts {
  const pairs = new Map<string, string[]>();
  for (const [, value] of wholeHeaders(request.headers))
    for (const [, key = '', text = ''] of value.matchAll(/([^=,\s]+)=([^,\s]+)/g))
      if (!pairs.has(key)) pairs.set(key, [text]);
  return { ...request, pairs, document: readJson(request.body) };
}

/** The current time's source if the template still signs it; else a header or pair that looks like a time. */
function signedTime(
  template: SignatureScheme['template'],
  { timestamp: current }: SignatureScheme,
  request: SignedRequest,
): SignatureScheme['timestamp'] {
  const toleranceSeconds = current?.toleranceSeconds ?? 300;
  const delivery = deliveryOf(request);
  const sources = template.filter(isTextSource);
  const likely = sources.filter((one) => one.kind !== 'json' || (current && isSame(one, current.source)));
  for (const source of likely.toSorted((one) => (current && isSame(one, current.source) ? -1 : 0))) {
    const text = readText(source, delivery);
    const unit = text.ok ? unitOfTime(text.value) : undefined;
    if (unit) return { source, unit, toleranceSeconds };
  }
  return undefined;
}

/** The settings in which `tried`, a scheme with a single header, differs from `current` for this delivery. */
function changesOf(
  current: SignatureScheme,
  tried: SignatureScheme,
  { headers }: SignedRequest,
): SettingChanges {
  // Of several headers the bot reads the first that the delivery has.
  const read = current.headers.filter((name) => Object.hasOwn(headers, name)).slice(0, 1);
  const before = written({ ...current, headers: read });
  return Object.fromEntries(Object.entries(written(tried)).filter(([name, value]) => value !== before[name]));
}

function written({
  headers,
  place,
  algorithm,
  encoding,
  secretEncoding,
  template,
  timestamp,
}: SignatureScheme): SettingChanges {
  const at =
    place.kind === 'whole' ? 'whole' : `${place.kind}:${place.kind === 'pair' ? place.key : place.version}`;
  return {
    WEBHOOK_SIGNED_TEMPLATE: wordsOfTemplate(template),
    WEBHOOK_SIGNATURE_HEADER: headers.join(','),
    WEBHOOK_SIGNATURE_PLACE: at,
    WEBHOOK_SIGNATURE_ALGORITHM: algorithm,
    WEBHOOK_SIGNATURE_ENCODING: encoding,
    WEBHOOK_SECRET_ENCODING: secretEncoding,
    WEBHOOK_TIMESTAMP_SOURCE: timestamp ? `${timestamp.source.kind}:${timestamp.source.name}` : 'none',
    ...(timestamp && { WEBHOOK_TIMESTAMP_UNIT: timestamp.unit }),
  };
}
