import { describe, expect, it } from 'vitest';
import type { Account } from '../../../src/account.ts';
import type { AuditEntry } from '../../../src/domain/audit-entry.ts';
import { type CardMove, endsCard, moveCard } from '../../../src/features/alerts/alert.ts';
import type { AlertCard, AlertCharge, AlertTaken, Lookup } from '../../../src/domain/alert.ts';
import { confirm } from '../../../src/domain/confirmation.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { Standing } from '../../../src/slack/people/role.ts';
import { alertActions, writeMore } from '../../../src/features/alerts/card-buttons.ts';
import { type AlertCardDeps, alertCardParts } from '../../../src/features/alerts/card-presses.ts';
import type { ChargeAgain } from '../../../src/features/alerts/charge-again.ts';
import { chargeModal } from '../../../src/features/charge/charge-forms.ts';
import { createReveals, type RevealAsked } from '../../../src/features/lookup/reveal.ts';
import { findBlockProblems, findViewProblems } from '../../../src/simulators/slack/assert-blocks.ts';
import type { Modal, SlackMessage } from '../../../src/slack/kit/message.ts';

const nowMs = 1_700_000_000_000;

type Input = { initial_value?: string; initial_option?: { value: string } };

/** What a form starts with, as Slack would submit it untouched. */
function untouched({ blocks }: Modal): Record<string, string> {
  const filled = blocks.flatMap((block): [string, string][] => {
    if (block.type !== 'input') return [];
    const { initial_value, initial_option } = block.element as unknown as Input;
    return [[block.block_id ?? '', initial_value ?? initial_option?.value ?? '']];
  });
  return Object.fromEntries(filled.filter(([, value]) => value !== ''));
}

const ada = 'U0ADA';
const bola = 'U0BOLA';
const id = 'payment_failed/order/ORDER-1';

type Options = {
  chargeAgain?: ChargeAgain;
  card?: AlertCard;
  charging?: AlertCharge;
  mayReveal?: boolean;
  standingOf?: (permission: string, userId: string) => Standing;
  /** What the service says now; `hangs`: nothing. */
  now?: Lookup | 'hangs';
};

function takenBy(card: AlertCard, charge: AlertCharge | undefined): AlertTaken | undefined {
  if (endsCard(card)) return { kind: 'ended', card };
  return charge && { kind: 'charging', charge };
}

