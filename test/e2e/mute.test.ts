import { expect, test, vi } from 'vitest';
import { shareDesk } from '../support/desk.ts';

const minuteMs = 60_000;
/** Longer than the five seconds after which a mute begins or ends. */
const soonMs = 6_000;
const dayMs = 24 * 60 * minuteMs;
const policy = (text: string): string =>
  text.concat(`
daily_summary:
  - { channel: C0ALERTS01, at: '12:00', tz: UTC }
routes:
  - { name: fraud, when: { reason: suspected fraud }, to: C0ALERTS01 }
`);

const at = shareDesk({ clock: true, policy });

const isTold = (reference: string): boolean =>
  at()
    .posts('lead', 'payAlerts')
    .some(({ text, shown }) => text.includes('Declined') && shown.text.includes(reference));

test('a mute stops matching alerts; the channel is told until when and why, and at the end how many', async () => {
  const desk = at();
  const form = await desk.opens('onCall', '/pay mute', 'payAlerts');
  expect(form.fields).toEqual(['Bank’s reason contains', 'Customer id', 'Rule', 'For how long', 'Why']);
  await desk.submits('onCall', { 'Bank’s reason contains': 'Insufficient FUNDS', Why: 'The bank is down' });
  await desk.modalSays('onCall', '🔕 Muted');
  const told = await desk.reads(
    'lead',
    ['🔕 Muted', 'reason “insufficient funds”', 'The bank is down'],
    'payAlerts',
  );
  expect(told.shown.text).toContain(desk.named('onCall'));
  desk.house.later(soonMs);
  const muted = await desk.house.decline({ reason: 'Insufficient funds', customerEmail: 'm@example.com' });
  const other = await desk.house.decline({ reason: 'Do not honour' });
  await desk.reads('lead', ['Declined', other], 'payAlerts');
  await desk.settled('soon');
  expect(isTold(muted)).toBe(false);
  const said = await desk.asks('onCall', '/pay alerts', muted, 'payAlerts');
  expect(said.shown.text).toContain('1 muted now');
  await desk.home('onCall', 'reason “insufficient funds” in');
  desk.house.later(61 * minuteMs);
  await desk.reads('lead', ['🔔 Mute is over', '1 not posted', muted], 'payAlerts');
  const after = await desk.house.decline({ reason: 'Insufficient funds' });
  await desk.reads('lead', ['Declined', after], 'payAlerts');
  // A muted alert is resolved by a payment like any other.
  await desk.house.approve({ amount: '5000.00', customerEmail: 'm@example.com' });
  await desk.house.until('the alert is resolved', async () => {
    const alerts = await desk.asks('onCall', '/pay alerts', muted, 'payAlerts');
    return alerts.shown.text.includes(`${muted} ✓`);
  });
});

test('a mute of everything can be ended by the button in the channel, and in the form', async () => {
  const desk = at();
  const mutes = async (): Promise<void> => {
    await desk.opens('onCall', '/pay mute', 'payAlerts');
    await desk.submits('onCall', { 'For how long': '24 hours', Why: 'Tests' });
    await desk.modalSays('onCall', 'Everything here');
    await desk.closes('onCall');
    desk.house.later(soonMs);
  };
  await mutes();
  const first = await desk.reads('lead', ['🔕 Muted', 'Everything here', 'Tests'], 'payAlerts');
  const rules = await desk.asks('onCall', '/pay alerts', '1 muted now', 'payAlerts');
  await desk.presses('onCall', 'Send a test alert', rules);
  const testAlert = await desk.reads('lead', ['TEST alert', 'Muted: Everything here until'], 'payAlerts');
  expect(testAlert.shown.text).not.toContain('alerts reach this channel');
  await desk.seesBy('agent', 'Not allowed', () => desk.presses('agent', 'End mute', first));
  await desk.presses('onCall', 'End mute', first);
  await desk.reads('lead', ['🔔 Mute ended', 'Ended'], 'payAlerts');
  desk.house.later(soonMs);
  await desk.reads('lead', ['🔔 Mute is over', 'Nothing was held back'], 'payAlerts');
  await mutes();
  const kept = await desk.house.decline({ reason: 'Suspected fraud' });
  await desk.settled('soon');
  const form = await desk.opens('onCall', '/pay mute', 'payAlerts');
  expect(form.shown.text).toContain('Everything here');
  await desk.presses('onCall', 'End mute');
  await desk.house.until(
    'the form says so',
    () => !desk.modal('onCall')?.shown.text.includes('Everything here until'),
  );
  desk.house.later(soonMs);
  await desk.reads('lead', ['🔔 Mute is over', kept], 'payAlerts');
  expect(isTold(kept)).toBe(false);
});

test('the daily summary counts muted events, and names the mute', async () => {
  const desk = at();
  const elevenMs = 11 * 60 * minuteMs;
  desk.house.later((dayMs + elevenMs - (Date.now() % dayMs)) % dayMs);
  await desk.opens('onCall', '/pay mute', 'payAlerts');
  await desk.submits('onCall', { Rule: 'Rule fraud', 'For how long': '24 hours', Why: 'Tests' });
  await desk.modalSays('onCall', 'rule fraud');
  await desk.closes('onCall');
  desk.house.later(soonMs);
  const kept = await desk.house.decline({ reason: 'Suspected fraud' });
  await desk.settled('soon');
  desk.house.later(60 * minuteMs);
  const summary = await desk.reads('lead', ['Muted now', kept], 'payAlerts');
  expect(summary.shown.text).toContain('rule fraud in');
});

test('muting is refused without the permission, and where no alerts come', async () => {
  const desk = at();
  await desk.asks('agent', '/pay mute', 'Not allowed', 'payAlerts');
  await desk.asks('onCall', '/pay mute', 'No alerts come here', 'payDesk');
});

test('a mute that is over stops no alert, even if a clock is set back to before its end', async () => {
  const desk = at();
  await desk.opens('onCall', '/pay mute', 'payAlerts');
  const what = { 'Bank’s reason contains': 'Do not honour', 'For how long': '30 minutes', Why: 'Tests' };
  await desk.submits('onCall', what);
  await desk.modalSays('onCall', '🔕 Muted');
  await desk.closes('onCall');
  desk.house.later(30 * minuteMs + 10_000);
  await desk.reads('lead', ['🔔 Mute is over', '“do not honour”'], 'payAlerts');
  vi.setSystemTime(Date.now() - 20_000);
  const after = await desk.house.decline({ reason: 'Do not honour' });
  await desk.reads('lead', ['Declined', after], 'payAlerts');
});

test('muted payments are named when the mute is over', async () => {
  const desk = at();
  await desk.opens('onCall', '/pay mute', 'general');
  await desk.submits('onCall', { 'For how long': '30 minutes', Why: 'Tests' });
  await desk.modalSays('onCall', '🔕 Muted');
  await desk.closes('onCall');
  desk.house.later(soonMs);
  const paid = await desk.house.approve({ customerEmail: 'quiet@example.com', amount: '12.00' });
  await desk.settled('soon');
  desk.house.later(31 * minuteMs);
  const over = await desk.reads('lead', ['🔔 Mute is over', '1 not posted', paid], 'general');
  expect(over.shown.buttons).toEqual([]);
});
