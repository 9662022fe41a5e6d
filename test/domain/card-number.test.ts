import { describe, expect, it } from 'vitest';
import { holdsCardNumber } from '../../src/domain/card-number.ts';

describe('holdsCardNumber', () => {
  it.each([
    '4111111111111111',
    '4111 1111 1111 1111',
    '5555-5555-5555-4444',
    'please charge 378282246310005 today',
    '5399.8383.8383.8381',
    '４１１１１１１１１１１１１１１１',
  ])('finds the card number in %j', (text) => {
    expect(holdsCardNumber(text)).toBe(true);
  });

  it.each([
    'ORDER-4111111111111112',
    'ref4111111111111111',
    '+234 803 123 4567',
    '4111 1111 1111',
    '1a5c0c1e-6a2b-4f7e-9a3e-4111111111111',
    '20261120191633001',
    'pay-abcdefghijklmnopqrstuvwxyz',
  ])('finds none in %j', (text) => {
    expect(holdsCardNumber(text)).toBe(false);
  });
});
