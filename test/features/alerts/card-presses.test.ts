import { describe, expect, it } from 'vitest';
import { type CardMove, moveCard } from '../../../src/features/alerts/alert.ts';
import type { AlertCard, AlertTaken, Lookup } from '../../../src/domain/alert.ts';
import { confirm } from '../../../src/domain/confirmation.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { Standing } from '../../../src/slack/people/role.ts';
import { alertActions } from '../../../src/features/alerts/alert-message.ts';
import { type AlertCardDeps, alertCardParts, closeModal } from '../../../src/features/alerts/card-presses.ts';
import type { ChargeAgain } from '../../../src/features/alerts/charge-again.ts';
import type { SlackMessage } from '../../../src/slack/kit/message.ts';

const nowMs = 1_700_000_000_000;
const [ada, bola] = ['U0ADA', 'U0BOLA'];
const id = 'payment_failed/order/ORDER-1';

type Options = {
  chargeAgain?: ChargeAgain;
  taken?: AlertTaken;
  standing?: Standing;
  /** What the service says now; `hangs`: nothing. */
  now?: Lookup | 'hangs';
};

/** An alert that Ada acknowledged; everything behind its buttons is told what to say. */
function stage({ chargeAgain = { kind: 'allowed' }, taken, standing, now }: Options = {}) {
  const place = { environment: 'live', account: 'Main shop' } as const;
  let card: AlertCard = { kind: 'acknowledged', by: ada, at: nowMs };
  const moves: CardMove[] = [];
  const replies: SlackMessage[] = [];
  const opened: Parameters<AlertCardDeps['chargeForm']>[0][] = [];
  const event = { kind: 'payment_failed', key: id, orderReference: 'ORDER-1' } as const;
  const alert = (lookup: Lookup) => ({ event, receivedAtMs: nowMs, card, evidence: { lookup, atMs: nowMs } });
  const deps: AlertCardDeps = {
    ...place,
    mayReveal: async () => false,
    declines: { threeDSecureWords: [], waitMs: 3_600_000 },
    alertTaken: async () => taken,
    chargeForm(filled) {
      opened.push(filled);
      return closeModal(id, place);
    },
    chargeAgain: async ({ evidence }) =>
      evidence?.lookup.kind === 'confirmed' ? { kind: 'not_declined' } : chargeAgain,
    standingOf: async () => standing ?? { kind: 'known', roles: [] },
    alertCards: {
      find: async (asked) => (asked === id ? alert({ kind: 'not_found' }) : undefined),
      lookUpNow: async () =>
        now === 'hangs' ? await new Promise<never>(() => undefined) : alert(now ?? { kind: 'not_found' }),
      async move(_asked, move) {
        const moved = moveCard(card, move, nowMs);
        if (moved.kind === 'refused') return { ...moved, card };
        moves.push(move);
        card = moved.card;
        return moved;
      },
    },
  };
  const { presses, modals } = alertCardParts(deps);
  return {
    moves,
    opened,
    replies,
    press: (value = id) =>
      presses
        .find(({ actionId }) => actionId === alertActions.chargeAgain)
        ?.press({
          caller: { userId: ada },
          value,
          openModal: async () => 'V1',
          updateModal: async () => undefined,
          reply: async (message) => void replies.push(message),
        }),
    assign: (to: string) =>
      modals
        .find(({ callbackId }) => callbackId === 'alert_assign')
        ?.submit({
          caller: { userId: ada },
          viewId: 'V1',
          privateMetadata: id,
          values: { alert_assignee: to },
        }),
  };
}

const payment = {
  reference: 'ORDER-2',
  isSameReference: false,
  money: { minor: 700, currency: 'USD' },
  afterMs: 60_000,
};
const paid = {
  status: 'SUCCESS',
  amountMinor: 700,
  orderAmountMinor: 700,
  currency: 'USD',
  orderReference: 'ORDER-1',
};

describe('Charge again…', () => {
  it('begins the form with what failed, the card that is known and the alert', async () => {
    const card = { id: 'card1', face: { lastFour: '4242' }, customerEmail: 'ada@example.com' };
    const money = { minor: 700, currency: 'USD' };
    const { press, opened } = stage({ chargeAgain: { kind: 'allowed', card, money, customerId: 'cust-7' } });
    await press();
    const prefill = { amountMinor: 700, currency: 'USD', customerId: 'cust-7' };
    expect(opened).toMatchObject([{ alert: id, prefill: { ...prefill, card: { id: 'card1' } } }]);
  });

  // The look-up that the message shows is as old as the rest, and the button stands there until the message is edited.
  it.each<[string, Options, string]>([
    [
      'the service calls it paid by now',
      { now: confirm({ reference: 'ORDER-1' as OrderReference }, paid) },
      'money may have moved',
    ],
    [
      'a payment resolved it',
      { taken: { kind: 'ended', card: { kind: 'recovered', at: nowMs, payment } } },
      'Already resolved',
    ],
    [
      'somebody closed it',
      { taken: { kind: 'ended', card: { kind: 'closed', at: nowMs, by: bola, reason: 'cash' } } },
      'Already closed',
    ],
    [
      'somebody charges it',
      { taken: { kind: 'charging', charge: { reference: 'pay-first', by: bola, at: nowMs } } },
      'pay-first',
    ],
    ['its card is on hold', { chargeAgain: { kind: 'resting', nextTryFrom: nowMs + 1 } }, 'on hold until'],
    [
      'it must be saved again',
      { chargeAgain: { kind: 'refused', verdict: { kind: 'save_again' } } },
      '3-D Secure',
    ],
    ['no card is known', { chargeAgain: { kind: 'no_card' } }, 'knows no saved card'],
    ['it is no decline', { chargeAgain: { kind: 'not_declined' } }, 'money may have moved'],
    ['its details are gone', { chargeAgain: { kind: 'details_gone' } }, 'its customer was erased'],
  ])('opens no form where %s, and says so', async (_what, options, says) => {
    const { press, opened, replies } = stage(options);
    await press();
    expect(opened).toEqual([]);
    expect(JSON.stringify(replies)).toContain(says);
  });

  it.each<[string, Lookup | 'hangs']>([
    ['cannot be asked', { kind: 'unchecked', failure: 'network' }],
    ['does not answer while Slack waits', 'hangs'],
  ])('opens the form all the same where the service %s', async (_what, now) => {
    const { press, opened, replies } = stage({ now });
    await press();
    expect([opened.length, replies]).toEqual([1, []]);
  });

  it('says so when the alert is forgotten', async () => {
    const { press, opened, replies } = stage();
    await press('payment_failed/order/OLD');
    expect([opened, replies.map(({ text }) => text)]).toEqual([[], ['This alert is gone']]);
  });
});

it('an alert is assigned all the same while Slack does not say who is in a role', async () => {
  const { assign, moves } = stage({ standing: { kind: 'unknown' } });
  expect(await assign(bola)).toEqual({ kind: 'close' });
  expect(moves).toEqual([{ kind: 'assign', by: ada, to: bola }]);
});
