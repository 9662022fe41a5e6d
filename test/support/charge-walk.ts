import { randomBytes, randomInt } from 'node:crypto';
import { otps } from '../../src/simulators/payments/bank.ts';
import { foreignTokenKey, seedCards } from '../../src/simulators/payments/seed.ts';
import { chargeActions } from '../../src/features/charge/charge-screens.ts';
import { otpActions } from '../../src/features/charge/otp-form.ts';
import { chargeFields } from '../../src/features/charge/charge-forms.ts';
import { saveCards, type ChargeDialogue, type ChargeForm, type NewCard } from './charge-dialogue.ts';
import type { House, Person } from './house.ts';

/** What was typed on the way and must stand nowhere, unlike anything else there is. */
export type Typed = {
  /** Each OTP that was submitted, with how often. The bank's own right one has six digits, these have ten. */
  codes: Record<string, number>;
  /** OTPs typed where none is asked for: they must not leave at all. */
  strayCodes: string[];
  cardNumbers: string[];
  /** Token keys that no service knows, or that are no token keys at all. */
  tokens: string[];
};

export type Walk = { typed: Typed; cards: readonly NewCard[] };

const codeField = 'Code from the bank';

/** A house whose bots have everything to keep secret: every story of a charge once, each to its end. */
export async function walkCharges(house: House, dialogue: ChargeDialogue): Promise<Walk> {
  const typed: Typed = { codes: {}, strayCodes: [], cardNumbers: [], tokens: [] };
  const cards = await saveCards(house, 5);
  await typeCardNumbers(house, dialogue, typed);
  await Promise.all([walkOtp(house, dialogue, typed), walkOutcomes(dialogue, 'onCall', cards)]);
  await walkRejections(house, dialogue, typed, cards);
  await walkWeather(house, dialogue, cards);
  return { typed, cards };
}

const pan = '5555555555554444';
/** As people type them. */
const panForms = [pan, '5555 5555 5555 4444', '5555-5555-5555-4444', '4000.0025.0000.3155'];

/** In a command, in every field of the form, in the list of cards: refused without a word of it. */
async function typeCardNumbers(house: House, dialogue: ChargeDialogue, typed: Typed): Promise<void> {
  typed.cardNumbers.push(...panForms);
  const { workspace } = house;
  for (const [index, words] of panForms
    .flatMap((form) => [`charge ${form}`, `otp ${form}`, form])
    .entries()) {
    // oxlint-disable-next-line no-await-in-loop -- each is seen refused
    await house.type('agent', `/pay ${words}`);
    // oxlint-disable-next-line no-await-in-loop
    await house.until('it is refused', () => house.seenBy('agent').length > index);
  }
  const { id: viewId } = await dialogue.opens('agent', '/pay charge 12,500.00');
  const place = { blockId: chargeActions.card, actionId: chargeActions.card, viewId };
  await workspace.act(workspace.ids.users.agent, { kind: 'suggest', text: pan, ...place });
  await dialogue.press('agent', chargeActions.more);
  await house.until(
    'the form has all its fields',
    () =>
      dialogue.modalOf('agent')?.view.blocks.some((block) => block.block_id === chargeFields.token) === true,
  );
  const { tokenKey: token } = seedCards.approves;
  const { token: tokenField, amount, email, customerId, reason } = chargeFields;
  const good = { [tokenField]: token, [amount]: '10.00', [email]: 'ada.obi@example.com' };
  for (const field of [tokenField, amount, email, customerId, reason]) {
    for (const number of panForms) {
      // oxlint-disable-next-line no-await-in-loop -- one modal
      const modal = await dialogue.submit('agent', { ...good, [field]: number });
      if (Object.keys(modal?.errors ?? {}).join() !== field) throw new Error(`${field} took a card number.`);
    }
  }
  await dialogue.close('agent');
}

/** Wrong, another code asked for, handed over, wrong, right; with the bot's own ways back into the modal. */
async function walkOtp(house: House, dialogue: ChargeDialogue, typed: Typed): Promise<void> {
  const { workspace } = house;
  const { tokenKey: token, customerEmail: email } = seedCards.requiresOtp;
  await dialogue.charge('agent', { token, email, amount: '2,500.00', reason: 'Second instalment' });
  await dialogue.modalSays('agent', codeField);
  for (const number of [pan, '5555 5555 5555 4444']) {
    // oxlint-disable-next-line no-await-in-loop
    const modal = await dialogue.enterCode('agent', number);
    if (Object.keys(modal?.errors ?? {}).length !== 1) throw new Error('A card number passed for a code.');
  }
  const first = newCode();
  typed.codes[first] = 1;
  await dialogue.enterCode('agent', ` ${first.slice(0, 5)}-${first.slice(5)} `);
  await dialogue.modalSays('agent', '2 of 3 tries left');
  // What stands in the field comes along with every press.
  const standing = newCode();
  typed.strayCodes.push(standing);
  await dialogue.press('agent', otpActions.resend, { otp_code_2: standing });
  await dialogue.modalSays('agent', 'on its way');
  await dialogue.close('agent');
  const [reference = ''] = dialogue.references().filter((one) => isWaiting(house, one));
  for (const before of [`${reference} `, '']) {
    const code = newCode();
    typed.strayCodes.push(code);
    const seen = house.seenBy('agent').length;
    // oxlint-disable-next-line no-await-in-loop -- each is seen refused
    await house.type('agent', `/pay otp ${before}${code}`);
    // oxlint-disable-next-line no-await-in-loop
    await house.until('it is refused', () => house.seenBy('agent').length > seen);
  }
  await workspace.act(workspace.ids.users.agent, { kind: 'open_home' });
  await dialogue.opens('lead', `/pay otp ${reference}`);
  await dialogue.press('lead', otpActions.takeOver);
  await dialogue.modalSays('lead', codeField);
  const second = newCode();
  typed.codes[second] = 1;
  await dialogue.enterCode('lead', second);
  await dialogue.modalSays('lead', '1 of 3 tries left');
  typed.codes[otps.right] = 1;
  await dialogue.enterCode('lead', otps.right);
  await dialogue.modalSays('lead', 'Paid (confirmed)');
  await house.type('lead', '/pay doubt');
}

