import { describe, expect, it, type TestContext } from 'vitest';
import { sandboxInputs } from '../../src/simulators/payments/sandbox.ts';
import { seedCards } from '../../src/simulators/payments/seed.ts';
import type { PageMessage } from '../../src/simulators/protocol.ts';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import { cardEmailFields } from '../../src/slack/card-email/form-modal.ts';
import { cardsActions } from '../../src/slack/cards/cards-actions.ts';
import { chargeFields } from '../../src/slack/charge/charge-modal.ts';
import type { Bot } from '../support/bot.ts';
import { findCanaries } from '../support/canaries.ts';
import {
  openChargeDialogue,
  openSlackLine,
  visibleText,
  type ChargeDialogue,
} from '../support/charge-dialogue.ts';
import { openHouse, type House, type HouseOptions, type Person } from '../support/house.ts';

const cardPath = '/v1/checkout/tokenized-card-data';
const ada = seedCards.approves;
const bola = seedCards.requiresOtp;
const newEmail = 'ada.canary.new@example.org';

/** On a loaded machine the house's second would be the test's accident. */
const patient = { PAYMENTS_TIMEOUT_SECONDS: '4', SLACK_TIMEOUT_SECONDS: '3', WORK_LEASE_SECONDS: '12' };

type Desk = {
  house: House;
  bot: Bot;
  dialogue: ChargeDialogue;
  /** What the bot answered Slack's payloads with. */
  answered: () => string[];
};

