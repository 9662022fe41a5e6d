import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Doctor } from '../support/examined.ts';
import { runHere } from '../support/desk.ts';
import { openHouse, type House } from '../support/house.ts';
import { openOtherService, otherSettings, signOtherwise } from '../support/other-service.ts';

type Env = Record<string, string>;

let house: House;
let right: Env;
let words: string[];
const finished: (() => unknown)[] = [];

beforeAll(async () => {
  const shared = {
    onTestFinished: (end: () => unknown) => finished.push(end),
    onTestFailed: () => undefined,
  };
  house = await openHouse(shared as never, { workspace: { grantedOptionalScopes: 'all' } });
  const other = await openOtherService(house.payments.url);
  finished.push(other.close);
  const body = JSON.stringify({
    event: 'payment_failed',
    eventId: 'evt-17',
    data: { order: { orderReference: 'ORDER-9', amount: '10.00', currency: 'NGN' } },
  });
  const headers = Object.entries(signOtherwise(body, house.payments.credentials.webhookSecret));
  const file = join(house.folder, 'delivery.http');
  writeFileSync(file, `${headers.map(([name, value]) => `${name}: ${value}`).join('\n')}\n\n${body}`);
  right = house.settings({ PAYMENTS_BASE_URL: other.url, ...otherSettings });
  const known = ['--paid', 'ORDER-1001', '12,500.00', '--cards', 'ada.obi@example.com', '--delivery', file];
  words = ['doctor', '--json', ...known];
});

afterAll(async () => {
  for (const end of finished) await end();
});

/** The findings about the payments service and the webhook, with their words. */
async function examine(wrong: Env): Promise<{ code: number | null; told: Record<string, string> }> {
  rmSync(house.dataDir, { recursive: true, force: true });
  const { code, stdout } = await runHere(words, { ...right, ...wrong });
  const { findings } = JSON.parse(stdout) as Doctor;
  const unwell = findings.filter(
    ({ part, fix, state }) => /Payments|Known|Captured/.test(part) && state !== 'ok' && fix !== undefined,
  );
  return { code, told: Object.fromEntries(unwell.map(({ part, says, fix }) => [part, `${says}: ${fix}`])) };
}

const answer = 'Payments token answer';
const payment = 'Known payment';
const cards = 'Known saved cards';
const delivery = 'Captured delivery';

