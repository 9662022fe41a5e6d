import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { causeWords, likelyCause } from '../../src/webhooks/likely-cause.ts';
import { readSignatureScheme } from '../../src/webhooks/scheme-settings.ts';
import { signaturePresets, signDelivery, type SignatureScheme } from '../../src/webhooks/signature.ts';
import type { SignedRequest } from '../../src/webhooks/signed-delivery.ts';

const nowMs = Date.UTC(2026, 8, 29, 9, 30);
const secret = '0123456789abcdef0123456789abcdef';
const raw = signaturePresets['raw-body'];
const pairs = signaturePresets['timestamped-pairs'];
const fields = signaturePresets['field-concatenation'];
const plainToken = signaturePresets['static-token'];
const body = Buffer.from(
  '{"event_type":"payment_failed","data":{"order":{"orderReference":"SUB-1","orderId":"o-1","amount":5000.00},"note":"café / bar"}}',
);

function signed(scheme: SignatureScheme, by = secret, of = body, at = nowMs): SignedRequest {
  return { headers: signDelivery(scheme, by, of, at), body: of };
}

type Case = { scheme?: SignatureScheme; secrets?: string[]; request: SignedRequest; at?: number };

function judge({ scheme = raw, secrets = [secret], request, at = nowMs }: Case) {
  const cause = likelyCause({ scheme, secrets }, request, at);
  return { cause, words: cause ? causeWords(cause) : '' };
}

/** What is delivered is not what was signed. */
function changed(delivered: string | Buffer, was: string | Buffer = body): SignedRequest {
  return { headers: signed(raw, secret, Buffer.from(was)).headers, body: Buffer.from(delivered) };
}

