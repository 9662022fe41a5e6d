import { z } from 'zod';
import { amountOnly, formatMoney, parseAmount } from '../../domain/money.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import {
  actions,
  button,
  modal,
  noticeLine,
  richText,
  textInput,
  words,
  bold,
  code,
  context,
  fields,
  header,
  person,
  plainText,
  type Run,
} from '../../slack/kit/blocks.ts';
import type { ViewValues } from '../../slack/command.ts';
import type { Modal, ModalBlock } from '../../slack/kit/message.ts';
import { oneLine, outsideText } from '../../slack/kit/text.ts';
import {
  type CardChoice,
  type OfferedCard,
  cardInput,
  readCardChoice,
  tokenInput,
  choice,
  codec,
  email,
  form,
  optional,
  text,
} from '../../slack/kit/form.ts';
import { type ChargePlace, moneyTitle, placeFoot } from '../../slack/words/charge-place.ts';
import type { ChargeSeen, ChargeTerms, ShownTerms } from '../../domain/charge.ts';
import { nextSteps, reasonAfter, type CardRefusal, type Twin } from '../../domain/decline-reason.ts';
import type { KnownCards } from '../../domain/saved-card.ts';
import { cardChoice, pasteAgainWords, cardWords } from '../../slack/words/card-words.ts';
import { customerWord, referenceRun, word } from '../../slack/words/evidence.ts';
import { chargeActions, showButton } from './charge-screens.ts';
import { type ChargeScreens, formParts } from './charge-views.ts';
import type { ApprovalNeeded } from '../../domain/approval.ts';
import { parsed, problem } from '../../domain/parsed.ts';
import { outcomeWords } from '../../slack/words/state-words.ts';
import { limits } from '../../slack/kit/limits.ts';
import { holdLines } from '../../slack/words/next-steps.ts';
import { counted } from '../../domain/wording.ts';
import { amountWord, emailWord, labelled, plain, termFields } from '../../slack/words/charge-facts.ts';
import { notChargedModal } from './limit-words.ts';

export const chargeModalId = 'charge';

/** The block ids of the fields; a field's error is told under the same name. */
export const chargeFields = {
  card: chargeActions.card,
  token: 'charge_token',
  amount: 'charge_amount',
  currency: 'charge_currency',
  email: 'charge_email',
  customerId: 'charge_customer_id',
  reason: 'charge_reason',
} as const;

type ChargePrefill = {
  card?: OfferedCard;
  amountMinor?: number;
  currency?: string;
  customerEmail?: string;
  customerId?: string;
  reason?: string;
};

export type ChargeModalOptions = {
  place: ChargePlace;
  /** The first is chosen when nothing else is. */
  currencies: readonly string[];
  /** Whether saved cards are known and can be chosen. */
  ledger: boolean;
  prefill?: ChargePrefill;
  problem?: string;
  /** With the fields that few need: the token key of a card that is not known, its e-mail, the customer's id. */
  isWhole?: boolean;
  /** The failed charge it is to make good, by the id of its card; the form gives it back as its metadata. */
  alert?: string;
};

const longestCustomerId = 100;
const longestReason = 300;
const longestMoney = 40;

/** A currency is asked for where there are several. */
function inputsOf(currencies: readonly string[], isWhole: boolean) {
  const [only = '', ...others] = currencies;
  const hint = others.length === 0 ? { hint: `In ${only}.` } : {};
  const currency = choice({
    label: 'Currency',
    choices: currencies.map((one) => ({ text: one, value: one })),
  });
  const customerId = optional(
    text({ label: 'Customer id', maxLength: longestCustomerId }, (typed) =>
      typed.length <= longestCustomerId
        ? parsed(typed)
        : problem(`A customer id has at most ${longestCustomerId} characters.`),
    ),
  );
  const reason = { label: 'Reason', hint: 'For colleagues, not sent.', maxLength: longestReason };
  return form('charge', {
    amount: text({ label: 'Amount', placeholder: '12,500.00', ...hint }, parseAmount),
    ...(others.length === 0 ? {} : { currency }),
    reason: optional(text(reason, parsed)),
    ...(isWhole
      ? {
          email: optional(email({ label: 'Customer’s e-mail', hint: 'Required with a token key.' })),
          customer_id: customerId,
        }
      : {}),
  });
}

