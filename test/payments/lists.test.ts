import nock from 'nock';
import { describe, expect, it } from 'vitest';
import { createAccount, findAccount, listAccounts } from '../../src/payments/accounts.ts';
import { listTerminals } from '../../src/payments/terminals.ts';
import { mockTheOutside } from '../support/mocks.ts';
import { accountId, baseUrl, cannedClient, clientOf, envelope } from './charging.ts';

mockTheOutside();

const terminal = { terminalId: '20700001', terminalLabel: 'Till 1', merchantName: 'Ikeja Branch' };
const account = {
  accountId: '3f1c9a52-7d64-4e0b-9a35-2b8c51f0d7e1',
  accountRef: 'SUB00000000000000001',
  accountName: 'Ikeja Branch',
};

function terminals(body: unknown, status = 200, cursor?: string) {
  return listTerminals(cannedClient(body, status), accountId, cursor);
}

describe('listTerminals', () => {
  it('asks for fifty, first without a cursor and then with the one it got', async () => {
    nock(baseUrl, { reqheaders: { accountid: accountId } })
      .get('/v1/accounts/terminals')
      .query({ limit: '50' })
      .reply(200, envelope('00', { results: [terminal], cursor: 'a b/+?&' }))
      .get('/v1/accounts/terminals')
      .query({ limit: '50', cursor: 'a b/+?&' })
      .reply(200, envelope('00', { results: [], cursor: '' }));
    const client = clientOf();
    const first = await listTerminals(client, accountId);
    expect(first).toEqual({ kind: 'page', items: [terminal], cursor: 'a b/+?&' });
    expect(await listTerminals(client, accountId, 'a b/+?&')).toEqual({ kind: 'page', items: [] });
  });

  it.each([
    ['empty', { cursor: '' }],
    ['null', { cursor: null }],
    ['missing', {}],
    ['blank', { cursor: '  ' }],
  ])('ends at a cursor that is %s', async (_what, more) => {
    expect(await terminals(envelope('00', { results: [terminal], ...more }))).toEqual({
      kind: 'page',
      items: [terminal],
    });
  });

  it.each([
    [
      'numbers and booleans as text',
      [{ terminalId: 7, merchantName: true, terminalLabel: '' }],
      [{ terminalId: '7', merchantName: 'true' }],
    ],
    ['one terminal where a list could come', terminal, [terminal]],
    ['only the objects of a list', [null, 'x', terminal], [terminal]],
  ])('reads %s', async (_what, results, items) => {
    expect(await terminals(envelope('00', { results }))).toEqual({ kind: 'page', items });
  });

  it.each([
    ['no results', envelope('00', { cursor: '' })],
    ['null results', envelope('00', { results: null })],
    ['no data', envelope('00', null)],
  ])('throws for a page with %s', async (_what, body) => {
    await expect(terminals(body)).rejects.toMatchObject({ kind: 'malformed' });
  });

  it.each([
    [400, { kind: 'cursor_refused' }],
    [404, { kind: 'cursor_refused' }],
  ])('tells by HTTP %i that its cursor is refused', async (status, answer) => {
    expect(await terminals({ description: 'no' }, status, 'old')).toEqual(answer);
  });

  it('is empty if the first page is HTTP 404', async () => {
    expect(await terminals({ description: 'no' }, 404)).toEqual({ kind: 'page', items: [] });
  });

  it.each([
    [400, { description: 'limit is too large' }],
    [422, { description: 'limit is too large' }],
    [200, { code: '07', description: 'limit is too large', data: { results: [] } }],
  ])('tells why the service refuses the first page with HTTP %i', async (status, body) => {
    await expect(terminals(body, status)).rejects.toMatchObject({
      kind: 'refused',
      said: 'limit is too large',
    });
  });
});

describe('listAccounts', () => {
  it('reads the bare shape, without the BVN and unknown fields', async () => {
    const wire = {
      ...account,
      bvn: '12345678901',
      secret: 1,
      banks: [{ bankAccountNumber: 1234567890 }, null],
    };
    const answer = await listAccounts(cannedClient({ results: [wire], cursor: 7 }, 200), accountId);
    expect(answer).toEqual({
      kind: 'page',
      items: [{ ...account, banks: [{ bankAccountNumber: '1234567890' }] }],
      cursor: '7',
    });
  });

  it('reads a page wrapped in data, like the terminals’', async () => {
    const wrapped = cannedClient(envelope('00', { results: [account], cursor: 'next' }));
    const page = { kind: 'page', items: [account], cursor: 'next' };
    expect(await listAccounts(wrapped, accountId)).toEqual(page);
  });
});

