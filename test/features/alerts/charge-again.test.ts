import { describe, expect, it } from 'vitest';
import { outcomeAlone, withoutDetails } from '../../../src/features/alerts/alert.ts';
import { confirm } from '../../../src/domain/confirmation.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { RetryVerdict } from '../../../src/domain/decline-reason.ts';
import type { FoundAlert } from '../../../src/features/alerts/alert-cards.ts';
import type { LedgerCard } from '../../../src/features/cards/card-ledger.ts';
import { type ChargeAgain, judgeChargeAgain } from '../../../src/features/alerts/charge-again.ts';
import { failed, recordOf } from '../cards-house.ts';

const dayMs = 86_400_000;
const jane: LedgerCard = { id: 'card1', face: { lastFour: '4242' }, customerEmail: 'Jane@example.com' };
const other: LedgerCard = { id: 'card2', face: { lastFour: '1881' }, customerEmail: 'jane@example.com.ng' };

function alertOf(status: string): FoundAlert {
  const lookup = confirm({ reference: 'ORDER-1' as OrderReference }, recordOf('ORDER-1', status));
  return { event: failed, receivedAtMs: 0, card: { kind: 'open' }, evidence: { lookup, atMs: 0 } };
}

type Options = {
  cards?: LedgerCard[];
  verdict?: RetryVerdict;
  nowMs?: number;
  alert?: FoundAlert;
  chargedCard?: string;
};

function judge(options: Options = {}) {
  const { cards = [jane], verdict = { kind: 'allowed', attemptsLeft: 2 }, nowMs = dayMs } = options;
  const deps = {
    ledger: { search: async () => cards },
    mayTry: async () => verdict,
    chargedCard: async () => options.chargedCard,
    restMs: dayMs,
    now: () => nowMs,
  };
  return judgeChargeAgain(deps, options.alert ?? alertOf('FAILED'));
}

describe('judgeChargeAgain', () => {
  it('begins with the only card of exactly this address, the amount and the customer', async () => {
    expect(await judge({ cards: [jane, other] })).toEqual({
      kind: 'allowed',
      card: jane,
      money: { minor: 1_250_000, currency: 'NGN' },
      customerId: 'cust-7',
    });
  });

  it('leaves the card to be chosen when the customer has several', async () => {
    const second = { ...other, customerEmail: 'jane@example.com' };
    expect(await judge({ cards: [jane, second] })).not.toHaveProperty('card');
  });

  it('begins with the very card that the bot charged, of several that the customer has', async () => {
    const second = { ...other, customerEmail: 'jane@example.com' };
    const cards = [jane, second];
    expect(await judge({ cards, chargedCard: 'card2' })).toMatchObject({ kind: 'allowed', card: second });
    const verdict: RetryVerdict = { kind: 'resting', nextTryFrom: 2 * dayMs, attemptsLeft: 1 };
    expect(await judge({ cards, chargedCard: 'card2', verdict })).toEqual({
      kind: 'resting',
      nextTryFrom: 2 * dayMs,
    });
    // Deleted since, or another customer's by now.
    expect(await judge({ cards, chargedCard: 'gone' })).not.toHaveProperty('card');
  });

  it.each([
    [
      'the order’s amount, where the record says nothing of what was taken',
      { orderAmountMinor: 700, orderCurrency: 'USD' },
      { minor: 700, currency: 'USD' },
    ],
    ['the event’s amount, where the record names none', {}, { minor: 1_250_000, currency: 'NGN' }],
    [
      'the order’s amount, where nothing was taken',
      { amountMinor: 0, currency: 'NGN', orderAmountMinor: 700 },
      { minor: 700, currency: 'NGN' },
    ],
  ])('begins with %s', async (_what, told, money) => {
    const { amountMinor: _amount, currency: _currency, ...record } = recordOf('ORDER-1', 'FAILED');
    const lookup = confirm({ reference: 'ORDER-1' as OrderReference }, { ...record, ...told });
    const alert: FoundAlert = { ...alertOf('FAILED'), evidence: { lookup, atMs: 0 } };
    expect(await judge({ alert })).toMatchObject({ kind: 'allowed', money });
  });

  const save: RetryVerdict = { kind: 'save_again' };
  const resting: RetryVerdict = { kind: 'resting', nextTryFrom: 2 * dayMs, attemptsLeft: 1 };
  const { evidence, ...bare } = alertOf('FAILED');
  const unchecked = {
    ...bare,
    evidence: { lookup: { kind: 'unchecked', failure: 'timeout' }, atMs: 0 },
  } as const;
  const lookup = outcomeAlone(evidence?.lookup ?? { kind: 'no_reference' });
  const old = { ...bare, event: withoutDetails(failed), evidence: { lookup, atMs: 0 } };

  it.each<[string, Options, ChargeAgain]>([
    [
      'waits for the rest after the event, also when this bot did not make that charge',
      { nowMs: dayMs - 1 },
      { kind: 'resting', nextTryFrom: dayMs },
    ],
    [
      'waits for the card’s own rest where that is later',
      { verdict: resting },
      { kind: 'resting', nextTryFrom: 2 * dayMs },
    ],
    ['refuses what the card’s history refuses', { verdict: save }, { kind: 'refused', verdict: save }],
    ['never begins where money may have moved', { alert: alertOf('SUCCESS') }, { kind: 'not_declined' }],
    ['never begins where nothing was looked up', { alert: bare }, { kind: 'not_declined' }],
    ['never begins where the look-up had no answer', { alert: unchecked }, { kind: 'not_declined' }],
    [
      'says of a customer who is not known any more that the details are gone',
      { alert: old },
      { kind: 'details_gone' },
    ],
    ['says that no card is known', { cards: [other] }, { kind: 'no_card' }],
  ])('%s', async (_what, options, expected) => {
    expect(await judge(options)).toEqual(expected);
  });
});