/** Collects a charge; nothing is sent by it. No field for a card number exists, and none takes one. */
export function chargeModal(options: ChargeModalOptions): Modal {
  const { place, ledger, currencies, prefill = {} } = options;
  const { amountMinor, currency, customerEmail, reason, customerId } = prefill;
  // An amount is one of its own currency: beside another one it would be another charge.
  const isOffered = currency === undefined || currencies.includes(currency);
  const amount = amountMinor === undefined || !isOffered ? undefined : amountOnly(amountMinor);
  const filled = { email: customerEmail, amount, currency, reason, customer_id: customerId };
  const isWhole = options.isWhole || !ledger || customerEmail !== undefined || customerId !== undefined;
  const blocks: ModalBlock[] = [
    ...problems(options, isOffered).map((problem) => noticeLine('warning', problem)),
    richText([words('You review it before anything is charged.')]),
    ...(ledger ? [cardInput(chargeFields.card, prefill.card, { optional: isWhole })] : []),
    ...(isWhole ? [tokenInput(chargeFields.token, ledger)] : []),
    ...inputsOf(currencies, isWhole).inputs(filled),
    ...(isWhole ? [] : [actions(button({ actionId: chargeActions.more, text: 'More fields' }))]),
    placeFoot(place),
  ];
  return modal({
    callbackId: chargeModalId,
    title: moneyTitle('Charge a card', place),
    blocks,
    submit: 'Review',
    ...(options.alert === undefined ? {} : { privateMetadata: options.alert }),
  });
}

function problems({ problem, currencies, prefill = {} }: ChargeModalOptions, isOffered: boolean): string[] {
  const { amountMinor: minor, currency } = prefill;
  const told = problem === undefined ? [] : [problem];
  if (minor === undefined || currency === undefined || isOffered) return told;
  const amount = outsideText(formatMoney({ minor, currency }), longestMoney);
  return [
    ...told,
    `The failed charge was ${amount}, but this account only charges in ${currencies.join(', ')}. Enter the amount.`,
  ];
}

/**
 * The form on terms that are at hand without their token key, which is never put back into a modal: one that the bot
 * knows no card of has to be pasted again. What they make good stays theirs: once that is paid, nothing is charged for
 * it. `card`: by its id; undefined: another is to be chosen.
 */
export async function formAgain(
  deps: ChargeScreens,
  { money, customerId, reason, alert, customerEmail }: ShownTerms,
  card: string | undefined,
): Promise<Modal> {
  const known = card === undefined ? undefined : await deps.ledger?.find(card);
  // Left empty where the card's own serves, so that another card can be chosen without touching it.
  const isOwn = card === undefined || customerEmail === known?.customerEmail;
  return chargeModal({
    ...formParts(deps),
    prefill: withoutUndefined({
      card: known && cardChoice(known),
      amountMinor: money.minor,
      currency: money.currency,
      customerEmail: isOwn ? undefined : customerEmail,
      customerId,
      reason,
    }),
    ...withoutUndefined({ alert }),
    ...(known || card === undefined ? {} : { isWhole: true, problem: pasteAgainWords }),
  });
}

/** The form with all its fields: Slack keeps what was typed into those that stay, and what was filled in stands there again. */
export async function wholeForm(
  deps: ChargeScreens,
  { values, privateMetadata: alert }: { values: ViewValues; privateMetadata: string },
): Promise<Modal> {
  const amount = parseAmount(values[chargeFields.amount] ?? '');
  const chosen = values[chargeFields.card];
  const card = chosen === undefined ? undefined : await deps.ledger?.find(chosen);
  return chargeModal({
    ...formParts(deps),
    isWhole: true,
    prefill: withoutUndefined({
      card: card && cardChoice(card),
      amountMinor: amount.ok ? amount.value : undefined,
      currency: values[chargeFields.currency],
      reason: values[chargeFields.reason],
    }),
    ...(alert === '' ? {} : { alert }),
  });
}

/** The card itself is what was wrong, so that another is chosen. */
export function isCardWrong({ state, bankWords, nextTry }: ChargeSeen): boolean {
  if (state.kind === 'rejected') return state.reason === 'invalid_token';
  if (state.kind !== 'declined') return false;
  return nextSteps[reasonAfter(state.why ?? bankWords, nextTry)].kind === 'another_card';
}

type ReadTerms =
  | { kind: 'terms'; terms: ChargeTerms }
  /** By block id. Never what was typed, and a card's e-mail only masked. */
  | { kind: 'errors'; errors: Record<string, string> };

type Card = Pick<ChargeTerms, 'tokenKey' | 'card' | 'customerEmail'>;

/**
 * What the filled form would charge, whole: the card behind the choice, and the e-mail it is saved with. Else everything
 * that is wrong at once, each at its own field and without repeating what was typed.
 */
