import { describe, expect, it } from 'vitest';
import { readMerchantWords } from '../../src/commands/merchant-words.ts';

const names = ['main', 'lagos', 'abuja'];

describe('--account', () => {
  it.each([
    ['charge 500', { text: 'charge 500' }],
    ['charge 500 --account lagos', { text: 'charge 500', name: 'lagos' }],
    ['--account Lagos charge 500', { text: 'charge 500', name: 'lagos' }],
    ['charge --account=abuja 500', { text: 'charge   500', name: 'abuja' }],
    ['INV-1 —account lagos', { text: 'INV-1', name: 'lagos' }],
    ['--account main', { text: '', name: 'main' }],
    ['"INV --account lagos"', { text: '"INV --account lagos"' }],
    ['“a b” --account lagos', { text: '“a b”', name: 'lagos' }],
    ['terminals --accounts', { text: 'terminals --accounts' }],
    ['x--account lagos', { text: 'x--account lagos' }],
  ] as const)('is taken out of %j', (text, expected) => {
    expect(readMerchantWords(text, names)).toEqual({ ok: true, value: expected });
  });

  it.each([
    ['charge --account', 'Name one account after --account: main, lagos, abuja.'],
    ['charge --account=', 'Name one account after --account: main, lagos, abuja.'],
    ['--account lagos --account main x', 'Name one account after --account: main, lagos, abuja.'],
    [
      'x --account lagso',
      'There is no account “lagso”. Did you mean --account lagos? The accounts are main, lagos, abuja.',
    ],
    ['x --account berlin', 'There is no account “berlin”. The accounts are main, lagos, abuja.'],
  ])('%j is refused with the names there are', (text, problem) => {
    expect(readMerchantWords(text, names)).toEqual({ ok: false, problem });
  });
});
