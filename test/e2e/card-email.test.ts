import { describe, expect, it, type TestContext } from 'vitest';
import { seedCards } from '../../src/simulators/payments/seed.ts';
import { cardEmailActions } from '../../src/slack/card-email/card-email-actions.ts';
import { cardEmailFields as fields } from '../../src/slack/card-email/form-modal.ts';
import { chargeActions } from '../../src/slack/charge/charge-actions.ts';
import type { Bot } from '../support/bot.ts';
import { findCanaries } from '../support/canaries.ts';
import {
  openChargeDialogue,
  openSlackLine,
  type ChargeDialogue,
  type SeenModal,
} from '../support/charge-dialogue.ts';
import { openHouse, type House } from '../support/house.ts';

const cardPath = '/v1/checkout/tokenized-card-data';
const ada = seedCards.approves;
const newEmail = 'ada.canary.new@example.org';

type Desk = {
  house: House;
  bot: Bot;
  dialogue: ChargeDialogue;
  /** What the bot answered Slack's payloads with. */
  answered: () => string[];
};

describe.concurrent('changing a saved card’s e-mail', () => {
  it('makes charges with the old address fail and those with the card’s own go through', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    await fill(desk, { card: '4081', texts: { next: newEmail } });
    const read = await dialogue.modalSays('agent', 'You are about to change');
    expect(read.text).toContain(ada.customerEmail);
    expect(read.text).toContain(newEmail);
    expect(changes(house)).toBe(0);
    await dialogue.submit('agent');
    await dialogue.modalSays('agent', 'E-mail changed');
    expect(linkedEmail(house)).toBe(newEmail);

    await dialogue.charge('agent', { token: ada.tokenKey, email: ada.customerEmail, amount: '1,000.00' });
    await dialogue.modalSays('agent', 'Not sent');
    expect(dialogue.references()).toEqual([]);
    await dialogue.press('agent', chargeActions.changeEmail);
    const form = await dialogue.modalSays('agent', 'Current e-mail');
    expect(form.text).toContain('·· 4081');

    await dialogue.charge('agent', { card: '4081', amount: '1,100.00' });
    await dialogue.modalSays('agent', 'Paid (confirmed)');
    expect(changes(house)).toBe(1);
    await expectNothingOut(desk);
  });

  it('asks for the current address again when it is not the linked one', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    const wrong = { token: ada.tokenKey, current: 'someone.else@example.com', next: newEmail };
    await fill(desk, { texts: wrong });
    await dialogue.submit('agent');
    const form = await dialogue.modalSays('agent', 'not the e-mail linked to the card');
    expect(form.submit).toBe('Read it back');
    expect(linkedEmail(house)).toBe(ada.customerEmail);

    await dialogue.submit('agent', valuesById({ current: ada.customerEmail }));
    await dialogue.submit('agent');
    await dialogue.modalSays('agent', 'E-mail changed');
    expect(linkedEmail(house)).toBe(newEmail);
    await expectNothingOut(desk);
  });

  it('tells doubt while the service hangs, and is made when it is asked for again', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    await fill(desk, { card: '4081', texts: { next: newEmail } });
    await house.payments.act({ kind: 'set_weather', weather: 'hang' });
    const changing = await dialogue.submit('agent');
    expect(changing?.text).toContain('Changing the e-mail');
    await dialogue.modalSays('agent', 'In doubt: the e-mail may have been changed');
    await house.payments.act({ kind: 'set_weather', weather: 'normal' });
    await dialogue.press('agent', cardEmailActions.again);
    await dialogue.modalSays('agent', 'Current e-mail');
    await dialogue.submit('agent');
    await dialogue.submit('agent');
    await dialogue.modalSays('agent', 'E-mail changed');
    expect(linkedEmail(house)).toBe(newEmail);
    await expectNothingOut(desk);
  });

  it('that was made although its answer was lost: the second try says so, and the card can be charged', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    await fill(desk, { card: '4081', texts: { next: newEmail } });
    const answer = house.paymentsGate.hold(cardPath, 'after');
    await dialogue.submit('agent');
    await dialogue.modalSays('agent', 'In doubt: the e-mail may have been changed');
    (await answer).release();
    expect(linkedEmail(house)).toBe(newEmail);
    await dialogue.press('agent', cardEmailActions.again);
    await dialogue.modalSays('agent', 'Current e-mail');
    await dialogue.submit('agent');
    await dialogue.submit('agent');
    await dialogue.modalSays('agent', 'not the e-mail linked to the card');
    await dialogue.charge('agent', { card: '4081', email: newEmail, amount: '1,200.00' });
    await dialogue.modalSays('agent', 'Paid (confirmed)');
    await expectNothingOut(desk);
  });

  it('tells who closed the modal by direct message, addresses masked', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    await fill(desk, { card: '4081', texts: { next: newEmail } });
    const asked = house.paymentsGate.hold(cardPath, 'before');
    await dialogue.submit('agent');
    const held = await asked;
    await dialogue.close('agent');
    held.release();
    await house.until('the agent is told', () => dialogue.directOf('agent').length > 0);
    const told = JSON.stringify(dialogue.directOf('agent'));
    expect(told).toContain('E-mail changed');
    expect(told).toContain('a***@example.org');
    expect(told).not.toContain('ada.');
    await expectNothingOut(desk);
  });

  it('knows the sandbox’s two answers, and says SANDBOX', async (test) => {
    const desk = await openDesk(test, { PAYMENTS_ENVIRONMENT: 'sandbox' });
    const { house, dialogue } = desk;
    const addresses = { current: 'any@example.com', next: newEmail };
    await fill(desk, { texts: { token: '123', ...addresses } });
    await dialogue.submit('agent');
    expect((await dialogue.modalSays('agent', 'does not know this card')).title).toContain('SANDBOX');
    await dialogue.press('agent', cardEmailActions.again);
    await dialogue.modalSays('agent', 'Current e-mail');
    await dialogue.submit('agent', valuesById({ token: 'any-token', ...addresses }));
    await dialogue.submit('agent');
    expect((await dialogue.modalSays('agent', 'E-mail changed')).text).toContain(newEmail);
    expect(linkedEmail(house)).toBe(ada.customerEmail);
  });
});

