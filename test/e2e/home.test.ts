import { describe, expect, it, type TestContext } from 'vitest';
import type { PageBlock, PageMessage } from '../../src/simulators/protocol.ts';
import { seedCards } from '../../src/simulators/payments/seed.ts';
import { alertActions } from '../../src/slack/alert/card-actions.ts';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import { lookupActions } from '../../src/slack/lookup/lookup-actions.ts';
import { menuActionId } from '../../src/slack/menu-message.ts';
import type { Bot } from '../support/bot.ts';
import { findCanaries } from '../support/canaries.ts';
import { openChargeDialogue, visibleText, type ChargeDialogue } from '../support/charge-dialogue.ts';
import { openHouse, type Channel, type House, type HouseOptions, type Person } from '../support/house.ts';

const ada = seedCards.approves;
const here = { kind: 'message_shortcut', callbackId: 'lookup_here' } as const;
const pan = '4111 1111 1111 1111';

const withCards: HouseOptions = { payments: { knownCards: true } };

type Desk = { house: House; bot: Bot; dialogue: ChargeDialogue };

describe.concurrent('/pay and the App Home', () => {
  it('say what waits for the person and offer what they may do', async (test) => {
    const { house, dialogue } = await openDesk(test, withCards);
    const before = await says(house, 'agent', () => house.type('agent', '/pay'), 'Nothing waits for you');
    expect(buttonsOf(before.blocks)).toEqual(
      ['charge', 'otp', 'link', 'card-email', 'doubt', 'terminals', 'accounts', 'approvals'].map(
        menuActionId,
      ),
    );
    const olu = await says(house, 'outsider', () => house.type('outsider', '/pay'), 'Not allowed');
    expect(buttonsOf(olu.blocks)).toEqual([]);

    await house.payments.act({ kind: 'order_next_charge', next: 'otp' });
    await dialogue.charge('agent', { card: '4081', amount: '1,000.00' });
    await dialogue.modalSays('agent', 'of 3 tries left');
    await dialogue.close('agent');
    const after = await says(house, 'agent', () => house.type('agent', '/pay'), '1 thing waits for you');
    expect(readable(after.blocks)).toContain('1 charge waits for a code from you · until');
    expect(after.text).toBe(firstLine(after));
    await dialogue.pressInMessage('agent', menuActionId('otp'));
    await dialogue.modalSays('agent', 'of 3 tries left');
    await dialogue.close('agent');
    await dialogue.pressInMessage('agent', menuActionId('charge'));
    await dialogue.modalSays('agent', 'You review it before anything is charged.');
  });

  it('the Home shows a charge each time it is opened, and holds no secret', async (test) => {
    const { house, bot, dialogue } = await openDesk(test, withCards);
    await openHome(house, 'agent');
    await homeSays(house, 'agent', 'Nothing waits for you');
    await house.payments.act({ kind: 'order_next_charge', next: 'otp' });
    await dialogue.charge('agent', { card: '4081', amount: '1,000.00' });
    await dialogue.modalSays('agent', 'of 3 tries left');
    await openHome(house, 'agent');
    await homeSays(house, 'agent', 'Waiting for a code');
    expect(homeOf(house, 'agent')).toContain('Needs OTP · NGN 1,000.00');
    const [code = ''] = house.payments.state().orders.flatMap(({ otp }) => otp?.code ?? []);
    await dialogue.enterCode('agent', code);
    await dialogue.modalSays('agent', 'Paid (confirmed)');
    const published = () => house.slackGate.passed.filter(({ path }) => path === '/api/views.publish');
    expect(published()).toHaveLength(2);
    await openHome(house, 'agent');
    await homeSays(house, 'agent', 'Your last charges');
    expect(homeOf(house, 'agent')).toContain('Paid (confirmed) · NGN 1,000.00 · a***@');
    expect(homeOf(house, 'agent')).not.toContain('Waiting for a code');
    const bodies = published()
      .map(({ request }) => decodeURIComponent(request.replaceAll('+', ' ')))
      .join('\n');
    expect(findCanaries({ token: ada.tokenKey, email: ada.customerEmail }, { homes: bodies })).toEqual([]);
    assertBlocks('home', JSON.parse(JSON.stringify(shownHome(house, 'agent').blocks)));

    // A look-up of it, without leaving the Home.
    await pressInHome(house, 'agent', lookupActions.open);
    await dialogue.modalSays('agent', 'Look-up');
    await dialogue.modalSays('agent', 'Refresh');
    await house.until('the Home that was pressed in is made again', () => published().length === 4);
    expect(bot.lines.join('\n')).not.toContain('"level":"error"');
  });

  it('nobody’s Home is made who has not opened it', async (test) => {
    const { house, dialogue } = await openDesk(test, withCards);
    await dialogue.charge('agent', { card: '4081', amount: '1,000.00' });
    await dialogue.modalSays('agent', 'Paid (confirmed)');
    expect(house.slackGate.passed.filter(({ path }) => path === '/api/views.publish')).toEqual([]);
  });

  it('shows the alerts in one’s hand, and lets them go when they are over', async (test) => {
    const { house } = await openDesk(test);
    await openHome(house, 'lead');
    await homeSays(house, 'lead', 'What you can do with /pay');
    const reference = await house.decline();
    await house.until('it is told', () => seenIn(house, 'lead', 'payAlerts').length > 0);
    await pressOn(house, 'lead', { channel: 'payAlerts', actionId: alertActions.acknowledge });
    await house.until('it is theirs', async () => {
      await openHome(house, 'lead');
      return homeOf(house, 'lead').includes('Assigned to you');
    });
    expect(homeOf(house, 'lead')).toContain(reference);
    // Of the same customer and amount: it makes the failure good.
    const customerEmail = 'chidi.eze@example.com';
    await house.payments.act({ kind: 'approve_saved_card_charge', amount: '5000.00', customerEmail });
    await house.until('it is over', async () => {
      await openHome(house, 'lead');
      return !homeOf(house, 'lead').includes('Assigned to you');
    });
  });
});

