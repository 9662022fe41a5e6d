import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findViewProblems } from '../../../src/slack/assert-blocks.ts';
import {
  chargeFields,
  chargeModal,
  readChargeModal,
  type ChargeModalOptions,
} from '../../../src/slack/charge/charge-modal.ts';
import type { ViewValues } from '../../../src/slack/command.ts';
import { live, sandbox } from './seen-charges.ts';
import { inputIds, page } from './shown.ts';

const { card, token, amount, currency, email, customerId, reason } = chargeFields;
const chosen: ViewValues = { [card]: 'card-1', [amount]: '12,500.00', [currency]: 'NGN' };
const pasted: ViewValues = {
  [token]: 'tok_canary',
  [amount]: '1',
  [currency]: 'NGN',
  [email]: 'ada@example.com',
};

function form(options: Partial<ChargeModalOptions> = {}) {
  return chargeModal({ place: live, currencies: ['NGN', 'USD'], ledger: true, ...options });
}

function errorsOf(values: ViewValues): Record<string, string> {
  const read = readChargeModal(values);
  return read.kind === 'errors' ? read.errors : {};
}

/** What Slack would submit of a form nobody has touched. */
function initialValues(view: ReturnType<typeof chargeModal>): ViewValues {
  const values: Record<string, string> = {};
  for (const block of view.blocks) {
    if (block.type !== 'input' || block.block_id === undefined) continue;
    const { element } = block;
    if ('initial_value' in element && typeof element.initial_value === 'string') {
      values[block.block_id] = element.initial_value;
    }
    if ('initial_option' in element && element.initial_option) {
      values[block.block_id] = String(element.initial_option.value);
    }
  }
  return values;
}

describe('chargeModal', () => {
  it('asks for the card by typeahead only where cards are remembered', () => {
    expect(inputIds(form())).toEqual([card, token, amount, currency, email, customerId, reason]);
    expect(inputIds(form({ ledger: false }))).toEqual([token, amount, currency, email, customerId, reason]);
    expect(findViewProblems(form())).toEqual([]);
    expect(findViewProblems(form({ ledger: false, problem: 'Paste it again.' }))).toEqual([]);
  });

  it('offers cards before anything is typed, under the id the bot is asked by', () => {
    const block = form().blocks.find((one) => one.type === 'input' && one.block_id === card);
    expect(block).toMatchObject({
      optional: true,
      element: { type: 'external_select', action_id: card, min_query_length: 0 },
    });
  });

  it('puts no amount beside a currency that it is not of', () => {
    const dollars = form({ currencies: ['NGN'], prefill: { amountMinor: 10_000, currency: 'USD' } });
    expect(initialValues(dollars)).toEqual({ [currency]: 'NGN' });
    expect(page(dollars)[1]).toBe(
      '⚠️ The failed charge was USD 100.00, but this account only charges in NGN. Enter the amount.',
    );
    expect(initialValues(form({ prefill: { amountMinor: 10_000 } }))).toMatchObject({ [amount]: '100.00' });
    expect(initialValues(form({ prefill: { amountMinor: 10_000, currency: 'USD' } }))).toMatchObject({
      [amount]: '100.00',
      [currency]: 'USD',
    });
  });

  it('says what it is asked again for, and where money moves', () => {
    expect(page(form({ problem: 'Paste the token key again.' }))[1]).toBe('⚠️ Paste the token key again.');
    expect(page(form({ place: sandbox })).join('\n')).toContain('SANDBOX: a test, no real money moves.');
  });

  it('gives back what it was filled with, whatever that is', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 120 }), fc.constant('𝒜'.repeat(2000)));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        text,
        text,
        (amountMinor, one, two) => {
          const view = form({
            prefill: {
              card: { id: 'c1', text: one },
              amountMinor,
              currency: 'USD',
              customerId: one,
              reason: two,
            },
          });
          expect(findViewProblems(view)).toEqual([]);
          const read = readChargeModal(initialValues(view));
          expect(read).toMatchObject({
            kind: 'read',
            form: { card: { kind: 'ledger', id: 'c1' }, money: { minor: amountMinor, currency: 'USD' } },
          });
        },
      ),
    );
    const filled = form({ prefill: { customerEmail: 'ada@example.com', customerId: 'C-1', reason: 'rent' } });
    expect(initialValues(filled)).toEqual({
      [currency]: 'NGN',
      [email]: 'ada@example.com',
      [customerId]: 'C-1',
      [reason]: 'rent',
    });
  });

  it('chooses the first currency when the wanted one is not offered', () => {
    expect(initialValues(form({ prefill: { currency: 'EUR' } }))[currency]).toBe('NGN');
  });
});

describe('readChargeModal', () => {
  it('reads a chosen card and a pasted token', () => {
    expect(readChargeModal(chosen)).toEqual({
      kind: 'read',
      form: { card: { kind: 'ledger', id: 'card-1' }, money: { minor: 1_250_000, currency: 'NGN' } },
    });
    const more = { ...pasted, [customerId]: ' C-7 ', [reason]: ' September\u200B rent ' };
    expect(readChargeModal(more)).toEqual({
      kind: 'read',
      form: {
        card: { kind: 'pasted', tokenKey: 'tok_canary' },
        money: { minor: 100, currency: 'NGN' },
        customerEmail: 'ada@example.com',
        customerId: 'C-7',
        reason: 'September rent',
      },
    });
  });

  it('tells everything that is wrong at once', () => {
    expect(
      Object.keys(errorsOf({ [email]: 'ada', [customerId]: 'x'.repeat(101), [currency]: 'N1' })),
    ).toEqual([token, amount, currency, email, customerId]);
  });

  it('takes one card, not two and not none', () => {
    expect(errorsOf({ ...chosen, [token]: 'tok_canary' })).toEqual({
      [token]: 'Choose a saved card or paste a token key, not both.',
    });
    expect(errorsOf({ ...chosen, [card]: '' })).toEqual({
      [token]: 'Choose a saved card, or paste its token key here.',
    });
    expect(errorsOf({ ...pasted, [token]: 'tok canary' })).toEqual({
      [token]: 'A token key has no blanks in it. Paste it again.',
    });
  });

  it('needs the e-mail with a pasted token, and not with a chosen card', () => {
    const { [email]: _email, ...without } = pasted;
    expect(Object.keys(errorsOf(without))).toEqual([email]);
    expect(errorsOf(chosen)).toEqual({});
  });

  it.each([
    'ada',
    'ada@',
    '@example.com',
    'ada@example',
    'a da@example.com',
    'a@b@example.com',
    `${'a'.repeat(250)}@b.co`,
  ])('refuses %s as an e-mail', (text) =>
    expect(Object.keys(errorsOf({ ...chosen, [email]: text }))).toEqual([email]),
  );

  it.each(['0', '-1', '1.005', 'twelve', '12,50', ''])('refuses %s as an amount', (text) =>
    expect(Object.keys(errorsOf({ ...chosen, [amount]: text }))).toEqual([amount]),
  );

  it('never repeats what was typed, and puts every error at a field of the form', () => {
    const typed = fc.string({ unit: 'binary', maxLength: 300 }).map((text) => `tok_canary ${text}`);
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...Object.values(chargeFields)), typed), (values) => {
        const errors = errorsOf(values);
        expect(JSON.stringify(errors)).not.toContain('canary');
        for (const id of Object.keys(errors)) expect(inputIds(form({ ledger: false }))).toContain(id);
        for (const words of Object.values(errors)) expect(words.length).toBeLessThanOrEqual(150);
      }),
    );
  });
});