function stage(options: Options = {}) {
  const state: { card: AlertCard } = { card: options.card ?? { kind: 'open' } };
  const moves: CardMove[] = [];
  const opened: Modal[] = [];
  const replies: SlackMessage[] = [];
  const event = { kind: 'payment_failed', key: id, orderReference: 'ORDER-1' } as const;
  const evidence = { lookup: { kind: 'not_found' }, atMs: nowMs } as const;
  const revealed: RevealAsked[] = [];
  const account = {
    payments: {
      findTransaction: async (orderReference: OrderReference) => ({
        orderReference,
        customerEmail: 'jane@example.com',
      }),
    },
    audit: {
      append: async ({ reference = '', who: by, where = '' }: AuditEntry) =>
        void revealed.push({ reference: reference as OrderReference, by, where }),
    },
    people: {
      mayRun: async () =>
        options.mayReveal
          ? { kind: 'allowed' }
          : { kind: 'refused', rule: 'Your role may not', whoCan: 'leads' },
    },
    slack: {},
    now: () => nowMs,
  } as unknown as Account;
  const reveals = createReveals(account, async () => undefined);
  const deps: AlertCardDeps = {
    mayReveal: async () => options.mayReveal === true,
    reveal: (pressed, about) => reveals.ifAllowed(pressed, about),
    environment: 'live',
    account: 'Main shop',
    declines: { threeDSecureWords: [], waitMs: 3_600_000 },
    alertTaken: async () => takenBy(state.card, options.charging),
    chargeForm: (filled) =>
      chargeModal({
        place: { environment: 'live', account: 'Main shop' },
        currencies: ['NGN', 'USD'],
        ledger: true,
        ...filled,
      }),
    chargeAgain: async (alert) =>
      alert.evidence?.lookup.kind === 'confirmed'
        ? { kind: 'not_declined' }
        : (options.chargeAgain ?? { kind: 'no_card' }),
    standingOf: async (...asked) => options.standingOf?.(...asked) ?? { kind: 'known', roles: ['desk'] },
    alertCards: {
      find: async (asked) =>
        asked === id ? { event, receivedAtMs: nowMs, card: state.card, evidence } : undefined,
      async lookUpNow(asked) {
        if (options.now === 'hangs') return await new Promise<never>(() => undefined);
        const looked = options.now ? { lookup: options.now, atMs: nowMs } : evidence;
        return asked === id ? { event, receivedAtMs: nowMs, card: state.card, evidence: looked } : undefined;
      },
      async move(asked, move) {
        if (asked !== id) return { kind: 'unknown_alert' };
        const moved = moveCard(state.card, move, nowMs);
        if (moved.kind === 'refused') return { ...moved, card: state.card };
        moves.push(move);
        state.card = moved.card;
        return moved;
      },
    },
  };
  const { presses, modals } = alertCardParts(deps);
  return {
    moves,
    revealed,
    opened,
    replies,
    presses,
    press: async (actionId: string, value = id, userId = ada, channelId?: string): Promise<void> => {
      const found = presses.find((one) => one.actionId === actionId);
      await found?.press({
        caller: { userId, ...(channelId === undefined ? {} : { channelId }) },
        value,
        async openModal(modal) {
          expect(findViewProblems(modal)).toEqual([]);
          opened.push(modal);
          return 'V1';
        },
        updateModal: async () => undefined,
        async reply(message) {
          expect(findBlockProblems('message', message.blocks)).toEqual([]);
          replies.push(message);
        },
      });
    },
    submit: (callbackId: string, values: Record<string, string>, userId = ada) => {
      const found = modals.find((one) => one.callbackId === callbackId);
      return found?.submit({ caller: { userId }, viewId: 'V1', privateMetadata: id, values });
    },
  };
}

