import { randomBytes, randomInt } from 'node:crypto';
import { rightOtp } from '../../src/simulators/payments/bank.ts';
import { foreignTokenKey, seedCards } from '../../src/simulators/payments/seed.ts';
import { chargeReferences, saveCards, type NewCard } from './charge-line.ts';
import { reviews, type Desk, type Typed as TypedCharge } from './desk.ts';
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
const resend = 'otp_resend';

/** A house whose bots have everything to keep secret: every story of a charge once, each to its end. */
export async function walkCharges(desk: Desk): Promise<Walk> {
  const { house } = desk;
  const typed: Typed = { codes: {}, strayCodes: [], cardNumbers: [], tokens: [] };
  const cards = await saveCards(house, 5);
  await typeCardNumbers(desk, typed);
  await Promise.all([walkOtp(desk, typed), walkOutcomes(desk, 'onCall', cards)]);
  await walkRejections(desk, typed, cards);
  await walkWeather(desk, cards);
  return { typed, cards };
}

const pan = '5555555555554444';
/** As people type them. */
const panForms = [pan, '5555 5555 5555 4444', '5555-5555-5555-4444', '4000.0025.0000.3155'];

/** In a command, in every field of the form, in the list of cards: refused without a word of it. */
async function typeCardNumbers(desk: Desk, typed: Typed): Promise<void> {
  typed.cardNumbers.push(...panForms);
  const { house } = desk;
  for (const [index, words] of panForms
    .flatMap((form) => [`charge ${form}`, `otp ${form}`, form])
    .entries()) {
    // oxlint-disable-next-line no-await-in-loop -- each is seen refused
    await house.type('agent', `/pay ${words}`);
    // oxlint-disable-next-line no-await-in-loop
    await house.until('it is refused', () => house.seenBy('agent').length > index);
  }
  await desk.opens('agent', '/pay charge 12,500.00');
  await seeks(desk, pan);
  const token = 'Or the card’s token key';
  const good = {
    [token]: seedCards.approves.tokenKey,
    Amount: '10.00',
    'Customer’s e-mail': 'ada.obi@example.com',
  };
  for (const field of [...Object.keys(good), 'Customer id', 'Reason']) {
    for (const number of panForms) {
      // oxlint-disable-next-line no-await-in-loop -- one modal
      const modal = await desk.submits('agent', { ...good, [field]: number });
      if (Object.keys(modal?.problems ?? {}).join() !== field)
        throw new Error(`${field} took a card number.`);
    }
  }
  await desk.closes('agent');
}

/** Types it into the list of saved cards of the open form, which may find nothing. */
async function seeks(desk: Desk, text: string): Promise<void> {
  const top = desk.modal('agent');
  const list = top?.blocks.find(
    (block) => (block['element'] as { type?: string })?.type === 'external_select',
  );
  const { action_id: actionId = '' } = (list?.['element'] ?? {}) as { action_id?: string };
  const place = { blockId: list?.block_id ?? '', actionId, viewId: top?.id ?? '' };
  await desk.does('agent', { kind: 'suggest', text, ...place });
}

/** Up to the press that charges, where the review has one. */
async function charge(desk: Desk, person: Person, typed: TypedCharge): Promise<void> {
  const { submit } = await reviews(desk, person, typed);
  if (submit !== undefined) await desk.submits(person);
}

/** Wrong, another code asked for, handed over, wrong, right; with the bot's own ways back into the modal. */
async function walkOtp(desk: Desk, typed: Typed): Promise<void> {
  const { house } = desk;
  const { tokenKey: token, customerEmail: email } = seedCards.requiresOtp;
  await charge(desk, 'agent', { token, email, amount: '2,500.00', reason: 'Second instalment' });
  await desk.modalSays('agent', codeField);
  for (const number of [pan, '5555 5555 5555 4444']) {
    // oxlint-disable-next-line no-await-in-loop
    const modal = await desk.submits('agent', { [codeField]: number });
    if (Object.keys(modal?.problems ?? {}).length !== 1) throw new Error('A card number passed for a code.');
  }
  const first = newCode();
  typed.codes[first] = 1;
  await desk.submits('agent', { [codeField]: ` ${first.slice(0, 5)}-${first.slice(5)} ` });
  await desk.modalSays('agent', '2 of 3 tries left');
  // What stands in the field comes along with every press.
  const standing = newCode();
  typed.strayCodes.push(standing);
  await resendsWith(desk, standing);
  await desk.modalSays('agent', 'on its way');
  await desk.closes('agent');
  const [reference = ''] = chargeReferences(house).filter((one) => isWaiting(house, one));
  for (const before of [`${reference} `, '']) {
    const code = newCode();
    typed.strayCodes.push(code);
    const seen = house.seenBy('agent').length;
    // oxlint-disable-next-line no-await-in-loop -- each is seen refused
    await house.type('agent', `/pay otp ${before}${code}`);
    // oxlint-disable-next-line no-await-in-loop
    await house.until('it is refused', () => house.seenBy('agent').length > seen);
  }
  await desk.does('agent', { kind: 'open_home' });
  await desk.opens('lead', `/pay otp ${reference}`);
  await desk.presses('lead', 'Take over');
  await desk.modalSays('lead', codeField);
  const second = newCode();
  typed.codes[second] = 1;
  await desk.submits('lead', { [codeField]: second });
  await desk.modalSays('lead', '1 of 3 tries left');
  typed.codes[rightOtp] = 1;
  await desk.submits('lead', { [codeField]: rightOtp });
  await desk.modalSays('lead', 'Paid (confirmed)');
  await house.type('lead', '/pay doubt');
}

