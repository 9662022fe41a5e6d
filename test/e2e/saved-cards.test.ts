import { describe, expect, it } from 'vitest';
import { sandboxInputs } from '../../src/simulators/payments/sandbox.ts';
import { seedCards } from '../../src/simulators/payments/seed.ts';
import { openDesk, shareDesk, type Desk, type Filled, type Message } from '../support/desk.ts';
import type { House } from '../support/house.ts';

const cardPath = '/checkout/tokenized-card-data';
const { approves: ada, requiresOtp: bola, declines: chidi, threeDSecure: dayo } = seedCards;
/** For answers that never come; longer than a busy machine needs for the others. */
const hurried = { PAYMENTS_TIMEOUT_SECONDS: '3', SLACK_TIMEOUT_SECONDS: '1', WORK_LEASE_SECONDS: '7' };
const at = shareDesk({
  payments: { knownCards: true },
  env: { LOG_LEVEL: 'debug', ...hurried },
});

describe('/pay cards', () => {
  it('lists a customer’s saved cards: each can be charged, given another e-mail and deleted, without showing its token', async () => {
    const desk = at();
    const newEmail = 'ada.canary.new@example.org';
    const listed = await lists(desk, ada.customerEmail, '1 saved card');
    // Pressing the same button twice within two seconds is a double click, so use two lists.
    const other = await lists(desk, ada.customerEmail, '1 saved card');
    expect(listed.shown.text).toMatch(/a\*\*\*@example\.com[^]*Mastercard ·· 4081 · expiry 12\/29/);
    expect(listed.shown.text).not.toContain('fingerprint');

    await charges(desk, listed, '1,000.00');
    await desk.presses('lead', 'Change e-mail', listed);
    await changes(desk, 'lead', { 'New e-mail': newEmail });
    await desk.modalSays('lead', 'E-mail changed');
    await desk.closes('lead');
    // An older list charges the card as it is now.
    await charges(desk, other, '1,100.00');

    await lists(desk, ada.customerEmail, 'No saved cards');
    const now = await lists(desk, newEmail, '1 saved card');
    await desk.presses('lead', 'Delete…', other);
    expect((await desk.modalSays('lead', 'nobody can undo this')).shown.text).toContain('·· 4081');
    await desk.closes('lead');
    expect(savedKeys(desk.house)).toContain(ada.tokenKey);
    await deletes(desk, now, ['Card deleted', 'has forgotten its token']);
    expect(savedKeys(desk.house)).not.toContain(ada.tokenKey);
    await lists(desk, newEmail, 'No saved cards');
    await deletes(desk, listed, ['Already gone', 'has forgotten its token']);
    await expectNotOffered(desk, '4081');
    expect(await desk.leaks({ token: ada.tokenKey, other: bola.tokenKey })).toEqual([]);
    expect(await desk.kept({ address: ada.customerEmail, newEmail })).toEqual([]);
  });

  it('deletes a card in spite of an open review, which then charges nothing', async () => {
    const desk = at();
    await desk.opens('agent', '/pay charge 3,000.00');
    await desk.submits('agent', { 'Saved card': '1127' });
    const late = await lists(desk, bola.customerEmail, '1 saved card');
    await deletes(desk, late, 'Card deleted');
    await desk.submits('agent');
    await desk.modalSays('agent', [
      '⛔ Not charged: card not known',
      'doesn’t know this card',
      'No money moved',
    ]);
  });

  it('is in doubt if a deletion has no answer, and listing again tells', async () => {
    const desk = at();
    const listed = await lists(desk, chidi.customerEmail, '1 saved card');
    const answer = desk.house.paymentsGate.hold(cardPath, 'after');
    await desk.presses('lead', 'Delete…', listed);
    await desk.modalSays('lead', 'Delete a card');
    await desk.submits('lead');
    await desk.modalSays('lead', 'In doubt: the card may have been deleted');
    (await answer).release();
    await desk.presses('lead', 'Delete again');
    await desk.modalSays('lead', 'Already gone');
    await desk.closes('lead');
    const none = await lists(desk, chidi.customerEmail, 'No saved cards');
    expect(none.shown.buttons).toEqual([]);
  });

  it('needs a role, and says what to type', async () => {
    const desk = at();
    const calls = desk.calls(cardPath);
    await desk.asks('onCall', `/pay cards ${ada.customerEmail}`, 'Not allowed');
    await desk.asks('agent', '/pay cards', 'Give the customer’s e-mail');
    await desk.asks('agent', '/pay cards nobody', 'isn’t an e-mail address');
    // As messages show it: the service would know nobody, which is no answer about the customer.
    for (const typed of ['cards a***@example.com', 'find a***@example.com', 'a***@example.com'])
      await desk.asks('agent', `/pay ${typed}`, 'That e-mail is masked');
    const none = await desk.asks('agent', '/pay cards nobody@example.com', 'No saved cards');
    expect(none.shown.text).toContain('/pay link');
    const capital = await desk.asks('agent', '/pay cards Nobody@example.com', 'No saved cards');
    expect(capital.shown.text).toContain('Next: type it in small letters');
    expect(desk.calls(cardPath)).toBe(calls + 2);
  });

  it('charges an unknown card from the list, and offers it from then on', async (test) => {
    const desk = await openDesk(test);
    const listed = await desk.asks('agent', `/pay cards ${ada.customerEmail}`, '1 saved card');
    expect(listed.shown.buttons).toEqual(['Charge', 'Change e-mail']);
    await desk.presses('agent', 'Charge', listed);
    await desk.modalSays('agent', 'Charge a card');
    await desk.submits('agent', { Amount: '1,000.00' });
    expect((await desk.modalSays('agent', 'Nothing sent yet')).shown.text).toContain('·· 4081');
    await desk.closes('agent');
    await desk.opens('agent', '/pay charge 1,100.00');
    await desk.submits('agent', { 'Saved card': '4081' });
    await desk.modalSays('agent', 'Nothing sent yet');
  });

  it('shows ten cards a page, and each menu means its own card', async (test) => {
    const desk = await openDesk(test, { payments: { seed: false } });
    const email = 'many.cards@example.com';
    for (let number = 0; number < 13; number += 1) {
      await saves(desk, { orderReference: `MANY-${number}`, customerEmail: email });
    }
    const keys = savedKeys(desk.house);
    const listed = await lists(desk, email, '13 saved cards · 1 to 10');
    const next = await desk.seesBy('lead', '13 saved cards · 11 to 13', () =>
      desk.presses('lead', 'Next', listed),
    );
    expect(next.shown.buttons.filter((label) => label === 'Delete…')).toHaveLength(3);
    await deletes(desk, next, 'Card deleted');
    expect(savedKeys(desk.house)).toEqual(keys.toSpliced(10, 1));
    const first = await desk.seesBy('lead', '13 saved cards · 1 to 10', () =>
      desk.presses('lead', 'First page', next),
    );
    await deletes(desk, first, 'Card deleted');
    expect(savedKeys(desk.house)).toEqual(keys.toSpliced(10, 1).slice(1));
  });

  it('is configured by settings in live, and names what is missing; it is not listed until then', async (test) => {
    const desk = await openDesk(test, { env: { ...shapeless, SAVED_CARDS_QUERY: 'email' } });
    const typed = await lists(desk, ada.customerEmail, 'can’t be listed here yet');
    expect(typed.shown.text).toMatch(/SAVED_CARDS_LIST_POINTERS[^Q]*SAVED_CARDS_DELETE_BODY/);
    expect(typed.shown.text).not.toContain('SAVED_CARDS_QUERY');
    const help = await desk.asks('lead', '/pay help', 'What you can do');
    expect(help.shown.text).not.toContain('/pay cards');
    expect(desk.calls(cardPath)).toBe(0);
  });

  it('whose bot dies during a deletion says on the message how to go on', async (test) => {
    const desk = await openDesk(test, { processes: true, env: hurried, payments: { knownCards: true } });
    const { house, bot } = desk;
    const listed = await lists(desk, ada.customerEmail, '1 saved card');
    const earlier = await lists(desk, ada.customerEmail, '1 saved card');
    const answer = house.paymentsGate.hold(cardPath, 'after');
    await desk.presses('lead', 'Delete…', listed);
    await desk.modalSays('lead', 'Delete a card');
    await desk.submits('lead');
    const held = await answer;
    await bot.kill9();
    held.release();
    await desk.modalSays('lead', ['Deleting the card', 'press Delete again']);
    await desk.closes('lead');
    await house.start(bot);
    await lists(desk, ada.customerEmail, 'No saved cards');
    await deletes(desk, earlier, ['Already gone', 'has forgotten its token']);
  });
});

