import { readFileSync } from 'node:fs';
import { assert, constantFrom, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settings } from '../../src/config/settings.ts';
import {
  declineReason,
  isThreeDSecure,
  nextSteps,
  type DeclineReason,
} from '../../src/domain/decline-reason.ts';

const phrases = settings.chargeThreeDSecureWords.read.parse(settings.chargeThreeDSecureWords.fallback);

describe('declineReason', () => {
  const said: Record<DeclineReason, readonly string[]> = {
    insufficient_funds: [
      'Insufficient funds',
      'NOT SUFFICIENT FUNDS',
      'No sufficient funds (51)',
      'Account balance is too low',
      'Do not honour: insufficient balance',
    ],
    limit_exceeded: [
      'Exceeds withdrawal amount limit',
      'Transfer limit Exceeded',
      'Daily limit has been reached',
      'Over credit limit',
    ],
    issuer_unavailable: [
      'Issuer or switch inoperative',
      'Issuing bank is currently unavailable',
      'Transaction timed out',
    ],
    code_expired: ['The payment has exceeded the time allowed', 'Time allowed exceeded'],
    expired_card: ['Expired card', 'Card has expired', 'DECLINED - EXPIRED CARD (54)'],
    refused_card: [
      'Do not honour',
      'DO NOT HONOR',
      'Transaction not permitted to cardholder',
      'Restricted card',
      'Refer to card issuer',
      'Your card was declined by the bank',
      'Card number is invalid',
    ],
    fraud: [
      'Suspected fraud',
      'Stolen card, pick up',
      'Lost card',
      'Pick-up card',
      'Suspected fraud: 3-D Secure required',
    ],
    wrong_code: ['Invalid OTP', 'TOO MANY OTP ATTEMPTS', 'One-time password has expired', 'OTP is wrong'],
    three_d_secure: ['3-D Secure authentication is required', '3DS: do not honour'],
    unknown: [
      '',
      'Declined',
      'Transaction failed',
      'Your session has expired',
      'The connection was lost',
      'Token expired',
      'The customer did not pick up',
      'Time limit exceeded',
      'Error 51',
      'Contact support',
    ],
  };

  it.each(Object.entries(said).flatMap(([reason, all]) => all.map((words) => [words, reason] as const)))(
    'reads %j as %s',
    (words, reason) => {
      expect(declineReason(words, phrases)).toBe(reason);
    },
  );

  it('is unknown without words of the bank', () => {
    expect(declineReason(undefined, phrases)).toBe('unknown');
    expect(nextSteps.unknown).toEqual({ kind: 'nothing_known', text: '' });
  });

  it('is quick with hostile words', () => {
    assert(
      property(
        constantFrom('exceeds a ', 'issuer b ', 'otp a ', 'limit ', 'card ', '3 D ', 's-', ' '),
        (piece) => {
          const startedAt = performance.now();
          declineReason(piece.repeat(20_000), phrases);
          expect(performance.now() - startedAt).toBeLessThan(500);
        },
      ),
      { numRuns: 10 },
    );
  });

  it('matches the table of docs/agents.md', () => {
    const page = readFileSync(new URL('../../docs/agents.md', import.meta.url), 'utf8');
    const told = Object.values(nextSteps).map(({ text }) => text.replace('{time}', '*21:33*'));
    expect(told.filter((text) => !page.includes(text))).toEqual([]);
  });
});

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
  ])('finds %j by the default phrases, ignoring case, blanks and hyphens', (words) => {
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
  ])('takes %j for an ordinary decline, as phrases match whole words', (words) => {
    expect(isThreeDSecure(words, phrases)).toBe(false);
  });

  it('is false without words, without phrases, and with empty phrases', () => {
    expect(isThreeDSecure(undefined, phrases)).toBe(false);
    expect(isThreeDSecure('3D Secure', [])).toBe(false);
    expect(isThreeDSecure('Insufficient funds - call', ['', ' - '])).toBe(false);
  });

  it('takes every character of a phrase literally', () => {
    expect(isThreeDSecure('code 9 is bad', ['code .'])).toBe(false);
    expect(isThreeDSecure('Code (5) from the bank', ['code (5)'])).toBe(true);
    assert(
      property(string({ unit: 'binary', maxLength: 12 }), (phrase) => {
        const hasContent = /[^\s\p{Pd}\u00AD]/u.test(phrase.normalize('NFKC'));
        expect(isThreeDSecure(`<< ${phrase} >>`, [phrase])).toBe(hasContent);
      }),
    );
  });
});