describe('the buttons of a card', () => {
  it('acknowledge for the first, and tell the second who was first', async () => {
    const { press, replies, moves } = stage();
    await press(alertActions.acknowledge);
    expect(replies).toEqual([]);
    await press(alertActions.acknowledge, id, bola);
    expect(moves).toEqual([{ kind: 'acknowledge', by: ada }]);
    expect(JSON.stringify(replies)).toContain(`"user_id":"${ada}"`);
  });

  it('say so when the alert is forgotten, whatever is pressed', async () => {
    const { press, replies, opened } = stage();
    for (const action of [alertActions.acknowledge, alertActions.lookUp, alertActions.chargeAgain]) {
      await press(action, 'payment_failed/order/OLD');
    }
    expect(replies.map(({ text }) => text)).toEqual(Array(3).fill('This alert is gone'));
    expect(opened).toEqual([]);
  });

  it('look up for whoever may look up, and charge again for whoever may charge', () => {
    const allowed = Object.fromEntries(stage().presses.map((one) => [one.actionId, one.permissions]));
    expect(allowed).toEqual({
      [alertActions.acknowledge]: undefined,
      [alertActions.close]: undefined,
      [alertActions.more]: undefined,
      [alertActions.lookUp]: ['alerts', 'lookup'],
      [alertActions.chargeAgain]: ['charge'],
    });
  });

  it('open the form that was chosen from the menu, and nothing for a choice that is not ours', async () => {
    const { press, opened, replies } = stage();
    await press(alertActions.more, writeMore('assign', id));
    await press(alertActions.more, writeMore('snooze', id));
    await press(alertActions.close);
    await press(alertActions.more, 'refund:x');
    expect(opened.map(({ callback_id }) => callback_id)).toEqual([
      'alert_assign',
      'alert_snooze',
      'alert_close',
    ]);
    await press(alertActions.more, writeMore('look_up', id));
    expect(replies).toHaveLength(1);
  });

  it('reveal the e-mail to whoever may, in the channel alone where only they see it', async () => {
    const { press, replies, revealed } = stage({ mayReveal: true });
    await press(alertActions.more, writeMore('reveal', id), ada, 'C0ALERTS01');
    expect(revealed).toEqual([{ reference: 'ORDER-1', by: ada, where: 'C0ALERTS01' }]);
    expect(replies.map(({ text }) => text)).toEqual(['jane@example.com · ORDER-1']);
    // The App Home has no such place, and a direct message would stay.
    await press(alertActions.more, writeMore('reveal', id));
    expect(revealed).toHaveLength(1);
    expect(replies[1]?.text).toBe('Not revealed');
  });

  it('reveal nothing to whoever may not, and say which rule it is and who can', async () => {
    const { press, replies, revealed } = stage();
    await press(alertActions.more, writeMore('reveal', id), ada, 'C0ALERTS01');
    expect(revealed).toEqual([]);
    expect(JSON.stringify(replies)).toMatch(/Not allowed: Reveal e-mail.*Your role may not.*leads/);
  });

  it('begin the charge with what failed and the card that is known, and charge nothing', async () => {
    const card = {
      id: 'card1',
      face: { cardType: 'Visa', lastFour: '4242' },
      customerEmail: 'ada@example.com',
    };
    const money = { minor: 700, currency: 'USD' };
    const { press, opened } = stage({ chargeAgain: { kind: 'allowed', card, money, customerId: 'cust-7' } });
    await press(alertActions.chargeAgain);
    expect(opened[0]?.private_metadata).toBe(id);
    expect(opened[0] && untouched(opened[0])).toEqual({
      charge_card: 'card1',
      charge_amount: '7.00',
      charge_currency: 'USD',
      charge_customer_id: 'cust-7',
    });
  });

  // The look-up that the message shows is as old as the rest.
  it('open no form for what the service calls paid by now', async () => {
    const paid = {
      status: 'SUCCESS',
      amountMinor: 700,
      orderAmountMinor: 700,
      currency: 'USD',
      orderReference: 'ORDER-1',
    };
    const now = confirm({ reference: 'ORDER-1' as OrderReference }, paid);
    expect(now.kind).toBe('confirmed');
    const { press, opened, replies } = stage({ chargeAgain: { kind: 'allowed' }, now });
    await press(alertActions.chargeAgain);
    expect(opened).toEqual([]);
    expect(JSON.stringify(replies)).toContain('money may have moved');
  });

  it.each<[string, Lookup | 'hangs']>([
    ['cannot be asked', { kind: 'unchecked', failure: 'network' }],
    ['does not answer while Slack waits', 'hangs'],
  ])('open the form all the same where the service %s', async (_what, now) => {
    const { press, opened, replies } = stage({ chargeAgain: { kind: 'allowed' }, now });
    await press(alertActions.chargeAgain);
    expect(replies).toEqual([]);
    expect(opened).toHaveLength(1);
  });

  it.each<[ChargeAgain, string]>([
    [{ kind: 'resting', nextTryFrom: nowMs + 1 }, 'on hold until'],
    [{ kind: 'refused', verdict: { kind: 'save_again' } }, '3-D Secure'],
    [{ kind: 'no_card' }, 'knows no saved card'],
    [{ kind: 'not_declined' }, 'money may have moved'],
    [{ kind: 'details_gone' }, 'its customer was erased'],
  ])('say why not, and open no form (%o)', async (chargeAgain, words) => {
    const { press, opened, replies } = stage({ chargeAgain });
    await press(alertActions.chargeAgain);
    expect(opened).toEqual([]);
    expect(JSON.stringify(replies)).toContain(words);
  });
});

