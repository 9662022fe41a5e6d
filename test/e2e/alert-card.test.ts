import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { PageMessage } from '../../src/simulators/protocol.ts';
import { alertActions, writeMore } from '../../src/slack/alert/card-actions.ts';
import { cardFieldIds } from '../../src/slack/alert/card-modals.ts';
import { openChargeDialogue } from '../support/charge-dialogue.ts';
import { openHouse, type House, type Person } from '../support/house.ts';

const laterBot = fileURLToPath(new URL('../support/later-bot.ts', import.meta.url));
const hourMs = 3_600_000;

type Element = { type: string; action_id?: string; value?: string; options?: { value: string }[] };

/** What the person sees in #pay-alerts, oldest first; threads and what is for them alone among it. */
function seen(house: House, person: Person): PageMessage[] {
  const { channels, users } = house.workspace.ids;
  return house.workspace.state(users[person]).messages[channels.payAlerts] ?? [];
}

function cardsSeenBy(house: House, person: Person): PageMessage[] {
  return seen(house, person).filter(({ threadTs, ephemeral }) => !threadTs && !ephemeral);
}

function cardSeenBy(house: House, person: Person): PageMessage {
  const [card] = cardsSeenBy(house, person);
  if (!card) throw new Error('No alert stands in the channel.');
  return card;
}

function elementsOf({ blocks }: PageMessage): { blockId: string; element: Element }[] {
  return (blocks as { type: string; block_id?: string; elements?: Element[] }[])
    .filter(({ type }) => type === 'actions')
    .flatMap(({ block_id = '', elements = [] }) =>
      elements.map((element) => ({ blockId: block_id, element })),
    );
}

/** Presses what stands on the card, as Slack would send it; `choice` of a menu. */
async function press(house: House, person: Person, actionId: string, choice?: string): Promise<void> {
  const card = cardsSeenBy(house, person).find((one) => {
    return elementsOf(one).some(({ element }) => element.action_id === actionId);
  });
  if (!card) throw new Error(`No card has ${actionId}.`);
  const found = elementsOf(card).find(({ element }) => element.action_id === actionId);
  if (!found) throw new Error(`The card has no ${actionId}.`);
  const option = found.element.options?.find(({ value }) => value === choice);
  const container = { type: 'message', channel: card.channel, ts: card.ts } as const;
  const element = option ? { ...found.element, selected_option: option } : found.element;
  const action = {
    kind: 'block_action',
    blockId: found.blockId,
    actionId,
    element,
    container,
    values: {},
  } as const;
  const result = await house.workspace.act(house.workspace.ids.users[person], action);
  if (!result.ok) throw new Error(result.problem);
}

async function submit(house: House, person: Person, title: string, values: Record<string, object>) {
  const user = house.workspace.ids.users[person];
  const open = () => house.workspace.state(user).views.at(-1);
  await house.until('the form is open', () => open()?.title.startsWith(title) === true);
  const result = await house.workspace.act(user, {
    kind: 'submit_view',
    viewId: open()?.id ?? '',
    values,
  } as never);
  if (!result.ok) throw new Error(result.problem);
}

/** The alert of a failed charge, taken on by the lead, whose buttons offer to charge again. */
async function cardToChargeAgain(house: House, reference: string) {
  const card = () => seen(house, 'lead').find(({ text, threadTs }) => !threadTs && text.includes(reference));
  await house.until('the alert is posted', () => card() !== undefined);
  await press(house, 'lead', alertActions.acknowledge);
  await house.until('the card can be charged again', () =>
    JSON.stringify(card()).includes(alertActions.chargeAgain),
  );
  return card;
}