describe('npm run doctor with a known payment', () => {
  it('finds nothing if the settings read the service correctly', async () => {
    expect(await examine({})).toEqual({ code: 0, told: {} });
  });

  it.each<[what: string, wrong: Env, part: string, fix: string]>([
    [
      'the token’s fields',
      { PAYMENTS_TOKEN_ISSUE_BODY: '{"clientId":"{{CLIENT_ID}}","clientSecret":"{{CLIENT_SECRET}}"}' },
      'Payments token',
      'PAYMENTS_TOKEN_ISSUE_BODY',
    ],
    [
      'the token’s place',
      { PAYMENTS_ACCESS_TOKEN_POINTERS: '' },
      answer,
      'Set PAYMENTS_ACCESS_TOKEN_POINTERS=/data/session/jwt.',
    ],
    [
      'its refresh token’s',
      { PAYMENTS_REFRESH_TOKEN_POINTERS: '' },
      answer,
      'Set PAYMENTS_REFRESH_TOKEN_POINTERS=/data/session/refresh_jwt.',
    ],
    [
      'its life’s',
      { PAYMENTS_TOKEN_EXPIRY_POINTERS: '' },
      answer,
      'Set PAYMENTS_TOKEN_EXPIRY_POINTERS=/data/session/ttl.',
    ],
    ['the word for paid', { PAYMENTS_PAID_STATUSES: '' }, payment, 'Set PAYMENTS_PAID_STATUSES=SETTLED.'],
    [
      'the amount’s field',
      { PAYMENTS_AMOUNT_POINTER: '' },
      payment,
      'Set PAYMENTS_AMOUNT_POINTER=/settlement/gross.',
    ],
    ['the fee', { PAYMENTS_FEE_POINTER: '' }, payment, 'Set PAYMENTS_FEE_POINTER=/settlement/charges.'],
    ['the cards’ parameter', { SAVED_CARDS_QUERY: 'customerEmail' }, cards, 'Set SAVED_CARDS_QUERY=email.'],
    [
      'their list',
      { SAVED_CARDS_LIST_POINTERS: '/data' },
      cards,
      'Set SAVED_CARDS_LIST_POINTERS=/data/instruments.',
    ],
    [
      'their fields',
      { SAVED_CARDS_FIELD_POINTERS: '' },
      cards,
      `Set SAVED_CARDS_FIELD_POINTERS=${otherSettings.SAVED_CARDS_FIELD_POINTERS}.`,
    ],
    ['their headers', { SAVED_CARDS_HEADERS: 'accountId' }, cards, 'SAVED_CARDS_HEADERS'],
    [
      'where the next page is named',
      { SAVED_CARDS_CURSOR_POINTERS: '' },
      cards,
      'Set SAVED_CARDS_CURSOR_POINTERS=/data/nextPage.',
    ],
    ['how it is asked for', { SAVED_CARDS_CURSOR_QUERY: '' }, cards, 'Set SAVED_CARDS_CURSOR_QUERY=page.'],
    [
      'that there is a next page',
      { SAVED_CARDS_CURSOR_QUERY: 'none' },
      cards,
      'Set SAVED_CARDS_CURSOR_QUERY=page.',
    ],
    ['what the last page says', { SAVED_CARDS_LAST_CURSORS: '' }, cards, 'Set SAVED_CARDS_LAST_CURSORS=0.'],
    [
      'the signature’s header',
      { WEBHOOK_SIGNATURE_HEADER: '' },
      delivery,
      'Set WEBHOOK_SIGNATURE_HEADER=x-bank-sign.',
    ],
    ['its encoding', { WEBHOOK_SIGNATURE_ENCODING: '' }, delivery, 'Set WEBHOOK_SIGNATURE_ENCODING=base64.'],
    [
      'its algorithm',
      { WEBHOOK_SIGNATURE_ALGORITHM: 'sha512' },
      delivery,
      'Set WEBHOOK_SIGNATURE_ALGORITHM=sha256.',
    ],
    [
      'the order of the signed fields',
      {
        WEBHOOK_SIGNED_TEMPLATE:
          '{json:/event}|{json:/data/order/orderReference}|{json:/eventId}|{header:x-bank-time}',
      },
      delivery,
      `Set WEBHOOK_SIGNED_TEMPLATE=${otherSettings.WEBHOOK_SIGNED_TEMPLATE}.`,
    ],
    ['the time’s unit', { WEBHOOK_TIMESTAMP_UNIT: '' }, delivery, 'Set WEBHOOK_TIMESTAMP_UNIT=ms.'],
    [
      'where the kind of an event is',
      { WEBHOOK_EVENT_POINTERS: '{"kind":"/eventId"}' },
      delivery,
      'Set WEBHOOK_EVENT_POINTERS={"kind":"/event"}.',
    ],
  ])('names %s, and nothing else', async (_what, wrong, part, fix) => {
    // Slack has a rate limit of its own, and is not the subject here.
    const { told } = await examine({ SLACK_API_URL: 'http://127.0.0.1:1/api/', ...wrong });
    expect(Object.keys(told).filter((one) => one !== 'Payments token')).toEqual(
      part === 'Payments token' ? [] : [part],
    );
    expect(told[part]).toContain(fix);
  });

  it.each<[string[], string]>([
    [['--paid', 'ORDER-1'], '--paid REFERENCE AMOUNT'],
    [['12,500.00'], '--paid REFERENCE AMOUNT'],
    [['--paid', 'ORDER-1', 'much'], 'An amount is digits'],
    [['--delivery', '/nowhere/none'], 'The file cannot be read: there is none of that name.'],
    [['--account', 'lagos'], 'There is no account of that name.'],
  ])('ends with 2 for %j', async (typed, said) => {
    const { code, stderr, stdout } = await runHere(['doctor', ...typed], right);
    expect({ code, said: `${stderr}${stdout}` }).toMatchObject({
      code: 2,
      said: expect.stringContaining(said),
    });
  });
});
