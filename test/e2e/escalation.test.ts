import { describe, expect, test } from 'vitest';
import { metricsOf } from '../support/bot.ts';
import { shareDesk, type Message } from '../support/desk.ts';

const [payOps, payDesk] = ['C0OPS00001', 'C0DESK0001'];
const onCallGroup = 'S0ONCALL01';
const lead = 'U0LEAD0001';
const minuteMs = 60_000;

/** The full hour, so many hours from now. */
function clockTime(hoursFromNow: number): string {
  return `${String((new Date().getUTCHours() + hoursFromNow + 24) % 24).padStart(2, '0')}:00`;
}

const night = `quiet_hours: { from: '${clockTime(-2)}', to: '${clockTime(6)}', tz: UTC }`;
const steps = `escalate: [{ after: 10m, to: ${onCallGroup} }, { after: 30m, to: ${lead} }]`;
const once = `escalate: { after: 10m, to: ${onCallGroup} }`;
const routes = `routes:
  - { name: steps, when: { reason: in steps }, to: ${payOps}, ${steps} }
  - { name: night, when: { reason: at night }, to: ${payOps}, ${once}, ${night} }
  - { name: urgent, when: { reason: urgent }, to: ${payOps}, ${once}, severity: critical, ${night} }
  - { name: burst, when: { reason: burst }, to: ${payDesk}, ${once}, digest_after: 2 }
`;

describe('escalate of a rule', () => {
  const at = shareDesk({ clock: true, policy: (policy) => policy + routes });
  let customers = 0;
  const newCustomer = (): string => `customer.${(customers += 1)}@example.com`;
  const alerted = async (reason: string): Promise<Message> => {
    const reference = await at().house.decline({ reason, customerEmail: newCustomer() });
    return await at().reads('lead', [reference, 'Acknowledge'], 'payOps');
  };
  const calls = (above: Message): string[] =>
    at()
      .posts('lead', above)
      .filter(({ text }) => text.startsWith('📣'))
      .flatMap(({ blocks }) => /"(?:usergroup|user)_id":"(\w+)"/.exec(JSON.stringify(blocks))?.[1] ?? []);
  async function called(above: Message, ...ids: string[]): Promise<void> {
    await at().house.until('they are called', () => calls(above).length >= ids.length);
    expect(calls(above)).toEqual(ids);
  }
  async function passes(minutes: number): Promise<void> {
    // The post is stored.
    await at().settled('soon');
    at().house.later(minutes * minuteMs);
    await at().settled('soon');
  }

  test('calls in the thread of an alert that is not acknowledged, each step once, also over a restart', async () => {
    const desk = at();
    const alert = await alerted('In steps');
    await passes(9);
    expect(calls(alert)).toEqual([]);
    await passes(2);
    await called(alert, onCallGroup);
    await desk.restarts();
    await passes(15);
    expect(calls(alert)).toEqual([onCallGroup]);
    await passes(6);
    await called(alert, onCallGroup, lead);
    const [, note] = desk.posts('lead', alert).filter(({ text }) => text.startsWith('📣'));
    expect(note?.shown.text).toContain('after 30 min');
    await passes(24 * 60);
    expect(calls(alert)).toHaveLength(2);
  });

  test('calls no more once the alert is acknowledged or paid', async () => {
    const desk = at();
    const taken = await alerted('In steps');
    const late = await alerted('In steps');
    const customerEmail = newCustomer();
    const reference = await desk.house.decline({ reason: 'Urgent', customerEmail });
    const paid = await desk.reads('lead', [reference, 'Acknowledge'], 'payOps');
    await desk.presses('lead', 'Acknowledge', taken);
    await desk.house.approve({ amount: '5000.00', customerEmail });
    await desk.reads('lead', [reference, '✅ Resolved'], 'payOps');
    await passes(11);
    await called(late, onCallGroup);
    await desk.presses('onCall', 'Acknowledge', late);
    await passes(60);
    expect([taken, paid, late].map(calls)).toEqual([[], [], [onCallGroup]]);
  });

  test('waits for the end of quiet hours, unless the rule is critical', async () => {
    const [calm, urgent] = [await alerted('At night'), await alerted('Urgent')];
    await passes(11);
    await called(urgent, onCallGroup);
    expect(calls(calm)).toEqual([]);
    await passes(6 * 60);
    await called(calm, onCallGroup);
    expect(calls(urgent)).toHaveLength(1);
  });

  test('calls once for a storm, in the thread of its digest, and not for its alerts', async () => {
    const desk = at();
    for (let number = 0; number < 6; number += 1) {
      await desk.house.decline({ reason: 'Burst', customerEmail: newCustomer() });
      if (number === 0) await desk.settled('soon');
    }
    await desk.settled('soon');
    const digest = await desk.reads('lead', ['🚨 Storm', 'failed charges'], 'payDesk');
    await passes(9);
    await passes(9);
    const told = desk.posts('lead', 'payDesk').filter(({ threadTs }) => threadTs === undefined);
    expect(told.length).toBeGreaterThan(1);
    await called(digest, onCallGroup);
    await passes(60);
    expect(told.flatMap(calls)).toEqual([onCallGroup]);
  });

  test('shows in the metrics how many alerts are not acknowledged, by severity, a storm as one, and their age', async () => {
    const desk = at();
    const metric = async (name: string, severity: string): Promise<number> => {
      const text = await metricsOf(desk.bot);
      return Number(
        text.split(`payops_alerts_open${name}{account="main",severity="${severity}"} `)[1]?.split('\n')[0],
      );
    };
    const [open, critical] = [await metric('', 'none'), await metric('', 'critical')];
    // Two alerts, the storm’s digest, and the alert before it.
    expect([open, critical]).toEqual([4, 1]);
    const alert = await alerted('Urgent');
    await passes(20);
    expect(await metric('', 'critical')).toBe(critical + 1);
    await desk.presses('lead', 'Acknowledge', alert);
    await desk.presses('lead', 'Acknowledge all', await desk.reads('lead', 'Storm', 'payDesk'));
    await desk.house.until('both are taken', async () => {
      return (await metric('', 'critical')) === critical && (await metric('', 'none')) === open - 1;
    });
    expect(await metric('_oldest_seconds', 'critical')).toBeGreaterThan(7 * 3_600);
    expect(await metric('_oldest_seconds', 'high')).toBe(0);
  });

  test('is explained by /pay alerts', async () => {
    const said = await at().asks('onCall', '/pay alerts', 'This channel gets alerts', 'payOps');
    for (const words of ['10 min : calls ', '30 min : calls ', 'Critical'])
      expect(said.shown.text).toContain(words);
  });
});