describe('/pay card-email', () => {
  it('changes the e-mail at the service: charges with the old one fail, those with the new one pass', async () => {
    const desk = at();
    const newEmail = 'dayo.canary.new@example.org';
    await desk.opens('agent', '/pay card-email');
    const read = await desk.submits('agent', { 'Saved card': '9018', 'New e-mail': newEmail });
    expect(read?.shown.text).toContain(`from ${dayo.customerEmail} to ${newEmail}`);
    expect(linkedEmail(desk, dayo.tokenKey)).toBe(dayo.customerEmail);
    await desk.submits('agent');
    await desk.modalSays('agent', 'E-mail changed');
    expect(linkedEmail(desk, dayo.tokenKey)).toBe(newEmail);
    await desk.closes('agent');

    await desk.opens('agent', '/pay charge 1,000.00');
    await desk.submits('agent', {
      'Or the card’s token key': dayo.tokenKey,
      'Customer’s e-mail': dayo.customerEmail,
    });
    await desk.submits('agent');
    await desk.modalSays('agent', 'Not charged: wrong e-mail');
    await desk.closes('agent');
    expect(await desk.leaks({ token: dayo.tokenKey })).toEqual([]);
    expect(await desk.kept({ old: dayo.customerEmail, newEmail })).toEqual([]);
  });

  it('asks for the current e-mail again if it is not the linked one, and can be corrected before it is sent', async () => {
    const desk = at();
    const { email, tokenKey } = await newCard(desk, 'linked');
    await desk.opens('agent', '/pay card-email');
    const same = { 'Current e-mail': email, 'New e-mail': email };
    const problems = (await desk.submits('agent', { 'Or the card’s token key': tokenKey, ...same }))
      ?.problems;
    expect(problems?.['New e-mail']).toContain('already');
    await desk.submits('agent', {
      'Or the card’s token key': tokenKey,
      'Current e-mail': 'someone.else@example.com',
      'New e-mail': 'first@example.org',
    });
    await desk.presses('agent', 'Change');
    await desk.modalSays('agent', 'Current e-mail');
    await desk.submits('agent', { 'New e-mail': 'linked@example.org' });
    await desk.submits('agent');
    await desk.modalSays('agent', 'The current e-mail is not the card’s');
    expect(linkedEmail(desk, tokenKey)).toBe(email);
    await desk.presses('agent', 'Correct and try again');
    await desk.modalSays('agent', 'Current e-mail');
    await desk.submits('agent', { 'Current e-mail': email });
    await desk.submits('agent');
    await desk.modalSays('agent', 'E-mail changed');
    expect(linkedEmail(desk, tokenKey)).toBe('linked@example.org');
  });

  it('is in doubt without an answer, and done when requested again; a done one says so', async () => {
    const desk = at();
    const { house } = desk;
    const hung = await newCard(desk, 'hung');
    const again = async (card: { email: string }, fields: Filled): Promise<void> => {
      await desk.opens('agent', '/pay card-email');
      await desk.submits('agent', { 'Saved card': card.email, ...fields });
    };
    await again(hung, { 'New e-mail': 'hung@example.org' });
    const before = house.paymentsGate.hold(cardPath, 'before');
    await desk.submits('agent');
    await before;
    await desk.modalSays('agent', 'In doubt: the e-mail may have been changed');
    house.paymentsGate.cut();
    await desk.presses('agent', 'Do it again');
    await changes(desk, 'agent', {});
    await desk.modalSays('agent', 'E-mail changed');
    expect(linkedEmail(desk, hung.tokenKey)).toBe('hung@example.org');
    await desk.closes('agent');

    const made = await newCard(desk, 'made');
    await again(made, { 'New e-mail': 'made@example.org' });
    const answer = house.paymentsGate.hold(cardPath, 'after');
    await desk.submits('agent');
    await desk.modalSays('agent', 'In doubt: the e-mail may have been changed');
    (await answer).release();
    expect(linkedEmail(desk, made.tokenKey)).toBe('made@example.org');
    await desk.presses('agent', 'Do it again');
    await changes(desk, 'agent', {});
    await desk.modalSays('agent', ['The current e-mail is not the card’s', 'charge with the new e-mail']);
  });

  it('tells a person who closed the window by direct message, addresses masked, and leads back from there', async () => {
    const desk = at();
    const { email, tokenKey } = await newCard(desk, 'closed');
    // Not the agent, who got another direct message within the same second.
    const fields = { 'Current e-mail': 'old.canary@example.org', 'New e-mail': 'closed.canary@example.org' };
    await desk.opens('lead', '/pay card-email');
    await desk.submits('lead', { 'Saved card': email, ...fields });
    await submitsAndCloses(desk);
    const refused = await desk.sees('lead', ['E-mail not changed', 'c***@example.org'], 'leadDm');
    await desk.presses('lead', 'Correct and try again', refused);
    await desk.modalSays('lead', 'Current e-mail');
    await desk.submits('lead', { 'Current e-mail': email });
    await submitsAndCloses(desk);
    const told = await desk.sees('lead', ['E-mail changed', 'c***@example.org'], 'leadDm');
    expect(JSON.stringify([refused, told])).not.toContain('old.canary');
    expect(linkedEmail(desk, tokenKey)).toBe('closed.canary@example.org');
    expect(JSON.stringify([refused, told])).not.toContain('closed.canary');
  });
});

