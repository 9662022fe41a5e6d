import { describe, expect, it } from 'vitest';
import type { AlertCard, CardStep, Recovery } from '../../../src/domain/alert-card.ts';
import type { Alert, AlertCardShown } from '../../../src/domain/alert.ts';
import { confirm } from '../../../src/domain/confirmation.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import { readMore, writeMore } from '../../../src/slack/alert/card-actions.ts';
import {
  lookedUpMessage,
  refusedMessage,
  unknownAlertMessage,
} from '../../../src/slack/alert/card-answers.ts';
import {
  assignModal,
  closeModal,
  readCloseModal,
  readSnoozeModal,
  snoozeModal,
} from '../../../src/slack/alert/card-modals.ts';
import { alertDirectMessage, alertNoteMessage } from '../../../src/slack/alert/note-message.ts';
import { alertMessage } from '../../../src/slack/alert/alert-message.ts';
import { assertBlocks, findViewProblems } from '../../../src/slack/assert-blocks.ts';
import type { SlackMessage } from '../../../src/slack/message.ts';
import { firstLine, unescaped } from '../shown-text.ts';

const ada = 'U0ADA00001';
const bola = 'U0BOLA0001';
const place = { environment: 'live', account: 'Main shop' } as const;
const at = Date.UTC(2026, 8, 14, 13, 37);

/** As hostile and as long as an event, a record or a person can make it. */
const hostile = `<!channel> *x* <@U1|y> \u202Eevil\u200B ${'&<>'.repeat(400)} jane@example.com 4111 1111 1111 1111`;
const longest = 'R'.repeat(50);

const payment: Recovery = {
  reference: longest,
  isSameReference: false,
  money: { minor: Number.MAX_SAFE_INTEGER, currency: hostile },
  afterMs: 90 * 86_400_000,
};
const taken = { kind: 'acknowledged', by: ada, at, assignee: bola, snoozedUntil: at + 1 } as const;
const cards: AlertCard[] = [
  { kind: 'open' },
  { kind: 'acknowledged', by: ada, at },
  taken,
  { kind: 'recovered', at, payment },
  { kind: 'recovered', at, payment: { ...payment, afterMs: -5, isSameReference: true }, acknowledged: taken },
  { kind: 'closed', at, by: bola, reason: hostile },
  { kind: 'closed', at, by: bola, reason: '', acknowledged: taken },
];
const steps: CardStep[] = [
  { kind: 'acknowledged', by: ada, at },
  { kind: 'assigned', by: ada, to: bola, at },
  { kind: 'snoozed', by: ada, until: at, at },
  { kind: 'awake', at },
  { kind: 'closed', by: ada, reason: hostile, at },
  { kind: 'recovered', payment, at },
];

function alertOf(parts: Partial<AlertCardShown>, words = hostile): Alert {
  const transaction = {
    id: 'T1',
    status: 'FAILED',
    amountMinor: 500,
    currency: 'NGN',
    orderReference: longest as OrderReference,
    customerEmail: words,
    gatewayMessage: words,
  };
  return {
    event: {
      kind: 'payment_failed',
      key: 'outbox:alert:x',
      orderReference: longest,
      orderId: words,
      customerId: words,
      reason: `${words}!`,
    },
    lookup: confirm({ reference: longest as OrderReference }, transaction),
    environment: 'live',
    account: words,
    receivedAtMs: at,
    mayBeRepeat: true,
    card: {
      id: `payment_failed/order/${longest}`,
      card: { kind: 'open' },
      isFirst: false,
      canChargeAgain: true,
      lookedUpAtMs: at,
      replaced: { channel: 'C0ALERTS01', ts: '1700000000.000100' },
      ...parts,
    },
  };
}

function buttonCount({ blocks }: SlackMessage): number {
  return blocks.flatMap((block) => (block.type === 'actions' ? block.elements : [])).length;
}

function checked(message: SlackMessage): string {
  assertBlocks('message', message.blocks);
  expect(unescaped(message.text)).toBe(firstLine(message));
  const text = JSON.stringify(message);
  expect(text).not.toContain('jane@example.com');
  expect(text).not.toMatch(/4111 ?1111/);
  expect(text).not.toMatch(/\u202E|\u200B/);
  return text;
}

