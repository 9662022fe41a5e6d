import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatMoney, minorFromWire, parseAmount, wireFromMinor } from '../../src/domain/money.ts';

describe('minorFromWire', () => {
  it.each([
    ['5000.00', 500_000],
    ['5000.0', 500_000],
    ['5000', 500_000],
    [5000, 500_000],
    [5000.5, 500_050],
    ['0.01', 1],
    [' 12.30 ', 1_230],
    ['5000.000', 500_000],
  ])('reads %j as %i minor units', (wire, minor) => {
    expect(minorFromWire(wire)).toBe(minor);
  });

  it.each([
    '',
    '-5.00',
    '5,000.00',
    '1.005',
    'NaN',
    '1e3',
    '5.',
    null,
    undefined,
    {},
    '99999999999999999.00',
  ])('refuses %j', (wire) => {
    expect(minorFromWire(wire)).toBeUndefined();
  });

  it('reads every amount that wireFromMinor writes', () => {
    fc.assert(
      fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), (minor) => {
        expect(minorFromWire(wireFromMinor(minor))).toBe(minor);
      }),
    );
  });
});

describe('parseAmount', () => {
  it.each([
    ['12,500.00', 1_250_000],
    ['12500', 1_250_000],
    ['1,234,567.8', 123_456_780],
  ])('reads %s', (text, minor) => {
    expect(parseAmount(text)).toEqual({ ok: true, value: minor });
  });

  it.each([
    ['NGN 5000', 'without the currency: 5000.'],
    ['₦5,000.00', 'without the currency: 5,000.00.'],
    ['12,5', 'the point separates decimals: 12.5.'],
    ['5.000,00', 'the point separates decimals: 5,000.00.'],
    ['NGN 4111 1111 1111 1111', 'like 12,500.00 or 12500.'],
  ])('refuses %s, and shows the right form', (text, words) => {
    const result = parseAmount(text);
    expect(result.ok ? '' : result.problem).toContain(words);
  });

  it.each(['', '12,50', '1,2345', '12.345', '0', '0.00', '-1', 'ten', '١٢'])(
    'refuses %j in words',
    (text) => {
      const result = parseAmount(text);
      expect(result.ok).toBe(false);
      expect(result.ok ? '' : result.problem).toMatch(/amount/i);
    },
  );
});

describe('formatMoney', () => {
  it.each([
    [1_250_000, 'NGN 12,500.00'],
    [5, 'NGN 0.05'],
    [100_000, 'NGN 1,000.00'],
    [99_999, 'NGN 999.99'],
    [123_456_789_00, 'NGN 123,456,789.00'],
  ])('writes %i as %s', (minor, text) => {
    expect(formatMoney({ minor, currency: 'NGN' })).toBe(text);
  });
});