describe.concurrent('shortcuts', () => {
  it('open the form that charges, or say in a modal why not', async (test) => {
    const { house, dialogue } = await openDesk(test);
    const { users } = house.workspace.ids;
    const shortcut = { kind: 'global_shortcut', callbackId: 'charge' } as const;
    await house.workspace.act(users.agent, shortcut);
    await dialogue.modalSays('agent', 'You review it before anything is charged.');
    await house.workspace.act(users.outsider, shortcut);
    const refused = await dialogue.modalSays('outsider', 'Not allowed: Charge a saved card');
    expect(refused.submit).toBeUndefined();
  });

  it('look the one reference of a message up, in its place, for whoever asked alone', async (test) => {
    const { house } = await openDesk(test);
    const ts = await write(house, 'onCall', 'Is *ORDER-1001* paid? They wrote at 14:32.');
    const answer = await says(house, 'agent', () => onMessage(house, 'agent', ts), 'Paid (confirmed)');
    expect(answer).toMatchObject({ ephemeral: true });
    expect(answer.text).toContain('ORDER-1001');
    expect(house.seenBy('onCall').filter(({ text }) => text.includes('Paid'))).toEqual([]);
    await onMessage(house, 'outsider', ts);
    await house.until('it is refused', () =>
      house.seenBy('outsider').some(({ text }) => text.includes('Not allowed')),
    );
  });

  it('let one of several references be chosen, and answer in the form', async (test) => {
    const { house, dialogue } = await openDesk(test);
    const ts = await write(house, 'onCall', 'ORDER-1001 and ORDER-1002, NGN 5,000.00 each');
    await onMessage(house, 'agent', ts);
    const form = await dialogue.modalSays('agent', 'Which reference of the message?');
    expect(form.text).toContain('ORDER-1002');
    expect(form.text).not.toContain('5,000');
    await choose(house, 'agent', 'ORDER-1002');
    await dialogue.modalSays('agent', 'Not confirmed');
    await house.payments.act({ kind: 'set_weather', weather: 'error_500' });
    await dialogue.press('agent', lookupActions.again);
    await dialogue.modalSays('agent', 'fault of its own');
    await house.payments.act({ kind: 'set_weather', weather: 'normal' });
    await dialogue.press('agent', lookupActions.again);
    await dialogue.modalSays('agent', 'Not confirmed');
    await dialogue.press('agent', lookupActions.share);
    const done = await dialogue.modalSays('agent', 'Shared to the channel.');
    expect(buttonsOf(done.view.blocks)).toEqual([lookupActions.again]);
    expect(house.posts('payDesk').filter(({ text }) => text.includes('ORDER-1002'))).toHaveLength(1);
  });

  it('find nothing in chatter, and neither take nor repeat a card number', async (test) => {
    const { house, bot } = await openDesk(test);
    const chatter = await write(house, 'onCall', 'thanks, I will look at 14:32');
    await says(
      house,
      'agent',
      () => onMessage(house, 'agent', chatter),
      'No reference found in that message',
    );
    const card = await write(house, 'onCall', `their card is ${pan}`);
    await says(house, 'agent', () => onMessage(house, 'agent', card), 'looks like a card number');
    const sent = house.slackGate.passed.map(({ request }) => decodeURIComponent(request)).join('\n');
    const places = { sent, log: bot.lines.join('\n'), store: await house.storeDump() };
    expect(findCanaries({ pan, tail: '1111 1111' }, places)).toEqual([]);
  });

  it('read an alert of the bot’s own as well', async (test) => {
    const { house } = await openDesk(test);
    const reference = await house.decline();
    await house.until('it is told', () => house.posts('payAlerts').length > 0);
    const { channels, users } = house.workspace.ids;
    const alert = seenIn(house, 'lead', 'payAlerts')[0];
    await house.workspace.act(users.lead, { ...here, channel: channels.payAlerts, ts: alert?.ts ?? '' });
    await house.until('it is looked up', () =>
      seenIn(house, 'lead', 'payAlerts').some(({ ephemeral, text }) => ephemeral && text.includes(reference)),
    );
    expect(seenIn(house, 'onCall', 'payAlerts').filter(({ ephemeral }) => ephemeral)).toEqual([]);
  });
});

