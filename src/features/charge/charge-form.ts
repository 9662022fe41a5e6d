import type { Account } from '../../account.ts';
import type { ChargeSeen, ChargeTerms, ShownTerms } from '../../domain/charge.ts';
import { nextSteps, reasonAfter } from '../../domain/decline-reason.ts';
import { type Money, amountOnly, formatMoney, parseAmount } from '../../domain/money.ts';
import { parsed } from '../../domain/wording.ts';
import type { KnownCard, KnownCards } from '../../domain/card.ts';
import { withoutUndefined } from '../../domain/json.ts';
import type { FormErrors, ViewValues } from '../../slack/command.ts';
import { actions, button, modal, noticeLine, richText, select, words } from '../../slack/kit/blocks.ts';
import {
  type CardChoice,
  type OfferedCard,
  cardInput,
  currencyField,
  email,
  form,
  optional,
  readCardChoice,
  text,
  tokenInput,
} from '../../slack/kit/form.ts';
import type { Modal, ViewBlock } from '../../slack/kit/message.ts';
import { oneLine, outsideText } from '../../slack/kit/text.ts';
import { chosenCard, offeredCard, pasteAgainWords, unknownCardWords } from '../../slack/words/card-words.ts';
import { amountLabel } from '../../slack/words/charge-facts.ts';
import { accountFoot } from '../../slack/words/account-foot.ts';
import { customerWord } from '../../slack/words/payment-words.ts';
import { chargeActions } from './charge-modal.ts';

export const chargeModalId = 'charge';

/** The fields' block ids, at which errors are shown, too. */
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

type ChargeFormOptions = {
  prefill?: ChargePrefill;
  problem?: string;
  /** Shows also the rarely needed fields: an unknown card's token key and e-mail, and the customer's id. */
  isWhole?: boolean;
  /** If given, only these cards can be chosen. */
  cards?: readonly KnownCard[];
  /** The id of the alert that the charge should resolve; kept in the form's metadata. */
  alert?: string;
};

const longestCustomerId = 100;
const longestReason = 300;
const longestMoney = 40;

/** The form's inputs. It asks for the currency only if there are several. */
function inputsOf(currencies: readonly string[], isWhole: boolean) {
  const reason = {
    label: 'Reason',
    hint: 'Colleagues and approvers read it, never the customer.',
    maxLength: longestReason,
  };
  return form('charge', {
    // The token key, which requires the e-mail, is directly above.
    ...(isWhole
      ? { email: optional(email({ label: 'Customer’s e-mail', hint: 'Required with a token key.' })) }
      : {}),
    amount: text({ label: amountLabel(currencies), placeholder: '12,500.00' }, parseAmount),
    ...(currencies.length > 1 ? { currency: currencyField(currencies) } : {}),
    reason: optional(text(reason, parsed)),
    ...(isWhole
      ? { customer_id: optional(text({ label: 'Customer id', maxLength: longestCustomerId }, parsed)) }
      : {}),
  });
}

export type ChargeForm = ReturnType<typeof createChargeForm>;

