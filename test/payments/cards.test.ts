import nock from 'nock';
import { describe, expect, it } from 'vitest';
import { changeCardEmail } from '../../src/payments/cards.ts';
import { chargeSavedCard } from '../../src/payments/charges.ts';
import type { EmailChange } from '../../src/domain/charge-answer.ts';
import { seedCards } from '../../src/simulators/payments/seed.ts';
import { sandboxInputs } from '../../src/simulators/payments/sandbox.ts';
import { startMerchant } from '../simulators/payments/merchant.ts';
import { findCanaries } from '../support/canaries.ts';
import { mockTheOutside } from '../support/mocks.ts';
import {
  accountId,
  baseUrl,
  cannedClient,
  charge,
  clientAt,
  clientOf,
  emailPath,
  envelope,
  inTime,
  secrets,
  shown,
} from './charging.ts';

mockTheOutside();

const change: EmailChange = {
  tokenKey: secrets.tokenKey,
  currentEmail: 'old@example.com',
  newEmail: 'new@example.com',
};

const card = {
  tokenKey: 'the-service-may-tell-another',
  cardType: 'Visa',
  tokenExpiryDate: 1229,
  cardPan: '418742******1127',
  customerEmail: 'new@example.com',
};

const told = {
  cardType: 'Visa',
  tokenExpiryDate: '1229',
  cardPan: '418742******1127',
  customerEmail: 'new@example.com',
};

function changeAnswered(body: unknown, httpStatus = 200) {
  return changeCardEmail(cannedClient(body, httpStatus), accountId, change);
}

describe('changeCardEmail', () => {
  it('sends the token key and both e-mails with Authorization and accountId', async () => {
    const reqheaders = { authorization: `Bearer ${secrets.accessToken}`, accountid: accountId };
    nock(baseUrl, { reqheaders })
      .post(emailPath, {
        tokenKey: secrets.tokenKey,
        currentEmailAddress: 'old@example.com',
        newEmailAddress: 'new@example.com',
      })
      .reply(200, envelope('00', { status: true, tokenizedCardData: card }));
    const answer = await changeCardEmail(clientOf(), accountId, change);
    expect(answer).toEqual({ kind: 'changed', card: told });
  });

  it.each([
    ['changed without a card', envelope('00', { status: 'true' }), 200, { kind: 'changed', card: undefined }],
    [
      'changed with a list of one card',
      envelope('00', [{ status: true, tokenizedCardData: [card] }]),
      200,
      { kind: 'changed', card: told },
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
    ['no data.status', envelope('00', { tokenizedCardData: card }), 200],
    ['no code, only a good description', { description: 'Success', data: { status: true } }, 200],
    ['code "400" and changed', envelope('400', { status: true }), 200],
    ['changed under HTTP 400', envelope('00', { status: true }), 400],
    ['HTTP 500', envelope('00', { status: true }), 500],
  ])('leaves in doubt: %s', async (_what, body, httpStatus) => {
    expect(await changeAnswered(body, httpStatus)).toMatchObject({ kind: 'unknown' });
  });

  it('holds no token key, should the service repeat it', async () => {
    const message = `${secrets.tokenKey} under Bearer ${secrets.accessToken}`;
    const answers = await Promise.all(
      [
        envelope('00', { status: false, message }),
        envelope('00', { status: true, tokenizedCardData: card }),
        { code: message, description: message },
      ].flatMap((body) => [200, 400, 500].map((status) => changeAnswered(body, status))),
    );
    const { tokenKey, accessToken } = secrets;
    const own = { tokenKey, accessToken, told: card.tokenKey };
    expect(findCanaries(own, { answers: answers.map(shown).join('\n') })).toEqual([]);
  });
});

describe('changeCardEmail at the service', () => {
  const { approves } = seedCards;
  const newEmail = 'ada.new@example.com';
  const ada: EmailChange = { tokenKey: approves.tokenKey, currentEmail: approves.customerEmail, newEmail };

  it('makes charges with the old e-mail a mismatch and with the new one approved', async () => {
    const merchant = await startMerchant();
    const client = clientAt(merchant);
    const { accountId } = merchant.service.credentials;
    expect(await changeCardEmail(client, accountId, ada)).toMatchObject({
      kind: 'changed',
      card: { customerEmail: newEmail, cardPan: approves.cardPan },
    });
    const old = { ...charge, tokenKey: approves.tokenKey, customerEmail: approves.customerEmail };
    expect(await chargeSavedCard(client, accountId, old, inTime)).toMatchObject({ reason: 'email_mismatch' });
    const fresh = { ...old, customerEmail: newEmail };
    expect(await chargeSavedCard(client, accountId, fresh, inTime)).toEqual({ kind: 'approved' });
  });

  it('tells an e-mail that is not linked, an unknown card, a body it does not accept', async () => {
    const merchant = await startMerchant();
    const client = clientAt(merchant);
    const { accountId } = merchant.service.credentials;
    const wrong = { ...ada, currentEmail: 'nobody@example.com' };
    expect(await changeCardEmail(client, accountId, wrong)).toMatchObject({ kind: 'not_linked' });
    const unknown = { ...ada, tokenKey: 'tok-nobody' };
    expect(await changeCardEmail(client, accountId, unknown)).toEqual({ kind: 'no_such_card' });
    const broken = { ...ada, newEmail: 'no e-mail' };
    expect(await changeCardEmail(client, accountId, broken)).toMatchObject({ failure: 'invalid_request' });
    expect(merchant.service.stats().emailChanges).toBe(0);
  });

  it('tells the sandbox’s fixed answers', async () => {
    const merchant = await startMerchant();
    const client = clientAt(merchant, { sandbox: true });
    const { accountId } = merchant.service.credentials;
    const unknown = { ...ada, tokenKey: sandboxInputs.unknownTokenKey };
    expect(await changeCardEmail(client, accountId, unknown)).toEqual({ kind: 'no_such_card' });
    expect(await changeCardEmail(client, accountId, ada)).toMatchObject({ kind: 'changed' });
  });
});
