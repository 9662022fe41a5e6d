import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { seedCards } from '../../src/simulators/payments/seed.ts';
import { charges, makesLink, openDesk, shareDesk } from '../support/desk.ts';

const { approves, declines } = seedCards;
const dayMs = 86_400_000;
const quiet = { LOG_LEVEL: 'debug', PAYMENTS_TIMEOUT_SECONDS: '8' };

describe('/pay find', () => {
  const at = shareDesk({ env: quiet, payments: { knownCards: true } });

  it('lists the bot’s records of a customer, newest first, as last known, without calling the service', async () => {
    const desk = at();
    const customerEmail = approves.customerEmail;
    const paid = await charges(desk, 'agent', { amount: '12,500.00', card: '4081' });
    await desk.modalSays('agent', 'Paid (confirmed)');
    await desk.closes('agent');
    const declined = await desk.house.decline({ customerEmail, amount: '300.00' });
    const approved = await desk.house.approve({ customerEmail, amount: '410.00' });
    const link = { 'Customer’s e-mail': customerEmail, 'Our reference': 'FIND-LINK' };
    await makesLink(desk, 'agent', '150.00', link);
    await desk.settled('soon');
    const calls = desk.calls('/transactions/accounts/single');

    const found = await desk.asks(
      'agent',
      `/pay ${customerEmail.toUpperCase()}`,
      'the payments service can’t be searched',
    );
    expect(desk.calls('/transactions/accounts/single')).toBe(calls);
    const { text, buttons } = found.shown;
    expect(text).toMatch(/6 records since \d+ \w+ · a\*\*\*@example\.com/);
    expectInOrder(text, [
      'Payment link, not paid yet · NGN 150.00',
      'FIND-LINK',
      approved,
      declined,
      'Paid (confirmed) · NGN 12,500.00',
      'Mastercard ·· 4081',
      paid,
      'card saved',
      'Saved card',
    ]);
    expect(text).toMatch(
      /Known to this bot since \d+ \w+, alerts for 14 days; the payments service can’t be searched\./,
    );
    // The charge's record covers its own event.
    expect(text.split(paid)).toHaveLength(2);
    expect(buttons.filter((label) => label === 'Look up')).toHaveLength(5);
    expect(buttons).not.toContain('Story');
    expect(buttons).not.toContain('Reveal e-mail');

    await desk.presses('agent', 'Look up', found);
    await desk.modalSays('agent', ['Not confirmed', 'FIND-LINK']);
    await desk.closes('agent');
    const ofLead = await desk.asks(
      'lead',
      `/pay find ${customerEmail}`,
      'the payments service can’t be searched',
    );
    await desk.seesBy('lead', ['Payment link', 'asked for a payment link'], () =>
      desk.presses('lead', 'Story', ofLead),
    );
    // The first answer stays in the channel.
    expect(
      desk.messages('lead').some(({ ts, shown }) => ts === ofLead.ts && shown.text.includes('FIND-LINK')),
    ).toBe(true);
  });

  it('finds a payment by the card’s last four digits and the amount, with the customer masked', async () => {
    const desk = at();
    const found = await desk.asks('lead', '/pay find 4081 12,500', 'Paid (confirmed)');
    expect(found.shown.text).toMatch(/1 record since .* · ·· 4081, 12,500\.00/);
    expect(found.shown.text).toContain('a***@example.com');
    await desk.seesBy('lead', approves.customerEmail, () => desk.presses('lead', 'Reveal e-mail', found));
    await desk.asks('agent', '/pay find 4081 12,501', 'No record since');
    await desk.asks('agent', '/pay find 4081', 'give the amount');
  });

  it('finds one address in any spelling, and no other', async () => {
    const desk = at();
    await desk.house.approve({ customerEmail: 'Zoe@XN--bcher-kva.example', amount: '77.00' });
    await desk.settled('soon');
    for (const typed of ['zoe@bücher.example', 'ZOE@BÜCHER.EXAMPLE', 'zoe@xn--bcher-kva.example']) {
      await desk.asks('agent', `/pay find ${typed}`, '1 record since');
    }
    const none = await desk.asks('agent', '/pay find zoe@bucher.example', 'No record since');
    expect(none.shown.text).toContain('/pay <reference>');
  });

  it('filters by failed, open and day, and turns pages', async () => {
    const desk = at();
    const customerEmail = 'many.find@example.com';
    // Every fourth charge fails.
    for (let at = 0; at < 12; at += 1) {
      const amount = `${100 + at}.00`;
      const kind = at % 4 === 0 ? 'payment_failed' : 'payment_success';
      expect(await desk.house.sendEvent(eventOf(kind, `MANY-${at}`, { amount, customerEmail }))).toBe(200);
    }
    const first = await desk.asks('agent', `/pay ${customerEmail}`, 'The newest 10 records');
    expect(first.shown.text).not.toContain('NGN 101.00');
    const older = await desk.seesBy('agent', 'Records 11 to 12', () => desk.presses('agent', 'Older', first));
    expectInOrder(older.shown.text, ['NGN 101.00', 'NGN 100.00']);
    const failed = await desk.seesBy('agent', '3 failed records since', () =>
      desk.presses('agent', 'Failed', older),
    );
    expectInOrder(failed.shown.text, ['NGN 108.00', 'NGN 104.00', 'NGN 100.00']);
    await desk.seesBy('agent', 'The newest 10 records', () => desk.presses('agent', 'All', failed));

    const open = await desk.asks('agent', `/pay find ${customerEmail} open`, 'open records since');
    expect(open.shown.text).not.toContain('NGN 109.00');
    const today = new Date(desk.house.now()).toISOString().slice(0, 10);
    await desk.asks('agent', `/pay find ${customerEmail} ${today} failed`, '3 failed records since');
    await desk.asks('agent', `/pay find ${customerEmail} 2020-01-01`, 'No record since');
    await desk.asks('agent', `/pay find ${customerEmail} paid`, 'You can add failed or open');
  });

  it('says so if no older record fits the filter', async () => {
    const desk = at();
    const customerEmail = 'ten.find@example.com';
    for (let at = 0; at < 11; at += 1) {
      const kind = at === 0 ? 'payment_success' : 'payment_failed';
      const order = { amount: `${200 + at}.00`, customerEmail };
      expect(await desk.house.sendEvent(eventOf(kind, `TEN-${at}`, order))).toBe(200);
    }
    const first = await desk.asks(
      'agent',
      `/pay find ${customerEmail} failed`,
      'The newest 10 failed records',
    );
    const older = await desk.seesBy('agent', 'No older failed record', () =>
      desk.presses('agent', 'Older', first),
    );
    expect(older.shown.buttons).toEqual(['Newest', 'All']);
  });

  it('needs a role, and repeats no address', async () => {
    const desk = at();
    await desk.asks('onCall', `/pay ${approves.customerEmail}`, 'Not allowed');
    await desk.asks('onCall', `/pay find ${approves.customerEmail}`, 'Not allowed');
    await desk.asks('agent', '/pay find nobody', 'Give the customer’s e-mail');
    const bare = await desk.asks('agent', '/pay find', 'Give the customer’s e-mail');
    expect(bare.shown.text).not.toContain('isn’t an e-mail');
    // A word in quotes is a reference.
    await desk.asks('agent', '/pay "ada@example.com"', 'Not found');
    for (const address of ['many.find@example.com', 'zoe@bücher.example', 'zoe@xn--bcher-kva.example']) {
      expect(await desk.leaks({ address })).toEqual([]);
    }
  });

  it('shows the same on the command line', async () => {
    const desk = at();
    const found = await desk.runs(['find', declines.customerEmail.toUpperCase(), '--json']);
    expect(found.code).toBe(0);
    const { records, since } = JSON.parse(found.stdout) as { records: { state: string }[]; since: string };
    expect(records.map(({ state }) => state)).toEqual(['✅ Paid (confirmed), card saved', '💳 Saved card']);
    expect(Date.parse(since)).toBeLessThanOrEqual(desk.house.now());
    expect(found.stdout).not.toContain('chidi.eze@');
    const text = await desk.runs(['find', 'many.find@example.com', 'failed']);
    expect(text).toMatchObject({ code: 0, stdout: expect.stringContaining('NGN 108.00') });
    expect(await desk.runs(['find', 'nobody@example.com'])).toMatchObject({ code: 4 });
    const today = new Date(desk.house.now()).toISOString().slice(0, 10);
    const day = await desk.runs(['day', today]);
    expect(day).toMatchObject({ code: 0, stderr: expect.stringContaining('in doubt') });
    expect(day.stdout).toMatch(/,charge,12500\.00,NGN,Paid \(confirmed\),yes,look-up,U\w+,,/);
    expect(day.stdout).not.toMatch(/@/);
    expect(await desk.runs(['day', 'today'])).toMatchObject({ code: 2 });
    // With another key, named like the key file, the day is not whole.
    const SEALING_KEYS = `file:${Buffer.alloc(32, 1).toString('base64')}`;
    const unread = await desk.runs(['day', today], { SEALING_KEYS });
    expect(unread).toMatchObject({ code: 3, stderr: expect.stringContaining("can't be read") });
    expect(await desk.runs(['find', 'nobody'])).toMatchObject({ code: 2 });
  });

  it('finds no earlier record of a forgotten customer, by e-mail or card, but later ones', async () => {
    const desk = at();
    const address = approves.customerEmail;
    const forgot = await desk.runs(['forget-cards', address.toUpperCase()]);
    expect(forgot).toMatchObject({ code: 0, stdout: expect.stringContaining('/pay find') });
    await desk.asks('agent', `/pay ${address}`, 'No record since');
    await desk.asks('agent', '/pay find 4081 12,500', 'No record since');
    await desk.house.approve({ customerEmail: address, amount: '55.00' });
    await desk.settled('soon');
    await desk.asks('agent', `/pay ${address}`, '1 record since');
  });
});

