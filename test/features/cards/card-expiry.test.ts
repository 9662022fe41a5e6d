import { describe, expect, it } from 'vitest';
import { cardExpiresAtMs } from '../../../src/features/cards/card-ledger.ts';

const endOf2029 = Date.UTC(2030, 0, 2);

describe('when a saved card expires', () => {
  it.each([
    '12/29',
    '12/2029',
    ' 12 / 29 ',
    '12-29',
    '1229',
    '122029',
    '2029-12',
    '2029/12',
    '202912',
    '2029-12-31',
    '2029-12-31T10:00:00Z',
  ])('is the end of its month, and a day for the time zones, however it is written: %s', (text) => {
    expect(cardExpiresAtMs(text)).toBe(endOf2029);
  });

  it.each(['2/28', '02/28', '2028-2'])('takes a month of one digit: %s', (text) => {
    expect(cardExpiresAtMs(text)).toBe(Date.UTC(2028, 2, 2));
  });

  it.each(['', 'N/A', '13/29', '0/29', '2029', '31/12/2029', 'never', '12/9', '2029-13-01', '999912'])(
    'is not known of %j',
    (text) => {
      expect(cardExpiresAtMs(text)).toBeUndefined();
    },
  );
});
