import { describe, expect, it, type TestContext } from 'vitest';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import { linkActions } from '../../src/slack/link/link-actions.ts';
import { linkFields } from '../../src/slack/link/link-form.ts';
import { shareField } from '../../src/slack/link/share-modal.ts';
import type { PageMessage } from '../../src/simulators/protocol.ts';
import type { Bot } from '../support/bot.ts';
import { findCanaries } from '../support/canaries.ts';
import { openChargeDialogue, type ChargeDialogue } from '../support/charge-dialogue.ts';
import { openHouse, type Channel, type House, type HouseOptions } from '../support/house.ts';

const orderPath = '/checkout/order';
/** A loaded machine is slow; the house's second would be the test's accident. */
const patient = { PAYMENTS_TIMEOUT_SECONDS: '10', SLACK_TIMEOUT_SECONDS: '5', WORK_LEASE_SECONDS: '25' };
/** What is not answered, and what a killed bot had in hand, is taken up as soon as may be. */
const impatient = {
  PAYMENTS_TIMEOUT_SECONDS: '1',
  SLACK_TIMEOUT_SECONDS: '1',
  WORK_LEASE_SECONDS: '5',
};
const email = 'zainab.link@example.com';
const filled = {
  [linkFields.amount]: '150.00',
  [linkFields.email]: email,
  [linkFields.customerId]: 'CUST-77',
};
/** "Our reference" that an agent types. */
const reference = 'LINK-ORDER-1';

type Desk = { house: House; bot: Bot; dialogue: ChargeDialogue };

