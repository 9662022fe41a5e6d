// Judges without cryptography whether a request is one that the sender made. Only the sender can sign another, so any
// other one is forged.

import { toleranceMs, type EventBody, type Sender } from './senders.ts';

/** One request by the sender, signed with the bot's secret or another one. */
export type Original = {
  sender: Sender;
  request: WireRequest;
  event: EventBody;
  atMs: number;
  isGenuine: boolean;
};

export type Genuine = {
  /** The original with the same signed parts; undefined: forged, or out of time. */
  find: (request: WireRequest, nowMs: number) => Original | undefined;
};

/** Remembers everything that the sender signed for the bot. */
export function rememberGenuine(sender: Sender, originals: readonly Original[]): Genuine {
  const bySigned = new Map<string, Original>();
  for (const original of originals) {
    if (!original.isGenuine) continue;
    for (const signed of signedParts(sender, original.request)) bySigned.set(signed, original);
  }
  return {
    find(request, nowMs) {
      const found = signedParts(sender, request).map((signed) => bySigned.get(signed));
      return found.find((original) => original && isTimely(original, nowMs));
    },
  };
}

function isTimely({ sender, atMs }: Original, nowMs: number): boolean {
  if (!sender.time) return true;
  const writtenMs = sender.time.unit === 's' ? Math.floor(atMs / 1_000) * 1_000 : atMs;
  return Math.abs(writtenMs - nowMs) <= toleranceMs;
}

/** For each signature in the request: it, and everything that it covers. */
function signedParts(sender: Sender, request: WireRequest): string[] {
  const carrier = sender.carriers.map((name) => valuesOf(request, name)).find((values) => values.length > 0);
  const [value, second] = carrier ?? [];
  if (value === undefined || value === '' || second !== undefined) return [];
  const standing = sender.stands.map((place) =>
    'header' in place ? valuesOf(request, place.header) : pairsOf(value, place.pair),
  );
  if (standing.some((values) => values.length !== 1 || values[0] === '')) return [];
  const covered = coveredBy(sender, request.body);
  if (covered === undefined) return [];
  return signaturesIn(sender, value).map((signature) =>
    JSON.stringify([canonical(sender, signature), standing.flat(), covered]),
  );
}

function signaturesIn({ place }: Sender, carrier: string): string[] {
  if (place === 'whole') return [carrier];
  if ('pair' in place) return pairsOf(carrier, place.pair);
  return carrier
    .split(' ')
    .filter((item) => item.startsWith(`${place.list},`))
    .map((item) => item.slice(place.list.length + 1));
}

function pairsOf(carrier: string, key: string): string[] {
  return carrier
    .split(',')
    .map((element) => element.trim())
    .filter((element) => element.startsWith(`${key}=`))
    .map((element) => element.slice(key.length + 1));
}

/** Normalises spellings of the same bytes: the case of hex, the padding and the URL-safe alphabet of base64. */
function canonical({ encoding }: Sender, signature: string): string {
  if (encoding === 'hex') return signature.toLowerCase();
  if (encoding === 'token') return signature.replace(/^Bearer +/i, '');
  const unpadded = signature.replace(/={1,2}$/, '');
  return /[+/]/.test(unpadded) ? unpadded : unpadded.replaceAll('-', '+').replaceAll('_', '/');
}

function coveredBy({ covers }: Sender, body: Buffer): unknown {
  if (covers === 'nothing') return '';
  if (covers === 'body') return body.toString('latin1');
  const fields = fieldsOf(body)?.map((field) => (typeof field === 'number' ? String(field) : field));
  return fields?.every((field) => typeof field === 'string') ? fields : undefined;
}

function fieldsOf(body: Buffer): unknown[] | undefined {
  try {
    const document = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as {
      event_type?: unknown;
      data?: { order?: { orderReference?: unknown; orderId?: unknown } };
    } | null;
    const order = document?.data?.order;
    return [document?.event_type, order?.orderReference, order?.orderId];
  } catch {
    return undefined;
  }
}

/** A POST as sent: headers in order, names and values as written, one character per byte. */
export type WireRequest = { headers: readonly (readonly [name: string, value: string])[]; body: Buffer };

export function wireBytes({ headers, body }: WireRequest): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${onOneLine(value)}`);
  const head = [
    'POST /webhooks/payments HTTP/1.1',
    'host: bot',
    ...lines,
    `content-length: ${body.length}`,
    'connection: close',
    '',
    '',
  ].join('\r\n');
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

/** A line break would begin another header, which is another request. */
function onOneLine(value: string): string {
  return value.replaceAll(/[\r\n\0]/g, '?');
}

/** A header's values as HTTP reads them: name in any case, blanks around the value ignored. */
function valuesOf({ headers }: WireRequest, name: string): string[] {
  return headers.flatMap(([written, value]) =>
    written.toLowerCase() === name ? [onOneLine(value).replaceAll(/^[ \t]+|[ \t]+$/g, '')] : [],
  );
}
