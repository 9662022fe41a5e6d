import { describe, expect, it } from 'vitest';
import { maskEmail } from '../../src/domain/outside-text.ts';

describe('maskEmail', () => {
  it.each([
    ['jane@example.com', 'j***@example.com'],
    ['j@example.com', 'j***@example.com'],
    ['"odd@name"@example.com', '"***@example.com'],
    ['no address', '***'],
    ['@example.com', '***'],
  ])('masks %s', (email, masked) => {
    expect(maskEmail(email)).toBe(masked);
  });
});
