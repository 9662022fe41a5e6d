import { describe, expect, it } from 'vitest';
import type { CardHold, CardRefusal } from '../../src/domain/card-refusal.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import { chargeActions } from '../../src/slack/charge/charge-actions.ts';
import { termsModalId } from '../../src/slack/charge/terms-modal.ts';
import { agree, errorsOf, fields, form, pasted, readBack, sends, suggested, twin } from './charge-form.ts';
import {
  adasCard,
  agent,
  cardWithoutEmail,
  chargeOf,
  colleague,
  createStage,
  nowMs,
  pastedToken,
  tokenKey,
} from './charge-stage.ts';
import { carriedOn, inputs, modalOf, textOf, untouched } from './shown-modal.ts';

describe('/pay charge', () => {
  it('opens an empty form and says nothing beside it', async () => {
    const stage = createStage();
    expect(await stage.type('charge')).toBeUndefined();
    expect(stage.opened).toHaveLength(1);
    expect(untouched(stage.opened[0]!)).toEqual({ [fields.currency]: 'NGN' });
  });

  it('fills in an amount that was typed', async () => {
    const stage = createStage();
    await stage.type('charge 12,500.5');
    expect(inputs(stage.opened[0]!)[fields.amount]?.initial_value).toBe('12,500.50');
  });

  it.each(['0', 'ada@example.com', 'NGN 12500', '12,500.00 twice', '1.234'])(
    'opens nothing for “%s” and says how to type it',
    async (words) => {
      const stage = createStage();
      expect(await stage.type(`charge ${words}`)).toMatch(/asked for in a form/);
      expect(stage.opened).toEqual([]);
    },
  );

  it('asks for no saved card while remembering cards is switched off', async () => {
    const stage = createStage({ ledger: false });
    await stage.type('charge');
    expect(inputs(stage.opened[0]!)).not.toHaveProperty(fields.card);
    expect(await suggested(stage, '42')).toEqual([]);
  });

  it('offers the saved cards with the e-mail masked and the id as the value', async () => {
    expect(createStage().verb('charge').suggestions?.[0]?.actionId).toBe(chargeActions.card);
    expect(await suggested(createStage(), '4242')).toEqual([
      { text: 'Visa ·· 4242 · a***@example.com', value: 'card1' },
    ]);
  });

  it.each<[CardHold, string]>([
    [
      { kind: 'resting', nextTryFrom: nowMs + 3_600_000, attemptsLeft: 2 },
      'on hold until 2023-11-14 23:13 UTC',
    ],
    [{ kind: 'save_again' }, 'needs a payment link (3-D Secure)'],
    [{ kind: 'limit', limit: 'per_card_per_day' }, 'card’s daily limit reached'],
    [{ kind: 'limit', limit: 'per_agent_per_day' }, 'your daily limit reached'],
  ])('says in the list why a card can’t be charged now: %o', async (hold, words) => {
    const stage = createStage();
    stage.desk.answers.holds = { card1: hold };
    expect(await suggested(stage, '4242')).toEqual([
      { text: `Visa ·· 4242 · a***@example.com · ${words}`, value: 'card1' },
    ]);
  });
});