describe.concurrent('a customer’s saved cards', () => {
  it('are listed, charged, given another e-mail and deleted, without any token in Slack, log or store', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    const listed = await asks(desk, 'lead', `/pay cards ${ada.customerEmail}`, '1 saved card');
    expect(listed).toContain('Mastercard ·· 4081');
    expect(listed).toContain('expiry 12/29');
    expect(listed).toContain('a***@example.com');
    expect(listed).toMatch(/Token fingerprint +[\da-f]{12} +· the bot knows it/);
    expect(listed).not.toContain('sample');

    await dialogue.pressInMessage('lead', cardsActions.charge);
    await dialogue.modalSays('lead', 'Charge a card');
    const terms = await dialogue.submit('lead', { [chargeFields.amount]: '1,000.00' });
    expect(terms?.text).toContain('·· 4081');
    await dialogue.submit('lead');
    await dialogue.modalSays('lead', 'Paid (confirmed)');
    await dialogue.close('lead');

    await dialogue.pressInMessage('lead', cardsActions.changeEmail);
    await dialogue.modalSays('lead', 'Current e-mail');
    const change = await dialogue.submit('lead', { [cardEmailFields.next]: newEmail });
    expect(change?.text).toContain('·· 4081');
    await dialogue.submit('lead');
    await dialogue.modalSays('lead', 'E-mail changed');
    await dialogue.close('lead');

    await asks(desk, 'lead', `/pay cards ${ada.customerEmail}`, 'No saved cards');
    await asks(desk, 'lead', `/pay cards ${newEmail}`, '1 saved card');
    const end = await deletes(desk, 'Card deleted');
    expect(end).toContain('has forgotten its token');
    expect(savedKeys(house)).not.toContain(ada.tokenKey);
    await dialogue.pressInMessage('lead', cardsActions.again);
    await says(desk, 'lead', 'No saved cards');
    await expectNothingOut(desk);
  });

  it('changed or deleted since they were listed are charged as they are now, or not at all', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    await asks(desk, 'lead', `/pay cards ${ada.customerEmail}`, '1 saved card');
    // Two lists: the same button twice within two seconds is a double click.
    await asks(desk, 'lead', `/pay cards ${ada.customerEmail}`, '1 saved card');
    const [listing, other] = house.seenBy('lead');
    if (!listing || !other) throw new Error('nothing was listed');
    await pressIn(house, listing, cardsActions.changeEmail);
    await dialogue.modalSays('lead', 'Current e-mail');
    await dialogue.submit('lead', { [cardEmailFields.next]: newEmail });
    await dialogue.submit('lead');
    await dialogue.modalSays('lead', 'E-mail changed');
    await dialogue.close('lead');

    await pressIn(house, listing, cardsActions.charge);
    await dialogue.modalSays('lead', 'Charge a card');
    await dialogue.submit('lead', { [chargeFields.amount]: '1,000.00' });
    await dialogue.submit('lead');
    await dialogue.modalSays('lead', 'Paid (confirmed)');
    await dialogue.close('lead');

    await pressIn(house, listing, cardsActions.remove);
    await says(desk, 'lead', 'Card deleted');
    await pressIn(house, other, cardsActions.charge);
    expect(await says(desk, 'lead', 'out of date')).toContain('Nothing was sent');
    await expect(dialogue.readBack('agent', { card: '4081', amount: '1.00' })).rejects.toThrow('No card');
  });

  it('that the bot did not know can be charged from the list, and are offered from then on', async (test) => {
    const desk = await openDesk(test, { payments: {} });
    const { dialogue } = desk;
    const listed = await asks(desk, 'agent', `/pay cards ${ada.customerEmail}`, '1 saved card');
    expect(listed).toContain('new to the bot');
    expect(listed).not.toContain('Delete');
    await dialogue.pressInMessage('agent', cardsActions.charge);
    const form = await dialogue.modalSays('agent', 'Charge a card');
    expect(JSON.stringify(form.view)).toContain('·· 4081');
    await dialogue.close('agent');
    await dialogue.charge('agent', { card: '4081', amount: '1,100.00' });
    await dialogue.modalSays('agent', 'Paid (confirmed)');
    await expectNothingOut(desk);
  });

  it('deleted while a charge is open: that is named, the card is offered no more, and drafts are stale', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    await dialogue.charge('agent', { card: '1127', amount: '2,000.00' });
    await dialogue.modalSays('agent', 'Needs OTP');
    const [reference = ''] = dialogue.references();
    await dialogue.close('agent');
    await dialogue.readBack('agent', { card: '1127', amount: '3,000.00' });
    expect(await house.storeKeys('draft:')).not.toEqual([]);
    await asks(desk, 'lead', `/pay cards ${bola.customerEmail}`, '1 saved card');
    const end = await deletes(desk, 'Card deleted');
    expect(end).toContain('Still open with this card');
    expect(end).toContain(`/pay lookup ${reference}`);

    const stale = await dialogue.submit('agent');
    expect(stale?.text).toContain('Nothing was charged');
    expect(dialogue.references()).toEqual([reference]);
    await dialogue.close('agent');
    const sent = dialogue.readBack('agent', { card: '1127', amount: '4,000.00' });
    await expect(sent).rejects.toThrow('No card is offered');
  });

  it('whose deletion has no answer are in doubt, and listing again tells', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    await asks(desk, 'lead', `/pay cards ${ada.customerEmail}`, '1 saved card');
    const answer = house.paymentsGate.hold(cardPath, 'after');
    await dialogue.pressInMessage('lead', cardsActions.remove);
    await says(desk, 'lead', 'In doubt: the card may have been deleted');
    (await answer).release();
    expect(savedKeys(house)).not.toContain(ada.tokenKey);
    await dialogue.pressInMessage('lead', cardsActions.again);
    await says(desk, 'lead', 'No saved cards');
    await expectNothingOut(desk);
  });

  it('whose deletion the bot did not survive are forgotten by what the message says', async (test) => {
    const desk = await openDesk(test, { processes: true });
    const { house, bot, dialogue } = desk;
    await asks(desk, 'lead', `/pay cards ${ada.customerEmail}`, '1 saved card');
    // Two lists: the same button twice within two seconds is a double click.
    await asks(desk, 'lead', `/pay cards ${ada.customerEmail}`, '1 saved card');
    const [listing, earlier] = house.seenBy('lead');
    if (!listing || !earlier) throw new Error('nothing was listed');
    const answer = house.paymentsGate.hold(cardPath, 'after');
    await pressIn(house, listing, cardsActions.remove);
    await answer;
    await bot.kill9();
    (await answer).release();
    expect(await says(desk, 'lead', 'Deleting the card')).toContain('press Delete again');
    await house.start(bot);
    await asks(desk, 'lead', `/pay cards ${ada.customerEmail}`, 'No saved cards');
    await pressIn(house, earlier, cardsActions.remove);
    expect(await says(desk, 'lead', 'Already gone')).toContain('has forgotten its token');
    await expect(dialogue.readBack('agent', { card: '4081', amount: '1.00' })).rejects.toThrow('No card');
  });

  it('deleted from another list meanwhile are already gone', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    await asks(desk, 'lead', `/pay cards ${ada.customerEmail}`, '1 saved card');
    const [first] = house.seenBy('lead');
    await asks(desk, 'lead', `/pay cards ${ada.customerEmail}`, '1 saved card');
    await deletes(desk, 'Card deleted');
    if (!first) throw new Error('nothing was listed');
    await pressIn(house, first, cardsActions.remove);
    expect(await says(desk, 'lead', 'Already gone')).toContain('has forgotten its token');
    await expect(dialogue.readBack('agent', { card: '4081', amount: '1.00' })).rejects.toThrow('No card');
  });

  it('that are many turn their pages, on both of which each button means its own card', async (test) => {
    const desk = await openDesk(test, { payments: { seed: false } });
    const { house, dialogue } = desk;
    const email = 'many.cards@example.com';
    for (let number = 0; number < 10; number += 1) {
      const orderReference = `FIRST-${number}`;
      const order = { amount: '50.00', customerEmail: email, orderReference };
      // oxlint-disable-next-line no-await-in-loop -- an order must be there to be paid
      await house.payments.act({ kind: 'create_order', ...order });
      // oxlint-disable-next-line no-await-in-loop
      await house.payments.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
    }
    const keys = savedKeys(house);
    expect(keys).toHaveLength(10);
    const first = await asks(desk, 'lead', `/pay cards ${email}`, '10 saved cards');
    expect(first).toContain('shown 1–8');
    expect(first).toContain('2 more: press Next.');
    await dialogue.pressInMessage('lead', `${cardsActions.page}.next`);
    const second = await says(desk, 'lead', 'shown 9–10');
    expect(second).toContain('10. ');
    await deletes(desk, 'Card deleted');
    expect(savedKeys(house)).toEqual(keys.filter((_, index) => index !== 8));
    expect(house.payments.stats().calls[`GET ${cardPath}`]).toBe(1);
  });

  it('are listed for nobody but whom the roles name', async (test) => {
    const desk = await openDesk(test);
    await asks(desk, 'onCall', `/pay cards ${ada.customerEmail}`, 'Not allowed');
    await asks(desk, 'agent', '/pay cards', 'Give the customer’s e-mail');
    await asks(desk, 'agent', '/pay cards nobody', 'not an e-mail address');
    await asks(desk, 'agent', '/pay cards nobody@example.com', 'No saved cards');
    expect(desk.house.payments.stats().calls[`GET ${cardPath}`]).toBe(1);
  });

  it('in the sandbox are fixed samples, and the message says so', async (test) => {
    const shapeless = withoutShape({ PAYMENTS_ENVIRONMENT: 'sandbox' });
    const desk = await openDesk(test, { env: shapeless });
    const { house } = desk;
    const none = await asks(desk, 'lead', `/pay cards ${sandboxInputs.emailWithoutCards}`, 'No saved cards');
    expect(none).toContain('fixed sample responses');
    const listed = await asks(desk, 'lead', '/pay cards any@example.com', '1 saved card');
    expect(listed).toContain('fixed sample responses');
    expect(listed).toContain('SANDBOX');
    expect(listed).toContain('Mastercard ·· 4444');
    const end = await deletes(desk, 'Card deleted');
    expect(end).toContain('fixed sample responses');
    expect(house.payments.stats().calls[`DELETE ${cardPath.replace('/v1/', '/sandbox/')}`]).toBe(1);
    await asks(desk, 'lead', '/pay cards any@example.com', '1 saved card');
  });

  it('in live without their settings stand in no list, and typed the verb names what to set', async (test) => {
    const env = withoutShape({ SAVED_CARDS_QUERY: 'email' });
    const desk = await openDesk(test, { env });
    const typed = await asks(desk, 'lead', `/pay cards ${ada.customerEmail}`, 'cannot be listed here yet');
    expect(typed).toContain('SAVED_CARDS_LIST_POINTERS');
    expect(typed).toContain('SAVED_CARDS_DELETE_BODY');
    expect(typed).not.toContain('SAVED_CARDS_QUERY');
    for (const [typedThen, words] of [
      ['/pay', 'Nothing waits for you'],
      ['/pay help', 'What you can do'],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one answer after the other
      expect(await asks(desk, 'lead', typedThen, words)).not.toContain('/pay cards');
    }
    expect(desk.house.payments.stats().calls[`GET ${cardPath}`]).toBeUndefined();
  });
});

