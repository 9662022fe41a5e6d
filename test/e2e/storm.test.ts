import { describe, expect, test } from 'vitest';
import { shareDesk, type Message } from '../support/desk.ts';

const minuteMs = 60_000;
const count = 60;
const chidi = 'chidi.eze@example.com';

/** As a person reads it, buttons included. */
function wordsOf({ blocks }: Message): number {
  const texts: string[] = [];
  JSON.stringify(blocks, (key, value: unknown) => {
    if ((key === 'text' || key === 'fallback') && typeof value === 'string') texts.push(value);
    return value;
  });
  return texts
    .join(' ')
    .split(/\s+/)
    .filter((word) => /\w/.test(word)).length;
}

describe('a storm of failed charges', () => {
  const at = shareDesk({
    clock: true,
    workspace: { grantedOptionalScopes: 'all' },
    env: { DIGEST_THRESHOLD: '3' },
  });
  const digests = () =>
    at()
      .posts('lead', 'payAlerts')
      .filter(({ text }) => /Storm/.test(text));
  const singles = () =>
    at()
      .posts('lead', 'payAlerts')
      .filter(({ text }) => !/Storm/.test(text));
  const inDigest = (more = 0) => count + more - singles().length;
  const digestSays = (...words: string[]) => at().reads('lead', ['Storm', ...words], 'payAlerts');

  test('past the threshold is one digest: how many, why and how much', async () => {
    const { house, settled } = at();
    await house.decline({ customerEmail: 'first@example.com' });
    await house.decline({ customerEmail: 'second@example.com' });
    await settled('soon');
    await house.payments.act({ kind: 'send_failures', count: count - 2 });
    await settled('soon');
    expect(singles().length).toBeLessThanOrEqual(3);
    const digest = await digestSays(`${inDigest()} failed charges`);
    expect(digests()).toHaveLength(1);
    for (const words of ['🚨 Storm', 'NGN', 'Insufficient funds']) expect(digest.shown.text).toContain(words);
    expect(digest.shown.buttons).toEqual(['Acknowledge all', 'Show list', 'CSV']);
    expect(wordsOf(digest)).toBeLessThanOrEqual(50);
  });

  test('Acknowledge all takes all of it with one click, later ones too; the second person reads who was first', async () => {
    const desk = at();
    const digest = await digestSays('failed charges');
    const waiting = await desk.home('onCall', `Storm: ${inDigest()} failed charges`);
    expect(waiting.text).toMatch(/Open alerts\n.*Storm/);
    expect(waiting.buttons).toContain('Acknowledge all');
    await desk.presses('lead', 'Acknowledge all', digest);
    await desk.presses('onCall', 'Acknowledge all', digest);
    await desk.sees(
      'onCall',
      ['Somebody else acknowledged this storm first', `<@${desk.id('lead')}>`],
      'payAlerts',
    );
    await digestSays('Acknowledged by', desk.named('lead'));
    await desk.house.decline({ customerEmail: chidi });
    await digestSays(`${inDigest(1)} failed charges`);
    // The storm is theirs as one; only the alerts posted before it are open.
    const { text, buttons } = await desk.home('lead', 'Assigned to you');
    expect(text).toMatch(/Assigned to you\n.*Storm: \d+ failed charges .* \d+ not resolved\n/);
    expect(text.match(/SUB-/g)).toHaveLength(singles().length);
    expect(buttons).not.toContain('Resolve all…');
    await desk.house.until('it is nobody else’s', async () => {
      return !(await desk.home('onCall', 'Open alerts')).text.includes('Storm');
    });
    await desk.asks('lead', '/pay', '1 storm assigned to you');
  });

  test('Show list has them in one window, ten a page, each with its reason and state, masked', async () => {
    const desk = at();
    await desk.presses('lead', 'Show list', await digestSays('failed charges'));
    const first = await desk.modalSays('lead', [
      `${inDigest(1)} failed charges · 1 to 10`,
      '👀 Acknowledged',
      '10. SUB-',
    ]);
    expect(first.shown.text).not.toMatch(/[a-z]{4,}@/);
    expect(first.shown.text).not.toContain('11. SUB-');
    const pages = Math.ceil(inDigest(1) / 10);
    for (let page = 2; page <= pages; page += 1) {
      await desk.presses('lead', 'Next');
      await desk.modalSays('lead', `${(page - 1) * 10 + 1}. SUB-`);
    }
    const last = await desk.modalSays('lead', [`to ${inDigest(1)}`, `${inDigest(1)}. SUB-`]);
    expect(last.shown.buttons).toEqual(['Back']);
    await desk.presses('lead', 'Back');
    await desk.modalSays('lead', `${(pages - 1) * 10}. SUB-`);
    await desk.closes('lead');
  });

  test('CSV puts all of them into the thread', async () => {
    const desk = at();
    const digest = await digestSays('failed charges');
    await desk.presses('onCall', 'CSV', digest);
    await desk.sees('onCall', 'The CSV is in the digest’s thread', 'payAlerts');
    const file = desk.posts('lead', digest).flatMap(({ files = [] }) => files)[0];
    const lines = file?.text.trim().split('\r\n') ?? [];
    expect(lines[0]).toContain('reference,received_at,amount,currency,reason');
    expect(new Set(lines.slice(1).map((line) => line.split(',')[0])).size).toBe(inDigest(1));
    expect(lines.slice(1).every((line) => line.includes(',acknowledged,'))).toBe(true);
    expect(file?.text).not.toContain(chidi);
  });

  test('counts alerts that later payments resolve', async () => {
    const desk = at();
    await desk.house.approve({ amount: '5000.00', customerEmail: chidi });
    const digest = await digestSays('Resolved', '1 by payment');
    expect(digest.shown.text).toContain('🚨 Storm');
  });

  test('is in /pay alerts while it lasts', async () => {
    const desk = at();
    const said = await desk.asks('lead', '/pay alerts', 'This channel gets alerts', 'payAlerts');
    expect(said.shown.text).toContain('A storm since');
  });

  test('ends when few come, and later alerts are posted one by one again', async () => {
    const { house, settled } = at();
    house.later(6 * minuteMs);
    await digestSays(`☑️ Storm over: ${inDigest(1)} failed charges`, 'one by one again');
    const reference = await house.decline({ customerEmail: chidi });
    await settled('soon');
    expect(singles().some(({ text }) => text.includes(reference))).toBe(true);
    expect(digests()).toHaveLength(1);
  });

  test('Resolve all…, with a reason, resolves the rest and takes it off its person’s Home', async () => {
    const desk = at();
    const home = await desk.home('lead', `Storm over: ${inDigest(2)} failed charges`);
    expect(home.text).toContain(`${inDigest(2) - 1} not resolved`);
    const before = await digestSays('Storm over');
    expect(before.shown.buttons).toEqual(['Resolve all…', 'Show list', 'CSV']);
    await desk.presses('onCall', 'Resolve all…', before);
    await desk.modalSays('onCall', `the ${inDigest(2) - 1} failed charges that no payment has resolved`);
    await desk.presses('lead', 'Resolve all…', 'home');
    await desk.modalSays('lead', 'No money moves; their payment links can still be paid');
    expect((await desk.submits('lead', { Reason: ' ' }))?.problems).toEqual({
      Reason: 'Say in a few words why.',
    });
    await desk.submits('lead', { Reason: 'The bank works again' });
    expect(desk.modal('lead')).toBeUndefined();
    await desk.submits('onCall', { Reason: 'Too late' });
    await desk.modalSays('onCall', ['Already resolved', 'resolved all of it', 'The bank works again']);
    await desk.closes('onCall');
    const digest = await digestSays('Storm resolved', desk.named('lead'), 'The bank works again');
    expect(digest.shown.buttons).toEqual(['Show list', 'CSV']);
    await desk.house.until('it is off the Home', async () => {
      return !(await desk.home('lead', '/pay help')).text.includes('Storm');
    });
    await desk.presses('lead', 'Show list', digest);
    expect((await desk.modalSays('lead', '10. SUB-')).shown.text).not.toMatch(/Acknowledged|Open/);
    await desk.closes('lead');
    // A button that was on the screen since before.
    await desk.presses('lead', 'Resolve all…', before);
    await desk.sees('lead', ['Already resolved', 'You resolved all of it'], 'payAlerts');
  });
});

describe('many payments', () => {
  const at = shareDesk({ clock: true, env: { DIGEST_THRESHOLD: '2' } });

  test('are a digest of their own, without an alarm, that says how many a look-up proved; the CSV says what it lacks', async () => {
    const desk = at();
    for (let number = 0; number < 5; number += 1)
      await desk.house.approve({ amount: '100.00', customerEmail: `payer.${number}@example.com` });
    const many = () => desk.reads('lead', ['📥 Many payments: ', 'Proven by look-up', 'NGN'], 'general');
    const digest = await many();
    expect(digest.shown.buttons).toEqual(['Show list', 'CSV']);
    await desk.settled('soon');
    await desk.presses('lead', 'Show list', await many());
    await desk.modalSays('lead', ['Many payments', '✅ Proven by look-up']);
    await desk.closes('lead');
    // Without the scope files:write.
    await desk.presses('lead', 'CSV', await many());
    await desk.sees('lead', ['The CSV couldn’t be put into the thread', 'files:write'], 'general');
  });
});
