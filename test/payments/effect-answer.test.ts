import * as fc from 'fast-check';
import nock from 'nock';
import { describe, expect, it } from 'vitest';
import { type SendDeadline, createPaymentsClient, type PaymentsClient } from '../../src/payments/client.ts';
import { chargeSavedCard, resendOtp, submitOtp } from '../../src/payments/charges.ts';
import { findCanaries } from '../support/canaries.ts';
import { countOf } from '../support/counts.ts';
import { mockTheOutside } from '../support/mocks.ts';
import {
  accountId,
  baseUrl,
  cannedClient,
  charge,
  chargeData,
  chargePath,
  clientOf,
  envelope,
  fixedToken,
  inTime,
  otpPath,
  resendPath,
  secrets,
  shown,
  submission,
  tooLate,
} from './charging.ts';

mockTheOutside();

const { tokenKey, otp, transactionId, accessToken } = secrets;

/** Each call with its path and its own secrets. */
const calls = [
  {
    name: 'chargeSavedCard',
    path: chargePath,
    own: { tokenKey, transactionId, accessToken },
    ask: (client: PaymentsClient, leave: SendDeadline) => chargeSavedCard(client, accountId, charge, leave),
  },
  {
    name: 'submitOtp',
    path: otpPath,
    own: { otp, transactionId, accessToken },
    ask: (client: PaymentsClient, leave: SendDeadline) => submitOtp(client, submission, leave),
  },
  {
    name: 'resendOtp',
    path: resendPath,
    own: { transactionId, accessToken },
    ask: (client: PaymentsClient, leave: SendDeadline) => resendOtp(client, transactionId, leave),
  },
];

const approved = envelope('00', chargeData(true, false));

/** A client whose fetch fails as given. */
function brokenClient(fetch: (request: Request) => Promise<Response>): PaymentsClient {
  return createPaymentsClient({
    baseUrl,
    sandbox: false,
    timeoutMs: 50,
    accessToken: fixedToken(),
    fetch,
  });
}

const silence = () => new Promise<never>(() => undefined);

describe.each(calls)('$name', ({ path, own, ask }) => {
  it('sends nothing after leaveBy, nor if the time is no number', async () => {
    let sent = 0;
    const client = brokenClient(() => {
      sent += 1;
      return silence();
    });
    for (const leave of tooLate)
      expect(await ask(client, leave)).toMatchObject({ kind: 'unknown', cause: { kind: 'timeout' } });
    expect(sent).toBe(0);
    expect(await ask(client, inTime)).toMatchObject({ kind: 'unknown' });
    expect(sent).toBe(1);
  });

  it.each([
    [403, 'forbidden', undefined],
    [429, 'rate_limited', 7_000],
  ])('was not made after HTTP %i', async (httpStatus, failure, retryAfterMs) => {
    nock(baseUrl).post(path).reply(httpStatus, approved, { 'Retry-After': '7' });
    const answer = await ask(clientOf(), inTime);
    expect(answer).toMatchObject({ kind: 'not_made', failure, cause: { httpStatus, retryAfterMs } });
  });

  it.each([500, 502, 503, 418])('is in doubt after HTTP %i, with any body', async (httpStatus) => {
    nock(baseUrl).post(path).reply(httpStatus, approved);
    expect(await ask(clientOf(), inTime)).toMatchObject({ kind: 'unknown', cause: { kind: 'server' } });
  });

  it('is in doubt after HTTP 422, which the specification lacks, with the service’s words', async () => {
    nock(baseUrl).post(path).reply(422, { code: '22', description: 'cannot be processed' });
    const answer = await ask(clientOf(), inTime);
    const isMoney = path !== resendPath;
    expect(answer).toMatchObject(
      isMoney
        ? { kind: 'unknown', cause: { said: 'cannot be processed' } }
        : { kind: 'not_made', failure: 'invalid_request', message: 'cannot be processed' },
    );
  });

  it('is in doubt after no answer, a cut connection, a body that is not JSON, a redirect', async () => {
    const client = clientOf();
    expect(await ask(brokenClient(silence), inTime)).toMatchObject({
      kind: 'unknown',
      cause: { kind: 'timeout' },
    });
    nock(baseUrl).post(path).replyWithError(new TypeError('fetch failed'));
    expect(await ask(client, inTime)).toMatchObject({ kind: 'unknown', cause: { kind: 'network' } });
    nock(baseUrl).post(path).reply(200, '<html>ok</html>');
    expect(await ask(client, inTime)).toMatchObject({ kind: 'unknown', cause: { kind: 'malformed' } });
    nock(baseUrl).post(path).reply(307, '', { Location: 'https://elsewhere.test/' });
    expect(await ask(client, inTime)).toMatchObject({ kind: 'unknown', cause: { kind: 'network' } });
  });

  it('holds no secret, even if the service repeats them everywhere', async () => {
    const echo = `Bearer ${accessToken} ${tokenKey} ${otp} ${transactionId}`;
    const heads = [
      ['00', true],
      ['00', false],
      ['400', false],
      ['99', false],
      [echo, false],
      ['00', echo],
    ];
    const bodies = heads.flatMap(([code, status]) =>
      [true, false].map((otpRequired) => ({
        ...envelope(code, chargeData(status, otpRequired, { message: echo, transactionId })),
        description: echo,
      })),
    );
    const clients = [200, 400, 404, 429, 500].flatMap((status) =>
      bodies.map((body) => cannedClient(body, status)),
    );
    const broken = [
      brokenClient(silence),
      brokenClient(() => Promise.reject(new TypeError('fetch failed'))),
      brokenClient(() => Promise.resolve(new Response(echo))),
    ];
    const answers = await Promise.all([...clients, ...broken].map((client) => ask(client, inTime)));
    expect(findCanaries(own, { answers: answers.map(shown).join('\n') })).toEqual([]);
  });
});