describe('in the sandbox', () => {
  it('cards are fixed samples, as every answer says', async (test) => {
    const desk = await openDesk(test, { env: { ...shapeless, PAYMENTS_ENVIRONMENT: 'sandbox' } });
    const sample = 'a fixed sample';
    const none = await lists(desk, sandboxInputs.emailWithoutCards, 'No saved cards');
    expect(none.shown.text).toContain(sample);
    const listed = await lists(desk, 'any@example.com', '1 saved card');
    expect(listed.shown.text).toMatch(/SANDBOX.*fixed sample.*Mastercard ·· 4444/s);
    await deletes(desk, listed, ['Card deleted', sample]);

    await desk.opens('agent', '/pay card-email');
    const addresses = { 'Current e-mail': 'any@example.com', 'New e-mail': 'new@example.org' };
    await desk.submits('agent', { 'Or the card’s token key': sandboxInputs.unknownTokenKey, ...addresses });
    await desk.submits('agent');
    expect((await desk.modalSays('agent', 'doesn’t know this card')).shown.text).toContain('SANDBOX');
    await desk.presses('agent', 'Choose another card');
    await desk.modalSays('agent', 'Current e-mail');
    await desk.submits('agent', { 'Or the card’s token key': 'any-token', ...addresses });
    await desk.submits('agent');
    await desk.modalSays('agent', 'E-mail changed');
  });
});

