import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { isJsonObject, type JsonObject, parseJson, valueAt } from '../../src/domain/json.ts';
import { readSignatureScheme } from '../../src/webhooks/webhook-settings.ts';
import { serveOnLoopback } from './loopback.ts';
import { signDelivery } from './sign-delivery.ts';

/** Settings for a service whose answers all differ from the defaults. */
export const otherSettings = {
  PAYMENTS_TOKEN_ISSUE_BODY:
    '{"grant_type":"client_credentials","app_key":"{{CLIENT_ID}}","app_secret":"{{CLIENT_SECRET}}"}',
  PAYMENTS_ACCESS_TOKEN_POINTERS: '/data/session/jwt',
  PAYMENTS_REFRESH_TOKEN_POINTERS: '/data/session/refresh_jwt',
  PAYMENTS_TOKEN_EXPIRY_POINTERS: '/data/session/ttl',
  PAYMENTS_PAID_STATUSES: 'SETTLED',
  PAYMENTS_AMOUNT_POINTER: '/settlement/gross',
  PAYMENTS_FEE_POINTER: '/settlement/charges',
  SAVED_CARDS_QUERY: 'email',
  SAVED_CARDS_LIST_POINTERS: '/data/instruments',
  SAVED_CARDS_FIELD_POINTERS:
    '{"tokenKey":"/token","cardType":"/brand","tokenExpiryDate":"/expires","cardPan":"/last4","customerEmail":"/payer/mail"}',
  SAVED_CARDS_CURSOR_POINTERS: '/data/nextPage',
  SAVED_CARDS_CURSOR_QUERY: 'page',
  SAVED_CARDS_LAST_CURSORS: '0',
  SAVED_CARDS_HEADERS: 'Authorization,accountId',
  SAVED_CARDS_DELETE_BODY: '{"tokenKey":"{{TOKEN_KEY}}"}',
  WEBHOOK_SIGNATURE_PRESET: 'raw-body',
  WEBHOOK_SIGNATURE_HEADER: 'x-bank-sign',
  WEBHOOK_SIGNATURE_ALGORITHM: '',
  WEBHOOK_SIGNATURE_ENCODING: 'base64',
  WEBHOOK_SIGNED_TEMPLATE:
    '{header:x-bank-time}|{json:/data/order/orderReference}|{json:/eventId}|{json:/event}',
  WEBHOOK_TIMESTAMP_SOURCE: 'header:x-bank-time',
  WEBHOOK_TIMESTAMP_UNIT: 'ms',
} as const;

const scheme = readSignatureScheme({
  webhookSignaturePreset: 'raw-body',
  webhookSignatureHeader: [otherSettings.WEBHOOK_SIGNATURE_HEADER],
  webhookSignatureEncoding: otherSettings.WEBHOOK_SIGNATURE_ENCODING,
  webhookSignedTemplate: otherSettings.WEBHOOK_SIGNED_TEMPLATE,
  webhookTimestampSource: otherSettings.WEBHOOK_TIMESTAMP_SOURCE,
  webhookTimestampUnit: otherSettings.WEBHOOK_TIMESTAMP_UNIT,
});

/** For the payments simulator: this service's signature of events. */
export function signOtherwise(body: string, secret: string): Record<string, string> {
  if (!scheme.ok || !scheme.value) throw new Error('no scheme');
  return signDelivery(scheme.value, secret, Buffer.from(body), Date.now());
}

const cardsPath = /^\/(?:v1|sandbox)\/checkout\/tokenized-card-data/;
const fee = 75;
const pageSize = 2;
/** Per customer with any cards. */
const cardsEach = 5;

/**
 * The payments simulator behind a proxy that turns every answer into another service's. Returns its address, and how to
 * close it.
 */
export async function openOtherService(url: string): Promise<{ url: string; close: () => unknown }> {
  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', headers } = request;
    const asked = new URL(request.url ?? '', url);
    const page = Number(asked.searchParams.get('page') ?? 1);
    const isList = method === 'GET' && cardsPath.test(asked.pathname);
    if (isList) asked.search = new URLSearchParams(listQuery(asked)).toString();
    const sent = await text(request);
    const { authorization = '', accountid = '' } = headers;
    const answer = await fetch(asked, {
      method,
      headers: { authorization, accountid: String(accountid), 'content-type': 'application/json' },
      ...(sent === '' ? {} : { body: JSON.stringify(toThem(asked.pathname, parseJson(sent))) }),
    });
    const body = parseJson(await answer.text());
    const told = isList && answer.ok ? listPage(body, page) : fromThem(asked.pathname, body);
    const date = answer.headers.get('date') ?? '';
    response.writeHead(answer.status, { 'content-type': 'application/json', date }).end(JSON.stringify(told));
  }
  const server = await serveOnLoopback((request, response) => {
    void pass(request, response).catch(() => response.destroy());
  });
  return { url: server.url, close: () => server.close() };
}

function listQuery({ searchParams }: URL): Record<string, string> {
  const email = searchParams.get('email');
  return email === null ? {} : { customerEmail: email };
}

function toThem(path: string, sent: unknown): unknown {
  if (!path.endsWith('/token/issue') || !isJsonObject(sent)) return sent;
  const { app_key: clientId, app_secret: clientSecret, grant_type: grant } = sent;
  return grant === 'client_credentials' ? { clientId, clientSecret } : {};
}

function fromThem(path: string, answer: unknown): unknown {
  const data = valueAt(answer, '/data');
  if (!isJsonObject(answer) || !isJsonObject(data)) return answer;
  if (path.endsWith('/token/issue')) {
    const { accessToken, refreshToken, expiresIn } = data;
    return { ...answer, data: { session: { jwt: accessToken, refresh_jwt: refreshToken, ttl: expiresIn } } };
  }
  return path.endsWith('/accounts/single') ? { ...answer, data: otherRecord(data) } : answer;
}

/** Amount and fee together, in a field of its own. */
function otherRecord({ amount, status, ...record }: JsonObject): JsonObject {
  const gross = (Number(amount) + fee).toFixed(2);
  return {
    ...record,
    status: status === 'SUCCESS' ? 'SETTLED' : status,
    settlement: { gross, charges: fee.toFixed(2), batch: 'B-17' },
  };
}

function listPage(answer: unknown, page: number): object {
  const [card] = valueAt(answer, '/data/tokenizedCardDataList') as JsonObject[];
  const all = Array.from({ length: cardsEach }, (_, at) => ({
    token: `${String(card?.['tokenKey'])}-${at}`,
    brand: card?.['cardType'],
    expires: card?.['tokenExpiryDate'],
    last4: String(1_000 + at),
    payer: { mail: card?.['customerEmail'] },
  }));
  const from = (page - 1) * pageSize;
  const nextPage = from + pageSize < all.length ? page + 1 : 0;
  return { code: '00', data: { instruments: all.slice(from, from + pageSize), nextPage, perPage: pageSize } };
}
