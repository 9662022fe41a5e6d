import { assert, constantFrom, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settings } from '../../src/config/settings.ts';
import { isThreeDSecure } from '../../src/domain/three-d-secure.ts';

const phrases = settings.chargeThreeDSecureWords.read.parse(settings.chargeThreeDSecureWords.fallback);

describe('isThreeDSecure', () => {
  it.each([
    '3-D Secure authentication is required and cannot be completed on a saved card',
    '3D Secure required',
    '3d   secure',
    'Declined: 3DSecure.',
    '3‑D secure needed', // a non-breaking hyphen, as web pages paste it
    '３Ｄ Ｓｅｃｕｒｅ', // full-width letters
    'error (3DS)',
    '3ds2 challenge',
    'Secure-Authentication failed',
  ])('knows %j by the default phrases, whatever its case, blanks and hyphens', (words) => {
    expect(isThreeDSecure(words, phrases)).toBe(true);
  });

  it.each([
    'Insufficient funds',
    'Insecure authentication channel',
    '13DS code',
    '3 days left',
    'ref 3DSX',
    'secure authentications',
    'a secure connection; authentication later',
    '',
  ])('takes %j for an ordinary decline: a phrase counts whole', (words) => {
    expect(isThreeDSecure(words, phrases)).toBe(false);
  });

  it('is an ordinary decline without words, without phrases, and with phrases that hold nothing', () => {
    expect(isThreeDSecure(undefined, phrases)).toBe(false);
    expect(isThreeDSecure('3D Secure', [])).toBe(false);
    expect(isThreeDSecure('Insufficient funds - call', ['', ' - '])).toBe(false);
  });

  it('takes every character of a phrase for itself, never as a pattern', () => {
    expect(isThreeDSecure('code 9 is bad', ['code .'])).toBe(false);
    expect(isThreeDSecure('Code (5) from the bank', ['code (5)'])).toBe(true);
    assert(
      property(string({ unit: 'binary', maxLength: 12 }), (phrase) => {
        const hasContent = /[^\s\p{Pd}\u00AD]/u.test(phrase.normalize('NFKC'));
        expect(isThreeDSecure(`<< ${phrase} >>`, [phrase])).toBe(hasContent);
      }),
    );
  });

  it('is quick with words made to be slow', () => {
    assert(
      property(constantFrom('3', '3D', '3 D ', 's-', ' '), (piece) => {
        const startedAt = performance.now();
        isThreeDSecure(piece.repeat(20_000), phrases);
        expect(performance.now() - startedAt).toBeLessThan(500);
      }),
      { numRuns: 10 },
    );
  });
});