describe('a first payment that saves a card', () => {
  it('is posted once to the channels of alerts and successes, and the card is offered without its token', async (test) => {
    const desk = await openDesk(test);
    const { tokenKey } = await newCard(desk, 'first');
    await desk.settled();
    const told = desk.messages('onCall', 'payAlerts').filter(({ text }) => text.includes('CARD-first'));
    expect(told.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^✅ Paid \(confirmed\), card saved · NGN 50\.00 · f\*\*\*@example\.com/),
    ]);
    expect(told[0]?.shown.text).toMatch(/·· \d{4}.*\/pay charge offers it/s);
    const successes = desk.messages('onCall', 'general').filter(({ text }) => text.includes('CARD-first'));
    expect(successes).toHaveLength(1);
    expect(await desk.leaks({ tokenKey })).toEqual([]);
  });

  it('is posted with CARD_LEDGER=off too, and then no card is remembered', async (test) => {
    const desk = await openDesk(test, { env: { CARD_LEDGER: 'off' } });
    await saves(desk, { orderReference: 'CARD-off', customerEmail: 'off@example.com' });
    await desk.sees('onCall', ['card saved', 'CARD_LEDGER is off'], 'payAlerts');
    expect((await desk.opens('agent', '/pay charge')).fields).not.toContain('Saved card');
    await desk.settled();
    const [card] = desk.house.payments.state().cards.slice(-1);
    expect(await desk.leaks({ tokenKey: card?.tokenKey ?? '' })).toEqual([]);
  });
});