/** Mostly plausible values, sometimes anything. */
function mostly(...values: unknown[]): fc.Arbitrary<unknown> {
  const usual = { weight: 9, arbitrary: fc.constantFrom(...values) };
  return fc.oneof(usual, { weight: 1, arbitrary: fc.jsonValue() });
}

const dataPart = fc.record({
  status: mostly(true, false, 'true', 'FALSE', 1, null, undefined, ['true']),
  otpRequired: mostly(true, false, 'True', 'false', 0, null, undefined, [false]),
  transactionId: mostly('T-1', 17, '', null, undefined),
  message: mostly('Invalid card token', 'TOO MANY OTP ATTEMPTS', 5, null, undefined),
});
const dataParts = fc.oneof(
  { weight: 8, arbitrary: dataPart },
  { weight: 1, arbitrary: fc.array(dataPart, { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const usualBody = fc.record({
  code: mostly('00', '00', '00', '400', '400', 400, '404', 0, null, undefined),
  description: mostly('Success'),
  data: dataParts,
});
const body = fc.oneof({ weight: 9, arbitrary: usualBody }, { weight: 1, arbitrary: fc.jsonValue() });
const httpStatus = fc.constantFrom(200, 200, 200, 201, 400, 401, 403, 404, 429, 500);

/** A second implementation, independent of the reader: the value itself or its word, in any case. */
function says(value: unknown, word: string): boolean {
  const isPlain = typeof value === 'string' || typeof value === 'boolean';
  return isPlain && String(value).trim().toLowerCase() === word;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function member(value: unknown, name: string): unknown {
  const object: unknown = Array.isArray(value) ? value.find(isObject) : value;
  return isObject(object) ? Reflect.get(object, name) : undefined;
}

describe('the reader, given any JSON', () => {
  it('never throws, and says approved, declined, pending and rejected only for the table’s rows', async () => {
    const kinds = new Set<string>();
    await fc.assert(
      fc.asyncProperty(body, httpStatus, async (given, status) => {
        const answer = await chargeSavedCard(cannedClient(given, status), accountId, charge, inTime);
        kinds.add(answer.kind);
        const code = member(given, 'code');
        const told = member(given, 'data');
        function isRow(isApproved: string, otpRequired: string): boolean {
          const isLeftOut = (member(told, 'otpRequired') ?? undefined) === undefined;
          const isSaid = says(member(told, 'otpRequired'), otpRequired);
          return says(member(told, 'status'), isApproved) && (isSaid || isLeftOut);
        }
        const wasSent = status < 300 && code === '00';
        const mayBeSaid = {
          approved: wasSent && isRow('true', 'false'),
          declined: wasSent && isRow('false', 'false'),
          otp_required: wasSent && isRow('false', 'true'),
          rejected: (code === '400' || code === 400) && isRow('false', 'false'),
          not_made: [400, 401, 403, 429].includes(status),
          unknown: true,
        };
        expect(mayBeSaid[answer.kind]).toBe(true);
      }),
      { numRuns: countOf({ full: 3_000, share: 1_000 }) },
    );
    // Without this the property might have tested nothing.
    expect([...kinds].toSorted()).toEqual([
      'approved',
      'declined',
      'not_made',
      'otp_required',
      'rejected',
      'unknown',
    ]);
  });

  it('never throws for an OTP, and says accepted only for code “00” and data.status true', async () => {
    const kinds = new Set<string>();
    await fc.assert(
      fc.asyncProperty(body, httpStatus, async (given, status) => {
        const client = cannedClient(given, status);
        const answer = await submitOtp(client, submission, inTime);
        const resent = await resendOtp(client, transactionId, inTime);
        kinds.add(answer.kind).add(resent.kind);
        const told = member(member(given, 'data'), 'status');
        const wasTaken = status < 300 && member(given, 'code') === '00';
        const mayBeSaid = {
          accepted: wasTaken && says(told, 'true'),
          wrong: says(told, 'false'),
          too_many: says(told, 'false'),
          resent: wasTaken,
          refused:
            !wasTaken ||
            [
              told,
              member(member(given, 'data'), 'success'),
              member(given, 'status'),
              member(given, 'data'),
            ].some((one) => says(one, 'false')),
          not_made: [400, 401, 403, 422, 429].includes(status),
          unknown: true,
        };
        expect([mayBeSaid[answer.kind], mayBeSaid[resent.kind]]).toEqual([true, true]);
      }),
      { numRuns: countOf({ full: 2_000, share: 1_000 }) },
    );
    expect([...kinds].toSorted()).toEqual([
      'accepted',
      'not_made',
      'refused',
      'resent',
      'too_many',
      'unknown',
      'wrong',
    ]);
  });
});