describe.concurrent('a payment link', () => {
  it('is made once, stands in the channel, and says Paid and Card saved when it is', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    await dialogue.opens('agent', '/pay link 150.00');
    const made = await dialogue.submit('agent', { ...filled, [linkFields.reference]: reference });
    expect(made?.title).toContain('LIVE');
    const end = await dialogue.modalSays('agent', 'The service’s order id');
    const order = orderOf(house, reference);
    for (const words of [order?.checkoutLink ?? '?', reference, order?.orderId ?? '?']) {
      expect(end.text).toContain(words);
    }
    expect(orders(house)).toHaveLength(1);
    expect(orders(house)[0]?.request).toMatch(/"tokenizeCard":true/);
    expect(orders(house)[0]?.request).toMatch(/"allowedPaymentMethods":\["Card"\]/);

    const card = await cardSays(desk, 'payDesk', 'Payment link, not paid yet');
    expect(card.text).toContain('z***@example.com');
    expect(JSON.stringify(card.blocks)).toContain(order?.checkoutLink);
    await pay(house, reference);
    const paid = await cardSays(desk, 'payDesk', '💳 Card saved · ✅ Paid (confirmed) · NGN 150.00');
    expect(paid.ts).toBe(card.ts);
    expect(JSON.stringify(paid.blocks)).not.toContain(order?.checkoutLink);
    expect(JSON.stringify(paid.blocks)).toContain('sealed; /pay charge offers it');
    await settled(house);
    const { agent } = house.workspace.ids.users;
    const said = house.posts('payDesk').filter(({ text }) => text.includes(reference));
    expect(said).toHaveLength(2);
    expect(JSON.stringify(said[1])).toContain(`"user_id":"${agent}"`);
    expect(dialogue.directOf('agent')).toHaveLength(0);
    await expectNothingOut(desk);
  });

  it('is one order, however often the form is submitted, and whoever else types its reference', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    await dialogue.opens('agent', '/pay link');
    const asked = house.paymentsGate.hold(orderPath, 'before');
    await dialogue.submit('agent', { ...filled, [linkFields.reference]: reference });
    await dialogue.opens('lead', '/pay link');
    const other = await dialogue.submit('lead', { ...filled, [linkFields.reference]: reference });
    expect(other?.errors[linkFields.reference]).toContain('Another link has this reference');
    (await asked).release();
    await dialogue.modalSays('agent', 'The service’s order id');
    expect(orders(house)).toHaveLength(1);
  });

  it('goes to the person alone when they wish so, is shared, and both cards follow it', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    await dialogue.opens('agent', '/pay link');
    await submit(desk, { [linkFields.place]: 'alone' });
    await house.until('the card is theirs', () => dialogue.directOf('agent').length === 1);
    expect(house.posts('payDesk')).toHaveLength(0);
    await dialogue.close('agent');
    await dialogue.pressInMessage('agent', linkActions.share);
    await dialogue.modalSays('agent', 'Everybody in the channel sees');
    const { id: viewId } = dialogue.modalOf('agent') ?? { id: '' };
    const { channels, users } = house.workspace.ids;
    const picked = { type: 'conversations_select', selected_conversation: channels.general };
    await house.workspace.act(users.agent, {
      kind: 'submit_view',
      viewId,
      values: { [shareField]: { [shareField]: picked } },
    });
    const shared = await cardSays(desk, 'general', 'Payment link, not paid yet');
    expect(shared.text).toContain('z***@example.com');
    await pay(house, reference);
    await cardSays(desk, 'general', 'Paid (confirmed)');
    await house.until(
      'they are told, besides the edited card',
      () => dialogue.directOf('agent').length === 2,
    );
    await settled(house);
    expect(dialogue.directOf('agent')).toHaveLength(2);
    for (const { text } of dialogue.directOf('agent')) expect(text).toContain('✅ Paid (confirmed)');
    await expectNothingOut(desk);
  });

  it('stands in the Home of whoever asked until it is paid', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    const { agent } = house.workspace.ids.users;
    await house.workspace.act(agent, { kind: 'open_home' });
    const home = () => JSON.stringify(house.workspace.state(agent).home?.blocks ?? []);
    await house.until('it is shown', () => home().includes('Nothing waits for you'));
    await dialogue.opens('agent', '/pay link 150.00');
    await dialogue.submit('agent', { ...filled, [linkFields.reference]: reference });
    await cardSays(desk, 'payDesk', 'Payment link, not paid yet');
    await house.workspace.act(agent, { kind: 'open_home' });
    await house.until('the link is in it', () => home().includes('Payment link, not paid yet'));
    await pay(house, reference);
    await cardSays(desk, 'payDesk', 'Paid (confirmed)');
    await house.workspace.act(agent, { kind: 'open_home' });
    await house.until('it has left', () => !home().includes('Your open payment links'));
    expect(home()).toContain('Nothing waits for you');
  });

  it('that is looked at in its form says there what was found', async (test) => {
    const { dialogue } = await openDesk(test);
    await dialogue.opens('agent', '/pay link');
    await dialogue.submit('agent', { ...filled, [linkFields.reference]: reference });
    await dialogue.modalSays('agent', 'The service’s order id');
    await dialogue.press('agent', linkActions.check);
    const looked = await dialogue.modalSays('agent', 'proves no payment of this amount so far');
    expect(looked.text).toContain('Payment link, not paid yet');
    expect(dialogue.directOf('agent')).toEqual([]);
  });

  it('is not saving a card when it is not to, and says nothing of one', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    await dialogue.opens('agent', '/pay link');
    await submit(desk, { [linkFields.saves]: 'once' });
    await dialogue.modalSays('agent', 'No card is saved');
    expect(orders(house)[0]?.request).not.toMatch(/tokenizeCard|allowedPaymentMethods/);
    await pay(house, reference);
    const paid = await cardSays(desk, 'payDesk', '✅ Paid (confirmed)');
    expect(JSON.stringify(paid)).not.toMatch(/card token|Card saved/);
  });

  it('says in the sandbox that no card is really saved', async (test) => {
    const desk = await openDesk(test, { PAYMENTS_ENVIRONMENT: 'sandbox' });
    const { house, dialogue } = desk;
    await dialogue.opens('agent', '/pay link');
    const made = await dialogue.submit('agent', { ...filled, [linkFields.reference]: reference });
    expect(made?.title).toContain('SANDBOX');
    await dialogue.modalSays('agent', 'The service’s order id');
    await pay(house, reference);
    const paid = await cardSays(desk, 'payDesk', '💳 No card token · ✅ Paid (confirmed)');
    expect(JSON.stringify(paid.blocks)).toContain('The sandbox saves no real cards');
  });

  it('is confirming while the service cannot be asked, and Paid once it can', async (test) => {
    const desk = await openDesk(test, impatient);
    const { house, dialogue } = desk;
    await dialogue.opens('agent', '/pay link');
    await dialogue.submit('agent', { ...filled, [linkFields.reference]: reference });
    await cardSays(desk, 'payDesk', 'Payment link, not paid yet');
    await house.payments.act({ kind: 'set_weather', weather: 'hang' });
    await pay(house, reference);
    const confirming = await cardSays(desk, 'payDesk', '🕓 Approved, confirming');
    expect(confirming.text).not.toContain('Paid');
    await house.payments.act({ kind: 'set_weather', weather: 'normal' });
    await cardSays(desk, 'payDesk', '✅ Paid (confirmed)');
  });

  it('refuses a card number in any field, and is corrected after the service refused it', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    await dialogue.opens('agent', '/pay link');
    const pan = { ...filled, [linkFields.reference]: '4111 1111 1111 1111' };
    expect((await dialogue.submit('agent', pan))?.errors[linkFields.reference]).toContain('card number');
    expect(orders(house)).toHaveLength(0);
    await dialogue.submit('agent', { ...filled, [linkFields.reference]: 'ORDER-1001' });
    await dialogue.modalSays('agent', 'The service has an order with this reference already');
    await dialogue.press('agent', linkActions.again);
    const again = await dialogue.modalSays('agent', 'It charges nobody by itself');
    // What was typed is there to be corrected: a reference that went would be the bot's, and nobody told.
    expect(JSON.stringify(again.view.blocks)).toContain('"initial_value":"ORDER-1001"');
    await dialogue.submit('agent', { [linkFields.reference]: reference });
    await dialogue.modalSays('agent', 'The service’s order id');
    expect(await house.storeDump()).not.toContain('4111');
  });

  it('comes to the person alone where the bot may not post, and is found paid though no event came', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    const { users, channels } = house.workspace.ids;
    await house.workspace.act(users.agent, {
      kind: 'send_message',
      channel: channels.privateRoom,
      text: '/pay link',
    });
    await house.until('the form opens', () => dialogue.modalOf('agent') !== undefined);
    await dialogue.submit('agent', { ...filled, [linkFields.reference]: reference });
    await house.until('the card is theirs', () => dialogue.directOf('agent').length === 1);
    await dialogue.close('agent');

    await house.workspace.act(users.agent, { kind: 'open_home' });
    const home = (): string => JSON.stringify(house.workspace.state(users.agent).home ?? {});
    await house.until('it stands in the App Home', () => home().includes('Your open payment links'));
    expect(home()).toContain(reference);

    house.sendEventsTo([]);
    await pay(house, reference);
    await dialogue.pressInMessage('agent', linkActions.check);
    const card = (): string | undefined => dialogue.directOf('agent')[0]?.text;
    await house.until('the card says Paid', () => card()?.startsWith('✅ Paid (confirmed)') ?? false);
    await house.until('nothing is left to do', async () => (await house.workLeft()) === 0);
    expect(dialogue.directOf('agent').filter(({ text }) => text.includes('not paid yet'))).toEqual([]);
  });

  it('is told by nobody who may not', async (test) => {
    const desk = await openDesk(test);
    await desk.house.type('onCall', '/pay link');
    await desk.house.until('it is answered', () => desk.house.seenBy('onCall').length > 0);
    expect(desk.house.seenBy('onCall')[0]?.text).toContain('Not allowed');
  });
});