describe('records in /pay find', () => {
  it('follow their own retention: alerts lose their customer with their details', async (test) => {
    const env = { ...quiet, ALERT_DETAILS_DAYS: '2', WEBHOOK_REMEMBER_DAYS: '8', CHARGE_REMEMBER_DAYS: '30' };
    const desk = await openDesk(test, { clock: true, env });
    const { customerEmail: email, tokenKey: token } = approves;
    await charges(desk, 'agent', { amount: '30.00', token, email });
    await desk.modalSays('agent', 'Paid (confirmed)');
    await desk.house.decline({ customerEmail: email, amount: '10.00' });
    await desk.settled('soon');
    await desk.asks('agent', `/pay ${email}`, '2 records since');
    desk.house.later(2 * dayMs + 60_000);
    await desk.house.until('the alert loses its details', () =>
      desk.posts('onCall', 'payAlerts').every(({ shown }) => !shown.text.includes('NGN 10.00')),
    );
    await desk.settled('soon');
    const left = await desk.asks('agent', `/pay ${email}`, '1 record since');
    expect(left.shown.text).toContain('NGN 30.00');
    expect(left.shown.text).toContain('alerts for 2 days');
    desk.house.later(29 * dayMs);
    await desk.settled('soon');
    await desk.asks('agent', `/pay ${email}`, 'No record since');
  });

  it('include those of an older release, after the store’s migration', async (test) => {
    const desk = await openDesk(test, { clock: true, env: quiet });
    const { customerEmail: email, tokenKey: token } = approves;
    const reference = await charges(desk, 'agent', { amount: '30.00', token, email });
    await desk.modalSays('agent', 'Paid (confirmed)');
    await desk.settled('soon');
    const today = new Date(desk.house.now()).toISOString().slice(0, 10);
    async function known(): Promise<string> {
      return (await desk.runs(['day', today])).stdout + (await desk.runs(['find', email])).stdout;
    }
    const ofNew = await known();
    const file = `${desk.house.dataDir}/payops.sqlite`;
    asOfOlder(file);
    expect(await known()).not.toContain(reference);
    await desk.restarts();
    await desk.house.until('the step is taken', async () => (await known()).includes(reference));
    expect((await known()).split(reference)).toHaveLength(ofNew.split(reference).length);
    expect(existsSync(`${file}.before-step-1`)).toBe(true);
  });
});

/** Removes what a release without `find` and days would not have written, or marks as not yet done. */
function asOfOlder(file: string): void {
  const db = new DatabaseSync(file, { timeout: 5_000 });
  db.exec(`delete from members where list = 'own-payments' or list glob 'found-by:*';
    update entries set value = '0' where key = 'store-form'`);
  db.close();
}

/** An event as the service sends it, but of an order that it does not know. */
function eventOf(event: string, orderReference: string, order: { amount: string; customerEmail: string }) {
  return { event, data: { order: { orderReference, currency: 'NGN', ...order } } };
}

function expectInOrder(text: string, words: readonly string[]): void {
  let from = 0;
  for (const one of words) {
    const found = text.indexOf(one, from);
    expect(found, `“${one}” in\n${text}`).toBeGreaterThanOrEqual(from);
    from = found + one.length;
  }
}
