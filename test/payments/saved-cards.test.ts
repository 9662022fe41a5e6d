import nock from 'nock';
import { describe, expect, it } from 'vitest';
import type { EmailChange } from '../../src/domain/card.ts';
import { sandboxDefaults, specifiedPointers } from '../../src/config/saved-card-settings.ts';
import { createPaymentsClient } from '../../src/payments/client.ts';
import {
  type SavedCardShape,
  type SavedCardsAnswer,
  changeCardEmail,
  deleteSavedCard,
  listSavedCards,
} from '../../src/payments/saved-cards.ts';
import { findCanaries } from '../support/canaries.ts';
import { mockTheOutside } from '../support/mocks.ts';
import {
  accountId,
  baseUrl,
  cannedClient,
  clientOf,
  emailPath,
  envelope,
  fixedToken,
  secrets,
  shown,
} from './charging.ts';

mockTheOutside();

const shape: SavedCardShape = {
  ...sandboxDefaults,
  savedCardsCursorPointers: ['/data/cursor', '/cursor'],
  savedCardsCursorQuery: 'none',
  savedCardsLastCursors: [],
  savedCardsFieldPointers: specifiedPointers,
};
const paged = { savedCardsCursorQuery: 'cursor' };
const email = 'ada.obi+shop@example.com';
const card = { tokenKey: 'tok-1', cardType: 'Visa', cardPan: '418742******1127', customerEmail: email };
const sixty = Array.from({ length: 60 }, (_, at) => ({ ...card, tokenKey: `tok-${at}` }));
const toDelete = { tokenKey: secrets.tokenKey, customerEmail: email };

function listAnswered(body: unknown, httpStatus = 200, with_: Partial<SavedCardShape> = {}) {
  const of = { accountId, shape: { ...shape, ...with_ } };
  return listSavedCards(cannedClient(body, httpStatus), of, email);
}

function deletionAnswered(body: unknown, httpStatus = 200) {
  return deleteSavedCard(cannedClient(body, httpStatus), { accountId, shape }, toDelete);
}