/** The lead submits the review, and closes it before the service answers. */
async function submitsAndCloses(desk: Desk): Promise<void> {
  const asked = desk.house.paymentsGate.hold(cardPath, 'before');
  const submitted = desk.submits('lead');
  const held = await asked;
  await desk.closes('lead');
  held.release();
  await submitted;
}

/** Without an operator's settings for listing and deleting cards in live. */
const shapeless = Object.fromEntries(
  ['QUERY', 'LIST_POINTERS', 'HEADERS', 'DELETE_BODY'].map((name) => [`SAVED_CARDS_${name}`, '']),
);

async function lists(desk: Desk, email: string, words: string): Promise<Message> {
  return await desk.asks('lead', `/pay cards ${email}`, words);
}

async function deletes(desk: Desk, listed: Message, words: string | readonly string[]): Promise<void> {
  await desk.presses('lead', 'Delete…', listed);
  await desk.modalSays('lead', 'Delete a card');
  await desk.submits('lead');
  await desk.modalSays('lead', words);
  await desk.closes('lead');
}

async function charges(desk: Desk, listed: Message, amount: string): Promise<void> {
  await desk.presses('lead', 'Charge', listed);
  await desk.modalSays('lead', 'Charge a card');
  const review = await desk.submits('lead', { Amount: amount });
  expect(review?.shown.text).toContain('·· 4081');
  await desk.submits('lead');
  await desk.modalSays('lead', 'Paid (confirmed)');
  await desk.closes('lead');
}

/** Fills in the form on top, and submits its review. */
async function changes(desk: Desk, person: 'lead' | 'agent', fields: Filled): Promise<void> {
  await desk.modalSays(person, 'Current e-mail');
  await desk.submits(person, fields);
  await desk.modalSays(person, 'Change the e-mail of');
  await desk.submits(person);
}

async function expectNotOffered(desk: Desk, typed: string): Promise<void> {
  await desk.opens('agent', '/pay charge 1.00');
  await expect(desk.submits('agent', { 'Saved card': typed })).rejects.toThrow('offers nothing');
}

async function saves(desk: Desk, order: { orderReference: string; customerEmail: string }): Promise<void> {
  const { payments } = desk.house;
  const created = await payments.act({ kind: 'create_order', amount: '50.00', ...order });
  const paid = await payments.act({ kind: 'pay_order', ...order, outcome: 'approved' });
  if (!created.ok || !paid.ok) throw new Error('The order was not paid.');
}

/** A card of a customer with that name, once the bot has its first-payment event. */
async function newCard(desk: Desk, name: string): Promise<{ email: string; tokenKey: string }> {
  const { house } = desk;
  const email = `${name}@example.com`;
  await saves(desk, { orderReference: `CARD-${name}`, customerEmail: email });
  await house.cardsKnown();
  const card = house.payments.state().cards.find(({ customerEmail }) => customerEmail === email);
  if (!card) throw new Error('The service has saved no card.');
  return { email, tokenKey: card.tokenKey };
}

function linkedEmail({ house }: Desk, token: string): string | undefined {
  return house.payments.state().cards.find(({ tokenKey }) => tokenKey === token)?.customerEmail;
}

function savedKeys({ payments }: House): string[] {
  return payments.state().cards.map(({ tokenKey }) => tokenKey);
}