export async function readTerms(
  values: ViewValues,
  currencies: readonly string[],
  ledger: KnownCards | undefined,
): Promise<ReadTerms> {
  const chosen = readCardChoice(values, chargeFields);
  const filled = inputsOf(currencies, true).read(values);
  const isUnmailed =
    chosen.ok && chosen.value.kind === 'pasted' && oneLine(values[chargeFields.email] ?? '') === '';
  // The field of the token key may not be there.
  const cardField =
    ledger && (values[chargeFields.token] ?? '') === '' ? chargeFields.card : chargeFields.token;
  const needed = 'Needed with a pasted token key: the e-mail the card is saved with.';
  const errors = {
    ...(filled.kind === 'errors' ? filled.errors : {}),
    ...(isUnmailed ? { [chargeFields.email]: needed } : {}),
    ...(chosen.ok ? {} : { [cardField]: chosen.problem }),
  };
  if (!chosen.ok || filled.kind === 'errors' || isUnmailed) return { kind: 'errors', errors };
  const {
    amount,
    currency = currencies[0] ?? '',
    customer_id: customerId,
    reason,
    email: typed,
  } = filled.read;
  const card = await readCard(chosen.value, typed ?? '', ledger);
  if ('errors' in card) return { kind: 'errors', errors: card.errors };
  const money = { minor: amount, currency };
  return { kind: 'terms', terms: { ...card, money, ...withoutUndefined({ customerId, reason }) } };
}

/**
 * A pasted token may be one of a card the bot knows: then people see which. Its typed e-mail stands, for whoever pastes a
 * token may know of a change that the bot has not heard of.
 *
 * Spec: charge a saved card (order.customerEmail must equal the e-mail the card was saved with).
 */
async function readCard(
  card: CardChoice,
  typed: string,
  ledger: KnownCards | undefined,
): Promise<Card | { errors: Record<string, string> }> {
  if (card.kind === 'pasted') {
    const { tokenKey } = card;
    const known = await ledger?.find(await ledger.idOf(tokenKey));
    return { tokenKey, card: known?.face ?? {}, customerEmail: typed };
  }
  const found = await ledger?.find(card.id);
  if (!found) {
    const gone = 'The bot does not know this card any more. Choose another, or paste its token key.';
    return { errors: { [chargeActions.card]: gone } };
  }
  const linked = found.customerEmail?.trim() ?? '';
  if (linked === '' && typed === '') {
    const unknown =
      'The bot does not know this card’s e-mail. Type the one it was saved with: More fields, Customer’s e-mail.';
    return { errors: { [chargeFields.card]: unknown } };
  }
  if (linked !== '' && typed !== '' && typed.toLowerCase() !== linked.toLowerCase()) {
    const fix = 'the service refuses any other. Leave it empty to use that one.';
    return { errors: { [chargeFields.email]: `The card is saved with ${customerWord(linked)}; ${fix}` } };
  }
  return { tokenKey: found.tokenKey, card: found.face, customerEmail: linked || typed };
}

export const termsModalId = 'charge_terms';
/** In the review of a card on hold: submitting it asks a second person, who reads this. */
const whyNowField = 'charge_why_now';

const longestWhyNow = 300;
const longestRule = 300;

const whyNowInput = textInput({
  id: whyNowField,
  label: 'Why now',
  hint: 'The approver reads it.',
  maxLength: longestWhyNow,
});

type Agreed = { kind: 'agreed'; draft: string; despite?: string; override?: string };

/** What a submitted review agrees to, and why a card on hold is to be charged now; `stale`: not what the bot made. */
export function readTermsModal(
  values: ViewValues,
  metadata: string,
): Agreed | { kind: 'stale' } | { kind: 'errors'; errors: Record<string, string> } {
  const agreed = agreedTerms.read(metadata);
  if (!agreed) return { kind: 'stale' };
  const { [whyNowField]: typed } = values;
  if (typed === undefined) return { kind: 'agreed', ...agreed };
  const override = oneLine(typed);
  const missing = 'Say in a few words why the card should be charged now.';
  return override === ''
    ? { kind: 'errors', errors: { [whyNowField]: missing } }
    : { kind: 'agreed', ...agreed, override };
}

type TermsModalOptions = {
  place: ChargePlace;
  terms: ShownTerms;
  /** Stands for exactly these terms. */
  draft: string;
  /** Charged shortly before: the person is asked whether they mean it. */
  twin?: Twin;
  /** The card can't be charged now; with `approval` a second person may decide that it is. */
  hold?: CardRefusal;
  /** Submitting asks a second person. */
  approval?: ApprovalNeeded;
  nowMs: number;
};