describe('listSavedCards', () => {
  it('sends the e-mail under the configured name, and the configured headers', async () => {
    const reqheaders = { authorization: `Bearer ${secrets.accessToken}`, accountid: accountId };
    nock(baseUrl, { reqheaders })
      .get(emailPath)
      .query({ 'filter[mail]': email })
      .reply(200, { code: '00', data: [card] });
    const of = { accountId, shape: { ...shape, savedCardsQuery: 'filter[mail]' } };
    expect(await listSavedCards(clientOf(), of, email)).toEqual({ kind: 'cards', cards: [card] });
  });

  it('sends neither token nor account if the settings want none', async () => {
    nock(baseUrl, { badheaders: ['authorization', 'accountid'] })
      .get(emailPath)
      .query({ customerEmail: email })
      .reply(200, { code: '00', data: [] });
    const of = { accountId, shape: { ...shape, savedCardsHeaders: [] } };
    expect(await listSavedCards(clientOf(), of, email)).toEqual({ kind: 'cards', cards: [] });
  });

  it.each<[string, unknown]>([
    ['the first pointer’s list', { code: '00', data: { tokenizedCardDataList: [card] } }],
    ['a later pointer’s', { code: '00', data: { results: [card] } }],
    ['a bare list under data', { code: '00', data: [card] }],
    ['one card where a list could come', { code: '00', data: card }],
    ['a list without any code', { data: [card] }],
  ])('reads %s', async (_what, body) => {
    expect(await listAnswered(body)).toEqual({ kind: 'cards', cards: [card] });
  });

  it('reads fields of other names, numbers as text, and cards without a token', async () => {
    const savedCardsFieldPointers = {
      ...specifiedPointers,
      cardPan: ['/pan/last4', '/last4'],
      tokenKey: ['/id'],
    };
    const body = { code: '00', data: [{ id: 77, pan: { last4: 1127 } }, { last4: '0007' }] };
    expect(await listAnswered(body, 200, { savedCardsFieldPointers })).toEqual({
      kind: 'cards',
      cards: [{ tokenKey: '77', cardPan: '1127' }, { cardPan: '0007' }],
    });
  });

  it.each<[unknown, number, SavedCardsAnswer]>([
    [{ code: '404', description: 'Record not found' }, 404, { kind: 'not_found' }],
    [{ code: '01', data: null }, 200, { kind: 'not_found' }],
    [{ code: '00', data: null }, 200, { kind: 'cards', cards: [] }],
    [{ code: '400', description: 'no such mail' }, 400, { kind: 'refused', message: 'no such mail' }],
  ])('answers %j with HTTP %i as %j', async (body, httpStatus, answer) => {
    expect(await listAnswered(body, httpStatus)).toEqual(answer);
  });

  it.each<[string, unknown]>([
    ['no list at the pointers', { code: '00', data: { cards: [card] } }],
    ['a list in which not every item is a card', { code: '00', data: [card, 'and 3 more'] }],
  ])('throws for %s, instead of returning an empty list', async (_what, body) => {
    await expect(listAnswered(body)).rejects.toMatchObject({ kind: 'malformed' });
  });

  it('reads the list’s next pages, with the cursor at the configured place', async () => {
    const pages = [
      { code: '00', data: { results: [card], next: { page: 'p 2' } } },
      { code: '00', data: { results: [{ ...card, tokenKey: 'tok-2' }], next: { page: 'p 3' } } },
      { code: '00', data: { results: [{ ...card, tokenKey: 'tok-3' }], next: { page: null } } },
    ];
    const mail = { customerEmail: email };
    nock(baseUrl).get(emailPath).query(mail).reply(200, pages[0]);
    nock(baseUrl)
      .get(emailPath)
      .query({ ...mail, cursor: 'p 2' })
      .reply(200, pages[1]);
    nock(baseUrl)
      .get(emailPath)
      .query({ ...mail, cursor: 'p 3' })
      .reply(200, pages[2]);
    const of = { accountId, shape: { ...shape, ...paged, savedCardsCursorPointers: ['/data/next/page'] } };
    expect(await listSavedCards(clientOf(), of, email)).toEqual({
      kind: 'cards',
      cards: [card, { ...card, tokenKey: 'tok-2' }, { ...card, tokenKey: 'tok-3' }],
    });
  });

  it.each([
    ['no cursor is found, even with one card', [card], {}, 1],
    ['the same cursor comes again', [card], { cursor: 'again' }, 1],
    ['the limit of pages is reached', sixty, { cursor: 'x' }, 60],
  ])('says that there may be more cards if %s', async (_what, results, more, count) => {
    const answer = await listAnswered({ code: '00', data: { results, ...more } }, 200, paged);
    expect(answer).toMatchObject({ kind: 'cards', mayHaveMore: true });
    expect(answer).toHaveProperty('cards.length', count);
  });

  it('sends the cursor under the configured name, and ends when a page says so', async () => {
    const mail = { customerEmail: email };
    const second = { ...card, tokenKey: 'tok-2' };
    nock(baseUrl)
      .get(emailPath)
      .query(mail)
      .reply(200, { code: '00', data: [card], cursor: 2 });
    nock(baseUrl)
      .get(emailPath)
      .query({ ...mail, pageNumber: '2' })
      .reply(200, { code: '00', data: [card, second], cursor: 0 });
    const own = { savedCardsCursorQuery: 'pageNumber', savedCardsLastCursors: ['0'] };
    const of = { accountId, shape: { ...shape, ...own } };
    // A card on both pages is one card.
    expect(await listSavedCards(clientOf(), of, email)).toEqual({ kind: 'cards', cards: [card, second] });
  });

  it.each<[string, object, Partial<SavedCardShape>]>([
    ['its only page says so', { cursor: '' }, paged],
    ['its only page says so by null', { cursor: null }, paged],
    [
      'a setting names the page’s cursor as the last one',
      { cursor: -1 },
      { ...paged, savedCardsLastCursors: ['0', '-1'] },
    ],
    ['a setting says that the list has one page', {}, { savedCardsCursorQuery: 'none' }],
  ])('knows that there are no more cards if %s', async (_what, more, own) => {
    const answer = await listAnswered({ code: '00', data: { results: [card] }, ...more }, 200, own);
    expect(answer).toEqual({ kind: 'cards', cards: [card] });
  });

  it('gives the service’s reason for a refusal', async () => {
    const body = { code: '99', description: 'not for this account', data: [card] };
    expect(await listAnswered(body, 422)).toEqual({ kind: 'refused', message: 'not for this account' });
    await expect(listAnswered(body)).rejects.toMatchObject({ kind: 'refused', said: 'not for this account' });
  });
});

