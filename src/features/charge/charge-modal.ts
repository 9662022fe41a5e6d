import { amountOnly, formatMoney, parseAmount, type Money } from '../../domain/money.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import {
  actions,
  button,
  noticeLine,
  modal,
  richText,
  select,
  textInput,
  words,
} from '../../slack/kit/blocks.ts';
import type { ViewValues } from '../../slack/command.ts';
import type { Modal, ModalBlock } from '../../slack/kit/message.ts';
import { oneLine, outsideText } from '../../slack/kit/text.ts';
import {
  cardInput,
  emailFormProblem,
  longestEmail,
  readCardChoice,
  tokenInput,
  type CardChoice,
  type OfferedCard,
} from '../../slack/kit/card-inputs.ts';
import { chargeActions } from './charge-actions.ts';
import { moneyTitle, placeFoot, type ChargePlace } from '../../slack/words/charge-place.ts';

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

/** What an agent typed and chose. `tokenKey` is a secret. */
export type ChargeForm = {
  card: CardChoice;
  money: Money;
  /** Absent: the one the card is saved with. */
  customerEmail?: string;
  customerId?: string;
  reason?: string;
};

export type ChargePrefill = {
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
  /** From these amounts on a second person decides. */
  approvalFrom?: readonly Money[];
  /** The failed charge it is to make good, by the id of its card; the form gives it back as its metadata. */
  alert?: string;
};

const longestCustomerId = 100;
const longestReason = 300;
const longestMoney = 40;