/** What stands in the field comes along with the press. */
async function resendsWith(desk: Desk, code: string): Promise<void> {
  const top = desk.modal('agent');
  const input = top?.blocks.find(({ type }) => type === 'input');
  const { action_id: field = '' } = (input?.['element'] ?? {}) as { action_id?: string };
  const values = { [input?.block_id ?? '']: { [field]: { type: 'plain_text_input', value: code } } };
  const blockId = top?.blocks.find((block) => JSON.stringify(block).includes(resend))?.block_id ?? '';
  const container = { type: 'view', viewId: top?.id ?? '' } as const;
  const pressed = { blockId, actionId: resend, element: { type: 'button' }, container, values } as const;
  await desk.does('agent', { kind: 'block_action', ...pressed });
}

function isWaiting({ payments }: House, reference: string): boolean {
  return payments
    .state()
    .orders.some((one) => one.orderReference === reference && one.state === 'awaiting_otp');
}

/** Approved, with a card of the list; declined; 3-D Secure with its link; and the two kinds of lost answers. */
async function walkOutcomes(desk: Desk, person: Person, [lost, broken]: readonly NewCard[]): Promise<void> {
  await charge(desk, person, { card: '4081', amount: '12,500.00', customerId: 'CUST-17' });
  await desk.modalSays(person, 'Paid (confirmed)');
  await charge(desk, person, { card: '6640', amount: '900.00' });
  await desk.modalSays(person, 'Declined by the bank');
  // Refused by the rule before anything is sent.
  await charge(desk, person, { ...formOf(seedCards.declines), amount: '901.00' });
  await desk.modalSays(person, 'Card on hold until');
  await charge(desk, person, { card: '9018', amount: '900.00' });
  await desk.modalSays(person, 'Declined by the bank');
  await desk.presses(person, 'Payment link');
  await desk.modalSays(person, 'It charges nobody by itself');
  await charge(desk, person, { ...formOf(lost), amount: '5,000.06' });
  await desk.modalSays(person, 'Paid (confirmed)');
  await charge(desk, person, { ...formOf(broken), amount: '5,000.11' });
  await desk.modalSays(person, 'Paid (confirmed)');
}

/** Every row of the specification's table that an agent can cause, and what the form itself refuses. */
async function walkRejections(desk: Desk, typed: Typed, [, , card]: readonly NewCard[]): Promise<void> {
  const made = `tok-canary-${randomBytes(8).toString('hex')}`;
  const other = `tok-canary-${randomBytes(8).toString('hex')}`;
  typed.tokens.push(made, other);
  const email = 'ada.obi@example.com';
  const notSent: TypedCharge[] = [
    { token: made, email, amount: '10.00' },
    { token: foreignTokenKey, email, amount: '10.00' },
    { ...formOf(card), email: 'somebody.else@example.com', amount: '10.00' },
    { ...formOf(card), email: 'not..quite@example.com', amount: '11.00' },
    { ...formOf(card), amount: '10.14' },
  ];
  for (const form of notSent) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other in front of one person
    await charge(desk, 'agent', form);
    // oxlint-disable-next-line no-await-in-loop
    await desk.modalSays('agent', 'Not sent (fix the request)');
  }
  await desk.opens('agent', '/pay charge');
  await seeks(desk, other);
  await reviews(desk, 'agent', { token: `${other} pasted twice ${other}`, email, amount: '10.00' });
  await reviews(desk, 'agent', { token: other, amount: 'ten' });
  await reviews(desk, 'agent', { token: other, email, amount: '10.00' });
  await desk.presses('agent', 'Change');
  await desk.modalSays('agent', 'Paste the token key again');
  await desk.closes('agent');
}

/** The service in the states in which the bot logs most. */
async function walkWeather(desk: Desk, [, , , one, two]: readonly NewCard[]): Promise<void> {
  const { payments } = desk.house;
  await payments.act({ kind: 'set_weather', weather: 'unauthorized' });
  await charge(desk, 'agent', { ...formOf(one), amount: '20.00' });
  await desk.modalSays('agent', 'Not sent (fix the request)');
  await payments.act({ kind: 'set_weather', weather: 'error_500' });
  await charge(desk, 'agent', { ...formOf(two), amount: '20.00' });
  await desk.modalSays('agent', 'In doubt, checking');
  await payments.act({ kind: 'set_weather', weather: 'normal' });
  await desk.presses('agent', 'Check now');
  await desk.modalSays('agent', 'Paid (confirmed)');
}

function formOf(card: NewCard | undefined): { token: string; email: string } {
  if (!card) throw new Error('There are too few cards.');
  return { token: card.tokenKey, email: card.customerEmail };
}

/** Ten digits: nothing else here has them by chance. */
function newCode(): string {
  return String(randomInt(1_000_000_000, 9_999_999_999));
}