/** The exact terms with every restriction on them; its submit button says what it does: charge, or ask. */
export function termsModal(options: TermsModalOptions): Modal {
  const { place, terms, draft, twin, hold, approval, nowMs } = options;
  // With a restriction on it there is enough to read.
  const isPlain = !hold && !approval && !twin;
  const amount = amountWord(terms.money);
  const email = emailWord(terms.customerEmail);
  const { Reason: reason, 'Customer id': customerId } = termFields(terms);
  const blocks: ModalBlock[] = [
    ...(isLiveAmongOthers(place) ? [header(`🔴 Real money: ${word(place.account)}`)] : []),
    ...(twin ? twinBlocks(twin, nowMs) : []),
    richText(plain('Charge ', bold(amount), ' to ', bold(cardWords(terms.card)), ' of ', bold(email), '.')),
    ...restrictions(options),
    ...fields({ 'Customer id': customerId, Reason: reason }),
    actions(
      button({ actionId: chargeActions.change, text: 'Change' }),
      ...(hold?.kind === 'under_way' ? [showButton(hold.reference)] : []),
    ),
    context(
      plainText(word(place.account) ?? ''),
      plainText(isPlain ? 'Nothing sent yet. Expires in 30 minutes.' : 'Nothing sent yet.'),
    ),
  ];
  return modal({
    callbackId: termsModalId,
    title: moneyTitle('Review', place),
    blocks,
    ...(hold && !approval
      ? {}
      : { submit: approval ? 'Ask for approval' : submitWords(terms, twin !== undefined) }),
    close: 'Cancel',
    privateMetadata: agreedTerms.write({ draft, ...(twin ? { despite: twin.reference } : {}) }),
  });
}

/** What stands between the terms and the charge. */
function restrictions({ hold, approval, nowMs }: TermsModalOptions): ModalBlock[] {
  const mayAsk = approval !== undefined;
  const held = hold && (hold.kind === 'under_way' ? underWay(hold, nowMs) : holdLines(hold, { mayAsk }));
  return [
    ...(held ? [richText(...held)] : []),
    ...(approval && !hold
      ? [richText(labelled('Needs approval', `${outsideText(approval.rule, longestRule)}.`))]
      : []),
    ...(hold && approval ? [whyNowInput] : []),
  ];
}

/** What was reviewed is gone or different by now. */
export function staleTermsModal(place: ChargePlace): Modal {
  const next = labelled('Next', 'start over with ', code('/pay charge'), '.');
  const note = { state: '⌛ This review has expired', body: [plain('Nothing was charged.'), next] };
  return notChargedModal(note, place);
}

function underWay(
  { reference, by, at }: Extract<CardRefusal, { kind: 'under_way' }>,
  nowMs: number,
): Run[][] {
  return [
    labelled('Another charge of this card is still open', person(by), `, ${minutesAgo(at, nowMs)}.`),
    [referenceRun(reference)],
    plain('Wait for its result.'),
  ];
}

function minutesAgo(atMs: number, nowMs: number): string {
  const minutes = Math.floor((nowMs - atMs) / 60_000);
  return minutes < 1 ? 'just now' : `${counted(minutes, 'minute')} ago`;
}

/** In a bot with sandbox accounts too, an agent’s hands may be used to charges that cost nobody anything. */
function isLiveAmongOthers({ environment, isMixed }: ChargePlace): boolean {
  return environment === 'live' && isMixed === true;
}

/** "Charge NGN 12,500.00", or what of it a button of a modal holds; never an amount without its currency, or a cut one. */
function submitWords({ money }: ShownTerms, isAgain: boolean): string {
  const amount = amountWord(money);
  const whole = isAgain ? [`Charge again ${amount}`, `Again: ${amount}`] : [`Charge ${amount}`];
  const fits = whole.find((text) => text.length <= limits.viewButton);
  return fits ?? (isAgain ? 'Charge again' : 'Charge');
}

function twinBlocks(twin: Twin, nowMs: number): ModalBlock[] {
  return [
    noticeLine('warning', `Charged ${minutesAgo(twin.at, nowMs)}: same card, same amount. Is it owed twice?`),
    richText(labelled('The first', person(twin.by), ', ', twinWords[twin.outcome]), [
      referenceRun(twin.reference),
    ]),
  ];
}

const twinWords: Record<Twin['outcome'], string> = {
  approved: `${outcomeWords.paid}.`,
  declined: `${outcomeWords.declined}.`,
  three_d_secure: `${outcomeWords.declined}: 3-D Secure.`,
  review: `${outcomeWords.review}: money may have moved. Don’t charge again before somebody has checked.`,
  cleared: 'no money known to have moved.',
};

/** Which terms a modal is about, and the twin that was shown beside them: no secret. */
export const agreedTerms = codec(z.object({ draft: z.string().min(1), despite: z.string().exactOptional() }));
