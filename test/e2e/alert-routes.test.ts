import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openDesk, shareDesk, type Desk, type Message } from '../support/desk.ts';
import { openHouse } from '../support/house.ts';

const [payOps, payDesk, payAlerts] = ['C0OPS00001', 'C0DESK0001', 'C0ALERTS01'];
const onCallGroup = 'S0ONCALL01';
const minuteMs = 60_000;

/** The time of day so many hours from now. */
function clockTime(hoursFromNow: number): string {
  return `${String((new Date().getUTCHours() + hoursFromNow + 24) % 24).padStart(2, '0')}:00`;
}

const routes = `routes:
  - name: fraud
    when: { reason: suspected fraud }
    to: [${payOps}, ${payDesk}]
    mention: ${onCallGroup}
    severity: high
  - name: quiet
    when: { reason: quiet please }
    to: ${payOps}
    mention: ${onCallGroup}
    quiet_hours: { from: '${clockTime(-2)}', to: '${clockTime(6)}', tz: UTC }
  - { name: vip, when: { email_domain: vip.example.com }, to: ${payDesk}, continue: true }
  - { name: big, when: { currency: NGN, amount_from: 100000.00, reason: do not honour }, to: ${payOps} }
  - { name: counted, when: { reason: count me }, to: ${payDesk}, digest_after: 1 }
  - { name: paid-vip, when: { event: payment_success, email_domain: vip.example.com }, to: ${payOps} }
`;

describe('routes of payops.yml', () => {
  const at = shareDesk({ clock: true, policy: (policy) => policy + routes });
  const toldIn = (reference: string) =>
    (['payAlerts', 'payOps', 'payDesk', 'general'] as const).filter((channel) =>
      at()
        .posts('lead', channel)
        .some(({ text }) => text.includes(reference)),
    );

  test('send a failure to each channel of its rule, with its mention and severity, and nowhere else', async () => {
    const desk = at();
    const reference = await desk.house.decline({ reason: 'Suspected fraud' });
    for (const channel of ['payOps', 'payDesk'] as const) {
      const alert = await desk.reads('lead', [reference, 'High severity', 'by rule fraud'], channel);
      expect(JSON.stringify(alert.blocks)).toContain(`"usergroup_id":"${onCallGroup}"`);
    }
    await desk.settled('soon');
    expect(toldIn(reference)).toEqual(['payOps', 'payDesk']);
    // All channels show the same state.
    await desk.presses('lead', 'Acknowledge', await desk.reads('lead', reference, 'payOps'));
    await desk.reads('lead', [reference, '👀 Acknowledged'], 'payDesk');
  });

  test('post in quiet hours, without calling people', async () => {
    const desk = at();
    const reference = await desk.house.decline({ reason: 'Quiet please' });
    const alert = await desk.reads('lead', [reference, 'by rule quiet'], 'payOps');
    expect(JSON.stringify(alert.blocks)).not.toContain(onCallGroup);
  });

  test('send events that match no rule to channels.alerts, payments to channels.successes', async () => {
    const desk = at();
    const other = await desk.house.decline();
    const paid = await desk.house.approve({ customerEmail: 'nobody.special@example.com' });
    await desk.reads('lead', other, 'payAlerts');
    await desk.reads('lead', ['Paid (confirmed)', paid], 'general');
    await desk.settled('soon');
    expect([other, paid].map(toldIn)).toEqual([['payAlerts'], ['general']]);
  });

  test('continue tries the later rules too; amounts, domains and successes match as documented', async () => {
    const desk = at();
    const customerEmail = 'vera@vip.example.com';
    const both = await desk.house.decline({ customerEmail, amount: '100000.00', reason: 'Do not honour' });
    const small = await desk.house.decline({ customerEmail, amount: '99999.99', reason: 'Do not honour' });
    const paid = await desk.house.approve({ customerEmail, amount: '12.00' });
    await desk.settled('soon');
    expect([both, small, paid].map(toldIn)).toEqual([
      ['payOps', 'payDesk'],
      ['payAlerts', 'payDesk'],
      ['payOps'],
    ]);
  });

  test('digest_after replaces DIGEST_THRESHOLD', async () => {
    const desk = at();
    for (let number = 0; number < 3; number += 1)
      await desk.house.decline({ reason: 'Count me', customerEmail: `counted.${number}@example.com` });
    const digest = await desk.reads('lead', ['Storm', 'failed charges'], 'payDesk');
    expect(digest.shown.buttons).toContain('Acknowledge all');
  });

  test('/pay alerts explains what the channel gets and why', async () => {
    const desk = at();
    await desk.asks('agent', '/pay alerts', 'Not allowed', 'payOps');
    await desk.asks(
      'onCall',
      '/pay unmute fraud',
      'Type it in the channel. It needs the permission “mute”',
      'payOps',
    );
    await desk.asks('onCall', '/pay route', 'payops.yml', 'payOps');
    const said = await desk.asks('onCall', '/pay alerts', 'This channel gets alerts', 'payOps');
    for (const words of ['fraud', 'High severity', 'Calls']) expect(said.shown.text).toContain(words);
  });

  test('Send a test alert goes the way of a real alert, and says who asked', async () => {
    const desk = at();
    await desk.presses(
      'onCall',
      'Send a test alert',
      await desk.sees('onCall', 'This channel gets alerts', 'payOps'),
    );
    const alert = await desk.reads(
      'onCall',
      ['TEST alert', 'alerts reach this channel', desk.named('onCall')],
      'payOps',
    );
    await desk.settled('soon');
    expect(desk.posts('lead', 'payOps').filter(({ text }) => text.includes('TEST alert'))).toHaveLength(1);
    expect(alert.shown.buttons).not.toContain('Acknowledge');
  });
});

