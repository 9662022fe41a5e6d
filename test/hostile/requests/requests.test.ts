import { randomInt } from 'node:crypto';
import { afterEach, expect, it, vi } from 'vitest';
import type * as EventModule from '../../../src/webhooks/event.ts';
import type * as DeliveryModule from '../../../src/webhooks/signed-delivery.ts';
import { runRequests } from './run-requests.ts';

const fault = vi.hoisted(() => ({ name: 'none' }));

vi.mock(import('../../../src/webhooks/signed-delivery.ts'), async (load): Promise<typeof DeliveryModule> => {
  const real = await load();
  return {
    ...real,
    sameBytes: (expected, given) =>
      fault.name === 'compares as far as the signature goes' && given.length > 0
        ? expected.subarray(0, given.length).equals(given)
        : real.sameBytes(expected, given),
    exactBytes: (written, encoding) =>
      fault.name === 'decodes as far as it can'
        ? Buffer.from(written, encoding)
        : real.exactBytes(written, encoding),
    timeProblem: (...parts) => (fault.name === 'ignores the time' ? undefined : real.timeProblem(...parts)),
    readDelivery: (scheme, request) =>
      real.readDelivery(
        scheme,
        fault.name === 'takes the first of two headers' ? onlyFirst(request) : request,
      ),
    signedBytes(template, delivery) {
      if (fault.name !== 'joins fields without reading them back')
        return real.signedBytes(template, delivery);
      const pieces = template.map((part) => {
        if (part.kind === 'body') return delivery.body;
        if (part.kind === 'text') return Buffer.from(part.text);
        const text = real.readText(part, delivery);
        return Buffer.from(text.ok ? text.value : '', part.kind === 'json' ? 'utf8' : 'latin1');
      });
      return { ok: true, value: pieces };
    },
  };
});

vi.mock(import('../../../src/webhooks/event.ts'), async (load): Promise<typeof EventModule> => {
  const real = await load();
  return {
    ...real,
    parseEvent: (body, pointers, coverage) =>
      real.parseEvent(
        body,
        pointers,
        fault.name === 'reads what is not signed' ? { covers: 'body' } : coverage,
      ),
  };
});

function onlyFirst(request: DeliveryModule.SignedRequest): DeliveryModule.SignedRequest {
  const headers = Object.entries(request.headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : value?.slice(0, 1),
  ]);
  return { ...request, headers: Object.fromEntries(headers) as DeliveryModule.SignedRequest['headers'] };
}

afterEach(() => {
  fault.name = 'none';
});

/** `npm run hostile` sends more, also in CI. */
const count = 1_000;

it('accepts no mutated request of any signature scheme', async () => {
  const seed = randomInt(2 ** 31);
  const { wrong, forged, same, genuine, statuses } = await runRequests({ count, seed });
  expect(wrong, `seed ${seed}`).toEqual([]);
  expect(forged).toBeGreaterThanOrEqual(count);
  // Otherwise they might have been refused for another reason than their signature.
  expect(statuses.get(401) ?? 0).toBeGreaterThan(forged * 0.9);
  expect(genuine.accepted).toBeGreaterThan(count / 500);
  expect(same.accepted).toBeGreaterThan(count / 40);
});

it.each([
  ['compares as far as the signature goes', 9],
  ['decodes as far as it can', 9],
  ['ignores the time', 9],
  ['takes the first of two headers', 9],
  ['joins fields without reading them back', 464],
  ['reads what is not signed', 9],
])('would see a verification that %s', { timeout: 120_000 }, async (name, seed) => {
  fault.name = name;
  let seen = 0;
  // The first requests of these seeds show it. When the mutations change, more are tried, up to as many as the whole run
  // has: some mistakes show in one of 20,000 requests.
  for (let tried = 0; tried < 200_000 && seen === 0; tried += 50) {
    const { wrong } = await runRequests({ count: 50, seed: seed + tried });
    seen = wrong.length;
  }
  expect(seen).toBeGreaterThan(0);
});