// Slack still shows the button until the message is edited.
describe('charging again for a card that has ended', () => {
  const payment = {
    reference: 'ORDER-2',
    isSameReference: false,
    money: { minor: 700, currency: 'USD' },
    afterMs: 60_000,
  };

  it.each<[AlertCard, string]>([
    [{ kind: 'recovered', at: nowMs, payment }, '✅ Already resolved'],
    [{ kind: 'closed', at: nowMs, by: bola, reason: 'paid in cash' }, '☑️ Already closed'],
  ])('opens no form, and says so (%o)', async (card, words) => {
    const { press, opened, replies } = stage({ card, chargeAgain: { kind: 'allowed' } });
    await press(alertActions.chargeAgain);
    expect(opened).toEqual([]);
    expect(replies.map(({ text }) => text)).toEqual([words]);
  });
});

describe('charging again while somebody charges it', () => {
  it('opens no form, and says who charges it under which reference', async () => {
    const charging = { reference: 'pay-first', by: bola, at: nowMs };
    const { press, opened, replies } = stage({ charging, chargeAgain: { kind: 'allowed' } });
    await press(alertActions.chargeAgain);
    expect(opened).toEqual([]);
    expect(replies.map(({ text }) => text)).toEqual(['⏳ Already being charged · pay-first']);
    expect(JSON.stringify(replies)).toContain(`"user_id":"${bola}"`);
  });
});

describe('the forms of a card', () => {
  it('do what they ask once, and say who was first to whoever comes later', async () => {
    const { press, submit, moves } = stage();
    expect(await submit('alert_assign', { alert_assignee: 'U0BOLA' })).toMatchObject({ kind: 'update' });
    await press(alertActions.acknowledge);
    expect(await submit('alert_assign', { alert_assignee: 'U0BOLA' })).toEqual({ kind: 'close' });
    expect(await submit('alert_snooze', { alert_snooze_for: '4' })).toEqual({ kind: 'close' });
    expect(await submit('alert_close', { alert_close_reason: 'done' }, bola)).toEqual({ kind: 'close' });
    const late = await submit('alert_close', { alert_close_reason: 'done too' });
    expect(JSON.stringify(late)).toContain('Already closed');
    expect(moves.map(({ kind }) => kind)).toEqual(['acknowledge', 'assign', 'snooze', 'close']);
  });

  it('assign to nobody who could press nothing on it, and say what to do', async () => {
    const standingOf = (permission: string, userId: string): Standing => ({
      kind: 'known',
      roles: userId === bola && permission === 'charge' ? ['agent'] : [],
    });
    const { submit, moves } = stage({ card: { kind: 'acknowledged', by: ada, at: nowMs }, standingOf });
    expect(await submit('alert_assign', { alert_assignee: 'U0OMAR' })).toMatchObject({
      kind: 'errors',
      errors: {
        alert_assignee: expect.stringMatching(/They can’t use its buttons.*payops\.yml.*Choose somebody/),
      },
    });
    expect(moves).toEqual([]);
    // One of the permissions that a button of the card asks for is enough.
    expect(await submit('alert_assign', { alert_assignee: bola })).toEqual({ kind: 'close' });
  });

  it('assign all the same while Slack does not say who is in a role', async () => {
    const { submit, moves } = stage({
      card: { kind: 'acknowledged', by: ada, at: nowMs },
      standingOf: () => ({ kind: 'unknown' }),
    });
    expect(await submit('alert_assign', { alert_assignee: bola })).toEqual({ kind: 'close' });
    expect(moves).toEqual([{ kind: 'assign', by: ada, to: bola }]);
  });

  it('tell what is wrong at its field', async () => {
    const { submit, moves } = stage();
    expect(await submit('alert_close', {})).toMatchObject({
      errors: { alert_close_reason: expect.any(String) },
    });
    expect(await submit('alert_assign', {})).toMatchObject({
      errors: { alert_assignee: 'Choose a person.' },
    });
    expect(await submit('alert_snooze', {})).toMatchObject({
      errors: { alert_snooze_for: 'Choose how long.' },
    });
    expect(moves).toEqual([]);
  });
});
