import { createHmac } from 'node:crypto';
import { signaturePresetNames } from '../config/webhook-settings.ts';
import { valueAt, valueAtLoosely } from '../domain/json-pointer.ts';
import { parseEvent, type EventPointers } from './event.ts';
import { readJson } from './json.ts';
import { createMask, cutInTheMiddle, maskSecret, textOfBytes, visibleText } from './masked-text.ts';
import { schemeWords } from './refusal-words.ts';
import { coverageOf, nameOfSource, type Coverage } from './signature-template.ts';
import { keyBytes, signaturePresets, verifySignature, type SignatureScheme } from './signature.ts';
import {
  readDelivery,
  readText,
  readTime,
  signedBytes,
  type DeliveryParts,
  type SignedRequest,
} from './signed-delivery.ts';

type SignatureSettings = { scheme: SignatureScheme | undefined; secrets: readonly string[] };

export type ExplainSettings = SignatureSettings & { pointers: EventPointers };

/** `lines` are for a terminal: every control is visible, and every secret, token key and e-mail masked. */
export type Explanation = { verifies: boolean; lines: readonly string[] };

/**
 * Why the bot takes or refuses one delivery, at a given time and under given settings: what was signed, how
 * the signature that came differs from ours, the settings that would fit it, and what the event would be read as. Of a
 * signature of ours it shows six characters, so that nobody forges with it. Never throws for what is in it.
 *
 * Spec: not shown (Events: signature scheme).
 */
export function explainDelivery(
  settings: ExplainSettings,
  request: SignedRequest,
  nowMs: number,
): Explanation {
  const { scheme, secrets } = settings;
  const mask = maskOf(settings, request);
  const verdict = verifySignature(scheme, secrets, request, nowMs);
  const lines = [
    ...(scheme ? schemeLines(scheme, secrets) : ['Scheme: none is configured']),
    ...(scheme ? signatureLines(scheme, secrets, request, { mask, nowMs }) : []),
    verdict.kind === 'valid' ? 'Verdict: it verifies' : `Verdict: refused, ${verdict.why}`,
    ...(verdict.kind === 'valid' ? [] : fixLines(settings, request, nowMs)),
    ...eventLines(settings, request, mask),
  ];
  return { verifies: verdict.kind === 'valid', lines };
}

type Mask = (text: string) => string;

/** Also what the settings' own pointers lead to, whatever it is called there. */
function maskOf({ pointers, secrets }: ExplainSettings, { body }: SignedRequest): Mask {
  const document = readJson(body);
  if (!document.ok) return createMask(secrets, []);
  const { value } = document.value;
  const found = [
    ...pointers.transactionId.map((pointer) => valueAtLoosely(value, pointer)),
    ...pointers.savedCard.map((pointer) => valueAtLoosely(valueAtLoosely(value, pointer), '/tokenKey')),
  ];
  return createMask(
    secrets,
    found.filter((text) => typeof text === 'string'),
  );
}

function schemeLines(scheme: SignatureScheme, secrets: readonly string[]): string[] {
  const { timestamp, headers, place } = scheme;
  const time = timestamp
    ? `; time in ${nameOfSource(timestamp.source)}, tolerance ${timestamp.toleranceSeconds} s`
    : '; no time is checked';
  const known = secrets.map((secret, index) => `${index + 1} ${maskSecret(secret)}`);
  return [
    `Scheme: ${visibleText(schemeWords(scheme))}${time}`,
    `Secrets: ${known.length === 0 ? 'none' : known.join(', ')}`,
    `Looked for the signature in: header ${headers.join(', then ')} (${wordsOfPlace(place)})`,
  ];
}

/** As WEBHOOK_SIGNATURE_PLACE has it. */
function wordsOfPlace(place: SignatureScheme['place']): string {
  if (place.kind === 'whole') return 'whole';
  return place.kind === 'pair' ? `pair:${place.key}` : `list:${place.version}`;
}

const ways = (['sha256', 'sha512'] as const).flatMap((algorithm) =>
  (['hex', 'base64'] as const).flatMap((encoding) =>
    (['utf8', 'hex', 'base64', 'whsec'] as const).map((secretEncoding) => ({
      algorithm,
      encoding,
      secretEncoding,
    })),
  ),
);
const mostHeaders = 20;