describe('findAccount', () => {
  it.each(['accountId', 'accountRef'] as const)('asks by %s alone', async (by) => {
    const path = '/v1/accounts/sub-account-details';
    nock(baseUrl)
      .get(path)
      .query({ [by]: account[by] })
      .reply(200, envelope('00', account));
    const answer = await findAccount(clientOf(), accountId, { by, value: account[by] });
    expect(answer).toEqual({ kind: 'found', account });
  });

  function find(body: unknown, status = 200) {
    return findAccount(cannedClient(body, status), accountId, {
      by: 'accountRef',
      value: account.accountRef,
    });
  }

  it.each([
    ['HTTP 404', { description: 'none' }, 404, { kind: 'not_found' }],
    ['code "01"', envelope('01', null), 200, { kind: 'not_found' }],
    ['code "404"', envelope('404', null), 200, { kind: 'not_found' }],
    ['HTTP 400', { description: 'must be a uuid' }, 400, { kind: 'refused', message: 'must be a uuid' }],
    ['HTTP 422', { message: 'must be a uuid' }, 422, { kind: 'refused', message: 'must be a uuid' }],
    ['data without fields', envelope('00', {}), 200, { kind: 'found', account: {} }],
    [
      'its own among several',
      envelope('00', [{ accountRef: 'x' }, account]),
      200,
      { kind: 'found', account },
    ],
  ])('reads %s', async (_what, body, status, answer) => {
    expect(await find(body, status)).toEqual(answer);
  });

  it.each([
    ['another account', envelope('00', { ...account, accountRef: 'ANOTHER-000000000001' })],
    ['no data', envelope('00', null)],
    ['no code', { data: account }],
    ['several, none of which says whose it is', envelope('00', [{ accountName: 'A' }, { accountName: 'B' }])],
  ])('gives no account for %s', async (_what, body) => {
    await expect(find(body)).rejects.toMatchObject({ kind: 'malformed' });
  });

  it('gives the service’s words if it sent an error code', async () => {
    const body = { code: '07', description: 'the parent is suspended', data: null };
    await expect(find(body)).rejects.toMatchObject({ kind: 'refused', said: 'the parent is suspended' });
  });
});

describe('createAccount', () => {
  const wanted = { accountName: 'Ikeja Branch', accountRef: account.accountRef, bvn: '12345678901' };

  it('sends the fields unchanged, under the parent’s id', async () => {
    nock(baseUrl, { reqheaders: { accountid: accountId } })
      .post('/v1/accounts', wanted)
      .reply(200, envelope('00', account));
    expect(await createAccount(clientOf(), accountId, wanted, [])).toEqual({ kind: 'created', account });
  });

  function create(body: unknown, status = 200) {
    return createAccount(cannedClient(body, status), accountId, wanted, ['12345678901']);
  }

  it.each([
    ['created without data', envelope('00', null), 200, { kind: 'created', account: undefined }],
    [
      'not made, in words without the BVN',
      { description: 'bvn 12345678901 is used' },
      400,
      { kind: 'not_made', failure: 'invalid_request', message: 'bvn [secret] is used' },
    ],
    [
      'not made because a record does not exist',
      { description: 'no such parent' },
      404,
      { kind: 'not_made', failure: 'invalid_request', message: 'no such parent' },
    ],
    [
      'unknown if code "00" comes with status false',
      { code: '00', status: false, data: null },
      200,
      expect.objectContaining({ kind: 'unknown' }),
    ],
  ])('tells %s', async (_what, body, status, answer) => {
    expect(await create(body, status)).toEqual(answer);
  });

  it.each([
    ['another code', envelope('07', account), 200],
    ['no code', { data: account }, 200],
    ['HTTP 500', envelope('00', account), 500],
    ['HTTP 400 and code "00"', envelope('00', account), 400],
  ])('is in doubt: %s', async (_what, body, status) => {
    expect(await create(body, status)).toMatchObject({ kind: 'unknown' });
  });
});