test('alerts of several events without an amount are looked up at once and posted in order', async (scope) => {
  const house = await openHouse(scope, { clock: true, env: { PAYMENTS_TIMEOUT_SECONDS: '8' } });
  writeFileSync(
    house.policyFile,
    `${readFileSync(house.policyFile, 'utf8')}routes:\n  - { name: big, when: { currency: NGN, amount_from: 1000.00 }, to: ${payOps} }\n`,
  );
  house.payments.sendWebhooksTo(undefined);
  const references: string[] = [];
  for (let number = 0; number < 6; number += 1) references.push(await house.decline());
  await house.start(house.bot());
  const [first, ...others] = references.map(() => house.paymentsGate.hold('/single', 'before'));
  for (const orderReference of references)
    await house.sendEvent({ event: 'payment_failed', data: { order: { orderReference } } });
  (await first)?.release();
  for (const { release } of (await Promise.all(others)).toReversed()) release();
  const told = (): string[] =>
    house.posts('payOps').flatMap(({ text }) => references.filter((one) => text.includes(one)));
  await house.until('all are told', () => told().length === 6);
  expect(told()).toEqual(references);
});

test('invalid rules keep the bot from starting, all named at once', async (scope) => {
  const house = await openHouse(scope);
  const wrong = `routes:\n  - { name: all, to: ${payOps} }\n  - { name: all, when: { currency: NGN }, to: ${payAlerts} }\n`;
  writeFileSync(house.policyFile, readFileSync(house.policyFile, 'utf8') + wrong);
  const start = house.start(house.bot());
  await expect(start).rejects.toThrow('routes.1.name: a rule before it is called all too');
  await expect(start).rejects.toThrow(
    'routes.1 (all) can never fit: all before it takes all that it asks for',
  );
});

describe('daily_summary of payops.yml', () => {
  /** A time in Lagos (UTC+1 all year) that real time does not reach during the test. */
  const at = shareDesk({
    clock: true,
    policy: (policy) =>
      `${policy}daily_summary:\n  - { channel: ${payOps}, at: '${clockTime(13)}', tz: Africa/Lagos }\n`,
  });

  test('posts in its channel once a day what came and which alerts are open, also over a restart', async () => {
    const desk = at();
    await desk.house.decline();
    await desk.house.decline({ customerEmail: 'other@example.com' });
    await desk.house.approve({ customerEmail: 'third@example.com', amount: '10.00' });
    await desk.settled('soon');
    const told = () => desk.posts('lead', 'payOps').filter(({ text }) => text.includes('Daily summary'));
    expect(told()).toEqual([]);
    desk.house.later(24 * 60 * minuteMs);
    const first = await desk.reads(
      'lead',
      ['📋 Daily summary', '2 failed charges', '1 successful payment'],
      'payOps',
    );
    for (const words of ['10,000.00', 'Insufficient funds', 'proven by look-up'])
      expect(first.shown.text).toContain(words);
    await desk.restarts();
    desk.house.later(24 * 60 * minuteMs);
    await desk.reads('lead', ['📋 Daily summary', '0 failed charges'], 'payOps');
    await desk.settled('soon');
    expect(told()).toHaveLength(2);
  });
});

describe('a daily summary with `file: true`', () => {
  test('posts the last whole day as a CSV below it, the same as the command line’s, once even over a restart', async (context) => {
    const workspace = { grantedOptionalScopes: 'all' } as const;
    const desk = await openDesk(context, { clock: true, policy: withFile, workspace });
    await desk.house.decline({ customerEmail: 'ada@example.com', amount: '300.00' });
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Africa/Lagos' }).format(desk.house.now());
    await desk.settled('soon');
    const { stdout } = await desk.runs(['day', day]);
    expect(stdout).toContain(',alert,300.00,NGN,');
    desk.house.later(24 * 60 * minuteMs);
    await desk.house.until('the file is there', async () => (await below(desk)).some(({ files }) => files));
    await desk.restarts();
    await desk.settled('soon');
    const [file, ...more] = (await below(desk)).flatMap(({ files = [] }) => files);
    expect(more).toEqual([]);
    expect(file).toMatchObject({ name: `payops-${day}.csv`, text: stdout });
    expect((await below(desk)).at(-1)?.text).toContain(`1 record of ${day}: 0 in doubt`);
    expect(file?.text).not.toContain('@');
  });

  test('names the command that writes it if Slack takes no file', async (context) => {
    const desk = await openDesk(context, { clock: true, policy: withFile });
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Africa/Lagos' }).format(desk.house.now());
    await desk.settled('soon');
    desk.house.later(24 * 60 * minuteMs);
    await desk.house.until('it is told', async () => (await below(desk)).length > 0);
    await desk.settled('soon');
    const told = await below(desk);
    expect(told).toHaveLength(1);
    expect(told[0]?.shown.text).toContain(`npm run payops --silent -- day ${day}`);
    expect(told[0]?.shown.text).toContain('missing_scope');
  });
});

/** At midnight: at any other time the last whole day would be today for some hours of the day, and yesterday for the others. */
function withFile(policy: string): string {
  return `${policy}timezone: Africa/Lagos\ndaily_summary:\n  - { channel: ${payOps}, at: '00:00', tz: Africa/Lagos, file: true }\n`;
}

/** The messages in the daily summary's thread. */
async function below(desk: Desk): Promise<Message[]> {
  return desk.posts('lead', await desk.reads('lead', '📋 Daily summary', 'payOps'));
}
