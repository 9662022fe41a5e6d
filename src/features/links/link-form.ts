import type { InputBlock } from '@slack/types';
import { amountOnly, parseAmount } from '../../domain/money.ts';
import {
  type OrderReference,
  longestOrderReference,
  parseOrderReference,
} from '../../domain/order-reference.ts';
import type { LinkTerms, PaymentLink } from '../../domain/payment-link.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { modal, plainText, rich, richText, select, textInput } from '../../slack/kit/blocks.ts';
import { emailFormProblem, longestEmail } from '../../slack/kit/card-inputs.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import { type ChargePlace, placeFoot, placeTitle } from '../../slack/words/charge-place.ts';
import type { ViewValues } from '../../slack/command.ts';
import type { Modal, ModalBlock } from '../../slack/kit/message.ts';
import { oneLine } from '../../slack/kit/text.ts';
import { linkHead, linkModalId, shareModalId } from './link-message.ts';

/** The block ids of the fields; a field's error is told under the same name. */
export const linkFields = {
  amount: 'link_amount',
  currency: 'link_currency',
  email: 'link_email',
  saves: 'link_saves_card',
  customerId: 'link_customer_id',
  reference: 'link_reference',
  place: 'link_place',
} as const;

export type LinkPrefill = {
  amountMinor?: number;
  currency?: string;
  customerEmail?: string;
  customerId?: string;
  savesCard?: boolean;
  reference?: string;
};

type LinkFormOptions = {
  place: ChargePlace;
  /** The first is chosen when nothing else is. */
  currencies: readonly string[];
  /** Where it was asked for, unless that is the person's own conversation; the form gives it back as its metadata. */
  channel?: string;
  prefill?: LinkPrefill;
};

const longestCustomerId = 100;
const saving = { yes: 'save', no: 'once' } as const;
const standing = { here: 'here', alone: 'alone' } as const;

/** Collects what a link is made of. Submitting it asks the service for an order; nobody is charged by that. */
export function linkForm({ place, currencies, channel, prefill = {} }: LinkFormOptions): Modal {
  const blocks: ModalBlock[] = [
    richText(rich`The customer pays on the payments service’s page. It charges nobody by itself.`),
    ...moneyInputs(currencies, prefill),
    ...customerInputs(prefill),
    textInput({
      id: linkFields.reference,
      label: 'Our reference',
      hint: 'Must be unique. Leave empty to have one generated.',
      maxLength: longestOrderReference,
      optional: true,
      ...filled(prefill.reference),
    }),
    ...(channel === undefined ? [] : [placeInput()]),
    placeFoot(place),
  ];
  return modal({
    callbackId: linkModalId,
    title: placeTitle('Payment link', place),
    blocks,
    submit: 'Create the link',
    ...(channel === undefined ? {} : { privateMetadata: channel }),
  });
}

function moneyInputs(currencies: readonly string[], prefill: LinkPrefill): ModalBlock[] {
  const { amountMinor, currency, savesCard = true } = prefill;
  const chosen = currencies.find((one) => one === currency) ?? currencies[0];
  return [
    textInput({
      id: linkFields.amount,
      label: 'Amount',
      placeholder: '12,500.00',
      ...filled(amountMinor === undefined ? undefined : amountOnly(amountMinor)),
    }),
    select({
      id: linkFields.currency,
      label: 'Currency',
      choices: currencies.map((one) => ({ text: one, value: one })),
      ...filled(chosen),
    }),
    select({
      id: linkFields.saves,
      label: 'Card',
      choices: [
        { text: 'Save the card for later charges', value: saving.yes },
        { text: 'Don’t save it', value: saving.no },
      ],
      initial: savesCard ? saving.yes : saving.no,
    }),
  ];
}

function customerInputs({ customerEmail, customerId }: LinkPrefill): ModalBlock[] {
  return [
    textInput({
      id: linkFields.email,
      label: 'Customer’s e-mail',
      hint: 'The card is saved with it.',
      maxLength: longestEmail,
      ...filled(customerEmail),
    }),
    textInput({
      id: linkFields.customerId,
      label: 'Customer id',
      maxLength: longestCustomerId,
      optional: true,
      ...filled(customerId),
    }),
  ];
}

function placeInput(): ModalBlock {
  return select({
    id: linkFields.place,
    label: 'Post it',
    hint: 'The message says when it’s paid.',
    choices: [
      { text: 'In this channel', value: standing.here },
      { text: 'To me only', value: standing.alone },
    ],
    initial: standing.here,
  });
}

function filled(initial: string | undefined): { initial?: string } {
  return initial === undefined || initial === '' ? {} : { initial };
}

type ReadLink =
  | { kind: 'read'; terms: LinkTerms; reference?: OrderReference; isForAll: boolean }
  /** By block id; never what was typed. */
  | { kind: 'errors'; errors: Record<string, string> };

/** Everything that is wrong at once, each at its own field. */
export function readLinkForm(values: ViewValues): ReadLink {
  const read = (id: string): string => oneLine(values[id] ?? '');
  const amount = parseAmount(read(linkFields.amount));
  const currency = read(linkFields.currency).toUpperCase();
  const customerEmail = read(linkFields.email);
  const customerId = read(linkFields.customerId);
  const typed = read(linkFields.reference);
  const reference = typed === '' ? undefined : parseOrderReference(typed);
  const errors = withoutUndefined({
    [linkFields.amount]: amount.ok ? undefined : amount.problem,
    [linkFields.currency]: /^[A-Z]{3}$/.test(currency) ? undefined : 'A currency is three letters, like NGN.',
    [linkFields.email]: emailFormProblem(customerEmail),
    [linkFields.customerId]: customerIdProblem(customerId),
    [linkFields.reference]: reference?.ok === false ? reference.problem : undefined,
  });
  if (!amount.ok || reference?.ok === false || Object.keys(errors).length > 0)
    return { kind: 'errors', errors };
  const terms: LinkTerms = {
    money: { minor: amount.value, currency },
    customerEmail,
    savesCard: read(linkFields.saves) !== saving.no,
    ...(customerId === '' ? {} : { customerId }),
  };
  const isForAll = read(linkFields.place) === standing.here;
  return { kind: 'read', terms, isForAll, ...(reference ? { reference: reference.value } : {}) };
}

function customerIdProblem(id: string): string | undefined {
  return id.length <= longestCustomerId
    ? undefined
    : `A customer id has at most ${longestCustomerId} characters.`;
}

export const takenProblem = 'Another link has this reference. Choose another, or leave it empty.';

export const shareField = 'link_share_channel';

/** Asks for the channel that gets a card of this link as well. */
export function shareModal(link: PaymentLink, place: ChargePlace): Modal {
  return modal({
    callbackId: shareModalId,
    title: placeTitle('Share a link', place),
    blocks: [
      ...noteMessage({
        ...linkHead(link),
        body: [rich`Everybody in the channel sees the link, the amount and the masked e-mail.`],
      }).blocks,
      channelInput(),
      placeFoot(place),
    ],
    submit: 'Share it',
    privateMetadata: link.reference,
  });
}

function channelInput(): InputBlock {
  return {
    type: 'input',
    block_id: shareField,
    label: plainText('Channel'),
    element: {
      type: 'conversations_select',
      action_id: shareField,
      default_to_current_conversation: true,
      filter: { include: ['public', 'private'], exclude_bot_users: true },
    },
  };
}

export function readShareModal(values: ViewValues): string | undefined {
  return values[shareField];
}

export const cannotPostProblem =
  'The bot cannot post there. Invite it to the channel first, or choose another.';