async function openDesk(test: TestContext, env: Record<string, string> = {}): Promise<Desk> {
  const house = await openHouse(test, {
    payments: { knownCards: true },
    env: { LOG_LEVEL: 'debug', ...env },
  });
  const bot = house.bot();
  await house.start(bot);
  await house.cardsKnown();
  const line = await openSlackLine(house, test, () => [bot]);
  const answered = (): string[] => line.gate.passed.map(({ answer }) => answer);
  return { house, bot, dialogue: openChargeDialogue(house), answered };
}

type Typed = { card?: string; texts: Partial<Record<keyof typeof fields, string>> };

/** `/pay card-email`, the card chosen by what is typed into the list, the form submitted: the read-back. */
async function fill({ house, dialogue }: Desk, { card, texts }: Typed): Promise<SeenModal> {
  const { workspace } = house;
  const { agent } = workspace.ids.users;
  const { id: viewId } = await dialogue.opens('agent', '/pay card-email');
  const values = Object.fromEntries(
    Object.entries(valuesById(texts)).map(([id, value]): [string, Record<string, unknown>] => [
      id,
      { [id]: { type: 'plain_text_input', value } },
    ]),
  );
  if (card !== undefined) {
    const place = { blockId: fields.card, actionId: fields.card, viewId };
    const offered = await workspace.act(agent, { kind: 'suggest', text: card, ...place });
    const [first] = offered.ok ? (offered.options ?? []) : [];
    values[fields.card] = { [fields.card]: { type: 'external_select', selected_option: first } };
  }
  await workspace.act(agent, { kind: 'submit_view', viewId, values });
  return await dialogue.modalSays('agent', 'You are about to change');
}

function valuesById(texts: Typed['texts']): Record<string, string> {
  const names = Object.keys(texts) as (keyof typeof fields)[];
  return Object.fromEntries(names.map((name) => [fields[name], texts[name] ?? '']));
}

function linkedEmail({ payments }: House): string | undefined {
  return payments.state().cards.find(({ tokenKey }) => tokenKey === ada.tokenKey)?.customerEmail;
}

function changes({ payments }: House): number {
  return payments.stats().emailChanges;
}

/** The token key is nowhere outside the payments service; addresses are neither logged nor stored in clear. */
async function expectNothingOut({ house, bot, answered }: Desk): Promise<void> {
  const slack = house.slackGate.passed.map(({ request }) => decodeURIComponent(request.replaceAll('+', ' ')));
  const acks = answered();
  const log = bot.lines.join('\n');
  const store = await house.storeDump();
  expect(log).toContain('"verb":"card-email"');
  expect(acks.join('\n')).toContain('Changing the e-mail');
  const places = { log, store, 'Slack payloads': slack.join('\n'), 'answers to Slack': acks.join('\n') };
  expect(findCanaries({ 'token key': ada.tokenKey }, places)).toEqual([]);
  const addresses = { 'old address': ada.customerEmail, 'new address': newEmail };
  expect(findCanaries(addresses, { log, store })).toEqual([]);
}