/** The fewest settings under which it would verify, its time aside: ours changed, or a preset. */
function fixLines({ scheme, secrets }: SignatureSettings, request: SignedRequest, nowMs: number): string[] {
  if (!scheme) return [];
  const bases = [
    { changes: [], base: scheme },
    ...signaturePresetNames.map((name) => ({
      changes: [`WEBHOOK_SIGNATURE_PRESET=${name}`],
      base: signaturePresets[name],
    })),
  ];
  const headers = Object.keys(request.headers).slice(0, mostHeaders);
  const fits: string[][] = [];
  for (const { changes, base: ours } of bases) {
    const { timestamp: _unchecked, ...base } = ours;
    const known = base.headers.find((name) => headers.includes(name));
    for (const header of headers) {
      for (const way of base.algorithm === 'none' ? [base] : ways) {
        const { algorithm, encoding, secretEncoding } = way;
        const tried = { ...base, headers: [header], algorithm, encoding, secretEncoding };
        if (verifySignature(tried, secrets, request, nowMs).kind === 'invalid') continue;
        fits.push([
          ...changes,
          ...(header === known ? [] : [`WEBHOOK_SIGNATURE_HEADER=${header}`]),
          ...(algorithm === base.algorithm ? [] : [`WEBHOOK_SIGNATURE_ALGORITHM=${algorithm}`]),
          ...(encoding === base.encoding ? [] : [`WEBHOOK_SIGNATURE_ENCODING=${encoding}`]),
          ...(secretEncoding === base.secretEncoding ? [] : [`WEBHOOK_SECRET_ENCODING=${secretEncoding}`]),
        ]);
      }
    }
  }
  const [best] = fits.toSorted((a, b) => a.length - b.length);
  if (!best)
    return [
      'Fix: none of the presets fits. Check WEBHOOK_SECRETS, and that nothing on the way changes the body.',
    ];
  if (best.length > 0) return [`Fix: it would verify with ${best.join(', ')}`];
  return [
    'Fix: the signature holds, and only its time does not. It came late or again, or a clock is wrong. A sender that repeats deliveries with their first signature needs WEBHOOK_TIMESTAMP_SOURCE=none.',
  ];
}

function signatureLines(
  scheme: SignatureScheme,
  secrets: readonly string[],
  request: SignedRequest,
  view: { mask: Mask; nowMs: number },
): string[] {
  const delivery = readDelivery(scheme, request);
  if (!delivery.ok) return [`Found: nothing, ${delivery.problem}`];
  const { signatures } = delivery.value;
  const header = scheme.headers.find((name) => Object.hasOwn(request.headers, name)) ?? '';
  const number = signatures.length === 1 ? '1 signature' : `${signatures.length} signatures`;
  const found = `Found: ${number} in header ${header}`;
  if (scheme.algorithm === 'none') return [found];
  const signed = signedBytes(scheme.template, delivery.value);
  if (!signed.ok) return [found, `Signed: cannot be put together, ${signed.problem}`];
  return [
    found,
    ...signedLines(Buffer.concat(signed.value), view.mask),
    ...timeLines(scheme, delivery.value, view),
    ...signatures.flatMap((signature) => comparisons(scheme, secrets, signed.value, signature)),
  ];
}

const shownHead = 900;
const shownTail = 300;

function signedLines(signed: Buffer, mask: Mask): string[] {
  const { text, isText } = textOfBytes(signed);
  const shown = cutInTheMiddle(visibleText(mask(text)), shownHead, shownTail);
  const size = `${signed.length} ${signed.length === 1 ? 'byte' : 'bytes'}`;
  const encoding = isText ? 'UTF-8' : 'not UTF-8, shown byte by byte';
  return [`Signed (${size}, ${encoding}; between the marks): «${shown}»`];
}