/** Opens, refills and reads one account's form. Without a `ledger` every token key must be pasted. */
export function createChargeForm(
  { shownAccount, settings }: Pick<Account, 'shownAccount' | 'settings'>,
  ledger: KnownCards | undefined,
) {
  const currencies = settings.chargeCurrencies;

  /** The form for a charge; submitting it sends nothing yet. No field accepts a card number. */
  function open(options: ChargeFormOptions): Modal {
    const { prefill = {}, problem, cards, alert } = options;
    const { amountMinor: minor, currency, customerEmail, reason, customerId } = prefill;
    const isWhole = options.isWhole || !ledger || customerEmail !== undefined || customerId !== undefined;
    // Don't prefill an amount in a currency that can't be chosen: in another currency it would be another charge.
    const isOther = minor !== undefined && currency !== undefined && !currencies.includes(currency);
    const amount = minor === undefined || isOther ? undefined : amountOnly(minor);
    const warnings = [
      ...(problem === undefined ? [] : [problem]),
      ...(isOther ? [otherCurrencyWords({ minor, currency }, currencies)] : []),
    ];
    return modal({
      callbackId: chargeModalId,
      title: 'Charge a card',
      blocks: [
        ...warnings.map((warning) => noticeLine('warning', warning)),
        richText([words('You review it before anything is charged.')]),
        ...(ledger ? [cardField(cards, prefill.card, isWhole)] : []),
        ...(isWhole ? [tokenInput(chargeFields.token, ledger !== undefined)] : []),
        ...inputsOf(currencies, isWhole).inputs({
          email: customerEmail,
          amount,
          currency,
          reason,
          customer_id: customerId,
        }),
        ...(isWhole || cards ? [] : [actions(button({ actionId: chargeActions.more, text: 'More fields' }))]),
        accountFoot(shownAccount),
      ],
      submit: 'Review',
      ...(alert === undefined ? {} : { privateMetadata: alert }),
    });
  }

  return {
    open,

    /**
     * The form filled with earlier terms, and for the same alert. `card`: the id of the card to choose; undefined: the
     * person must choose another one. If the bot doesn't know the card, its token key must be pasted again: a token key
     * must never return to a modal.
     */
    async refilled(terms: ShownTerms, card: string | undefined): Promise<Modal> {
      const { money, customerId, reason, alert, customerEmail } = terms;
      const known = card === undefined ? undefined : await ledger?.find(card);
      // Leave the e-mail empty if it is the card's own, so that another card can be chosen without editing it.
      const isOwn = card === undefined || customerEmail === known?.customerEmail;
      return open({
        prefill: withoutUndefined({
          card: known && offeredCard(known),
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

    /** The form with all fields, filled with what the short form has. */
    async whole(view: { values: ViewValues; privateMetadata: string }): Promise<Modal> {
      const { values, privateMetadata: alert } = view;
      const amount = parseAmount(values[chargeFields.amount] ?? '');
      const chosen = values[chargeFields.card];
      const card = chosen === undefined ? undefined : await ledger?.find(chosen);
      return open({
        isWhole: true,
        prefill: withoutUndefined({
          card: card && offeredCard(card),
          amountMinor: amount.ok ? amount.value : undefined,
          currency: values[chargeFields.currency],
          reason: values[chargeFields.reason],
        }),
        ...(alert === '' ? {} : { alert }),
      });
    },

    /**
     * Reads the submitted form: the terms, with the chosen card and its e-mail; or all problems, each at its field.
     */
    async read(values: ViewValues): Promise<ReadTerms> {
      const chosen = readCardChoice(values, chargeFields);
      const filled = inputsOf(currencies, true).read(values);
      const typedEmail = oneLine(values[chargeFields.email] ?? '');
      const lacksEmail = chosen.ok && chosen.value.kind === 'pasted' && typedEmail === '';
      const card = chosen.ok ? await readCard(chosen.value, typedEmail, ledger) : undefined;
      // The short form has no field for the token key, so show the error at the card.
      const cardField =
        ledger && (values[chargeFields.token] ?? '') === '' ? chargeFields.card : chargeFields.token;
      const needed = 'Needed with a pasted token key: the e-mail the card is saved with.';
      const errors = {
        ...(card && 'errors' in card ? card.errors : {}),
        ...(filled.kind === 'errors' ? filled.errors : {}),
        ...(lacksEmail ? { [chargeFields.email]: needed } : {}),
        ...(chosen.ok ? {} : { [cardField]: chosen.problem }),
      };
      if (!card || 'errors' in card || filled.kind === 'errors' || lacksEmail)
        return { kind: 'errors', errors };
      const { amount, currency = currencies[0] ?? '', customer_id: customerId, reason } = filled.read;
      const money = { minor: amount, currency };
      return { kind: 'terms', terms: { ...card, money, ...withoutUndefined({ customerId, reason }) } };
    },
  };
}

function cardField(
  cards: readonly KnownCard[] | undefined,
  chosen: OfferedCard | undefined,
  isOptional: boolean,
): ViewBlock {
  if (!cards) return cardInput(chargeFields.card, chosen, { optional: isOptional });
  const choices = cards.map((card) => ({ ...offeredCard(card), value: card.id }));
  return select({ id: chargeFields.card, label: 'Saved card', choices });
}

function otherCurrencyWords(money: Money, currencies: readonly string[]): string {
  const amount = outsideText(formatMoney(money), longestMoney);
  return `The failed charge was ${amount}, but this account only charges in ${currencies.join(', ')}. Enter the amount.`;
}

/** Whether the charge failed because of the card itself, so that another card must be chosen. */
export function isCardWrong({ state, bankWords, nextTry }: ChargeSeen): boolean {
  if (state.kind === 'rejected') return state.reason === 'invalid_token';
  if (state.kind !== 'declined') return false;
  return nextSteps[reasonAfter(state.why ?? bankWords, nextTry)].kind === 'another_card';
}

type ReadTerms =
  | { kind: 'terms'; terms: ChargeTerms }
  /** A card's e-mail is in them only masked. */
  | FormErrors;

type Card = Pick<ChargeTerms, 'tokenKey' | 'card' | 'customerEmail'>;

/**
 * The chosen or pasted card. For a pasted token the typed e-mail is used even if the bot knows the card: the person may
 * know of a change that the bot has missed.
 *
 * Spec: charge a saved card (order.customerEmail must equal the e-mail the card was saved with).
 */
async function readCard(
  card: CardChoice,
  typedEmail: string,
  ledger: KnownCards | undefined,
): Promise<Card | Pick<FormErrors, 'errors'>> {
  const found = await chosenCard(card, ledger);
  if (!found) return { errors: { [chargeFields.card]: unknownCardWords } };
  const { tokenKey, face, saved: linked = '' } = found;
  if (card.kind === 'pasted') return { tokenKey, card: face, customerEmail: typedEmail };
  if (linked === '' && typedEmail === '') {
    const unknown =
      'The bot does not know this card’s e-mail. Type the one it was saved with: More fields, Customer’s e-mail.';
    return { errors: { [chargeFields.card]: unknown } };
  }
  if (linked !== '' && typedEmail !== '' && typedEmail.toLowerCase() !== linked.toLowerCase()) {
    const fix = 'the service refuses any other. Leave it empty to use that one.';
    return { errors: { [chargeFields.email]: `The card is saved with ${customerWord(linked)}; ${fix}` } };
  }
  return { tokenKey, card: face, customerEmail: linked || typedEmail };
}
