import { describe, expect, it } from 'vitest';
import { proposeCards } from '../../../src/cli/connect/propose-cards.ts';
import { sandboxDefaults, specifiedPointers } from '../../../src/config/saved-card-settings.ts';
import type { SavedCardShape } from '../../../src/payments/saved-cards.ts';

const email = 'ada@example.com';
const ours: SavedCardShape = {
  ...sandboxDefaults,
  savedCardsCursorPointers: ['/data/cursor', '/cursor'],
  savedCardsCursorQuery: 'cursor',
  savedCardsLastCursors: [],
  savedCardsFieldPointers: specifiedPointers,
};
type Query = Readonly<Record<string, string>>;

function card(at: number): object {
  return {
    tokenKey: `tok-00000${at}`,
    cardType: 'Visa',
    tokenExpiryDate: '12/29',
    cardPan: '4081',
    customerEmail: email,
  };
}

/** A service with these lists, and the queries it was asked. */
function service(list: (query: Query) => object, status = 200) {
  const asked: Query[] = [];
  return {
    asked,
    ask: (query: Query) => {
      asked.push(query);
      return Promise.resolve({ status, body: list(query) });
    },
  };
}

/** Pages of two cards; the answer has the next page's number. */
function byNumber(parameter: string, end: unknown) {
  return (query: Query): object => {
    const page = Number(query[parameter] ?? 1);
    const cards = [card(page * 2), card(page * 2 + 1)];
    return { data: { results: cards, nextPage: page < 3 ? page + 1 : end, pageSize: 2, total: 6 } };
  };
}

describe('a customer’s saved cards', () => {
  it('need no settings if listed as in the sandbox', async () => {
    const { ask, asked } = service(() => ({ data: { tokenizedCardDataList: [card(1)] } }));
    expect(await proposeCards(ask, email, ours)).toMatchObject({
      kind: 'fits',
      changes: {},
      cards: 1,
      pages: 1,
      paging: 'whole',
    });
    expect(asked).toEqual([{ customerEmail: email }]);
  });

  it('are found under another parameter, in another place, with other field names', async () => {
    const listed = {
      authToken: 'tok-000001',
      brand: 'Visa',
      last4: '4081',
      expires: '12/29',
      payer: { mail: email },
    };
    const { ask } = service(({ email: by }) =>
      by === undefined ? { error: 'email is required' } : { saved: [listed] },
    );
    expect(await proposeCards(ask, email, ours)).toMatchObject({
      kind: 'fits',
      changes: {
        SAVED_CARDS_QUERY: 'email',
        SAVED_CARDS_LIST_POINTERS: '/saved',
        SAVED_CARDS_FIELD_POINTERS: JSON.stringify({
          tokenKey: '/authToken',
          cardType: '/brand',
          tokenExpiryDate: '/expires',
          cardPan: '/last4',
          customerEmail: '/payer/mail',
        }),
      },
    });
  });

  it.each<[unknown, object]>([
    [0, { SAVED_CARDS_LAST_CURSORS: '0' }],
    [null, {}],
    [false, { SAVED_CARDS_LAST_CURSORS: 'false' }],
  ])('are followed by page number up to the end marker %j', async (end, last) => {
    const { ask } = service(byNumber('page', end));
    expect(await proposeCards(ask, email, ours)).toMatchObject({
      kind: 'fits',
      changes: { SAVED_CARDS_CURSOR_POINTERS: '/data/nextPage', SAVED_CARDS_CURSOR_QUERY: 'page', ...last },
      cards: 6,
      pages: 3,
      paging: 'followed',
    });
  });

  it('need no settings if the present ones know the next page', async () => {
    const { ask } = service(byNumber('page', 0));
    const settings = {
      savedCardsCursorPointers: ['/data/nextPage'],
      savedCardsCursorQuery: 'page',
      savedCardsLastCursors: ['0'],
    };
    expect(await proposeCards(ask, email, { ...ours, ...settings })).toMatchObject({ changes: {}, pages: 3 });
  });

  it('are called stuck if no parameter gets the page that the answer names', async () => {
    const { ask } = service(byNumber('seite', 0));
    expect(await proposeCards(ask, email, ours)).toMatchObject({ changes: {}, pages: 1, paging: 'stuck' });
  });

  it('put wrong field settings back to the specification’s names', async () => {
    const { ask } = service(() => ({ data: [card(1)] }));
    const wrong = { ...specifiedPointers, cardPan: ['/digits'] };
    expect(await proposeCards(ask, email, { ...ours, savedCardsFieldPointers: wrong })).toMatchObject({
      changes: { SAVED_CARDS_FIELD_POINTERS: '{}' },
    });
  });

  it('are not found without a list, and it says what was tried', async () => {
    const { ask, asked } = service(() => ({ code: '404' }), 404);
    expect(await proposeCards(ask, email, ours)).toMatchObject({
      kind: 'none',
      why: expect.stringMatching(/HTTP 404.*customerEmail, email/),
    });
    expect(asked.length).toBeLessThan(10);
  });
});
