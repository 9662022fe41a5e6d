import type { Account } from '../../account.ts';
import type { ChargeSeen, ChargeTerms, ShownTerms } from '../../domain/charge.ts';
import { nextSteps, reasonAfter } from '../../domain/decline-reason.ts';
import { amountOnly, formatMoney, parseAmount } from '../../domain/money.ts';
import { parsed, problem } from '../../domain/wording.ts';
import type { KnownCard, KnownCards } from '../../domain/card.ts';
import { withoutUndefined } from '../../domain/json.ts';
import type { ViewValues } from '../../slack/command.ts';
import { actions, button, modal, noticeLine, richText, select, words } from '../../slack/kit/blocks.ts';
import {
  type CardChoice,
  type OfferedCard,
  cardInput,
  choice,
  email,
  form,
  optional,
  readCardChoice,
  text,
  tokenInput,
} from '../../slack/kit/form.ts';
import type { Modal, ModalBlock } from '../../slack/kit/message.ts';
import { oneLine, outsideText } from '../../slack/kit/text.ts';
import { cardChoice, pasteAgainWords } from '../../slack/words/card-words.ts';
import { amountLabel } from '../../slack/words/charge-facts.ts';
import { type ChargePlace, placeFoot } from '../../slack/words/charge-place.ts';
import { customerWord } from '../../slack/words/evidence.ts';
import { chargeActions } from './charge-screens.ts';

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

type ChargeModalOptions = {
  place: ChargePlace;
  /** The first is chosen when nothing else is. */
  currencies: readonly string[];
  /** Whether saved cards are known and can be chosen. */
  ledger: boolean;
  prefill?: ChargePrefill;
  problem?: string;
  /** With the fields that few need: the token key of a card that is not known, its e-mail, the customer's id. */
  isWhole?: boolean;
  /** The customer's cards, to choose one of them and nothing else. */
  cards?: readonly KnownCard[];
  /** The failed charge it is to make good, by the id of its card; the form gives it back as its metadata. */
  alert?: string;
};

const longestCustomerId = 100;
const longestReason = 300;
const longestMoney = 40;

/** A currency is asked for where there are several. */
function inputsOf(currencies: readonly string[], isWhole: boolean) {
  const [, ...others] = currencies;
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
  const reason = {
    label: 'Reason',
    hint: 'Colleagues and approvers read it, never the customer.',
    maxLength: longestReason,
  };
  return form('charge', {
    // Right below the token key, which needs it.
    ...(isWhole
      ? { email: optional(email({ label: 'Customer’s e-mail', hint: 'Required with a token key.' })) }
      : {}),
    amount: text({ label: amountLabel(currencies), placeholder: '12,500.00' }, parseAmount),
    ...(others.length === 0 ? {} : { currency }),
    reason: optional(text(reason, parsed)),
    ...(isWhole ? { customer_id: customerId } : {}),
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
    ...(ledger ? [cardField(options, isWhole)] : []),
    ...(isWhole ? [tokenInput(chargeFields.token, ledger)] : []),
    ...inputsOf(currencies, isWhole).inputs(filled),
    ...(isWhole || options.cards
      ? []
      : [actions(button({ actionId: chargeActions.more, text: 'More fields' }))]),
    placeFoot(place),
  ];
  return modal({
    callbackId: chargeModalId,
    title: 'Charge a card',
    blocks,
    submit: 'Review',
    ...(options.alert === undefined ? {} : { privateMetadata: options.alert }),
  });
}

function cardField({ cards = [], prefill = {} }: ChargeModalOptions, isWhole: boolean): ModalBlock {
  if (cards.length === 0) return cardInput(chargeFields.card, prefill.card, { optional: isWhole });
  const choices = cards.map((card) => ({ ...cardChoice(card), value: card.id }));
  return select({ id: chargeFields.card, label: 'Saved card', choices });
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

export type ChargeForm = ReturnType<typeof createChargeForm>;

/** The form of one merchant account, as it is opened, filled again and read. `ledger`: undefined, and every token key is pasted. */
export function createChargeForm({ place, settings }: Account, ledger: KnownCards | undefined) {
  const currencies = settings.chargeCurrencies;
  const open = (filled: Omit<ChargeModalOptions, 'place' | 'currencies' | 'ledger'> = {}): Modal =>
    chargeModal({ place, currencies, ledger: ledger !== undefined, ...filled });
  return {
    open,

    /**
     * The form on terms that are at hand without their token key, which is never put back into a modal: one that the bot
     * knows no card of has to be pasted again. What they make good stays theirs: once that is paid, nothing is charged for
     * it. `card`: by its id; undefined: another is to be chosen.
     */
    async again(terms: ShownTerms, card: string | undefined): Promise<Modal> {
      const { money, customerId, reason, alert, customerEmail } = terms;
      const known = card === undefined ? undefined : await ledger?.find(card);
      // Left empty where the card's own serves, so that another card can be chosen without touching it.
      const isOwn = card === undefined || customerEmail === known?.customerEmail;
      return open({
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
    },

    /** With all its fields: Slack keeps what was typed into those that stay, and what was filled in stands there again. */
    async whole(view: { values: ViewValues; privateMetadata: string }): Promise<Modal> {
      const { values, privateMetadata: alert } = view;
      const amount = parseAmount(values[chargeFields.amount] ?? '');
      const chosen = values[chargeFields.card];
      const card = chosen === undefined ? undefined : await ledger?.find(chosen);
      return open({
        isWhole: true,
        prefill: withoutUndefined({
          card: card && cardChoice(card),
          amountMinor: amount.ok ? amount.value : undefined,
          currency: values[chargeFields.currency],
          reason: values[chargeFields.reason],
        }),
        ...(alert === '' ? {} : { alert }),
      });
    },

    /**
     * What the filled form would charge, whole: the card behind the choice, and the e-mail it is saved with. Else everything
     * that is wrong at once, each at its own field and without repeating what was typed.
     */
    async read(values: ViewValues): Promise<ReadTerms> {
      const chosen = readCardChoice(values, chargeFields);
      const filled = inputsOf(currencies, true).read(values);
      const typed = oneLine(values[chargeFields.email] ?? '');
      const isUnmailed = chosen.ok && chosen.value.kind === 'pasted' && typed === '';
      const card = chosen.ok ? await readCard(chosen.value, typed, ledger) : undefined;
      // The field of the token key may not be there.
      const cardField =
        ledger && (values[chargeFields.token] ?? '') === '' ? chargeFields.card : chargeFields.token;
      const needed = 'Needed with a pasted token key: the e-mail the card is saved with.';
      const errors = {
        ...(card && 'errors' in card ? card.errors : {}),
        ...(filled.kind === 'errors' ? filled.errors : {}),
        ...(isUnmailed ? { [chargeFields.email]: needed } : {}),
        ...(chosen.ok ? {} : { [cardField]: chosen.problem }),
      };
      if (!card || 'errors' in card || filled.kind === 'errors' || isUnmailed)
        return { kind: 'errors', errors };
      const { amount, currency = currencies[0] ?? '', customer_id: customerId, reason } = filled.read;
      const money = { minor: amount, currency };
      return { kind: 'terms', terms: { ...card, money, ...withoutUndefined({ customerId, reason }) } };
    },
  };
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
