import { hash, createHmac } from 'node:crypto';
import type { Random } from '../../chaos/random.ts';
import type { Original, WireRequest } from './same-request.ts';
import { type EventBody, type Sender, senders } from './senders.ts';

/** The input of a mutation: the request, and others that were really sent. */
export type Scene = { random: Random; sender: Sender; original: Original; other: Original; nowMs: number };

type Headers = WireRequest['headers'];
export type HeaderMutation = (request: WireRequest, scene: Scene) => Headers;

/** Other spellings of a signature; some are the same bytes, which the judge knows. */
const respellings: readonly ((written: string, random: Random) => string)[] = [
  () => '',
  (written) => written.toUpperCase(),
  (written) => written.toLowerCase(),
  (written, random) => written.slice(0, random.below(written.length)),
  (written, random) => written.slice(random.below(written.length)),
  (written, random) => written + random.pick(['0', '00', '=', '==', '===', ' ', 'A', '\xA0', ',', ';', '\t']),
  (written) => written.replace(/=+$/, ''),
  (written) => written + written,
  (written) => [...written].toReversed().join(''),
  (written) => `sha256=${written}`,
  (written) => `"${written}"`,
  (written) => `0x${written}`,
  (written) => `Bearer ${written}`,
  (written) => encodeURIComponent(written).replaceAll('=', '%3D'),
  (written) => written.replaceAll('+', '-').replaceAll('/', '_'),
  (written) => written.replaceAll('+', ' '),
  (written) => Buffer.from(written, 'hex').toString('base64'),
  (written) => Buffer.from(written, 'base64').toString('hex'),
  (written) => Buffer.from(written).toString('base64'),
  (written) => written.replaceAll(/[0-9a-z]/gi, '0'),
  (written) => '0'.repeat(written.length),
  (written) => 'A'.repeat(43) + (written.endsWith('=') ? '=' : ''),
  // The last character of an unpadded digest has unused bits.
  (written) =>
    written.replace(/.(=*)$/, (last) => String.fromCharCode(last.charCodeAt(0) + 1) + last.slice(1)),
  (written, random) => {
    const at = random.below(Math.max(1, written.length));
    return `${written.slice(0, at)} ${written.slice(at)}`;
  },
  (written, random) => flipped(written, random),
];

function flipped(text: string, random: Random): string {
  const bytes = Buffer.from(text, 'latin1');
  const at = random.below(Math.max(1, bytes.length));
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
  return bytes.toString('latin1');
}

const otherTimes: readonly ((nowMs: number, written: string) => string)[] = [
  (nowMs) => String(Math.floor(nowMs / 1_000)),
  (nowMs) => String(nowMs),
  (nowMs) => new Date(nowMs).toISOString(),
  (nowMs) => new Date(nowMs).toUTCString(),
  (nowMs) => `${Math.floor(nowMs / 1_000)}.0`,
  (nowMs) => (nowMs / 1_000).toExponential(),
  (nowMs) => `0x${Math.floor(nowMs / 1_000).toString(16)}`,
  (_nowMs, written) => `0${written}`,
  (_nowMs, written) => `+${written}`,
  (_nowMs, written) => `${written}0`,
  (_nowMs, written) => `${written}000`,
  (_nowMs, written) => written.replace('Z', '+00:00'),
  (_nowMs, written) => written.replace('Z', ''),
  (_nowMs, written) => written.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10)),
  () => 'Infinity',
  () => 'NaN',
  () => '-1',
  () => '',
];