function timeLines(
  { timestamp }: SignatureScheme,
  delivery: DeliveryParts,
  { mask, nowMs }: { mask: Mask; nowMs: number },
): string[] {
  if (!timestamp) return [];
  const written = readText(timestamp.source, delivery);
  if (!written.ok) return [`Time: ${written.problem}`];
  const shown = visibleText(mask(written.value)).slice(0, 40);
  const timeMs = readTime(timestamp.unit, written.value);
  if (Number.isNaN(timeMs)) return [`Time: “${shown}” is not readable as ${timestamp.unit}`];
  const ageSeconds = Math.round((nowMs - timeMs) / 1_000);
  const age = ageSeconds < 0 ? `${-ageSeconds} s ahead of` : `${ageSeconds} s before`;
  const verdict = Math.abs(nowMs - timeMs) <= timestamp.toleranceSeconds * 1_000 ? 'within' : 'outside';
  return [
    `Time: “${shown}”, ${age} ${new Date(nowMs).toISOString()}; ${verdict} the tolerance of ${timestamp.toleranceSeconds} s`,
  ];
}

const shownOfSignature = 6;

/** One line for each secret. Of a signature of ours no more than its beginning is shown, lest it be used. */
function comparisons(
  scheme: SignatureScheme,
  secrets: readonly string[],
  signed: readonly Buffer[],
  signature: string,
): string[] {
  const { algorithm, encoding } = scheme;
  if (algorithm === 'none') return [];
  return secrets.map((secret, index) => {
    const hmac = createHmac(algorithm, keyBytes(scheme, secret));
    for (const bytes of signed) hmac.update(bytes);
    const expected = hmac.digest(encoding);
    const received = encoding === 'hex' ? signature.toLowerCase() : signature;
    return `Secret ${index + 1}: expected ${beginning(expected)}, received ${beginning(received)}: ${difference(expected, received)}`;
  });
}

function beginning(signature: string): string {
  return `${visibleText(signature.slice(0, shownOfSignature))}… (${signature.length} characters)`;
}

function difference(expected: string, received: string): string {
  if (unpadded(expected) === unpadded(received)) return 'the same';
  const at = Array.from(expected).findIndex((character, index) => character !== received[index]);
  return `they differ from character ${(at < 0 ? expected.length : at) + 1} on`;
}

function unpadded(signature: string): string {
  return signature.replace(/=+$/, '');
}

const longestValue = 80;

function eventLines({ scheme, pointers }: ExplainSettings, { body }: SignedRequest, mask: Mask): string[] {
  const coverage: Coverage =
    !scheme || scheme.algorithm === 'none' ? { covers: 'body' } : coverageOf(scheme.template);
  const found = parseEvent(body, pointers, coverage);
  const document = readJson(body);
  if (!document.ok) return [`Event: none, ${document.problem}`];
  const fields = Object.entries<readonly string[]>(pointers).map(([field, places]) =>
    fieldLine(field, places, { document: document.value.value, coverage, mask }),
  );
  switch (found.kind) {
    case 'event':
      return [`Event: ${found.event.kind}`, ...fields];
    case 'unknown_kind':
      return [`Event: of unknown kind “${shownValue(found.eventKind, mask)}”; kept and told once`, ...fields];
    case 'unreadable':
      return [`Event: none, ${found.why}`, ...fields];
  }
}

type Reading = { document: unknown; coverage: Coverage; mask: Mask };

function fieldLine(field: string, places: readonly string[], reading: Reading): string {
  const { document, coverage, mask } = reading;
  const signed = coverage.covers === 'fields' ? new Set(coverage.pointers) : undefined;
  const isThere = (pointer: string): boolean => isValue(read(document, pointer, signed === undefined));
  const used = places.find((pointer) => isThere(pointer) && (!signed || signed.has(pointer)));
  const pointer = used ?? places.find(isThere);
  if (pointer === undefined) return `  ${field}: not found at ${places.join(', ')}`;
  const value = read(document, pointer, signed === undefined);
  const isSecret = field === 'transactionId' || field === 'savedCard';
  const text = typeof value === 'boolean' ? String(value) : value;
  const shown = isSecret || typeof text !== 'string' ? '[hidden]' : `“${shownValue(text, mask)}”`;
  const trust = used === undefined ? 'not signed, so it is not used' : 'signed';
  return `  ${field}: ${shown} at ${pointer}, ${trust}`;
}

function read(document: unknown, pointer: string, loosely: boolean): unknown {
  return loosely ? valueAtLoosely(document, pointer) : valueAt(document, pointer);
}

function isValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== 'null';
}

function shownValue(value: string, mask: Mask): string {
  return cutInTheMiddle(visibleText(mask(value)), longestValue, 0);
}
