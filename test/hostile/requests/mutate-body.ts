import type { Random } from '../../chaos/random.ts';
import type { EventBody } from './event-bodies.ts';

/** What the one in the middle makes of a body; `other` is another event of the same sender. */
export type BodyMutation = (body: Buffer, random: Random, other: EventBody) => Buffer;

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
  'printed anew': (body, random) => reprinted(body, random.pick([0, 1, 4])),
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