export const headerMutations: Readonly<Record<string, HeaderMutation>> = {
  'the signature respelled': ({ headers }, { random, sender }) => {
    const respell = random.pick(respellings);
    return withSignature(headers, sender, (written) => respell(written, random));
  },
  'the signature cut by whole bytes': ({ headers }, { random, sender }) => {
    const step = sender.encoding === 'base64' ? 4 : 2;
    const pieces = 1 + random.below(4);
    return withSignature(headers, sender, (written) =>
      random.chance(0.5) ? written.slice(0, pieces * step) : written.slice(0, -pieces * step),
    );
  },
  'another request’s signature': ({ headers }, { sender, other }) =>
    withSignature(headers, sender, () => signatureOf(other)),
  'several signatures in one': ({ headers }, { random, sender, other }) => {
    const mark = random.pick([',', ' ', ', ', ';', '', ' v1,', ',v1=']);
    const two = (written: string) => [signatureOf(other), written];
    return withSignature(headers, sender, (written) =>
      (random.chance(0.5) ? two(written) : two(written).toReversed()).join(mark),
    );
  },
  'signed by a stranger': (_request, { sender, original }) => [
    ...contentType,
    ...sender.sign(sender.stranger, original.event, original.atMs),
  ],
  'signed well, an hour ago': ({ headers }, { sender, original, nowMs }) =>
    sender.time && sender.time.in !== 'body'
      ? [...contentType, ...sender.sign(sender.secrets[0], original.event, nowMs - 3_600_000)]
      : withSignature(headers, sender, (written) => written.slice(1)),
  'a digest without the secret': ({ headers, body }, { random, sender }) => {
    const digest = random.pick([
      hash('sha256', body, 'buffer'),
      hash('sha512', body, 'buffer'),
      createHmac('sha256', '').update(body).digest(),
      createHmac('sha256', 'undefined').update(body).digest(),
      Buffer.alloc(32),
    ]);
    const written = digest.toString(sender.encoding === 'base64' ? 'base64' : 'hex');
    return withSignature(headers, sender, () => written);
  },
  'as another sender signs it': (_request, { random, sender, original }) => {
    const other = random.pick(senders.filter((one) => one !== sender));
    return [...contentType, ...other.sign(other.secrets[0], original.event, original.atMs)];
  },
  'another hash with the right key': ({ headers, body }, { random, sender }) => {
    const written = createHmac(random.pick(['md5', 'sha1', 'sha384', 'sha3-256']), sender.secrets[0])
      .update(body)
      .digest(sender.encoding === 'base64' ? 'base64' : 'hex');
    return withSignature(headers, sender, () => written);
  },
  'another time': ({ headers }, { random, sender, nowMs }) => {
    const write = random.pick(otherTimes);
    return withTime(headers, sender, (written) => write(nowMs, written));
  },
  'a header changed by a bit': ({ headers }, { random }) => {
    const at = random.below(headers.length);
    return headers.map(([name, value], index) => [name, index === at ? flipped(value, random) : value]);
  },
  'a header left out': ({ headers }, { random }) => {
    const at = random.below(headers.length);
    return headers.filter((_, index) => index !== at);
  },
  'a header twice': ({ headers }, { random, other }) => {
    const [name, value] = random.pick(headers);
    const [, otherValue] = other.request.headers.find(([known]) => known === name) ?? ['', ''];
    const again = [recased(name, random), random.pick([value, otherValue, ''])] as const;
    return random.chance(0.5) ? [...headers, again] : [again, ...headers];
  },
  'names in another case': ({ headers }, { random }) =>
    headers.map(([name, value]) => [recased(name, random), value]),
  'names with other marks': ({ headers }, { random }) =>
    headers.map(([name, value]) => [random.chance(0.5) ? name.replaceAll('-', '_') : name, value]),
  'under another name': ({ headers }, { random, sender }) => {
    const to = random.pick([
      ...sender.carriers,
      'x-signature',
      'x-hub-signature-256',
      'webhook-signature',
      '__proto__',
      'constructor',
    ]);
    return headers.map(([name, value]) => [isCarrier(sender, name) ? to : name, value]);
  },
  'more beside the signature': ({ headers }, { random, sender }) => {
    const more = random.pick(['v0=00,', 't=1,', 'v1=00,', 'v2,AAAA ', 'v1, ', ' ', ',', 'v1=,']);
    return headers.map(([name, value]) => [
      name,
      isCarrier(sender, name) ? (random.chance(0.5) ? more + value : `${value},${more}`) : value,
    ]);
  },
  'headers of a proxy': ({ headers }) => [
    ...headers,
    ['x-forwarded-for', '10.0.0.1'],
    ['forwarded', 'for=10.0.0.1'],
  ],
};

export const contentType = [['Content-Type', 'application/json']] as const;

function isCarrier(sender: Sender, name: string): boolean {
  return sender.carriers.includes(name.toLowerCase());
}

function recased(name: string, random: Random): string {
  return [...name]
    .map((letter) => (random.chance(0.5) ? letter.toUpperCase() : letter.toLowerCase()))
    .join('');
}

/** Matches the signature in its header. */
const signatureAt: Record<'whole' | 'pair' | 'list', RegExp> = {
  whole: /^(?<before>)(?<signature>.*)$/s,
  pair: /^(?<before>.*v1=)(?<signature>.*)$/s,
  list: /^(?<before>.*v1,)(?<signature>.*)$/s,
};

function placeOf({ place }: Sender): RegExp {
  if (place === 'whole') return signatureAt.whole;
  return 'pair' in place ? signatureAt.pair : signatureAt.list;
}

function withSignature(headers: Headers, sender: Sender, write: (written: string) => string): Headers {
  return headers.map(([name, value]) => {
    if (!isCarrier(sender, name)) return [name, value];
    const { before = '', signature = '' } = placeOf(sender).exec(value)?.groups ?? {};
    return [name, before + write(signature)];
  });
}

