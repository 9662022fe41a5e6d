import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import { chargeActions } from '../../src/slack/charge/charge-actions.ts';
import type { Modal } from '../../src/slack/message.ts';
import { agree, fields, form, pasted, readBack, sends } from './charge-form.ts';
import {
  adasCard,
  agent,
  cardWithoutEmail,
  chargeOf,
  colleague,
  createStage,
  nowMs,
  type Stage,
} from './charge-stage.ts';
import { carriedOn, modalOf, textOf, untouched, view } from './shown-modal.ts';

describe('Change', () => {
  it('goes back to the form as it was, with the card still chosen', async () => {
    const stage = createStage();
    const values = { ...form, [fields.customerId]: 'C-7', [fields.reason]: 'March' };
    await stage.press(chargeActions.change, { view: view(await readBack(stage, values)) });
    expect(untouched(stage.updated[0]!)).toEqual(values);
    expect(textOf(stage.updated[0])).toContain('Visa ·· 4242 · a***@example.com');
  });

  it('keeps an e-mail that was typed because the card has none', async () => {
    const stage = createStage();
    const values = { ...form, [fields.card]: cardWithoutEmail.id, [fields.email]: 'bob@example.com' };
    await stage.press(chargeActions.change, { view: view(await readBack(stage, values)) });
    expect(untouched(stage.updated[0]!)).toEqual(values);
  });

  it.each([[{}], [{ ledger: false }]])(
    'never puts a pasted token back: it is pasted again (%o)',
    async (options: { ledger?: boolean }) => {
      const stage = createStage(options);
      await stage.press(chargeActions.change, { view: view(await readBack(stage, pasted)) });
      const { [fields.token]: _token, ...rest } = pasted;
      expect(untouched(stage.updated[0]!)).toEqual(rest);
      expect(textOf(stage.updated[0])).toContain('Paste the token key again');
    },
  );

  it('says that the terms are gone when they are, and does nothing outside a modal', async () => {
    const stage = createStage();
    const terms = await readBack(stage);
    await stage.press(chargeActions.change, { view: view(terms, 'V2') });
    await stage.press(chargeActions.change, { view: { ...view(terms), privateMetadata: 'x' } });
    await stage.press(chargeActions.change);
    expect(stage.updated.map(textOf)).toEqual([
      expect.stringContaining('review has expired'),
      expect.stringContaining('review has expired'),
    ]);
  });

  it('shows the charge that was made, should the dialogue have charged meanwhile', async () => {
    const stage = createStage();
    const terms = await readBack(stage);
    await carriedOn(await agree(stage, terms));
    await stage.press(chargeActions.change, { view: view(terms) });
    const others = await readBack(stage, { ...form, [fields.amount]: '99.00' });
    const answer = await agree(stage, others);
    expect(textOf(modalOf(answer))).toContain('NGN 12,500.00');
    await carriedOn(answer);
    expect(sends(stage)).toEqual(['send pay-V1']);
  });
});

describe('another charge', () => {
  const terms = {
    card: adasCard.face,
    money: { minor: 700, currency: 'USD' },
    customerEmail: 'ada@example.com',
    customerId: 'C-7',
    reason: 'March',
  };

  it.each([
    ['email_mismatch', 'card1'],
    ['email_invalid', 'card1'],
    ['invalid_token', undefined],
  ] as const)('starts from the terms of one that ended in %s', async (reason, card) => {
    const stage = createStage();
    const state = { kind: 'rejected', concludedAt: nowMs, reason } as const;
    stage.desk.charges.set('pay-V1', chargeOf('V1', { terms, state, card: 'card1' }));
    await stage.press(chargeActions.another, { value: 'pay-V1', view: view({} as Modal) });
    expect(untouched(stage.opened[0]!)).toEqual({
      ...(card === undefined ? {} : { [fields.card]: card }),
      [fields.amount]: '7.00',
      [fields.currency]: 'USD',
      [fields.customerId]: 'C-7',
      [fields.reason]: 'March',
    });
    // In the old modal the next charge would be the same charge.
    expect(stage.updated).toEqual([]);
  });

  it('leaves the card to be chosen when the bot does not know it', async () => {
    const stage = createStage({ cards: [] });
    stage.desk.charges.set('pay-V1', chargeOf('V1', { terms, card: 'card1' }));
    stage.desk.charges.set('pay-V2', chargeOf('V2', { terms }));
    await stage.press(chargeActions.another, { value: 'pay-V1' });
    await stage.press(chargeActions.another, { value: 'pay-V2' });
    for (const modal of stage.opened) expect(untouched(modal)).not.toHaveProperty(fields.card);
  });
});

/** The link asked for from a modal, then from a message. */
async function asked(
  answer: { kind: 'created'; link: string } | { kind: 'not_created'; why: string },
): Promise<Stage> {
  const stage = createStage();
  stage.desk.charges.set('pay-V1', chargeOf('V1'));
  stage.desk.answers.link = answer;
  await stage.press(chargeActions.savingLink, { value: 'pay-V1', view: view({} as Modal) });
  await stage.press(chargeActions.savingLink, { value: 'pay-V1' });
  return stage;
}