describe('the form', () => {
  it('tells every problem at its field and keeps nothing', async () => {
    const stage = createStage();
    const errors = await errorsOf(stage, {});
    expect(Object.keys(errors)).toEqual(expect.arrayContaining([fields.token, fields.amount]));
    expect(stage.desk.calls).toEqual([]);
  });

  it('charges a chosen card with the e-mail it is saved with', async () => {
    const stage = createStage();
    await readBack(stage, { ...form, [fields.customerId]: 'C-7', [fields.reason]: 'March' });
    expect(stage.desk.kept.get('V1')?.terms).toEqual({
      tokenKey,
      card: adasCard.face,
      money: { minor: 1_250_000, currency: 'NGN' },
      customerEmail: 'ada@example.com',
      customerId: 'C-7',
      reason: 'March',
    });
  });

  it('takes the saved spelling of an e-mail that differs in its case alone', async () => {
    const stage = createStage();
    await readBack(stage, { ...form, [fields.email]: 'ADA@Example.com' });
    expect(stage.desk.kept.get('V1')?.terms.customerEmail).toBe('ada@example.com');
  });

  it('refuses another e-mail than the card’s, and shows that one masked only', async () => {
    const stage = createStage();
    const errors = await errorsOf(stage, { ...form, [fields.email]: 'eve@example.com' });
    expect(errors).toEqual({
      [fields.email]:
        'The card is saved with a***@example.com; the service refuses any other. Leave it empty to use that one.',
    });
    expect(stage.desk.calls).toEqual([]);
  });

  it('needs an e-mail for a card that is saved without one', async () => {
    const stage = createStage();
    const without = { ...form, [fields.card]: cardWithoutEmail.id };
    expect(Object.keys(await errorsOf(stage, without))).toEqual([fields.email]);
    await readBack(stage, { ...without, [fields.email]: 'bob@example.com' });
    expect(stage.desk.kept.get('V1')?.terms.customerEmail).toBe('bob@example.com');
  });

  it.each([[{}], [{ ledger: false }]])(
    'says at the card that it is gone (%o)',
    async (options: { ledger?: boolean }) => {
      const stage = createStage({ cards: [], ...options });
      expect(Object.keys(await errorsOf(stage, form))).toEqual([fields.card]);
    },
  );

  it('shows which card a pasted token is, when the bot knows it', async () => {
    const stage = createStage();
    const terms = await readBack(stage, { ...pasted, [fields.token]: tokenKey });
    expect(textOf(terms)).toContain('Visa ·· 4242');
    expect(stage.desk.kept.get('V1')?.terms).toMatchObject({
      tokenKey,
      card: adasCard.face,
      customerEmail: 'zoe@example.org',
    });
  });

  it.each([[{}], [{ ledger: false }]])(
    'charges a pasted token that nobody knows (%o)',
    async (options: { ledger?: boolean }) => {
      const stage = createStage(options);
      await readBack(stage, pasted);
      expect(stage.desk.kept.get('V1')?.terms).toMatchObject({ tokenKey: pastedToken, card: {} });
    },
  );

  it('reads the exact terms back and sends nothing', async () => {
    const stage = createStage();
    const terms = await readBack(stage);
    expect(terms.callback_id).toBe(termsModalId);
    expect(terms.submit?.text).toBe('Charge NGN 12,500.00');
    expect(textOf(terms)).toContain('ada@example.com');
    expect(textOf(terms)).toContain('LIVE');
    expect(stage.desk.calls).toEqual(['keep V1']);
  });
});