function isWaiting({ payments }: House, reference: string): boolean {
  return payments
    .state()
    .orders.some((one) => one.orderReference === reference && one.state === 'awaiting_otp');
}

/** Approved, with a card of the list; declined; 3-D Secure with its link; and the two kinds of lost answers. */
async function walkOutcomes(
  dialogue: ChargeDialogue,
  person: Person,
  [lost, broken]: readonly NewCard[],
): Promise<void> {
  await dialogue.charge(person, { card: '4081', amount: '12,500.00', customerId: 'CUST-17' });
  await dialogue.modalSays(person, 'Paid (confirmed)');
  await dialogue.charge(person, { card: '6640', amount: '900.00' });
  await dialogue.modalSays(person, 'Declined by the bank');
  // Refused by the rule before anything is sent.
  await dialogue.charge(person, { ...formOf(seedCards.declines), amount: '901.00' });
  await dialogue.modalSays(person, 'Card on hold until');
  await dialogue.charge(person, { card: '9018', amount: '900.00' });
  await dialogue.modalSays(person, 'Declined by the bank');
  await dialogue.press(person, chargeActions.link);
  await dialogue.modalSays(person, 'It charges nobody by itself');
  await dialogue.charge(person, { ...formOf(lost), amount: '5,000.06' });
  await dialogue.modalSays(person, 'Paid (confirmed)');
  await dialogue.charge(person, { ...formOf(broken), amount: '5,000.11' });
  await dialogue.modalSays(person, 'Paid (confirmed)');
}

/** Every row of the specification's table that an agent can cause, and what the form itself refuses. */
async function walkRejections(
  { workspace }: House,
  dialogue: ChargeDialogue,
  typed: Typed,
  [, , card]: readonly NewCard[],
): Promise<void> {
  const made = `tok-canary-${randomBytes(8).toString('hex')}`;
  const other = `tok-canary-${randomBytes(8).toString('hex')}`;
  typed.tokens.push(made, other);
  const email = 'ada.obi@example.com';
  const notSent: ChargeForm[] = [
    { token: made, email, amount: '10.00' },
    { token: foreignTokenKey, email, amount: '10.00' },
    { ...formOf(card), email: 'somebody.else@example.com', amount: '10.00' },
    { ...formOf(card), email: 'not..quite@example.com', amount: '11.00' },
    { ...formOf(card), amount: '10.14' },
  ];
  for (const form of notSent) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other in front of one person
    await dialogue.charge('agent', form);
    // oxlint-disable-next-line no-await-in-loop
    await dialogue.modalSays('agent', 'Not sent (fix the request)');
  }
  const { id: viewId } = await dialogue.opens('agent', '/pay charge');
  const place = { blockId: chargeActions.card, actionId: chargeActions.card, viewId };
  await workspace.act(workspace.ids.users.agent, { kind: 'suggest', text: other, ...place });
  await dialogue.readBack('agent', { token: `${other} pasted twice ${other}`, email, amount: '10.00' });
  await dialogue.readBack('agent', { token: other, amount: 'ten' });
  await dialogue.readBack('agent', { token: other, email, amount: '10.00' });
  await dialogue.press('agent', chargeActions.change);
  await dialogue.modalSays('agent', 'Paste the token key again');
  await dialogue.close('agent');
}

/** The service in the states in which the bot logs most. */
async function walkWeather(
  { payments }: House,
  dialogue: ChargeDialogue,
  [, , , one, two]: readonly NewCard[],
): Promise<void> {
  await payments.act({ kind: 'set_weather', weather: 'unauthorized' });
  await dialogue.charge('agent', { ...formOf(one), amount: '20.00' });
  await dialogue.modalSays('agent', 'Not sent (fix the request)');
  await payments.act({ kind: 'set_weather', weather: 'error_500' });
  await dialogue.charge('agent', { ...formOf(two), amount: '20.00' });
  await dialogue.modalSays('agent', 'In doubt, checking');
  await payments.act({ kind: 'set_weather', weather: 'normal' });
  await dialogue.press('agent', chargeActions.checkNow);
  await dialogue.modalSays('agent', 'Paid (confirmed)');
}

function formOf(card: NewCard | undefined): { token: string; email: string } {
  if (!card) throw new Error('There are too few cards.');
  return { token: card.tokenKey, email: card.customerEmail };
}

/** Ten digits: nothing else here has them by chance. */
function newCode(): string {
  return String(randomInt(1_000_000_000, 9_999_999_999));
}
