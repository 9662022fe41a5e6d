import { expect, test } from 'vitest';
import { shareDesk } from '../support/desk.ts';

const dayMs = 86_400_000;
const customerEmail = 'canary.customer@example.com';
const told = ['c***@', '777.70', 'canary reason'];

const at = shareDesk({ clock: true });

test('an alert as old as ALERT_DETAILS_DAYS is edited down to outcome and reference; a later payment still resolves it', async () => {
  const desk = at();
  const reference = await desk.house.decline({ amount: '777.70', customerEmail, reason: 'canary reason' });
  const alert = await desk.reads('lead', [reference, ...told], 'payAlerts');
  await desk.settled('soon');
  desk.house.later(13 * dayMs);
  await desk.settled('soon');
  await desk.reads('lead', [reference, ...told], 'payAlerts');
  desk.house.later(2 * dayMs);
  await desk.house.until('it is edited down', () =>
    desk.posts('lead', 'payAlerts').some(({ text }) => text === `❌ Declined by the bank · ${reference}`),
  );
  const old = await desk.reads('lead', reference, 'payAlerts');
  expect(old.ts).toBe(alert.ts);
  expect(old.shown.buttons).toEqual(['Acknowledge', 'Look up', 'Resolve…']);
  for (const word of told) expect(old.shown.text).not.toContain(word);
  const next = await desk.house.decline();
  await desk.reads('lead', [next, '5,000.00', 'Acknowledge'], 'payAlerts');
  await desk.house.approve({ amount: '777.70', customerEmail });
  await desk.reads('lead', '✅ Resolved', old);
});
