import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { seedCards } from '../../src/simulators/payments/seed.ts';
import { approvalActions } from '../../src/slack/approval/approval-actions.ts';
import { refuseFields } from '../../src/slack/approval/approval-modals.ts';
import { overrideField } from '../../src/slack/charge/terms-modal.ts';
import { cardEmailFields } from '../../src/slack/card-email/form-modal.ts';
import {
  asks,
  buttonsOf,
  cardOf,
  cards,
  channelCard,
  direct,
  everywhere,
  large,
  notes,
  openDesk,
  presses,
  read,
  rewrite,
  toldAlone,
} from '../support/approval-desk.ts';
import { visibleText } from '../support/charge-dialogue.ts';

const { tokenKey: token, customerEmail: email } = seedCards.approves;
const money = 'NGN 150,000.00';
const fastBot = fileURLToPath(new URL('../chaos/chaos-bot.ts', import.meta.url));

describe.concurrent('a charge that a second person decides', () => {
  it('is told to whoever can decide, charged once it is approved, and every copy is edited', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    await asks(desk);
    expect(dialogue.references()).toEqual([]);
    for (const person of ['lead', 'onCall'] as const) {
      const card = await cardOf(desk, person, '🟡 Needs approval');
      expect(card.text).toContain(`${money} · a***@example.com · pay-`);
      const text = visibleText(card.blocks);
      expect(text).toContain('Charges from NGN 100,000.00 need one approver');
      expect(text).toContain('Renewal, asked for by phone');
      expect(text).not.toContain(email);
      expect(buttonsOf(card)).toEqual([approvalActions.approve, approvalActions.refuse]);
    }
    expect(visibleText((await cardOf(desk, 'agent')).blocks)).toContain('Sent to 2 approvers');
    const shown = await channelCard(desk, '🟡 Needs approval');

    await presses(desk, 'lead', shown, approvalActions.approve);
    await toldAlone(desk, 'lead', '🔵 Approved, starting');
    await dialogue.modalSays('agent', 'Paid (confirmed)');
    expect(dialogue.references()).toHaveLength(1);
    await everywhere(desk, '✅ Paid (confirmed)');
    const lead = house.workspace.ids.users.lead;
    for (const card of cards(desk)) expect(read(card)).toContain(`Approved by <@${lead}>`);
    await house.until('the thread says who', () =>
      notes(desk).some((note) => read(note).includes(`By <@${lead}>`)),
    );

    await presses(desk, 'onCall', shown, approvalActions.approve);
    const late = await toldAlone(desk, 'onCall', '🔵 Already approved');
    expect(read(late)).toContain(`Already approved by <@${lead}>`);
    expect(dialogue.references()).toHaveLength(1);
    expect(await house.storeDump()).not.toContain(email);
  });

  it('is refused with a reason that whoever asked reads, and nothing is charged', async (test) => {
    const desk = await openDesk(test);
    const { dialogue } = desk;
    await asks(desk);
    const shown = await cardOf(desk, 'lead', '🟡 Needs approval');
    await presses(desk, 'lead', shown, approvalActions.refuse);
    await dialogue.modalSays('lead', 'In your own words');
    const without = await dialogue.submit('lead');
    expect(without?.errors[refuseFields.words]).toContain('Choose a reason above');
    await dialogue.submit('lead', { [refuseFields.words]: 'The order was cancelled' });
    await dialogue.modalSays('lead', 'You refused it');
    await dialogue.modalSays('agent', '🚫 Refused');
    await everywhere(desk, '🚫 Refused');
    await direct(
      desk,
      'agent',
      (text, body) => text.startsWith('🚫 Refused') && body.includes('The order was cancelled'),
    );
    expect(dialogue.references()).toEqual([]);
    await presses(desk, 'lead', shown, approvalActions.approve);
    await toldAlone(desk, 'lead', '🚫 You already refused it');
  });

  it('is never decided by whoever asked, who can take it back', async (test) => {
    const desk = await openDesk(test, {}, (policy) => policy.replaceAll(/may: \[.*\]/g, "may: ['*']"));
    const { dialogue } = desk;
    await asks(desk);
    const shown = await channelCard(desk, '🟡 Needs approval');
    await presses(desk, 'agent', shown, approvalActions.approve);
    await toldAlone(desk, 'agent', '⛔ You asked for this, so somebody else decides');
    expect(dialogue.references()).toEqual([]);
    await presses(desk, 'agent', await cardOf(desk, 'agent'), approvalActions.withdraw);
    await everywhere(desk, '↩️ Withdrawn');
    await dialogue.modalSays('agent', '↩️ Withdrawn');
    await presses(desk, 'lead', shown, approvalActions.approve);
    await toldAlone(desk, 'lead', '↩️ Already withdrawn');
    expect(dialogue.references()).toEqual([]);
  });

  it('takes as many different people as the rule says', async (test) => {
    const desk = await openDesk(test, {}, (policy) =>
      policy.replace('amount_from: 100000.00 }', 'amount_from: 100000.00, needed: 2 }'),
    );
    const { dialogue } = desk;
    await asks(desk);
    const shown = await channelCard(desk, '🟡 Needs approval');
    await presses(desk, 'lead', shown, approvalActions.approve);
    await everywhere(desk, '🟡 1 of 2 approved');
    await presses(desk, 'lead', await channelCard(desk, '🟡 1 of 2'), approvalActions.approve);
    await toldAlone(desk, 'lead', '🟡 You already approved this');
    expect(dialogue.references()).toEqual([]);
    await presses(desk, 'onCall', await cardOf(desk, 'onCall', '🟡 1 of 2'), approvalActions.approve);
    await dialogue.modalSays('agent', 'Paid (confirmed)');
    expect(dialogue.references()).toHaveLength(1);
    await everywhere(desk, '✅ Paid (confirmed)');
  });

  it('is decided by nobody who lost the role after the card was shown', async (test) => {
    const desk = await openDesk(test);
    const { house, bot, dialogue } = desk;
    await asks(desk);
    const shown = await cardOf(desk, 'lead', '🟡 Needs approval');
    rewrite(house, (policy) => policy.replace(/users: \[U0LEAD0001, U0ONCALL01\]/, 'users: [U0ONCALL01]'));
    await bot.stop();
    await house.start(bot);
    await presses(desk, 'lead', shown, approvalActions.approve);
    await toldAlone(desk, 'lead', '⛔ Not allowed');
    expect(dialogue.references()).toEqual([]);
    expect((await cardOf(desk, 'onCall')).text).toContain('🟡 Needs approval');
  });

  it('expires undecided after a warning, is not called refused, and can be asked again', async (test) => {
    // Twenty times as fast, and behind at first: Slack's signatures are good for five minutes.
    const clock = { fromMs: Date.now() + 12_000, factor: 20 };
    const desk = await openDesk(
      test,
      {
        payments: { knownCards: true },
        program: fastBot,
        env: { CHAOS_CLOCK: JSON.stringify(clock), LOG_LEVEL: 'info' },
      },
      (policy) =>
        policy.replace(
          '  rules:\n    - { what: charge',
          '  expire_minutes: 2\n  rules:\n    - { what: charge',
        ),
    );
    const { dialogue } = desk;
    await desk.house.cardsKnown();
    await asks(desk, { card: '4081', amount: large.amount });
    await direct(desk, 'lead', (text) => text.startsWith('⏰ Expires soon'));
    await direct(desk, 'agent', (text) => text.startsWith('⌛ Expired, nobody decided'));
    await everywhere(desk, '⌛ Expired, nobody decided');
    await presses(desk, 'agent', await cardOf(desk, 'agent'), approvalActions.askAgain);
    const form = await dialogue.modalSays('agent', 'You review it');
    expect(JSON.stringify(form.view)).toMatch(/150,?000\.00/);
    expect(JSON.stringify(form.view)).toContain('4081');
    expect(dialogue.references()).toEqual([]);
  });

  it('of a card that rests after a decline is asked for with a reason', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    const { declines } = seedCards;
    const small = { token: declines.tokenKey, email: declines.customerEmail, amount: '900.00' };
    await dialogue.charge('agent', small);
    await dialogue.modalSays('agent', 'Declined by the bank');
    await dialogue.close('agent');
    await dialogue.charge('agent', { ...small, amount: '901.00' });
    await dialogue.modalSays('agent', 'Card on hold until');
    await dialogue.modalSays('agent', 'Why now');
    await dialogue.submit('agent', { [overrideField]: 'The limit was raised' });
    await dialogue.modalSays('agent', 'Needs approval');
    const card = await cardOf(desk, 'lead', '🟡 Needs approval');
    const text = visibleText(card.blocks);
    expect(text).toContain('on hold');
    expect(text).toContain('The limit was raised');
    expect(dialogue.references()).toHaveLength(1);
    await presses(desk, 'lead', card, approvalActions.approve);
    await house.until('it is charged', () => dialogue.references().length === 2);
    await dialogue.modalSays('agent', 'Declined by the bank');
  });
});