describe.concurrent('a payment link across a kill', () => {
  it('before the order was asked for: it is asked for under the same reference, and the card comes', async (test) => {
    const desk = await openDesk(test, impatient, { processes: true });
    const { house, bot, dialogue } = desk;
    await dialogue.opens('agent', '/pay link');
    const asked = house.paymentsGate.hold(orderPath, 'before');
    await dialogue.submit('agent', { ...filled, [linkFields.reference]: reference });
    const held = await asked;
    await bot.kill9();
    // What a dead process had sent and nobody passed on.
    house.paymentsGate.cut();
    await house.start(bot);
    const order = house.paymentsGate.hold(orderPath, 'before');
    const again = await order;
    again.release();
    await cardSays(desk, 'payDesk', 'Payment link, not paid yet');
    void held;
    await pay(house, reference);
    await cardSays(desk, 'payDesk', 'Paid (confirmed)');
    await settled(house);
    expect(house.posts('payDesk').filter(({ text }) => text.includes(reference))).toHaveLength(2);
  });

  it('after the order was made: its link is lost, said so, and a new one is offered', async (test) => {
    const desk = await openDesk(test, impatient, { processes: true });
    const { house, bot, dialogue } = desk;
    await dialogue.opens('agent', '/pay link');
    const answer = house.paymentsGate.hold(orderPath, 'after');
    await dialogue.submit('agent', { ...filled, [linkFields.reference]: reference });
    await answer;
    await bot.kill9();
    await house.start(bot);
    const lost = await cardSays(desk, 'payDesk', 'The link is lost');
    expect(JSON.stringify(lost.blocks)).toContain('nobody was charged');
    await dialogue.close('agent');
    await dialogue.pressInMessage('agent', linkActions.again);
    await dialogue.modalSays('agent', 'It charges nobody by itself');
    await dialogue.submit('agent');
    await dialogue.modalSays('agent', 'The service’s order id');
    await cardSays(desk, 'payDesk', 'Payment link, not paid yet');
  });

  it('after the event was answered: the card is edited, once, and one note follows', async (test) => {
    const desk = await openDesk(test, impatient, { processes: true });
    const { house, bot, dialogue } = desk;
    await dialogue.opens('agent', '/pay link');
    await dialogue.submit('agent', { ...filled, [linkFields.reference]: reference });
    await cardSays(desk, 'payDesk', 'Payment link, not paid yet');
    const edit = house.slackGate.hold('/chat.update', 'after');
    await pay(house, reference);
    await edit;
    await bot.kill9();
    await house.start(bot);
    await cardSays(desk, 'payDesk', 'Paid (confirmed)');
    await settled(house);
    expect(house.posts('payDesk').filter(({ text }) => text.includes(reference))).toHaveLength(2);
  });
});