describe('likelyCause', () => {
  it.each(Object.entries(signaturePresets))('finds nothing wrong with a delivery of %s', (_name, scheme) => {
    const by = scheme.secretEncoding === 'whsec' ? 'whsec_MDEyMzQ1Njc4OWFiY2RlZg==' : secret;
    expect(judge({ scheme, secrets: [by], request: signed(scheme, by) }).cause).toBeUndefined();
  });

  it('says that with no secret or no scheme every delivery is refused', () => {
    expect(judge({ secrets: [], request: signed(raw) }).words).toContain('no secret is configured');
    const words = likelyCause({ scheme: undefined, secrets: [secret] }, signed(raw), nowMs);
    expect(words).toMatchObject({ kind: 'unusable_settings', why: 'no signature scheme is configured' });
  });

  it('names the headers it looked for, and those that look like a signature', () => {
    const { cause, words } = judge({ request: { headers: { 'x-acme-hmac': 'ab', accept: '*' }, body } });
    expect(cause).toMatchObject({ kind: 'no_header', similar: ['x-acme-hmac'] });
    expect(words).toContain('It has no header x-webhook-signature or x-signature. x-acme-hmac may carry');
    expect(judge({ request: { headers: {}, body } }).words).toContain(
      'No other header looks like a signature',
    );
  });

  it.each<[string, SignatureScheme, Partial<SignatureScheme>, string]>([
    ['header', raw, { headers: ['x-acme'] }, 'WEBHOOK_SIGNATURE_HEADER=x-acme.'],
    ['algorithm', raw, { algorithm: 'sha512' }, 'WEBHOOK_SIGNATURE_ALGORITHM=sha512.'],
    ['encoding', raw, { encoding: 'base64' }, 'WEBHOOK_SIGNATURE_ENCODING=base64.'],
    ['reading of the secret', raw, { secretEncoding: 'hex' }, 'WEBHOOK_SECRET_ENCODING=hex.'],
    ['place', raw, { place: { kind: 'pair', key: 'sha256' } }, 'WEBHOOK_SIGNATURE_PLACE=pair:sha256.'],
    ['place in a list', raw, { place: { kind: 'list', version: 'v1' } }, 'WEBHOOK_SIGNATURE_PLACE=list:v1.'],
    [
      'two at once',
      raw,
      { algorithm: 'sha512', encoding: 'base64' },
      'WEBHOOK_SIGNATURE_ALGORITHM=sha512, WEBHOOK_SIGNATURE_ENCODING=base64.',
    ],
    [
      'template',
      { ...raw, template: fields.template },
      { template: raw.template },
      'WEBHOOK_SIGNED_TEMPLATE={body}.',
    ],
    ['preset', plainToken, { ...raw, headers: plainToken.headers }, 'WEBHOOK_SIGNATURE_PRESET=raw-body.'],
  ])('names the setting when the sender has another %s', (_what, ours, theirs, fix) => {
    const { cause, words } = judge({ scheme: ours, request: signed({ ...ours, ...theirs }) });
    expect(cause).toMatchObject({ kind: 'other_settings' });
    expect(words).toContain(`Set ${fix}`);
    expect(words).toContain('The secret then fits.');
  });

  it('proposes settings with which the delivery does verify', () => {
    const theirs = { ...pairs, algorithm: 'sha512', encoding: 'base64', place: { kind: 'pair', key: 'sig' } };
    const request = signed(theirs as SignatureScheme);
    const cause = likelyCause({ scheme: raw, secrets: ['another', secret] }, request, nowMs);
    if (cause?.kind !== 'other_settings') throw new Error(`found ${cause?.kind}`);
    const said = new Map(cause.fit.changes.map(({ setting, value }) => [setting, value]));
    expect(cause.fit.secret).toBe(1);
    const mended = readSignatureScheme('raw-body', {
      headers: [said.get('WEBHOOK_SIGNATURE_HEADER') ?? 'x-webhook-signature'],
      place: said.get('WEBHOOK_SIGNATURE_PLACE'),
      algorithm: said.get('WEBHOOK_SIGNATURE_ALGORITHM') as 'sha512',
      encoding: said.get('WEBHOOK_SIGNATURE_ENCODING') as 'base64',
      template: said.get('WEBHOOK_SIGNED_TEMPLATE'),
    });
    if (!mended.ok) throw new Error(mended.problem);
    expect(likelyCause({ scheme: mended.value, secrets: [secret] }, request, nowMs)).toBeUndefined();
  });

  it.each([
    ['sha1', 'hex'],
    ['sha384', 'hex'],
    ['sha256', 'base64url'],
  ] as const)('says that no setting can read %s in %s', (algorithm, encoding) => {
    // Base64url is told from base64 by its characters alone.
    const texts = Array.from({ length: 50 }, (_, index) => {
      const of = Buffer.from(`{"n":${index}}`);
      return { of, text: createHmac(algorithm, secret).update(of).digest().toString(encoding) };
    });
    const told = texts.find(({ text }) => encoding === 'hex' || /[-_]/.test(text));
    if (!told) throw new Error('none of fifty digests has a dash');
    const request = { headers: { 'x-signature': told.text }, body: told.of };
    const { words } = judge({ request });
    expect(words).toContain('No setting can say that');
    expect(words).toContain(encoding === 'hex' ? algorithm : encoding);
  });

  it('recognises a sender that sends the secret itself', () => {
    const request = { headers: { authorization: `Bearer ${secret}` }, body };
    expect(judge({ request }).words).toContain('WEBHOOK_SIGNATURE_PRESET=static-token');
    const lead = judge({ scheme: plainToken, request });
    expect(lead.words).toContain('A word like Bearer stands before the secret');
    expect(lead.words).not.toContain(secret);
  });

  it.each<[string, SignedRequest, string]>([
    ['a line feed was added', changed(`${body.toString()}\n`), 'given a line feed at its end'],
    ['a line feed was lost', changed(body, `${body.toString()}\n`), 'robbed of the line feed at its end'],
    [
      'it was pretty-printed',
      changed(JSON.stringify({ a: 1, b: ['x', {}] }, null, 2), '{"a":1,"b":["x",{}]}'),
      'pretty-printed, or otherwise written with blanks',
    ],
    [
      'it was made compact',
      changed(
        '{"a":1,"b":["x",[],{"c":null}]}',
        JSON.stringify({ a: 1, b: ['x', [], { c: null }] }, null, 4),
      ),
      'robbed of its line breaks and indents',
    ],
    [
      'Python’s blanks were lost',
      changed('{"a":1,"b":[2,3]}', '{"a": 1, "b": [2, 3]}'),
      'robbed of the blanks',
    ],
    ['an amount kept its zeros', changed('{ "a": 5000.00 }', '{"a":5000.00}'), 'pretty-printed'],
    ['an amount lost its zeros', changed('{"a":5000.00}', '{"a":5000}'), 'parsed and written anew'],
    [
      'its keys changed places',
      changed('{"b":1,"a":2}', '{"a":2,"b":1}'),
      'parsed and written anew, with its keys in another order',
    ],
    ['escapes were undone', changed('{"a":"é"}', '{"a":"\\u00e9"}'), 'robbed of its \\u escapes'],
    ['slashes were unescaped', changed('{"a":"x/y"}', '{"a":"x\\/y"}'), 'robbed of its \\/ escapes'],
    ['line ends changed', changed('{\r\n"a":1}', '{\n"a":1}'), 'given CR LF in place of line feeds'],
    [
      'it was re-encoded',
      changed(Buffer.from(body.toString('latin1'), 'utf8')),
      're-encoded from Latin-1 to UTF-8',
    ],
    ['a byte order mark was added', changed(`\uFEFF${body.toString()}`), 'given a byte order mark'],
  ])('sees that after signing %s', (_what, request, how) => {
    const { cause, words } = judge({ request });
    expect(cause).toMatchObject({ kind: 'body_changed' });
    expect(words).toContain(`The body was ${how}`);
  });

  it('tries no other form of a body above the limit it is given', () => {
    const request = changed(`${body.toString()}\n`);
    const cause = likelyCause({ scheme: raw, secrets: [secret] }, request, nowMs, { variedBytes: 10 });
    expect(cause).toMatchObject({ kind: 'wrong_secret' });
  });

  it('says that only the time does not hold, and which way', () => {
    const request = signed(pairs);
    expect(judge({ scheme: pairs, request, at: nowMs + 301_000 }).words).toContain(
      'The signature holds, and only its time does not: the timestamp is too old (tolerance 300 s)',
    );
    expect(judge({ scheme: pairs, request, at: nowMs - 301_000 }).words).toContain('too far ahead');
    expect(judge({ scheme: pairs, request, at: nowMs + 300_000 }).cause).toBeUndefined();
  });

  it('names the unit a time is written in', () => {
    const timestamp = { source: { kind: 'pair', key: 't' }, unit: 'ms', toleranceSeconds: 300 } as const;
    const { words } = judge({ scheme: pairs, request: signed({ ...pairs, timestamp }) });
    expect(words).toContain('Set WEBHOOK_TIMESTAMP_UNIT=ms');
  });

  it('names the part that is signed and not there', () => {
    const { headers } = signed(fields);
    const { 'x-webhook-timestamp': _gone, ...rest } = headers as Record<string, string>;
    const timeless = { ...fields };
    delete timeless.timestamp;
    expect(judge({ scheme: timeless, request: { headers: rest, body } }).words).toContain(
      'header x-webhook-timestamp is missing',
    );
  });

  it('says how a text that can be no signature of ours is written', () => {
    const { cause, words } = judge({ request: { headers: { 'x-signature': 'not-a-digest' }, body } });
    expect(cause).toMatchObject({ kind: 'no_signature' });
    expect(words).toContain('a sha256 signature is 64 hexadecimal digits');
    expect(words).not.toContain('not-a-digest');
    const twice = { headers: { 'x-signature': ['a', 'b'] }, body };
    expect(judge({ request: twice }).words).toContain('header x-signature is there more than once');
  });

  it('calls the secret wrong when nothing that was tried fits, even when it is late too', () => {
    const request = signed(raw, 'somebody else’s');
    expect(judge({ request }).words).toContain('The secret did not make this signature');
    const two = judge({ request, secrets: [secret, 'an older one'] });
    expect(two.words).toContain('None of the 2 secrets made this signature');
    const late = judge({ scheme: pairs, request: signed(pairs, 'other'), at: nowMs + 900_000 });
    expect(late.cause).toMatchObject({ kind: 'wrong_secret' });
  });

  it('names fields that were signed as nothing', () => {
    const short = Buffer.from('{"event_type":"payment_failed","data":{"order":{"orderReference":"SUB-1"}}}');
    const request = signed(fields, 'other', short);
    expect(judge({ scheme: fields, request }).words).toContain('The body has no field /data/order/orderId');
  });

  it('never repeats a secret, whatever the cause', () => {
    const requests = [
      changed(`${body.toString()}\n`),
      signed({ ...raw, algorithm: 'sha512' }),
      signed(raw, 'other'),
    ];
    for (const request of requests) expect(judge({ request }).words).not.toContain(secret);
  });

  it('bears what no sender sends', () => {
    const deep = Buffer.from('['.repeat(20_000) + ']'.repeat(20_000));
    const digest = 'ab'.repeat(32);
    const bodies = [
      deep,
      Buffer.from([0xff, 0xfe, 0]),
      Buffer.alloc(0),
      Buffer.from('{"__proto__":{"a":1}}'),
    ];
    for (const odd of bodies) {
      expect(judge({ request: { headers: { 'x-signature': digest }, body: odd } }).cause).toMatchObject({
        kind: 'wrong_secret',
      });
    }
  });
});
