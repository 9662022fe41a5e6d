import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { signatureHeader, signWebhook } from '../../src/simulators/payments/webhooks-out.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { keyFile, readOrMakeKeyFile, storeFile } from '../../src/store/storage.ts';
import { metricsOf } from '../support/bot.ts';
import { shareDesk, type Desk } from '../support/desk.ts';
import { openHouse } from '../support/house.ts';

const minuteMs = 60_000;

/**
 * In steps of less than five minutes, since a bot that was away for five starts counting again. No work may be under
 * way when the clock jumps: its lease would end, as for a suspended process.
 */
async function passes({ house, settled }: Desk, minutes: number): Promise<void> {
  for (let left = minutes; left > 0; left -= 4) {
    await settled('soon');
    house.later(Math.min(left, 4) * minuteMs);
    let turns = 0;
    await house.until('the bot has had its turns', () => (turns += 1) > 3);
  }
}

/** A failure of an order that the payments service does not know. */
function failed(orderReference: string, more: object = {}) {
  return {
    event: 'payment_failed',
    data: { order: { orderReference, amount: '5000.00', currency: 'NGN', ...more } },
  };
}

describe('the webhook endpoint', () => {
  const at = shareDesk({ clock: true });
  const notices = () =>
    at()
      .posts('lead', 'payOps')
      .map(({ text }) => text);

  test('accepts what is signed over the raw bytes, and refuses a wrong or missing signature, and other methods', async () => {
    const { house, bot, settled } = at();
    expect(await house.sendEvent(failed('SIGNED-1'))).toBe(200);
    expect(await house.sendEvent(failed('FORGED-1'), { [signatureHeader]: 'ab'.repeat(64) })).toBe(401);
    expect(await house.sendEvent(failed('FORGED-2'), {})).toBe(401);
    expect((await fetch(`${bot.url()}/webhooks/payments`)).status).toBe(405);
    expect((await fetch(`${bot.url()}/webhooks/nowhere`, { method: 'POST' })).status).toBe(404);
    await settled('soon');
    const told = at()
      .posts('lead', 'payAlerts')
      .map(({ text }) => text)
      .join('\n');
    expect(told).toContain('SIGNED-1');
    expect(told).not.toContain('FORGED');
    const metrics = await metricsOf(bot);
    expect(metrics).toContain('payops_webhook_deliveries_total{account="main",result="bad_signature"} 2');
  });

  test('an event alone proves nothing: if the service does not know it, its alert says so', async () => {
    const { house, reads } = at();
    await house.sendEvent(failed('UNKNOWN-1'));
    const alert = await reads('lead', ['UNKNOWN-1', 'look-up says'], 'payAlerts');
    expect(alert.text).toContain('Not found');
  });

  test('a repeat that differs is reported to the operators once; the first alert stays', async () => {
    const desk = at();
    await desk.house.sendEvent(failed('DIFFERS-1'));
    await desk.reads('lead', 'DIFFERS-1', 'payAlerts');
    for (let times = 0; times < 2; times += 1)
      expect(await desk.house.sendEvent(failed('DIFFERS-1', { amount: '1.00' }))).toBe(200);
    const notice = await desk.reads(
      'lead',
      ['A repeated event differs from the first', 'DIFFERS-1'],
      'payOps',
    );
    expect(notice.shown.text).toContain('amount');
    await desk.settled('soon');
    expect(notices().filter((text) => text.includes('DIFFERS-1'))).toHaveLength(1);
    expect(desk.posts('lead', 'payAlerts').filter(({ text }) => text.includes('DIFFERS-1'))).toHaveLength(1);
  });

  test('a signed event of an unknown kind, or without one, is answered 200, stored, and reported once for each kind', async () => {
    const { house, reads, settled } = at();
    for (const event of ['refund_made', 'refund_made', 'dispute_opened'])
      expect(await house.sendEvent({ event, data: { of: Math.random() } })).toBe(200);
    expect(await house.sendEvent({ data: {} })).toBe(200);
    await reads('lead', ['A signed event of unknown kind arrived', 'refund_made'], 'payOps');
    await reads('lead', 'dispute_opened', 'payOps');
    await reads('lead', 'A signed delivery without an event kind arrived', 'payOps');
    await settled('soon');
    expect(notices().filter((text) => text.includes('refund_made'))).toHaveLength(1);
    expect(await house.storeKeys('unknown')).not.toEqual([]);
  });

  test('npm run explain-delivery says why one captured delivery verifies or does not', async () => {
    const desk = at();
    const body = JSON.stringify(failed('CAPTURED-1'));
    const secret = desk.house.payments.credentials.webhookSecret;
    const captured = (signature: string) => {
      const path = join(desk.house.folder, 'delivery.http');
      const head = `POST /webhooks/payments HTTP/1.1\r\n${signatureHeader}: ${signature}\r\n\r\n`;
      writeFileSync(path, head + body);
      return desk.runs(['explain-delivery', path]);
    };
    const holds = await captured(signWebhook(body, secret));
    expect(holds).toMatchObject({ code: 0, stdout: expect.stringContaining('verifies') });
    const not = await captured('ef'.repeat(64));
    expect(not).toMatchObject({ code: 1, stdout: expect.stringContaining('Verdict: refused') });
    expect(holds.stdout + not.stdout).not.toContain(secret);
  });
});

