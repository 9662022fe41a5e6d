import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { searchLists, normalEmail } from '../../src/records/found-by.ts';

const fingerprint = async (text: string): Promise<string> =>
  createHmac('sha256', 'a key').update(text).digest('hex').slice(0, 32);
const account = { fingerprint, log: () => undefined };

describe('an address', () => {
  it.each([
    'ada@bücher.example',
    ' Ada@BÜCHER.example ',
    'ada@xn--bcher-kva.example',
    'ADA@XN--BCHER-KVA.EXAMPLE.',
    'ada\u200B@bücher.example',
    'ａｄａ＠bücher.example',
    'ada @ bücher.example',
  ])('is the same as %s', (written) => {
    expect(normalEmail(written)).toBe('ada@xn--bcher-kva.example');
  });

  it.each(['ada+1@bücher.example', 'a.da@bücher.example', 'ada@bucher.example', 'ada@bücher.example.com'])(
    'is another than %s',
    (other) => {
      expect(normalEmail(other)).not.toBe('ada@xn--bcher-kva.example');
    },
  );

  it('keeps a domain that has no ASCII form', () => {
    expect(normalEmail('Ada@a b%c')).toBe('ada@ab%c');
    expect(normalEmail('nobody')).toBe('nobody');
  });
});

describe('the lists that a record is found by', () => {
  it('are the same for all spellings of the address, and contain neither address nor digits', async () => {
    const lists = await searchLists(account, {
      customerEmail: 'Ada@Example.com',
      lastFour: '4242',
      amountMinor: 1_250_000,
    });
    expect(lists).toHaveLength(2);
    expect(await searchLists(account, { customerEmail: ' ada@example.com' })).toEqual(lists.slice(0, 1));
    expect(await searchLists(account, { lastFour: '4242', amountMinor: 1_250_000 })).toEqual(lists.slice(1));
    for (const list of lists) expect(list).toMatch(/^found-by:[\da-f]{32}$/);
  });

  it('are empty if neither customer nor card is known', async () => {
    expect(await searchLists(account, {})).toEqual([]);
    expect(await searchLists(account, { customerEmail: ' ', lastFour: '4242' })).toEqual([]);
    expect(await searchLists(account, { amountMinor: 1 })).toEqual([]);
  });

  it('are empty if the hash’s key is lost, so that the record is stored; throws if the store is away', async () => {
    const lines: string[] = [];
    const log = (_: string, line: string): void => void lines.push(line);
    const lost = { log, fingerprint: () => Promise.reject(new Error('The key is gone.')) };
    expect(await searchLists(lost, { customerEmail: 'ada@example.com' })).toEqual([]);
    expect(lines).toEqual(['a record cannot be listed for /pay find']);
    const away = { log, fingerprint: () => Promise.reject(new StoreUnavailable('away')) };
    await expect(searchLists(away, { customerEmail: 'ada@example.com' })).rejects.toThrow('away');
  });
});
