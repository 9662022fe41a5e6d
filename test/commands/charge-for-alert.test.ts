import { describe, expect, it } from 'vitest';
import type { EndedCard } from '../../src/domain/alert-card.ts';
import { chargeActions } from '../../src/slack/charge/charge-actions.ts';
import { chargeModalId } from '../../src/slack/charge/charge-modal.ts';
import { agree, form, sends } from './charge-form.ts';
import { agent, createStage, nowMs, type Stage } from './charge-stage.ts';
import { carriedOn, modalOf, textOf, view } from './shown-modal.ts';

const alert = 'payment_failed/order/ORDER-1';
const money = { minor: 1_250_000, currency: 'NGN' };
const payment = { reference: 'ORDER-2', isSameReference: false, money, afterMs: 60_000 };
const recovered: EndedCard = { kind: 'recovered', at: nowMs, payment };
const ended: [EndedCard, string][] = [
  [recovered, '✅ Recovered already'],
  [{ kind: 'closed', at: nowMs, by: agent, reason: 'paid in cash' }, '☑️ Closed already'],
];

async function readBack(stage: Stage) {
  return modalOf(await stage.submit(chargeModalId, { values: form, privateMetadata: alert }));
}

// The form stays open while the customer pays.
describe('a charge that is to make an alert good', () => {
  it.each(ended)('is not read back once that has ended (%o)', async (card, words) => {
    const stage = createStage();
    stage.desk.answers.endedAlert = card;
    const refused = await readBack(stage);
    expect(textOf(refused)).toContain(words);
    expect(refused.submit).toBeUndefined();
    expect(stage.desk.calls).toEqual([]);
  });

  it.each(ended)('is not sent when that ended after the terms were read back (%o)', async (card, words) => {
    const stage = createStage();
    const terms = await readBack(stage);
    stage.desk.answers.endedAlert = card;
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
    stage.desk.answers.endedAlert = recovered;
    const terms = modalOf(await stage.submit(chargeModalId, { values: form }));
    await carriedOn(await agree(stage, terms));
    expect(sends(stage)).toEqual(['send pay-V1']);
  });
});