describe('agreeing to the terms', () => {
  it('shows the progress at once, and sends only when that stands and the modal watches', async () => {
    const stage = createStage();
    const answer = await agree(stage, await readBack(stage));
    expect(textOf(modalOf(answer))).toContain('pay-V1');
    expect(sends(stage)).toEqual([]);
    await carriedOn(answer);
    expect(stage.desk.calls.slice(-2)).toEqual([`watch pay-V1 V1 ${agent}`, 'send pay-V1']);
  });

  it('sends once for a double submit, and shows that same charge to the second', async () => {
    const stage = createStage();
    const terms = await readBack(stage);
    const answers = await Promise.all([agree(stage, terms), agree(stage, terms)]);
    await Promise.all(answers.map(carriedOn));
    expect(sends(stage)).toEqual(['send pay-V1']);
    for (const answer of answers) expect(textOf(modalOf(answer))).toContain('pay-V1');
  });

  it('shows the charge of a dialogue that has charged, as it is by now, and watches it', async () => {
    const stage = createStage();
    const terms = await readBack(stage);
    stage.desk.charges.set('pay-V1', chargeOf('V1', { state: { kind: 'declined', concludedAt: nowMs } }));
    const answer = await agree(stage, terms);
    expect(textOf(modalOf(answer))).toContain('Declined by the bank');
    await carriedOn(answer);
    expect(stage.desk.calls.at(-1)).toBe(`watch pay-V1 V1 ${agent}`);
    expect(sends(stage)).toEqual([]);
  });

  it('sends what is stored though the modal cannot watch, and reports no failure', async () => {
    const stage = createStage();
    stage.desk.answers.watchThrows = new StoreUnavailable('away');
    await carriedOn(await agree(stage, await readBack(stage)));
    expect(sends(stage)).toEqual(['send pay-V1']);
  });

  it('reports a bug of the watching, after it has sent', async () => {
    const stage = createStage();
    stage.desk.answers.watchThrows = new TypeError('a bug');
    await expect(carriedOn(await agree(stage, await readBack(stage)))).rejects.toThrow('a bug');
    expect(sends(stage)).toEqual(['send pay-V1']);
  });

  it('hands on what breaks while it is sent, as something that may have moved money', async () => {
    const stage = createStage();
    stage.desk.answers.carryOnThrows = new StoreUnavailable('away in the middle');
    await expect(carriedOn(await agree(stage, await readBack(stage)))).rejects.toThrow('in the middle');
    const definition = stage.verb('charge').modals?.find(({ callbackId }) => callbackId === termsModalId);
    expect(definition?.effect).toBe('money');
  });

  it.each<[CardRefusal, string]>([
    [{ kind: 'resting', nextTryFrom: nowMs + 3_600_000, attemptsLeft: 2 }, 'Card on hold until'],
    [{ kind: 'stopped', declines: 3, nextTryFrom: nowMs + 3_600_000 }, 'declined it 3 times'],
    [{ kind: 'save_again' }, 'can’t be charged'],
    [{ kind: 'under_way', reference: twin.reference, by: colleague, at: nowMs }, 'pay-first'],
  ])(
    'says on the review, without a button that charges, why the card can’t be: %o',
    async (refusal, words) => {
      const stage = createStage();
      const earlier = await readBack(stage);
      stage.desk.answers.refusal = refusal;
      // Put on hold only after the review, its submit says the same.
      const answer = await agree(stage, earlier);
      expect(textOf(modalOf(answer))).toContain(words);
      await carriedOn(answer);
      const review = await readBack(stage);
      expect(textOf(review)).toContain(words);
      expect(review.submit).toBeUndefined();
      expect(sends(stage)).toEqual([]);
    },
  );

  it('says on the review that a second person is needed, and asks by the button’s own words', async () => {
    const stage = createStage();
    stage.desk.answers.approval = { rule: 'Charges from NGN 10,000.00 need one approver', needed: 1 };
    const review = await readBack(stage);
    expect(textOf(review)).toContain('Charges from NGN 10,000.00 need one approver');
    expect(review.submit?.text).toBe('Ask for approval');
  });

  it('asks before a twin, naming who made the first, and charges once that very twin is agreed to', async () => {
    const stage = createStage();
    stage.desk.answers.twin = twin;
    const asked = await readBack(stage);
    expect(asked.callback_id).toBe(termsModalId);
    expect(asked.submit?.text).toMatch(/^Again: /);
    expect(textOf(asked)).toContain(colleague);
    expect(sends(stage)).toEqual([]);
    await carriedOn(await agree(stage, asked));
    expect(sends(stage)).toEqual(['send pay-V1']);
  });

  it('asks anew when there is a newer twin than the one that was agreed to', async () => {
    const stage = createStage();
    stage.desk.answers.twin = twin;
    const asked = await readBack(stage);
    stage.desk.answers.twin = { ...twin, reference: 'pay-newer' as OrderReference };
    const again = modalOf(await agree(stage, asked));
    expect(textOf(again)).toContain('pay-newer');
    expect(sends(stage)).toEqual([]);
  });

  it('sends nothing on terms that are gone, others by now, or none of ours', async () => {
    const stage = createStage();
    const first = await readBack(stage);
    await readBack(stage, { ...form, [fields.amount]: '1.00' });
    for (const privateMetadata of [first.private_metadata ?? '', '', 'null', '{"draft":7}', '{']) {
      // oxlint-disable-next-line no-await-in-loop
      const answer = await stage.submit(termsModalId, { privateMetadata });
      expect(textOf(modalOf(answer))).toContain('review has expired');
      // oxlint-disable-next-line no-await-in-loop
      await carriedOn(answer);
    }
    expect(sends(stage)).toEqual([]);
  });

  it('says the terms are gone when they are by the time the twin is asked about', async () => {
    const stage = createStage();
    const terms = await readBack(stage);
    stage.desk.answers.twin = twin;
    stage.desk.readDraft = async () => undefined;
    expect(textOf(modalOf(await agree(stage, terms)))).toContain('review has expired');
  });

  it('never says that nothing moved when nobody knows whether the charge was stored', async () => {
    const stage = createStage();
    stage.desk.answers.unsure = true;
    const answer = await agree(stage, await readBack(stage));
    const text = textOf(modalOf(answer));
    expect(text).toContain('In doubt, checking');
    expect(text).toContain('it may still move');
    expect(text).toContain('do not charge again');
    expect(text).toContain(`"action_id":"${chargeActions.show}"`);
    expect(text).not.toMatch(/Nothing was (sent|charged)/i);
  });
});
