import { beforeAll, beforeEach, expect, it } from 'vitest';
import { rightOtp } from '../../src/simulators/payments/bank.ts';
import { charges, shareDesk } from '../support/desk.ts';

// Every command, press and form is delivered twice, at once.
const at = shareDesk({
  clock: true,
  workspace: { quirks: { deliversTwice: true } },
  payments: { knownCards: true },
  env: { PAYMENTS_TIMEOUT_SECONDS: '5' },
});
const bola = '1127';

beforeAll(() => at().settled());
beforeEach(() => at().house.later(25 * 3_600_000));

it('sends each code once, and its window shows the result', async () => {
  const desk = at();
  await charges(desk, 'agent', { card: bola, amount: '100.00' });
  await desk.modalSays('agent', '3 of 3 tries left');
  for (const left of ['2 of 3 tries left', '1 of 3 tries left']) {
    await desk.submits('agent', { 'Code from the bank': '999999' });
    await desk.modalSays('agent', ['Wrong code', left]);
  }
  await desk.submits('agent', { 'Code from the bank': rightOtp });
  await desk.modalSays('agent', 'Paid (confirmed)');
  expect(desk.calls('checkout-card-otp')).toBe(3);
});

it('opens a command’s form once, and ignores the second delivery', async () => {
  const desk = at();
  await desk.opens('agent', '/pay charge 100');
  await desk.settled();
  expect(desk.modal('agent')?.fields).toContain('Saved card');
  const refused = desk.messages('agent').filter(({ shown }) => shown.text.includes('did not open'));
  expect(refused).toEqual([]);
});

it('closes an alert once, and its window with it', async () => {
  const desk = at();
  const reference = await desk.house.decline();
  await desk.presses('onCall', 'Resolve…', await desk.reads('onCall', reference, 'payAlerts'));
  await desk.modalSays('onCall', 'Reason');
  await desk.submits('onCall', { Reason: 'Paid in cash' });
  await desk.reads('onCall', [reference, 'Paid in cash'], 'payAlerts');
  await desk.settled();
  expect(desk.modal('onCall')).toBeUndefined();
  const { stdout } = await desk.runs(['audit', 'export']);
  const forms = stdout.split('\n').filter((line) => line.includes('"form"') && line.includes(reference));
  expect(forms.map((line) => (JSON.parse(line) as { result: string }).result).toSorted()).toEqual([
    'answered',
    'repeated',
  ]);
});