describe('a card in any state, with the most hostile texts', () => {
  it.each(cards.flatMap((card) => [true, false].map((isFirst) => [card.kind, isFirst, card] as const)))(
    '%s (first: %s) is a message that Slack takes, with at most three buttons',
    (_kind, isFirst, card) => {
      for (const canChargeAgain of [true, false]) {
        const message = alertMessage(alertOf({ card, isFirst, canChargeAgain }));
        const text = checked(message);
        expect(buttonCount(message)).toBeLessThanOrEqual(3);
        const hasEnded = card.kind === 'recovered' || card.kind === 'closed';
        expect(buttonCount(message) === 0).toBe(hasEnded);
        expect(text.includes('bank says')).toBe(!hasEnded);
        expect(isFirst && text.includes('"user_id"')).toBe(false);
      }
    },
  );

  it.each(steps.map((step) => [step.kind, step] as const))(
    '%s is told in thread and person',
    (_kind, step) => {
      for (const isFirst of [true, false]) {
        const about = { key: 'k', mayBeRepeat: true, isFirst };
        const note = checked(alertNoteMessage(step, alertOf({}), about));
        for (const to of [ada, bola]) checked(alertDirectMessage(step, alertOf({}), { ...about, to }));
        expect(note.includes('"user_id"')).toBe(!isFirst && 'by' in step);
      }
    },
  );

  it('is never called paid where another reference was', () => {
    for (const isSameReference of [true, false]) {
      const recovered = { kind: 'recovered', at, payment: { ...payment, isSameReference } } as const;
      const about = { key: 'k', mayBeRepeat: false, isFirst: false };
      const told = [
        alertMessage(alertOf({ card: recovered })),
        alertNoteMessage(recovered, alertOf({}), about),
        alertDirectMessage(recovered, alertOf({}), { ...about, to: ada }),
      ];
      for (const { text } of told) {
        expect(text.startsWith('✅ Resolved by another payment · ')).toBe(!isSameReference);
        expect(text.includes('Paid (confirmed)')).toBe(isSameReference);
      }
    }
  });

  it('says to the one person it is told to what became of the charge: they read it away from the card', () => {
    const about = { key: 'k', mayBeRepeat: false, isFirst: false, to: bola };
    const [assigned, awake] = steps
      .filter(({ kind }) => kind === 'assigned' || kind === 'awake')
      .map((step) => alertDirectMessage(step, alertOf({}), about).text);
    expect(assigned).toMatch(/^👤 Assigned to you · ❌ Declined by the bank · /);
    expect(awake).toMatch(/^⏰ The snooze is over · ❌ Declined by the bank · /);
    const step: CardStep = { kind: 'assigned', by: bola, to: bola, from: ada, at };
    const away = alertDirectMessage(step, alertOf({}), { ...about, to: ada }).text;
    expect(away).toMatch(/^👤 Assigned to somebody else · ❌ Declined by the bank · /);
  });

  it('offers to charge again on an acknowledged card alone, and keeps the look-up in the menu then', () => {
    const texts = cards.map((card) => JSON.stringify(alertMessage(alertOf({ card })).blocks));
    expect(texts.map((text) => text.includes('Charge again'))).toEqual([
      false,
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(texts[1]).toContain(writeMore('look_up', `payment_failed/order/${longest}`));
  });
});

describe('the forms and answers of a card', () => {
  it('are taken by Slack', () => {
    const id = `payment_failed/order/${longest}`;
    for (const modal of [closeModal(id, place), assignModal(id, place), snoozeModal(id, place)]) {
      expect(findViewProblems(modal)).toEqual([]);
      expect(modal.private_metadata).toBe(id);
      // They move none, so they must not warn of it.
      expect(JSON.stringify(modal.blocks)).not.toContain('real money');
      expect(JSON.stringify(modal.blocks.at(-1))).toContain('LIVE · Main shop');
    }
  });

  it('ask for a reason that can be seen, and for a time that was offered', () => {
    expect(readCloseModal({ alert_close_reason: ' \u200B ' })).toMatchObject({ ok: false });
    expect(readCloseModal({ alert_close_reason: ' paid  in\ncash ' })).toEqual({
      ok: true,
      value: 'paid in cash',
    });
    expect(readSnoozeModal({ alert_snooze_for: '24' })).toEqual({ ok: true, value: 86_400_000 });
    expect(readSnoozeModal({ alert_snooze_for: '9999999' })).toMatchObject({ ok: false });
  });

  it('read a choice of the menu back, and nothing that is not ours', () => {
    expect(readMore(writeMore('snooze', 'payment_failed/order/A:B'))).toEqual({
      choice: 'snooze',
      id: 'payment_failed/order/A:B',
    });
    expect(readMore('refund:x')).toBeUndefined();
  });

  it('say to the second of two who was first, and to the first that it was them', () => {
    const card: AlertCard = { kind: 'acknowledged', by: ada, at };
    const second = refusedMessage('taken', card, bola);
    checked(second);
    expect(second.text).toContain('by somebody else first');
    expect(JSON.stringify(second.blocks)).toContain(`"user_id":"${ada}"`);
    expect(refusedMessage('taken', card, ada).text).toContain('You already acknowledged it');
    for (const one of cards) checked(refusedMessage('ended', one, bola));
    checked(unknownAlertMessage());
  });

  it('say that nothing was found out when the service is away', () => {
    const away = { lookup: { kind: 'unchecked', failure: 'timeout' }, atMs: at } as const;
    expect(checked(lookedUpMessage(away, 'ORDER-1', { ...place, mayReveal: true }))).toContain(
      'The alert stays as it was',
    );
  });
});