describe('the alarm of missing events', () => {
  const at = shareDesk({ clock: true, payments: { knownCards: true } });

  async function charges(amount: string): Promise<string> {
    await at().opens('agent', `/pay charge ${amount}`);
    await at().submits('agent', { 'Saved card': '4081' });
    await at().submits('agent');
    const paid = await at().modalSays('agent', 'Paid (confirmed)');
    await at().closes('agent');
    return /pay-\w+/.exec(paid.shown.text)?.[0] ?? '';
  }

  test('reports a paid charge whose event is missing after half an hour, and that no events come at all', async () => {
    const desk = at();
    const { house } = desk;
    house.payments.sendWebhooksTo(undefined);
    await passes(desk, 1);
    const reference = await charges('1,500.00');
    await passes(desk, 36);
    const silent = 'No webhook has come at all since';
    await desk.reads('lead', ['A charge is paid, but its event never came', reference, silent], 'payOps');
    await passes(desk, 8);
    expect(desk.posts('lead', 'payOps')).toHaveLength(1);
    house.payments.sendWebhooksTo(`${house.webhookGate.url}/webhooks/payments`);
    await house.payments.settled();
    await charges('1,700.00');
    await passes(desk, 100);
    expect(desk.posts('lead', 'payOps')).toHaveLength(1);
  });
});

test('an unreadable record is put aside, reported to the operators once, and delays nothing', async (scope) => {
  /** Some kinds of work, and an unknown one. */
  const broken = ['message:alert:x', 'charge:pay-x', 'event:x', 'storm:C0ALERTS01', 'later:x'];
  const house = await openHouse(scope, { clock: true });
  const path = join(house.dataDir, storeFile);
  readOrMakeKeyFile(join(house.dataDir, keyFile), path);
  const store = openSqliteStore({ path, now: Date.now });
  for (const key of broken) await store.create(key, 'k1.unreadable', { delayMs: 0, lane: 'one' });
  const bot = house.bot();
  await house.start(bot);
  const told = () => house.posts('payOps').map(({ blocks }) => JSON.stringify(blocks));
  const once = (key: string) => told().filter((shown) => shown.includes(`"${key}"`)).length === 1;
  await house.until('all are told', () => broken.every(once));
  const reference = await house.decline();
  await house.until('the alert is told', () =>
    house.posts('payAlerts').some(({ text }) => text.includes(reference)),
  );
  for (const key of broken)
    expect(await store.read(key)).toMatchObject({ value: 'k1.unreadable', attempts: 1 });
  expect(told()).toHaveLength(broken.length);
  expect(await metricsOf(bot)).toMatch(/payops_records_put_aside_total\{.*\} 5/);
  await store.close();
});