/** The filled form, with these options chosen in its lists. */
async function submit({ house, dialogue }: Desk, chosen: Record<string, string>): Promise<void> {
  const view = dialogue.modalOf('agent');
  if (!view) throw new Error('no form is open');
  const texts = Object.entries({ ...filled, [linkFields.reference]: reference }).map(
    ([id, value]): [string, Record<string, unknown>] => [id, { [id]: { type: 'plain_text_input', value } }],
  );
  const choices = Object.entries(chosen).map(([id, value]): [string, Record<string, unknown>] => [
    id,
    { [id]: { type: 'static_select', selected_option: { value } } },
  ]);
  const values = Object.fromEntries([...texts, ...choices]);
  const { agent } = house.workspace.ids.users;
  await house.workspace.act(agent, { kind: 'submit_view', viewId: view.id, values });
}

async function openDesk(
  test: TestContext,
  env: Record<string, string> = {},
  options: HouseOptions = {},
): Promise<Desk> {
  const house = await openHouse(test, { ...options, env: { LOG_LEVEL: 'debug', ...patient, ...env } });
  const bot = house.bot();
  await house.start(bot);
  return { house, bot, dialogue: openChargeDialogue(house) };
}

function orders({ paymentsGate }: House) {
  return paymentsGate.passed.filter(({ path }) => path.endsWith(orderPath));
}

function orderOf({ payments }: House, wanted: string) {
  return payments.state().orders.find(({ orderReference }) => orderReference === wanted);
}

async function pay({ payments }: House, orderReference: string): Promise<void> {
  const paid = await payments.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
  if (!paid.ok) throw new Error(paid.problem);
}

/** The oldest message there with these words in its first line, which is valid: the card comes before its note. */
async function cardSays({ house }: Desk, channel: Channel, words: string): Promise<PageMessage> {
  const { ids } = house.workspace;
  const found = (): PageMessage | undefined =>
    (house.workspace.state(ids.users.lead).messages[ids.channels[channel]] ?? []).find(
      ({ text, authorIsBot }) => authorIsBot && text.includes(words),
    );
  await house.until(`${channel}: ${words}`, () => found() !== undefined);
  const card = found();
  if (!card) throw new Error('it was there a moment ago');
  assertBlocks('message', JSON.parse(JSON.stringify(card.blocks)));
  return card;
}

async function settled(house: House): Promise<void> {
  await house.payments.settled();
  await house.until('nothing is left to do', async () => (await house.workLeft()) === 0);
}

/** The card's token is nowhere outside the payments service; the address is neither logged nor stored in clear. */
async function expectNothingOut({ house, bot }: Desk): Promise<void> {
  const slack = house.slackGate.passed.map(({ request }) => decodeURIComponent(request.replaceAll('+', ' ')));
  const log = bot.lines.join('\n');
  const store = await house.storeDump();
  const [card] = house.payments.state().cards.filter(({ customerEmail }) => customerEmail === email);
  const places = { log, store, 'Slack payloads': slack.join('\n') };
  expect(findCanaries({ 'token key': card?.tokenKey ?? '?' }, places)).toEqual([]);
  expect(findCanaries({ address: email }, { log, store })).toEqual([]);
}