describe.concurrent('sharing a look-up', () => {
  it('posts it once, masked, named and refreshed by anybody who may', async (test) => {
    const { house, dialogue } = await openDesk(test);
    await says(house, 'agent', () => house.type('agent', '/pay ORDER-1001'), 'Paid (confirmed)');
    await dialogue.pressInMessage('agent', lookupActions.share);
    await house.until('it is shared', () => shared(house).length === 1);
    await noDoubleClick(house);
    await says(house, 'agent', () => dialogue.pressInMessage('agent', lookupActions.share), 'Shared already');
    expect(shared(house)).toHaveLength(1);
    await house.until('who shared it is named', () => JSON.stringify(shared(house)).includes('Shared by'));
    const [message] = seenIn(house, 'onCall', 'payDesk').filter(({ ephemeral }) => !ephemeral);
    expect(message?.text).toBe(message && firstLine(message));
    expect(visibleText(message?.blocks ?? [])).toContain(`<@${house.workspace.ids.users.agent}>`);
    expect(JSON.stringify(message)).toMatch(/"[a-z]\*\*\*@|[a-z]\*\*\*@/);

    await house.type('outsider', '/pay ORDER-1001');
    await pressOn(house, 'outsider', { channel: 'payDesk', actionId: lookupActions.refreshShared });
    await house.until(
      'it is refused',
      () => house.seenBy('outsider').filter(({ text }) => text.includes('Not allowed')).length >= 2,
    );
    const updates = () => house.slackGate.passed.filter(({ path }) => path === '/api/chat.update').length;
    const before = updates();
    await pressOn(house, 'onCall', { channel: 'payDesk', actionId: lookupActions.refreshShared });
    await house.until('it is read anew', () => updates() > before);
    expect(shared(house)).toHaveLength(1);
    for (const { path, request } of house.slackGate.passed) {
      if (path !== '/api/chat.postMessage') continue;
      expect(request).toContain('unfurl_links=false');
      expect(request).toContain('unfurl_media=false');
    }
  });

  it('where the bot is not, says how to mend it, and works then', async (test) => {
    const { house } = await openDesk(test);
    const { channels, users } = house.workspace.ids;
    const at = { kind: 'send_message', channel: channels.privateRoom } as const;
    await house.workspace.act(users.onCall, { ...at, text: '/pay ORDER-1001' });
    await house.until('it is answered', () => seenIn(house, 'onCall', 'privateRoom').length > 0);
    const press = () => pressOn(house, 'onCall', { channel: 'privateRoom', actionId: lookupActions.share });
    await press();
    await house.until('the fix is told', () =>
      JSON.stringify(seenIn(house, 'onCall', 'privateRoom')).includes('/invite @pay'),
    );
    await house.workspace.act(users.onCall, { ...at, text: '/invite @pay' });
    await noDoubleClick(house);
    await press();
    await house.until('it is shared', () =>
      seenIn(house, 'onCall', 'privateRoom').some(
        ({ ephemeral, text }) => !ephemeral && text.includes('Paid (confirmed)'),
      ),
    );
    const inRoom = seenIn(house, 'onCall', 'privateRoom').filter(({ ephemeral }) => !ephemeral);
    expect(inRoom).toHaveLength(1);
  });
});

/** With `knownCards` there are saved cards to charge, and alerts of each in the channel. */
async function openDesk(test: TestContext, options: HouseOptions = {}): Promise<Desk> {
  const house = await openHouse(test, {
    ...options,
    env: {
      LOG_LEVEL: 'debug',
      PAYMENTS_TIMEOUT_SECONDS: '3',
      SLACK_TIMEOUT_SECONDS: '2',
      WORK_LEASE_SECONDS: '9',
    },
  });
  const bot = house.bot();
  await house.start(bot);
  if (options.payments) await house.cardsKnown();
  return { house, bot, dialogue: openChargeDialogue(house) };
}

/** Does it, and gives what the bot then says to the person in the desk's channel. */
async function says(
  house: House,
  person: Person,
  act: () => Promise<unknown>,
  words: string,
): Promise<PageMessage> {
  const known = new Set(house.seenBy(person));
  const found = (): PageMessage | undefined =>
    house.seenBy(person).find((message) => !known.has(message) && message.text.includes(words));
  await act();
  await house.until(`${person} reads: ${words}`, () => found() !== undefined);
  const message = found();
  if (!message) throw new Error('gone');
  assertBlocks('message', JSON.parse(JSON.stringify(message.blocks)));
  return message;
}

function seenIn(house: House, person: Person, channel: Channel | 'privateRoom'): PageMessage[] {
  const { channels, users } = house.workspace.ids;
  const messages = house.workspace.state(users[person]).messages[channels[channel]] ?? [];
  return messages.filter(({ authorIsBot, threadTs }) => authorIsBot && !threadTs);
}

function shared(house: House) {
  return house.posts('payDesk').filter(({ text }) => text.includes('ORDER-1001'));
}

function firstLine({ blocks }: PageMessage): string {
  return visibleText(blocks.slice(0, 1)).replaceAll(/\s+/g, ' ').trim();
}

function readable(blocks: readonly PageBlock[]): string {
  return visibleText(blocks).replaceAll(/ +/g, ' ');
}

function buttonsOf(blocks: readonly PageBlock[]): string[] {
  return elementsOf(blocks).map(({ element }) => element.action_id);
}

type Found = { blockId: string; element: { type: string; action_id: string } };

function elementsOf(blocks: readonly PageBlock[]): Found[] {
  return blocks
    .filter(({ type }) => type === 'actions')
    .flatMap(({ block_id: blockId = '', ...block }) =>
      ((block as { elements?: Found['element'][] }).elements ?? []).map((element) => ({ blockId, element })),
    );
}

/** Two presses within a second or two are one, and the bot says nothing to the second. */
async function noDoubleClick(house: House): Promise<void> {
  const at = performance.now() + 2_100;
  await house.until('a press is a press of its own again', () => performance.now() > at);
}

/** Presses the newest such button that the person sees there. */
async function pressOn(
  house: House,
  person: Person,
  { channel, actionId }: { channel: Channel | 'privateRoom'; actionId: string },
): Promise<void> {
  const message = seenIn(house, person, channel).findLast(({ blocks }) =>
    buttonsOf(blocks).includes(actionId),
  );
  if (!message) throw new Error(`Nothing there has ${actionId}.`);
  const container = { type: 'message', channel: message.channel, ts: message.ts } as const;
  await press(house, person, { blocks: message.blocks, container, actionId });
}

async function pressInHome(house: House, person: Person, actionId: string): Promise<void> {
  const home = shownHome(house, person);
  const container = { type: 'view', viewId: home.id } as const;
  await press(house, person, { blocks: home.blocks, container, actionId });
}

type Place = {
  blocks: readonly PageBlock[];
  container: { type: 'message'; channel: string; ts: string } | { type: 'view'; viewId: string };
  actionId: string;
};

async function press(house: House, person: Person, { blocks, container, actionId }: Place): Promise<void> {
  const found = elementsOf(blocks).find(({ element }) => element.action_id === actionId);
  if (!found) throw new Error(`There is no ${actionId}.`);
  const user = house.workspace.ids.users[person];
  const action = { kind: 'block_action', ...found, actionId, container, values: {} } as const;
  const result = await house.workspace.act(user, action);
  if (!result.ok) throw new Error(result.problem);
}

async function openHome(house: House, person: Person): Promise<void> {
  await house.workspace.act(house.workspace.ids.users[person], { kind: 'open_home' });
}

function shownHome(house: House, person: Person) {
  const { home } = house.workspace.state(house.workspace.ids.users[person]);
  if (!home) throw new Error('There is no Home.');
  return home;
}

function homeOf(house: House, person: Person): string {
  return readable(house.workspace.state(house.workspace.ids.users[person]).home?.blocks ?? []);
}

async function homeSays(house: House, person: Person, words: string): Promise<void> {
  await house
    .until(`the Home says ${words}`, () => homeOf(house, person).includes(words))
    .catch((error: unknown) => {
      throw new Error(`It says: ${homeOf(house, person)}`, { cause: error });
    });
}

/** Somebody's message in the desk's channel; gives its time, which names it. */
async function write(house: House, person: Person, text: string): Promise<string> {
  const { channels, users } = house.workspace.ids;
  await house.workspace.act(users[person], { kind: 'send_message', channel: channels.payDesk, text });
  const message = house.workspace
    .state(users[person])
    .messages[channels.payDesk]?.findLast((one) => one.text.includes(text.slice(0, 10)));
  if (!message) throw new Error('It was not posted.');
  return message.ts;
}

async function onMessage(house: House, person: Person, ts: string): Promise<void> {
  const { channels, users } = house.workspace.ids;
  await house.workspace.act(users[person], { ...here, channel: channels.payDesk, ts });
}

async function choose(house: House, person: Person, value: string): Promise<void> {
  const user = house.workspace.ids.users[person];
  const view = house.workspace.state(user).views.at(-1);
  const input = view?.blocks.find(({ type }) => type === 'input');
  const element = input?.['element'] as { action_id: string; options: { value: string }[] } | undefined;
  const option = element?.options.find((one) => one.value === value);
  if (!view || !input?.block_id || !element || !option) throw new Error(`There is no choice ${value}.`);
  const values = {
    [input.block_id]: { [element.action_id]: { type: 'radio_buttons', selected_option: option } },
  };
  const result = await house.workspace.act(user, { kind: 'submit_view', viewId: view.id, values });
  if (!result.ok) throw new Error(result.problem);
}