function signatureOf({ sender, request }: Original): string {
  const carrier = request.headers.find(([name]) => isCarrier(sender, name))?.[1] ?? '';
  return placeOf(sender).exec(carrier)?.groups?.['signature'] ?? '';
}

/** If no header has a time, cuts the signature instead: a mutation must change something. */
function withTime(headers: Headers, sender: Sender, write: (written: string) => string): Headers {
  const place = sender.time?.in;
  if (place === undefined || place === 'body')
    return withSignature(headers, sender, (written) => written.slice(1));
  return headers.map(([name, value]) => {
    if ('header' in place) return [name, name.toLowerCase() === place.header ? write(value) : value];
    return [name, value.replace(/\bt=([^,]*)/, (_, written: string) => `t=${write(written)}`)];
  });
}

/** An attacker's change of a body; `other` is another event of the same sender. */
type BodyMutation = (body: Buffer, random: Random, other: EventBody) => Buffer;

export const bodyMutations: Readonly<Record<string, BodyMutation>> = {
  'a bit flipped': (body, random) => {
    const bytes = Buffer.from(body);
    const at = random.below(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    return bytes;
  },
  'cut short': (body, random) => body.subarray(0, random.below(body.length)),
  'a byte taken out': (body, random) => {
    const at = random.below(body.length);
    return Buffer.concat([body.subarray(0, at), body.subarray(at + 1)]);
  },
  'something appended': (body, random) =>
    Buffer.concat([body, Buffer.from(random.pick([' ', '\n', '\r\n', '\0', '}', '{}', ',']))]),
  'something put before it': (body, random) =>
    Buffer.concat([random.pick([Buffer.from('\uFEFF'), Buffer.from(' '), Buffer.from('[')]), body]),
  'another event’s': (_body, _random, other) => other.body,
  empty: () => Buffer.alloc(0),
  'another amount': (body, random) =>
    replaced(
      body,
      /"amount":(\s*)"[^"]*"/,
      `"amount":$1"${random.pick(['0.01', '99999999.99', '1e9', '-1'])}"`,
    ),
  'the amount as a number': (body) => replaced(body, /"amount":(\s*)"([^"]*)"/, '"amount":$1$2'),
  'another outcome': (body) =>
    replaced(body, /payment_(failed|success)/, (word) =>
      word === 'payment_failed' ? 'payment_success' : 'payment_failed',
    ),
  'another reference': (body, _random, other) => replaced(body, /REF-\d+/, other.reference),
  'a key twice, last': (body, random, other) => replaced(body, /\}\s*\}\s*$/, `,${extra(random, other)}$&`),
  'a key twice, first': (body, random, other) => replaced(body, /^\{/, `{${extra(random, other)},`),
  'a key of every object': (body, random) =>
    replaced(
      body,
      /^\{/,
      `{"${random.pick(['__proto__', 'constructor', 'toString'])}":{"event_type":"payment_success"},`,
    ),
  'printed again': (body, random) => reprinted(body, random.pick([0, 1, 4])),
  'a letter as its escape': (body) => replaced(body, /payment_/, '\\u0070ayment_'),
  'composed letters': (body) => Buffer.from(body.toString().normalize('NFC')),
  'decomposed letters': (body) => Buffer.from(body.toString().normalize('NFD')),
  'in UTF-16': (body) => Buffer.from(body.toString(), 'utf16le'),
  'in Latin-1': (body) => Buffer.from(body.toString(), 'latin1'),
  'a part moved over its separator': (body) =>
    replaced(body, /"orderReference":(\s*)"([^"]*)",(\s*)"orderId":(\s*)"([^"]*?)([:|])([^"]*)"/, (found) =>
      found.replace(/"([^"]*)",(\s*)"orderId":(\s*)"([^"]*?)([:|])([^"]*)"$/, '"$1$5$4",$2"orderId":$3"$6"'),
    ),
};

function extra(random: Random, other: EventBody): string {
  return random.pick([
    '"event_type":"payment_success"',
    `"data":{"order":{"orderReference":"${other.reference}","orderId":"${other.orderId}","amount":"0.01"}}`,
    '"sentAt":"2026-09-29T00:00:00Z"',
  ]);
}

function replaced(body: Buffer, what: RegExp, by: string | ((found: string) => string)): Buffer {
  const text = body.toString();
  return Buffer.from(typeof by === 'string' ? text.replace(what, by) : text.replace(what, by));
}

function reprinted(body: Buffer, indent: number): Buffer {
  try {
    return Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, indent));
  } catch {
    return body;
  }
}
