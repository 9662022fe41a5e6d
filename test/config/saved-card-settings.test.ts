import { describe, expect, it } from 'vitest';
import { savedCardSettings as settings, specifiedPointers } from '../../src/config/saved-card-settings.ts';

type Name = keyof typeof settings;

function read(name: Name, text: string): unknown {
  const result = settings[name].read.safeParse(text);
  return result.success ? result.data : `refused: ${result.error.issues[0]?.message}`;
}

describe('the settings of saved cards', () => {
  it('have no default, because in live the bot must not guess how the service lists cards', () => {
    // Without the settings for further pages, which only take effect if an answer has a cursor.
    const {
      savedCardsCursorPointers: _read,
      savedCardsCursorQuery: _sent,
      savedCardsLastCursors: _last,
      ...asked
    } = settings;
    expect(Object.values(asked).filter((setting) => 'fallback' in setting)).toEqual([]);
  });

  it('read the headers in any case, both, one or none', () => {
    expect(read('savedCardsHeaders', 'authorization, ACCOUNTID')).toEqual(['Authorization', 'accountId']);
    expect(read('savedCardsHeaders', 'accountId,accountId')).toEqual(['accountId']);
    expect(read('savedCardsHeaders', 'None')).toEqual([]);
  });

  it('read pointers of single fields beside the specified names', () => {
    expect(read('savedCardsFieldPointers', '{"cardPan":"/last4","tokenKey":["/token","/id"]}')).toEqual({
      ...specifiedPointers,
      cardPan: ['/last4'],
      tokenKey: ['/token', '/id'],
    });
  });

  it('read a body with the token at any depth', () => {
    const body = { card: [{ key: '{{TOKEN_KEY}}' }] };
    expect(read('savedCardsDeleteBody', JSON.stringify(body))).toEqual(body);
  });

  it.each<[Name, string]>([
    ['savedCardsQuery', 'customer email'],
    ['savedCardsQuery', 'a=b&c'],
    ['savedCardsListPointers', 'data/list'],
    ['savedCardsHeaders', 'Authorization,X-Api-Key'],
    ['savedCardsHeaders', 'none,accountId'],
    ['savedCardsFieldPointers', '{"token":"/token"}'],
    ['savedCardsFieldPointers', '{"tokenKey":"token"}'],
    ['savedCardsFieldPointers', '{"tokenKey":[]}'],
    ['savedCardsFieldPointers', '["/tokenKey"]'],
    ['savedCardsDeleteBody', '{"tokenKey":"TOKEN_KEY"}'],
    ['savedCardsDeleteBody', '{{TOKEN_KEY}}'],
    // Keys are not filled in.
    ['savedCardsDeleteBody', '{"{{TOKEN_KEY}}":"delete"}'],
    // An unknown placeholder would be sent unfilled.
    ['savedCardsDeleteBody', '{"tokenKey":"{{TOKEN_KEY}}","email":"{{EMAIL}}"}'],
  ])('refuse %s=%s, and say what to write', (name, text) => {
    expect(read(name, text)).toMatch(/^refused: must be /);
  });
});