describe.concurrent('an alert’s card in the workspace', () => {
  it('is acknowledged once, handed over, and resolved by the customer’s next payment', async (test) => {
    const house = await openHouse(test);
    await house.start(house.bot());
    const reference = await house.decline();
    await house.until('the alert is posted', () => house.posts('payAlerts').length === 1);
    const card = () => JSON.stringify(cardSeenBy(house, 'lead'));
    const { users } = house.workspace.ids;

    await Promise.all([
      press(house, 'lead', alertActions.acknowledge),
      press(house, 'onCall', alertActions.acknowledge),
    ]);
    await house.until('the card is acknowledged', () => card().includes('👀 Acknowledged'));
    const told = (person: Person) => seen(house, person).filter(({ ephemeral }) => ephemeral);
    await house.until('the second is told', () => told('lead').length + told('onCall').length === 1);
    expect(JSON.stringify([told('lead'), told('onCall')])).toContain('Acknowledged by somebody else first');
    const first = told('lead').length === 0 ? 'lead' : 'onCall';

    await press(house, 'lead', alertActions.more, writeMore('assign', `payment_failed/order/${reference}`));
    await submit(house, 'lead', 'Assign alert', {
      [cardFieldIds.assignee]: {
        [cardFieldIds.assignee]: { type: 'users_select', selected_user: users.agent },
      },
    });
    await house.until('the card names the assignee', () => card().includes('Assigned to'));

    // Of another amount it need not be for what failed.
    const other = await house.approve();
    await house.until('the other payment is told in the thread', () =>
      seen(house, 'lead').some(({ threadTs, text }) => threadTs && text.includes('Another payment')),
    );
    expect(card()).not.toContain(other);
    const same = { amount: '5000.00', customerEmail: 'chidi.eze@example.com' };
    await house.payments.act({ kind: 'approve_saved_card_charge', ...same });
    await house.until('the card is resolved', () => card().includes('✅ Resolved'));
    expect(elementsOf(cardSeenBy(house, 'lead'))).toEqual([]);
    const directs = (person: 'agent' | 'lead' | 'onCall') =>
      JSON.stringify(
        house.workspace.state(users[person]).messages[house.workspace.ids.channels[`${person}Dm`]] ?? [],
      );
    await house.until('both who had it in hand are told', () =>
      [first, 'agent' as const].every((person) => directs(person as 'lead').includes('Resolved')),
    );
    expect(directs(first === 'lead' ? 'onCall' : 'lead')).not.toContain('Resolved');
    await house.until('nothing is left to tell', async () => {
      const notes = seen(house, 'lead').filter(({ threadTs }) => threadTs);
      return notes.length === 4 && JSON.stringify(notes).includes(users.agent);
    });
  });

  it('is closed with a reason by whoever may, and refused to whoever may not', async (test) => {
    const house = await openHouse(test);
    await house.start(house.bot());
    await house.decline();
    await house.until('the alert is posted', () => house.posts('payAlerts').length === 1);
    await press(house, 'agent', alertActions.acknowledge);
    await house.until('the agent is refused', () => seen(house, 'agent').some(({ ephemeral }) => ephemeral));
    expect(JSON.stringify(seen(house, 'agent'))).toContain('Not allowed');

    // Whoever may look payments up may do it from the card.
    await press(house, 'agent', alertActions.lookUp);
    await house.until('the agent reads the look-up', () =>
      JSON.stringify(seen(house, 'agent').filter(({ ephemeral }) => ephemeral)).includes('Declined since '),
    );
    await house.until('everybody sees that it was looked up', () =>
      JSON.stringify(cardSeenBy(house, 'onCall')).includes('looked up again'),
    );

    await press(house, 'lead', alertActions.close);
    await submit(house, 'lead', 'Close alert', {
      [cardFieldIds.reason]: {
        [cardFieldIds.reason]: { type: 'plain_text_input', value: 'Paid in cash' },
      },
    });
    await house.until('the card is closed', () =>
      JSON.stringify(cardSeenBy(house, 'onCall')).includes('☑️ Closed'),
    );
    expect(JSON.stringify(cardSeenBy(house, 'onCall'))).toContain('Paid in cash');
    expect(elementsOf(cardSeenBy(house, 'onCall'))).toEqual([]);
  });

  it('offers to charge the customer’s card again, and says from when while it is on hold', async (test) => {
    const house = await openHouse(test, { payments: { knownCards: true } });
    await house.start(house.bot());
    await house.cardsKnown();
    const reference = await house.decline();
    await cardToChargeAgain(house, reference);
    await press(house, 'lead', alertActions.chargeAgain);
    await house.until('the lead is told from when', () =>
      seen(house, 'lead').some(({ ephemeral, text, blocks }) => {
        return ephemeral && text.includes('Card on hold') && JSON.stringify(blocks).includes('on hold until');
      }),
    );
    expect(house.workspace.state(house.workspace.ids.users.lead).views).toEqual([]);
  });

  // Card X is charged, a colleague takes card Y in the same minute, a third card X again after the first was paid.
  it('is charged again once by three people with two cards, and resolved without any event', async (test) => {
    // The clock of the bot’s process and of both simulators.
    let laterMs = 0;
    const now = (): number => Date.now() + laterMs;
    const house = await openHouse(test, {
      program: laterBot,
      payments: { knownCards: true, now },
      workspace: { now },
      env: {
        CHARGE_RETRY_WAIT_HOURS: '1',
        CHARGE_TWIN_MINUTES: '0',
        PAYMENTS_TIMEOUT_SECONDS: '20',
        WORK_LEASE_SECONDS: '30',
      },
    });
    const policy = readFileSync(house.policyFile, 'utf8');
    writeFileSync(house.policyFile, policy.replace('may: [lookup, doubt]', 'may: [lookup, doubt, charge]'));
    const bot = house.bot();
    await house.start(bot);
    await house.cardsKnown();
    const customerEmail = 'ada.obi@example.com';
    const second = { orderReference: 'SAVES-CARD-Y', customerEmail };
    await house.payments.act({ kind: 'create_order', amount: '50.00', ...second });
    await house.payments.act({ kind: 'pay_order', orderReference: 'SAVES-CARD-Y', outcome: 'approved' });
    const terms = { amount: '5000.00', customerEmail };
    await house.payments.act({ kind: 'decline_saved_card_charge', reason: 'Insufficient funds', ...terms });
    const reference = house.payments.state().orders[0]?.orderReference ?? '';
    const card = await cardToChargeAgain(house, reference);
    await bot.stop();
    laterMs = 2 * hourMs;
    await house.start(house.bot({ BOT_LATER_DAYS: String(2 / 24) }));
    // From here on every event is lost.
    house.sendEventsTo([]);

    const dialogue = openChargeDialogue(house);
    const [cardX, cardY] = ['4081', house.payments.state().cards.at(-1)?.cardPan.slice(-4) ?? ''];
    const three = ['lead', 'agent', 'onCall'] as const;
    for (const person of three) {
      await press(house, person, alertActions.chargeAgain);
      await house.until('the form is open', () => dialogue.modalOf(person) !== undefined);
    }
    await dialogue.submit('lead', {}, cardX);
    await dialogue.submit('agent', {}, cardY);
    expect(dialogue.modalOf('lead')?.submit).toBe('Charge NGN 5,000.00');
    expect(dialogue.modalOf('agent')?.submit).toBe('Charge NGN 5,000.00');

    const underWay = house.paymentsGate.hold('/tokenized-card-payment', 'before');
    await dialogue.submit('lead');
    const held = await underWay;
    await dialogue.submit('agent');
    const refused = await dialogue.modalSays('agent', `<@${house.workspace.ids.users.lead}>`, 5_000);
    expect(refused.text).toMatch(/pay-\w+/);
    expect(refused.submit).toBeUndefined();
    await house.until('everybody sees who charges it', () => JSON.stringify(card()).includes(`Charging now`));
    expect(JSON.stringify(card()?.blocks)).not.toContain(alertActions.chargeAgain);
    held.release();
    await dialogue.modalSays('lead', 'Paid (confirmed)');
    await house.until('the alert is resolved', () => JSON.stringify(card()).includes('✅ Resolved'));
    expect(JSON.stringify(card())).toContain('(charged again)');

    await dialogue.submit('onCall', {}, cardX);
    await dialogue.modalSays('onCall', 'Already resolved');
    expect(dialogue.references()).toHaveLength(1);
    expect(house.exchanges().filter(({ path }) => path.endsWith('/tokenized-card-payment'))).toHaveLength(1);
  });
});