describe.concurrent('what else a second person decides', () => {
  it('is the change of a card’s e-mail, both addresses masked', async (test) => {
    const desk = await openDesk(test, {}, (policy) =>
      policy.replace('- { what: retry }', '- { what: card_email }'),
    );
    const { house, dialogue } = desk;
    await dialogue.opens('agent', '/pay card-email');
    await dialogue.submit('agent', {
      [cardEmailFields.token]: token,
      [cardEmailFields.current]: email,
      [cardEmailFields.next]: 'new.ada@example.org',
    });
    await dialogue.modalSays('agent', 'You are about to change');
    await dialogue.submit('agent');
    await dialogue.modalSays('agent', 'Needs approval');
    const card = await cardOf(desk, 'lead', '🟡 Needs approval');
    expect(card.text).toContain('a***@example.com → n***@example.org');
    expect(visibleText(card.blocks)).not.toContain('new.ada@example.org');
    await presses(desk, 'lead', card, approvalActions.approve);
    await everywhere(desk, '☑️ Approved, service asked');
    await dialogue.modalSays('agent', 'The e-mail was changed');
    const saved = house.payments.state().cards.find(({ tokenKey }) => tokenKey === token);
    expect(saved?.customerEmail).toBe('new.ada@example.org');
  });
});

describe.concurrent('/pay approvals', () => {
  it('lists what waits for a person and what they asked for, and is decided there', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    await asks(desk);
    await house.type('lead', '/pay approvals');
    const waiting = await toldAlone(desk, 'lead', '🟡 1 request waits for your decision');
    expect(buttonsOf(waiting)).toEqual([approvalActions.approve, approvalActions.refuse]);
    await house.type('agent', '/pay approvals');
    const asked = await toldAlone(desk, 'agent', 'Nothing waits for your decision · 1 asked by you');
    expect(buttonsOf(asked)).toEqual([approvalActions.withdraw]);
    await house.type('outsider', '/pay approvals');
    await toldAlone(desk, 'outsider', '⛔ Not allowed: /pay approvals');
    await house.type('lead', '/pay');
    const menu = await toldAlone(desk, 'lead', '');
    expect(visibleText(menu.blocks)).toContain('1 request waits for your decision');
    await presses(desk, 'lead', waiting, approvalActions.approve);
    await dialogue.modalSays('agent', 'Paid (confirmed)');
    await everywhere(desk, '✅ Paid (confirmed)');
  });
});