describe('deleteSavedCard', () => {
  it('sends the configured body, filled in', async () => {
    const savedCardsDeleteBody = {
      card: { key: '{{TOKEN_KEY}}', of: ['{{CUSTOMER_EMAIL}}', '{{ACCOUNT_ID}}'] },
    };
    const sent = { card: { key: secrets.tokenKey, of: [email, accountId] } };
    const reqheaders = { authorization: `Bearer ${secrets.accessToken}`, accountid: accountId };
    nock(baseUrl, { reqheaders: { ...reqheaders, 'content-type': 'application/json' } })
      .delete(emailPath, sent)
      .reply(200, { code: '00', data: { status: true } });
    const of = { accountId, shape: { ...shape, savedCardsDeleteBody } };
    expect(await deleteSavedCard(clientOf(), of, toDelete)).toEqual({ kind: 'deleted' });
  });

  it('sends the same body after a 401, and no Authorization if none is configured', async () => {
    nock(baseUrl).delete(emailPath, { tokenKey: secrets.tokenKey }).reply(401, {});
    nock(baseUrl).delete(emailPath, { tokenKey: secrets.tokenKey }).reply(200, { code: '00' });
    expect(await deleteSavedCard(clientOf(), { accountId, shape }, toDelete)).toEqual({ kind: 'deleted' });
    nock(baseUrl, { badheaders: ['authorization', 'accountid'] })
      .delete(emailPath, { tokenKey: secrets.tokenKey })
      .reply(200, { code: '00' });
    const of = { accountId, shape: { ...shape, savedCardsHeaders: [] } };
    expect(await deleteSavedCard(clientOf(), of, toDelete)).toEqual({ kind: 'deleted' });
  });

  it('is counted as the deletion, by the specification’s path', async () => {
    const counted: string[] = [];
    const client = createPaymentsClient({
      baseUrl,
      sandbox: false,
      timeoutMs: 5_000,
      accessToken: fixedToken(),
      fetch: () => Promise.resolve(Response.json({ code: '00' })),
      called: (operation) => void counted.push(operation),
    });
    await deleteSavedCard(client, { accountId, shape }, toDelete);
    expect(counted).toEqual([`DELETE ${emailPath}`]);
  });

  it.each<[unknown, number, string]>([
    [{ code: '00' }, 200, 'deleted'],
    [{ code: '00', data: { status: 'true' } }, 200, 'deleted'],
    [{ code: '00', data: { status: false, message: 'no' } }, 200, 'refused'],
    [{ code: '400', data: { status: false, message: 'no' } }, 200, 'refused'],
    [{ code: '404' }, 200, 'no_such_card'],
    [{ code: '404' }, 404, 'no_such_card'],
    [{ code: '400' }, 400, 'not_made'],
    [{}, 403, 'not_made'],
    [{}, 429, 'not_made'],
    [{}, 500, 'unknown'],
    [{}, 200, 'unknown'],
    [{ code: '77' }, 200, 'unknown'],
    [{ description: 'Card deleted' }, 200, 'unknown'],
    // A contradictory success is no success.
    [{ code: '00', status: false }, 200, 'unknown'],
    [{ code: '00', status: 'false', data: null }, 200, 'unknown'],
    [{ code: '00', data: false }, 200, 'unknown'],
    // The specification's words for a token that does not exist (any more).
    [{ code: '400', data: { status: false, message: 'Invalid card token' } }, 200, 'no_such_card'],
    [{ code: '400', data: { message: 'Invalid card token.' } }, 400, 'no_such_card'],
    [{ code: '400', description: 'Invalid card token' }, 400, 'not_made'],
    [{ code: '00', data: { status: false, message: 'Invalid card token' } }, 200, 'no_such_card'],
  ])('judges %j with HTTP %i as %s', async (body, httpStatus, kind) => {
    expect(await deletionAnswered(body, httpStatus)).toMatchObject({ kind });
  });

  it('strikes the token out of the service’s words', async () => {
    const message = `no card ${secrets.tokenKey} here`;
    const answer = await deletionAnswered({ code: '00', data: { status: false, message } });
    expect(shown(answer)).toContain('no card [secret] here');
    expect(findCanaries({ 'token key': secrets.tokenKey }, { answer: shown(answer) })).toEqual([]);
  });
});