async function openDesk(test: TestContext, options: HouseOptions = {}): Promise<Desk> {
  const house = await openHouse(test, {
    payments: { knownCards: true },
    ...options,
    env: { LOG_LEVEL: 'debug', ...patient, ...options.env },
  });
  const bot = house.bot();
  await house.start(bot);
  if (options.payments === undefined) await house.cardsKnown();
  const line = await openSlackLine(house, test, () => [bot]);
  const answered = (): string[] => line.gate.passed.map(({ answer }) => answer);
  return { house, bot, dialogue: openChargeDialogue(house), answered };
}

/** As if an operator had set nothing of it, but for `more`. */
function withoutShape(more: Record<string, string>): Record<string, string> {
  const names = ['QUERY', 'LIST_POINTERS', 'HEADERS', 'DELETE_BODY'];
  return { ...Object.fromEntries(names.map((name) => [`SAVED_CARDS_${name}`, ''])), ...more };
}

/** Types it and resolves with all that can be read in the answer. */
async function asks(desk: Desk, person: Person, command: string, words: string): Promise<string> {
  const before = desk.house.seenBy(person).length;
  await desk.house.type(person, command);
  return await says(desk, person, words, before);
}

/** Resolves with the newest message whose first line says the words. */
async function says({ house }: Desk, person: Person, words: string, after = 0): Promise<string> {
  const found = () =>
    house
      .seenBy(person)
      .slice(after)
      .findLast(({ text }) => text.includes(words));
  await house
    .until(`${person} reads “${words}”`, () => found() !== undefined)
    .catch((error: unknown) => {
      const seen = house.seenBy(person).map(({ text }) => text);
      throw new Error(`They read: ${seen.join(' | ')}`, { cause: error });
    });
  const blocks: unknown[] = JSON.parse(JSON.stringify(found()?.blocks));
  assertBlocks('message', blocks);
  return visibleText(blocks);
}