describe('the payment link', () => {
  const link = 'https://pay.example.com/checkout/abc123';

  it('shows that it asks, and then the link in full with what to tell the customer', async () => {
    const stage = await asked({ kind: 'created', link });
    expect(stage.updated.map(textOf)).toEqual([
      expect.stringContaining('Asking for a payment link'),
      expect.stringContaining(link),
    ]);
    expect(textOf(stage.updated[1])).toContain('Tell the customer');
    expect(textOf(stage.replies)).toContain(link);
  });

  it('says why there is none', async () => {
    const stage = await asked({ kind: 'not_created', why: 'The service is closed.' });
    expect(textOf(stage.updated.at(-1))).toContain('The service is closed.');
    expect(textOf(stage.replies)).toContain('The service is closed.');
  });

  it('does not leave the modal asking when it breaks, and hands the failure on', async () => {
    const stage = createStage();
    stage.desk.answers.away = true;
    const pressed = { value: 'pay-V1', view: view({} as Modal) };
    await expect(stage.press(chargeActions.savingLink, pressed)).rejects.toThrow(StoreUnavailable);
    expect(textOf(stage.updated.at(-1))).toContain('No payment link');
  });
});

describe('Show it and Check now', () => {
  it('opens the charge in front of the person and watches it', async () => {
    const stage = createStage();
    stage.desk.charges.set('pay-V1', chargeOf('V1'));
    await stage.press(chargeActions.show, { value: 'pay-V1', userId: colleague });
    expect(textOf(stage.opened)).toContain('pay-V1');
    expect(stage.desk.calls).toEqual(['find pay-V1', 'open', `watch pay-V1 V0OPEN1 ${colleague}`]);
  });

  it('looks it up now and shows in its modal what is known after the watch began', async () => {
    const stage = createStage();
    stage.desk.charges.set('pay-V1', chargeOf('V1'));
    const { desk } = stage;
    const watch = desk.watch.bind(desk);
    desk.watch = (reference, asked) => {
      const state = { kind: 'approved', concludedAt: nowMs } as const;
      stage.desk.charges.set('pay-V1', chargeOf('V1', { state }));
      return watch(reference, asked);
    };
    await stage.press(chargeActions.checkNow, { value: 'pay-V1', view: view({} as Modal, 'V9') });
    expect(stage.desk.calls).toEqual(['look up pay-V1', `watch pay-V1 V9 ${agent}`, 'update']);
    expect(textOf(stage.updated)).toContain('Paid (confirmed)');
  });

  it('answers a message’s button with one line for the caller alone, the e-mail masked', async () => {
    const stage = createStage();
    stage.desk.charges.set('pay-V1', chargeOf('V1'));
    await stage.press(chargeActions.checkNow, { value: 'pay-V1' });
    expect(stage.replies).toHaveLength(1);
    expect(stage.replies[0]?.blocks).toHaveLength(1);
    expect(stage.replies[0]?.text).toContain('pay-V1');
    expect(textOf(stage.replies)).not.toContain('ada@example.com');
    expect(stage.replies[0]).not.toHaveProperty('metadata');
  });
});

describe('the App Home of /pay charge', () => {
  it('holds the person’s last charges, and nothing when there are none', async () => {
    const stage = createStage();
    const home = stage.verb('charge').home!;
    expect(await home({ userId: agent })).toEqual([]);
    const state = { kind: 'approved', concludedAt: nowMs } as const;
    for (let index = 1; index <= 12; index += 1)
      stage.desk.charges.set(`pay-V${index}`, chargeOf(`V${index}`, { state }));
    const text = textOf(await home({ userId: agent }));
    expect(text.match(/"value":"pay-V/g)).toHaveLength(4);
    expect(text).not.toContain('ada@example.com');
    expect(await home({ userId: colleague })).toEqual([]);
  });

  it('leaves what is still open to the headings of what waits', async () => {
    const stage = createStage();
    stage.desk.charges.set('pay-V1', chargeOf('V1', { state: { kind: 'otp' } }));
    expect(await stage.verb('charge').home!({ userId: agent })).toEqual([]);
  });
});

describe('a button of a charge that nobody knows', () => {
  const { another, savingLink, show, checkNow } = chargeActions;

  it.each([another, savingLink, show, checkNow])(
    '%s: is told in its modal, or else to the person alone',
    async (actionId) => {
      const stage = createStage();
      await stage.press(actionId, { value: 'pay-nobody', view: view({} as Modal) });
      await stage.press(actionId, { value: 'pay-nobody' });
      expect(textOf(stage.updated.at(-1))).toContain('No such charge');
      expect(stage.replies.map(({ text }) => text)).toEqual([expect.stringContaining('pay-nobody')]);
      expect(stage.opened).toEqual([]);
    },
  );
});