const change: EmailChange = {
  tokenKey: secrets.tokenKey,
  currentEmail: 'old@example.com',
  newEmail: 'new@example.com',
};

const cardTold = {
  tokenKey: 'the-service-may-tell-another',
  cardType: 'Visa',
  tokenExpiryDate: 1229,
  cardPan: '418742******1127',
  customerEmail: 'new@example.com',
};

function changeAnswered(body: unknown, httpStatus = 200) {
  return changeCardEmail(cannedClient(body, httpStatus), accountId, change);
}

describe('changeCardEmail', () => {
  it('sends the token key and both e-mails, with Authorization and accountId', async () => {
    const reqheaders = { authorization: `Bearer ${secrets.accessToken}`, accountid: accountId };
    nock(baseUrl, { reqheaders })
      .post(emailPath, {
        tokenKey: secrets.tokenKey,
        currentEmailAddress: 'old@example.com',
        newEmailAddress: 'new@example.com',
      })
      .reply(200, envelope('00', { status: true, tokenizedCardData: cardTold }));
    const answer = await changeCardEmail(clientOf(), accountId, change);
    expect(answer).toEqual({ kind: 'changed' });
  });

  it.each([
    ['changed without a card', envelope('00', { status: 'true' }), 200, { kind: 'changed' }],
    [
      'changed with a list of one card',
      envelope('00', [{ status: true, tokenizedCardData: [cardTold] }]),
      200,
      { kind: 'changed' },
    ],
    [
      'not linked, in the service’s words',
      envelope('00', { status: false, message: 'Not yours' }),
      200,
      { kind: 'not_linked', message: 'Not yours' },
    ],
    [
      'rejected',
      envelope('400', { status: false, message: 'Invalid card token' }),
      200,
      { kind: 'rejected', reason: 'invalid_token', message: 'Invalid card token' },
    ],
    [
      'rejected without data',
      { code: '400', description: 'Customer email is invalid', data: null },
      200,
      { kind: 'rejected', reason: 'email_invalid', message: 'Customer email is invalid' },
    ],
    [
      'no such card by HTTP 404',
      { code: '404', description: 'Record not found' },
      404,
      { kind: 'no_such_card' },
    ],
    ['no such card by code "404"', envelope('404', null), 200, { kind: 'no_such_card' }],
    [
      'not made when validation failed',
      { description: 'newEmailAddress: Invalid' },
      400,
      { kind: 'not_made', failure: 'invalid_request', message: 'newEmailAddress: Invalid' },
    ],
  ])('tells %s', async (_what, body, httpStatus, answer) => {
    expect(await changeAnswered(body, httpStatus)).toEqual(answer);
  });

  it.each([
    ['no data.status', envelope('00', { tokenizedCardData: cardTold }), 200],
    ['no code, only a good description', { description: 'Success', data: { status: true } }, 200],
    ['code "400" and changed', envelope('400', { status: true }), 200],
    ['changed under HTTP 400', envelope('00', { status: true }), 400],
    ['HTTP 500', envelope('00', { status: true }), 500],
  ])('leaves in doubt: %s', async (_what, body, httpStatus) => {
    expect(await changeAnswered(body, httpStatus)).toMatchObject({ kind: 'unknown' });
  });

  it('holds no token key, even if the service repeats it', async () => {
    const message = `${secrets.tokenKey} under Bearer ${secrets.accessToken}`;
    const answers = await Promise.all(
      [
        envelope('00', { status: false, message }),
        envelope('00', { status: true, tokenizedCardData: cardTold }),
        { code: message, description: message },
      ].flatMap((body) => [200, 400, 500].map((status) => changeAnswered(body, status))),
    );
    const { tokenKey, accessToken } = secrets;
    const own = { tokenKey, accessToken, told: cardTold.tokenKey };
    expect(findCanaries(own, { answers: answers.map(shown).join('\n') })).toEqual([]);
  });
});
