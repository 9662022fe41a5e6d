import { describe, expect, it } from 'vitest';
import { parseAccountKey, refLength } from '../../../src/features/new-account/create-account.ts';
import { knownAccountFields, parseAccountFields } from '../../../src/config/payments-settings.ts';
import { maskPhone } from '../../../src/domain/outside-text.ts';

const byDefault = refLength(parseAccountFields(knownAccountFields.split(',')) ?? []);

describe('the fields of a new account', () => {
  it('are the Account’s by default, with the specification’s constraints', () => {
    const fields = parseAccountFields(knownAccountFields.split(','));
    expect(fields).toContainEqual({ name: 'accountName', required: true, shortest: 2, longest: 255 });
    expect(fields).toContainEqual({ name: 'accountRef', required: false, shortest: 20, longest: 20 });
    const bvn = { name: 'bvn', required: false, shortest: 11, longest: 11, secret: true };
    expect(fields).toContainEqual(bvn);
    expect(fields).toContainEqual({
      name: 'currency',
      required: false,
      shortest: 0,
      longest: 3_000,
      choices: ['NGN'],
    });
  });

  it('are secret if marked, and pin and bvn always', () => {
    const fields =
      parseAccountFields(['PIN:4', 'bvn!', 'motherName*', 'code!*:3-10', 'other*!', 'email']) ?? [];
    expect(fields.map(({ name, required, secret = false }) => [name, required, secret])).toEqual([
      ['PIN', false, true],
      ['bvn', true, true],
      ['motherName', false, true],
      ['code', true, true],
      ['other', true, true],
      ['email', false, false],
    ]);
  });

  it.each([
    [],
    ['a**'],
    ['accountRef*'],
    ['a', 'a'],
    ['1a'],
    ['a b'],
    ['a:'],
    ['a:5-2'],
    ['a:0'],
    ['a:1-'],
    ['a:-5'],
    ['a:9999'],
    ['a:x|x'],
    ['a:x||y'],
    ['a!!'],
    Array.from({ length: 31 }, (_, index) => `f${index}`),
  ])('are refused if malformed: %j', (...items) => {
    expect(parseAccountFields(items)).toBeUndefined();
  });
});

function of(...items: string[]) {
  return refLength(parseAccountFields(items) ?? []);
}

describe('the key of an account', () => {
  const id = '3F1C9A52-7d64-4e0b-9a35-2b8c51f0d7e1';
  it.each([
    [id, 'accountId', id.toLowerCase()],
    ['SUB00000000000000001', 'accountRef', 'SUB00000000000000001'],
    [' 12345678901234567890 ', 'accountRef', '12345678901234567890'],
    ['😀'.repeat(20), 'accountRef', '😀'.repeat(20)],
  ])('%s is an id or a reference by its form', (text, by, value) => {
    expect(parseAccountKey(text, byDefault)).toEqual({ ok: true, value: { by, value } });
  });

  it('has the length that the settings give to references', () => {
    expect(parseAccountKey('SUB-1', of('accountRef:4-12')).ok).toBe(true);
    expect(parseAccountKey('SUB', of('accountRef:4-12'))).toMatchObject({
      problem: expect.stringContaining('4 to 12 characters'),
    });
    expect(parseAccountKey('SUB-1', of('accountRef')).ok).toBe(true);
    expect(parseAccountKey('SUB-1', of('accountName')).ok).toBe(true);
    expect(parseAccountKey('', of('accountName')).ok).toBe(false);
  });

  it.each(['', 'x', 'y'.repeat(19), 'y'.repeat(21), 'y'.repeat(36)])('is not %j', (text) => {
    expect(parseAccountKey(text, byDefault)).toMatchObject({
      ok: false,
      problem: expect.stringContaining('20 characters'),
    });
  });
});

it('shows the last four digits of a telephone number, and none of a short one', () => {
  expect(maskPhone('+234 803 123 4567')).toBe('***4567');
  expect(maskPhone('1234')).toBe('***');
});
