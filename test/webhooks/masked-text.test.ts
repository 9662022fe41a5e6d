import { assert, json, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createMask,
  cutInTheMiddle,
  maskSecret,
  textOfBytes,
  visibleText,
} from '../../src/webhooks/masked-text.ts';

const token = 'canary-token-4ac1f00d';
const mask = createMask(['whsec_canary_secret'], ['canary-transaction']);

describe('createMask', () => {
  it.each([
    ['JSON', `{"tokenizedCardData":{"tokenKey":"${token}"}}`],
    ['an escaped key', `{"token\\u004bey": "${token}"}`],
    ['a list', `{"token_key":["x","${token}"]}`],
    ['JSON within JSON', JSON.stringify({ data: JSON.stringify({ tokenKey: token }) })],
    ['JSON within that', JSON.stringify({ a: JSON.stringify([JSON.stringify({ 'token-key': token })]) })],
    ['an object under a secret name', `{"tokenKey":{"value":"${token}","more":[{"deep":"canary"}]},"a":1}`],
    ['a list under a secret name', `{"token_key":[{"a":"x"},"${token}"]}`],
    ['a token of another name', `{"cardToken":"${token}"}`],
    ['JSON that breaks off', `{"tokenKey":"${token}`],
    ['JSON with a quote too many', `"{"tokenKey":"${token}"}`],
    ['a form', `a=b&tokenKey=${token}&c=d`],
    ['a header', `authorization: ${token}`],
    ['our secret', 'x whsec_canary_secret y'],
    [
      'what a pointer leads to, wherever it stands',
      '{"ref":"for canary-transaction only"} canary-transaction',
    ],
    ['an e-mail', '{"a":"Jane <jane.canary@example.com>"} jane.canary@example.com jane.canary%40example.com'],
    ['an e-mail with an escape', '{"a":"jane.canary\\u0040example.com"}'],
    ['a code', '{"otp":"canary","pin": "canary"}'],
  ])('hides what is secret in %s', (_where, text) => {
    expect(mask(text)).not.toContain('canary');
  });

  it('shows what follows an object that is hidden', () => {
    expect(mask('{"tokenKey":{"a":"x","b":[1]},"amount":"7.00"}')).toBe(
      '{"tokenKey":{"a":"[hidden]","b":[[hidden]]},"amount":"7.00"}',
    );
  });

  it('hides a card number as text, as a number and in groups', () => {
    for (const text of ['{"a":"4111111111111111"}', '{"a":4111111111111111}', 'card 4111 1111 1111 1111.']) {
      expect(mask(text)).not.toMatch(/1111.?1111/);
    }
  });

  it('leaves everything else byte for byte', () => {
    const text =
      '{ "event_type": "payment_failed",\n"isTokenizedCardPayment":"true","amount": 5000.00,"x":"caf\\u00e9"}';
    expect(mask(text)).toBe(text);
  });

  it('never shows a token key of JSON, whatever stands around it', () => {
    assert(
      property(json(), string(), (other, text) => {
        const body = JSON.stringify({ [text]: text, data: [{ tokenKey: token, other: JSON.parse(other) }] });
        expect(mask(body)).not.toContain(token);
      }),
    );
  });
});

describe('maskSecret', () => {
  it('shows two characters at each end at most, and nothing of a short one', () => {
    expect(maskSecret('abcdefghijklmnop')).toBe('ab…op');
    expect(maskSecret('abcdefghijklmno')).toBe('[hidden]');
  });
});

describe('visibleText', () => {
  it('makes visible what a screen swallows or obeys', () => {
    expect(visibleText('a\r\n\tb\u001B[31m\u00A0\u200B\u202E\u007F é')).toBe(
      'a␍␊␉b␛[31m⟨U+00A0⟩⟨U+200B⟩⟨U+202E⟩⟨U+007F⟩ é',
    );
  });

  it('never lets a control through', () => {
    assert(
      property(string({ unit: 'binary' }), (text) => {
        expect(visibleText(text)).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      }),
    );
  });
});

describe('textOfBytes', () => {
  it('says when bytes are no text', () => {
    expect(textOfBytes(Buffer.from('é'))).toEqual({ text: 'é', isText: true });
    expect(textOfBytes(Buffer.from([0xe9]))).toEqual({ text: 'é', isText: false });
  });
});

describe('cutInTheMiddle', () => {
  it('keeps both ends and says how much is left out', () => {
    expect(cutInTheMiddle('abcdefghij', 3, 2)).toBe('abc …(5 characters left out)… ij');
    expect(cutInTheMiddle('abcde', 3, 2)).toBe('abcde');
  });
});
