import { createHmac } from 'node:crypto';
import { describe, expect, it, type TestContext } from 'vitest';
import { signatureHeader } from '../../src/simulators/payments/webhooks-out.ts';
import { type Backend, openBackend } from '../support/backend.ts';
import { metricsOf } from '../support/bot.ts';
import { type Desk, openDesk } from '../support/desk.ts';

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

type Stage = Desk & { backend: Backend };

/** A desk whose bot forwards to a backend. */
async function stage(test: TestContext, env: Record<string, string> = {}): Promise<Stage> {
  let desk: Desk | undefined;
  const backend = await openBackend(() => desk?.house.payments.credentials.webhookSecret);
  test.onTestFinished(() => backend.close());
  desk = await openDesk(test, {
    clock: true,
    env: { WEBHOOK_FORWARD_URL: `${backend.url}/hooks/payments/`, ...env },
  });
  return { ...desk, backend };
}

/** Sends the body byte for byte, signed. */
async function deliver({ house }: Desk, body: string, headers?: Record<string, string>): Promise<number> {
  const bytes = Buffer.from(body);
  const { webhookSecret } = house.payments.credentials;
  const signature = createHmac('sha512', webhookSecret).update(bytes).digest('hex');
  const answer = await fetch(`${house.webhookGate.url}/webhooks/payments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', [signatureHeader]: signature, ...headers },
    body: new Uint8Array(bytes),
  });
  await answer.text();
  return answer.status;
}

function failure(reference: string, more = ''): string {
  return `{ "event_type":"payment_failed",\n "data":{"order":{"orderReference":"${reference}","amount":5e3}${more}}}`;
}

function success(reference: string): string {
  return failure(reference).replace('payment_failed', 'payment_success');
}

function log({ bot }: Desk, words: string): string[] {
  return bot.lines.filter((line) => line.includes(words));
}

async function part({ bot }: Desk, name: string): Promise<object | undefined> {
  const { parts } = (await (await fetch(`${bot.url()}/readyz`)).json()) as { parts: { name: string }[] };
  return parts.find((one) => one.name === name);
}

async function metric({ bot }: Desk, line: string): Promise<boolean> {
  return (await metricsOf(bot)).includes(line);
}

/** The bodies that the backend accepted, in order. */
function taken({ backend }: Stage): string[] {
  return backend.asked.filter(({ status }) => status === 200).map(({ body }) => body);
}

function notices(desk: Desk): string[] {
  return desk.posts('lead', 'payOps').map(({ text }) => text);
}

describe('a delivery', () => {
  it('is forwarded byte for byte, so that the backend’s own signature check passes', async (test) => {
    const at = await stage(test);
    const odd = failure('ÖRDER-1', ', "note":"\\u00e9 ✓  two  blanks"');
    expect(await deliver(at, odd, { 'x-other': 'not signed' })).toBe(200);
    await at.house.until('the backend has it', () => at.backend.asked.length === 1);
    const [came] = at.backend.asked;
    expect(came).toMatchObject({ path: '/hooks/payments/', isSigned: true });
    expect(came?.body).toBe(Buffer.from(odd).toString('latin1'));
    expect(came?.headers).toMatchObject({ 'content-type': 'application/json', 'payops-forwarded': '1' });
    expect(came?.headers).not.toHaveProperty('x-other');
    await at.settled('soon');
    expect(at.backend.asked).toHaveLength(1);
    expect(await at.house.storeKeys('forward:')).toEqual([]);
  });

  it('of an unknown kind is forwarded too, and one that our check refuses is not', async (test) => {
    const at = await stage(test);
    expect(await deliver(at, '{"event_type":"refund.settled","data":{}}')).toBe(200);
    expect(await deliver(at, failure('FORGED-1'), { [signatureHeader]: 'ab'.repeat(64) })).toBe(401);
    await at.house.until('the backend has it', () => taken(at).length === 1);
    await at.settled('soon');
    expect(taken(at)).toEqual([expect.stringContaining('refund.settled')]);
  });

  it('that our check refuses is forwarded with all headers if set to `all`, and is still answered 401', async (test) => {
    const at = await stage(test, { WEBHOOK_FORWARD_DELIVERIES: 'all' });
    const other = { [signatureHeader]: 'ab'.repeat(64), 'x-other-signature': 'v1,abc' };
    expect(await deliver(at, failure('OTHER-1'), other)).toBe(401);
    await at.house.until('the backend has it', () => taken(at).length === 1);
    expect(at.backend.asked[0]).toMatchObject({ isSigned: false, headers: other });
    await at.settled('soon');
    expect(at.posts('lead', 'payAlerts')).toEqual([]);
  });

  it('is stored encrypted while it waits, and never logged', async (test) => {
    const at = await stage(test, { LOG_LEVEL: 'debug' });
    at.backend.answers({ status: 500 });
    await deliver(at, failure('SEALED-1', ', "customer":{"email":"sealed.canary@example.com"}'));
    await at.house.until('it is refused', () => log(at, 'Webhook not forwarded').length > 0);
    const kept = [await at.house.storeDump(), ...at.bot.lines].join('\n');
    const encoded = Buffer.from('sealed.canary@example.com').toString('base64').slice(2, -4);
    for (const secret of ['sealed.canary', encoded, at.backend.url]) expect(kept).not.toContain(secret);
    expect(log(at, 'Webhook not forwarded')[0]).toContain('"orderReference":"SEALED-1"');
  });
});

describe('a backend that is away', () => {
  it('gets every event when it is back, in order for each reference, while other orders don’t wait', async (test) => {
    const at = await stage(test);
    at.backend.answers((body) => ({ status: body.includes('ORDER-A') ? 503 : 200 }));
    for (const body of [failure('ORDER-A'), success('ORDER-A'), failure('ORDER-B')]) {
      expect(await deliver(at, body)).toBe(200);
    }
    await at.house.until('the other order is there', () => taken(at).length === 1);
    await at.house.until('the first is tried again', () => at.backend.asked.length >= 4);
    expect(at.backend.asked.filter(({ body }) => body.includes('payment_success'))).toEqual([]);
    at.backend.answers({ status: 200 });
    await at.house.until('all of it is there', () => taken(at).length === 3);
    expect(taken(at)).toEqual([failure('ORDER-B'), failure('ORDER-A'), success('ORDER-A')]);
  });

  it('causes one notice after 15 minutes, and readiness, doctor and metrics count what waits', async (test) => {
    const at = await stage(test);
    expect(await part(at, 'forward')).toEqual({ name: 'forward', state: 'ok' });
    at.backend.answers({ status: 302, headers: { location: `${at.backend.url}/elsewhere` } });
    await deliver(at, failure('AWAY-1'));
    await deliver(at, failure('AWAY-2'));
    await at.house.until('both were tried', () => at.backend.asked.length >= 2);
    at.house.later(20 * minuteMs);
    await at.reads('lead', ['Your backend doesn’t take events', 'HTTP 302'], 'payOps');
    at.house.later(20 * minuteMs);
    const tries = at.backend.asked.length;
    await at.house.until('they were tried again', () => at.backend.asked.length >= tries + 2);
    expect(new Set(at.backend.asked.map(({ path }) => path))).toEqual(new Set(['/hooks/payments/']));
    expect(notices(at)).toHaveLength(1);
    expect(await part(at, 'forward')).toMatchObject({
      state: 'degraded',
      detail: expect.stringContaining('2 events in the queue for your backend, the oldest for 4'),
      fix: expect.stringContaining('WEBHOOK_FORWARD_URL'),
    });
    expect(await metric(at, 'payops_forwards_waiting{account="main"} 2')).toBe(true);
    await at.asks('onCall', '/pay doctor', '2 events in the queue for your backend');
    at.backend.answers({ status: 200 });
    expect(await at.runs(['payops', 'forward'])).toMatchObject({
      code: 0,
      stdout: 'On the way again: 2 events that waited for the next try.\n',
    });
    await at.house.until('both are there', () => taken(at).length === 2);
    await at.settled('soon');
    expect(await part(at, 'forward')).toEqual({ name: 'forward', state: 'ok' });
  });

  it('for longer than WEBHOOK_FORWARD_DAYS causes a second notice, and `payops forward` sends all, in order', async (test) => {
    const at = await stage(test, { WEBHOOK_FORWARD_DAYS: '1' });
    await at.backend.close();
    await deliver(at, failure('LATE-1'));
    await deliver(at, success('LATE-1'));
    await at.house.until('it was tried', () => log(at, 'ECONNREFUSED').length > 0);
    at.house.later(dayMs + 60 * minuteMs);
    await at.reads('lead', ['Your backend hasn’t taken an event for 1 day', 'payops -- forward'], 'payOps');
    await at.house.until('both are left', () => metric(at, 'payops_forwards_left{account="main"} 2'));
    await at.settled('soon');
    expect(notices(at).filter((text) => text.includes('for 1 day'))).toHaveLength(1);
    expect(await part(at, 'forward')).toMatchObject({ detail: '2 events that your backend did not take' });
    const backend = await openBackend(() => at.house.payments.credentials.webhookSecret);
    test.onTestFinished(() => backend.close());
    await at.restarts({ WEBHOOK_FORWARD_URL: backend.url });
    expect(await at.runs(['payops', 'forward'])).toMatchObject({
      stdout: 'On the way again: 2 events that your backend did not take.\n',
    });
    await at.house.until('both are there', () => backend.asked.length === 2);
    expect(backend.asked.map(({ body }) => body)).toEqual([failure('LATE-1'), success('LATE-1')]);
    await at.settled('soon');
    expect(await at.runs(['payops', 'forward'])).toMatchObject({
      stdout: expect.stringContaining('every event'),
    });
  });

  it('(it hangs) delays neither the sender’s 200 nor an alert', async (test) => {
    const at = await stage(test);
    at.backend.answers('hang');
    const many = Array.from({ length: 40 }, (_, index) => `HANG-${index}`);
    for (const reference of many) expect(await deliver(at, failure(reference))).toBe(200);
    await at.house.until('the alerts are told', () => at.posts('lead', 'payAlerts').length === many.length);
    expect(at.backend.mostOpen()).toBeLessThanOrEqual(16);
    at.backend.answers({ status: 200 });
    at.backend.cut();
    await at.house.until('all of it is there', () => new Set(taken(at)).size === many.length);
  });
});

describe('a backend that refuses', () => {
  it('an event for good causes one notice, and later events are still forwarded', async (test) => {
    const at = await stage(test);
    at.backend.answers((body) => ({ status: body.includes('GONE') ? 410 : 200 }));
    await deliver(at, failure('GONE-1'));
    await deliver(at, failure('GONE-2'));
    await deliver(at, failure('GOOD-1'));
    await at.reads('lead', ['Your backend refuses an event', 'HTTP 410', 'payops -- forward'], 'payOps');
    await at.house.until('the other is there', () => taken(at).length === 1);
    await at.house.until('both are left', () => metric(at, 'payops_forwards_left{account="main"} 2'));
    await at.settled('soon');
    at.house.later(2 * 60 * minuteMs);
    await at.settled('soon');
    expect(at.backend.asked).toHaveLength(3);
    expect(notices(at)).toEqual([expect.stringContaining('Your backend refuses an event')]);
    expect(await part(at, 'forward')).toMatchObject({ detail: '2 events that your backend did not take' });
    at.backend.answers({ status: 200 });
    await deliver(at, failure('GONE-1'));
    await at.house.until('what its sender sends again is there', () => taken(at).length === 2);
    await at.settled('soon');
    await at.runs(['payops', 'forward']);
    await at.house.until('so is the rest', () => taken(at).length === 3);
  });

  it('an event for now, by 408 or 429, gets it again', async (test) => {
    const at = await stage(test);
    for (const [index, status] of [408, 429].entries()) {
      at.backend.answers({ status });
      await deliver(at, failure(`BUSY-${status}`));
      await at.house.until('it is tried', () => at.backend.asked.at(-1)?.status === status);
      at.backend.answers({ status: 200 });
      await at.house.until('it is there', () => taken(at).length === index + 1);
    }
    expect(notices(at)).toEqual([]);
  });
});

describe('a loop', () => {
  it('is refused by its header, and the forwarding bot tells its operators', async (test) => {
    const at = await stage(test);
    expect(await deliver(at, failure('ROUND-1'), { 'payops-forwarded': '1' })).toBe(400);
    expect(log(at, 'a bot forwarded it')[0]).toContain('set your own backend’s address');
    const ownAddress = `${at.house.webhookGate.url}/webhooks/payments`;
    await at.restarts({ WEBHOOK_FORWARD_URL: ownAddress });
    expect(await deliver(at, failure('ROUND-2'))).toBe(200);
    await at.reads('lead', ['Your backend refuses an event', 'HTTP 400'], 'payOps');
    expect(at.house.webhookGate.passed.filter(({ request }) => request.includes('ROUND-2'))).toHaveLength(2);
  });

  it('is impossible for a bot that doesn’t forward, so it accepts what another bot forwards', async (test) => {
    const desk = await openDesk(test, { clock: true });
    expect(await deliver(desk, failure('NEXT-1'), { 'payops-forwarded': '1' })).toBe(200);
    expect(await desk.house.storeKeys('forward:')).toEqual([]);
  });
});
