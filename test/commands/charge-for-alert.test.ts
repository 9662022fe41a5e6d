import { describe, expect, it } from 'vitest';
import type { AlertTaken } from '../../src/domain/alert-card.ts';
import { chargeActions } from '../../src/slack/charge/charge-actions.ts';
import { chargeModalId } from '../../src/slack/charge/charge-modal.ts';
import { agree, form, sends } from './charge-form.ts';
import { agent, colleague, createStage, nowMs, type Stage } from './charge-stage.ts';
import { carriedOn, modalOf, textOf, view } from './shown-modal.ts';

const alert = 'payment_failed/order/ORDER-1';
const money = { minor: 1_250_000, currency: 'NGN' };
const payment = { reference: 'ORDER-2', isSameReference: false, money, afterMs: 60_000 };
const recovered: AlertTaken = { kind: 'ended', card: { kind: 'recovered', at: nowMs, payment } };
const charge = { reference: 'pay-first', by: colleague, at: nowMs };
const taken: [AlertTaken, string][] = [
  [recovered, '✅ Already resolved'],
  [
    { kind: 'ended', card: { kind: 'closed', at: nowMs, by: agent, reason: 'paid in cash' } },
    '☑️ Already closed',
  ],
  [{ kind: 'charging', charge }, '⏳ Already being charged'],
  [{ kind: 'charging', charge }, 'pay-first'],
  [{ kind: 'charging', charge }, colleague],
];

async function readBack(stage: Stage) {
  return modalOf(await stage.submit(chargeModalId, { values: form, privateMetadata: alert }));
}

// The form stays open while the customer pays.
describe('a charge that is begun from an alert', () => {
  it.each(taken)('is not reviewed once that is resolved or being charged (%o)', async (taken, words) => {
    const stage = createStage();
    stage.desk.answers.alertTaken = taken;
    const refused = await readBack(stage);
    expect(textOf(refused)).toContain(words);
    expect(refused.submit).toBeUndefined();
    expect(stage.desk.calls).toEqual([]);
  });

  it.each(taken)('is not sent when that was so by the submit alone (%o)', async (taken, words) => {
    const stage = createStage();
    const terms = await readBack(stage);
    stage.desk.answers.alertTaken = taken;
    const answer = await agree(stage, terms);
    expect(textOf(modalOf(answer))).toContain(words);
    await carriedOn(answer);
    expect(sends(stage)).toEqual([]);
  });

  it('stays one when its terms are changed, and when it is tried again', async () => {
    const stage = createStage();
    const terms = await readBack(stage);
    await stage.press(chargeActions.change, { view: view(terms) });
    expect(stage.updated.at(-1)?.private_metadata).toBe(alert);
    await carriedOn(await agree(stage, terms));
    expect(sends(stage)).toEqual(['send pay-V1']);
    await stage.press(chargeActions.another, { value: 'pay-V1' });
    expect(stage.opened.at(-1)?.private_metadata).toBe(alert);
  });

  it('is any other charge where no alert is named', async () => {
    const stage = createStage();
    stage.desk.answers.alertTaken = recovered;
    const terms = modalOf(await stage.submit(chargeModalId, { values: form }));
    await carriedOn(await agree(stage, terms));
    expect(sends(stage)).toEqual(['send pay-V1']);
  });
});