/** Collects a charge; nothing is sent by it. No field for a card number exists, and none takes one. */
export function chargeModal(options: ChargeModalOptions): Modal {
  const { place, ledger, prefill = {}, isWhole = false } = options;
  const takesToken = isWhole || !ledger || prefill.customerEmail !== undefined;
  const takesCustomerId = isWhole || prefill.customerId !== undefined;
  const blocks: ModalBlock[] = [
    ...problems(options).map((problem) => noticeLine('warning', problem)),
    richText([words('You review it before anything is charged.')]),
    ...(ledger ? [cardInput(chargeFields.card, prefill.card, { optional: takesToken })] : []),
    ...(takesToken ? tokenInputs(ledger, prefill) : []),
    ...moneyInputs(options, prefill),
    textInput({
      id: chargeFields.reason,
      label: 'Reason',
      hint: 'For colleagues, not sent.',
      maxLength: longestReason,
      optional: true,
      ...filled(prefill.reason),
    }),
    ...(takesCustomerId
      ? [
          textInput({
            id: chargeFields.customerId,
            label: 'Customer id',
            maxLength: longestCustomerId,
            optional: true,
            ...filled(prefill.customerId),
          }),
        ]
      : []),
    ...(takesToken && takesCustomerId
      ? []
      : [actions(button({ actionId: chargeActions.more, text: 'More fields' }))]),
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

function problems({ problem, currencies, prefill = {} }: ChargeModalOptions): string[] {
  const { amountMinor: minor, currency } = prefill;
  const isElsewhere = minor !== undefined && currency !== undefined && !isOffered(currencies, currency);
  return [
    ...(problem === undefined ? [] : [problem]),
    ...(isElsewhere
      ? [
          `The failed charge was ${outsideText(formatMoney({ minor, currency }), longestMoney)}, but this account only charges in ${currencies.join(', ')}. Enter the amount.`,
        ]
      : []),
  ];
}

/** An amount is one of its own currency: beside another one it would be another charge. */
function isOffered(currencies: readonly string[], currency: string | undefined): boolean {
  return currency === undefined || currencies.includes(currency);
}

function moneyInputs(
  { currencies, approvalFrom = [] }: ChargeModalOptions,
  prefill: ChargePrefill,
): ModalBlock[] {
  const { amountMinor, currency } = prefill;
  const chosen = currencies.find((one) => one === currency) ?? currencies[0];
  const [only, ...others] = currencies;
  const isOne = only !== undefined && others.length === 0;
  const hints = [
    ...(isOne ? [`In ${only}.`] : []),
    ...(approvalFrom.length === 0
      ? []
      : [`Needs approval from ${approvalFrom.map((money) => formatMoney(money)).join(', ')}.`]),
  ];
  return [
    textInput({
      id: chargeFields.amount,
      label: 'Amount',
      placeholder: '12,500.00',
      ...(hints.length === 0 ? {} : { hint: hints.join(' ') }),
      ...(amountMinor !== undefined && isOffered(currencies, currency)
        ? { initial: amountOnly(amountMinor) }
        : {}),
    }),
    ...(isOne
      ? []
      : [
          select({
            id: chargeFields.currency,
            label: 'Currency',
            choices: currencies.map((one) => ({ text: one, value: one })),
            ...(chosen === undefined ? {} : { initial: chosen }),
          }),
        ]),
  ];
}

function tokenInputs(ledger: boolean, { customerEmail }: ChargePrefill): ModalBlock[] {
  return [
    tokenInput(chargeFields.token, ledger),
    textInput({
      id: chargeFields.email,
      label: 'Customer’s e-mail',
      hint: 'Required with a token key.',
      maxLength: longestEmail,
      optional: true,
      ...filled(customerEmail),
    }),
  ];
}

function filled(initial: string | undefined): { initial?: string } {
  return initial === undefined || initial === '' ? {} : { initial };
}

export type ReadCharge =
  | { kind: 'read'; form: ChargeForm }
  | { kind: 'errors'; errors: Record<string, string> };

/** Everything that is wrong at once, each at its own field and without repeating what was typed; else the charge. */
export function readChargeModal(values: ViewValues, currencies: readonly string[]): ReadCharge {
  const card = readCardChoice(values, chargeFields);
  const amount = parseAmount(values[chargeFields.amount] ?? '');
  // Where there is one, the form does not ask.
  const only = currencies.length === 1 ? currencies[0] : undefined;
  const currency = (values[chargeFields.currency] ?? only ?? '').trim().toUpperCase();
  const person = readPerson(values);
  const isPasted = card.ok && card.value.kind === 'pasted';
  const errors = withoutUndefined({
    [chargeFields.token]: card.ok ? undefined : card.problem,
    [chargeFields.amount]: amount.ok ? undefined : amount.problem,
    [chargeFields.currency]: currencyProblem(currency),
    [chargeFields.email]: emailProblem(person.customerEmail, isPasted),
    [chargeFields.customerId]: customerIdProblem(person.customerId),
  });
  if (!card.ok || !amount.ok || Object.keys(errors).length > 0) return { kind: 'errors', errors };
  const money = { minor: amount.value, currency };
  return { kind: 'read', form: { card: card.value, money, ...withoutUndefined(person) } };
}

/** As the review shows them: what nobody sees is not sent either. */
function readPerson(
  values: ViewValues,
): Record<'customerEmail' | 'customerId' | 'reason', string | undefined> {
  const read = (id: string): string | undefined => oneLine(values[id] ?? '') || undefined;
  return {
    customerEmail: read(chargeFields.email),
    customerId: read(chargeFields.customerId),
    reason: read(chargeFields.reason),
  };
}

function currencyProblem(currency: string): string | undefined {
  return /^[A-Z]{3}$/.test(currency) ? undefined : 'A currency is three letters, like NGN.';
}

function emailProblem(email: string | undefined, isNeeded: boolean): string | undefined {
  if (email === undefined) {
    return isNeeded ? 'Needed with a pasted token key: the e-mail the card is saved with.' : undefined;
  }
  return emailFormProblem(email);
}

function customerIdProblem(id: string | undefined): string | undefined {
  if (id === undefined || id.length <= longestCustomerId) return undefined;
  return `A customer id has at most ${longestCustomerId} characters.`;
}