/** The lead presses *Delete …* and reads what became of it. */
async function deletes(desk: Desk, words: string): Promise<string> {
  await desk.dialogue.pressInMessage('lead', cardsActions.remove);
  return await says(desk, 'lead', words);
}

/** That button of that very message, newer ones or not. */
async function pressIn({ workspace }: House, { blocks, channel, ts }: PageMessage, actionId: string) {
  const rows = blocks.map((block) => ({
    blockId: block.block_id ?? '',
    element: ((block['elements'] ?? []) as Element[]).find((one) => one['action_id'] === actionId),
  }));
  const row = rows.find(({ element }) => element !== undefined);
  if (!row?.element) throw new Error(`There is no button ${actionId}.`);
  const { blockId, element } = row;
  const container = { type: 'message', channel, ts } as const;
  const action = { kind: 'block_action', blockId, actionId, element, container, values: {} } as const;
  const result = await workspace.act(workspace.ids.users.lead, action);
  if (!result.ok) throw new Error(result.problem);
}

type Element = { type: string; [field: string]: unknown };

function savedKeys({ payments }: House): string[] {
  return payments.state().cards.map(({ tokenKey }) => tokenKey);
}

/** Token keys are nowhere outside the payments service; the address is neither logged nor stored in clear. */
async function expectNothingOut({ house, bot, answered }: Desk): Promise<void> {
  const slack = house.slackGate.passed.map(({ request }) => decodeURIComponent(request.replaceAll('+', ' ')));
  const log = bot.lines.join('\n');
  const store = await house.storeDump();
  const told = JSON.stringify(house.seenBy('lead').concat(house.seenBy('agent')));
  expect(log).toContain('"verb":"cards"');
  const places = { log, store, 'Slack payloads': slack.join('\n'), 'what is seen': told };
  const acks = answered().join('\n');
  expect(acks).not.toContain(ada.tokenKey);
  const tokens = { ada: ada.tokenKey, bola: bola.tokenKey };
  expect(findCanaries(tokens, places)).toEqual([]);
  expect(findCanaries({ address: ada.customerEmail, newEmail }, { log, store })).toEqual([]);
}
