import type { Button, RichTextBlock } from '@slack/types';
import { z } from 'zod';
import type { OpenPayment } from '../../domain/alert.ts';
import { asAccepted } from '../../domain/charge.ts';
import { alertNewsBlocks } from '../../slack/words/alert-news.ts';
import { openPaymentBlocks } from '../../slack/words/twins.ts';
import { outcomeWords } from '../../slack/words/state-words.ts';
import { cardSavedLines, cardSavedState } from '../../slack/words/card-words.ts';
import {
  bold,
  type Run,
  button,
  code,
  codeLines,
  fields,
  modal,
  moment,
  openButton,
  person,
  rich,
  richText,
} from '../../slack/kit/blocks.ts';
import { amountLabel, amountWord, labelled } from '../../slack/words/charge-facts.ts';
import { type ShownAccount, checkedFoot, accountFoot } from '../../slack/words/account-foot.ts';
import { type PostAttempt, type Note, noteMessage, forPosting } from '../../slack/kit/note.ts';
import {
  customerWord,
  proofButton,
  proofLine,
  provenWords,
  quoted,
  referenceWord,
  word,
} from '../../slack/words/payment-words.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import { messageModal } from '../../slack/kit/modals.ts';
import { type MessageKey, messageKey } from '../../messages/message-record.ts';
import type { Renders } from '../../messages/deliver.ts';
import { amountOnly, parseAmount } from '../../domain/money.ts';
import { longestOrderReference, parseOrderReference } from '../../domain/order-reference.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { choice, currencyField, codec, email, form, optional, text } from '../../slack/kit/form.ts';
import type { ViewValues } from '../../slack/command.ts';
import { parsed } from '../../domain/wording.ts';
import { type LinkState, type PaymentLink, openLinkOf } from './link-case.ts';

const linkEventType = 'payops_link';

const stateWords: Record<LinkState['kind'], string> = {
  asking: '⏳ Asking for a payment link',
  open: '🔗 Payment link, not paid yet',
  confirming: `🕓 ${outcomeWords.approved}`,
  paid: `✅ ${outcomeWords.paid}`,
  given_back: `↩️ ${outcomeWords.givenBack}`,
  review: `🚨 ${outcomeWords.review}`,
  aged: '⌛ No payment yet',
  lost: '⚠️ No payment link',
  refused: '⛔ No payment link: request refused',
};

/** The first line: state, amount, customer, reference. */
export function linkHead(
  { cardSaved, terms, reference, state }: PaymentLink,
  kind = state.kind,
): { state: string; about: string[] } {
  return {
    state: cardSavedState(cardSaved, stateWords[kind]),
    about: [amountWord(terms.money), customerWord(terms.customerEmail), referenceWord(reference)],
  };
}

/** A link's message, edited as its state changes. Pure: equal links give equal messages. */
export function linkMessage(link: PaymentLink, account: ShownAccount, about: PostAttempt): SlackMessage {
  return forPosting(shownLink(link, account), linkEventType, about);
}

/** The content of a link's message and modal. `where`: a sentence that says where the message was posted. */
export function shownLink(link: PaymentLink, account: ShownAccount, where: Run[] = []): SlackMessage {
  return noteMessage({
    ...linkHead(link),
    body: [
      ...body(link, account),
      ...alertNewsOf(link),
      ...(where.length === 0 ? [] : [richText(where)]),
      ...fields({
        'The service’s order id': link.order && [code(word(link.order.orderId) ?? '')],
        'Customer id': word(link.terms.customerId),
        'Asked by': [person(link.by)],
      }),
    ],
    buttons: buttonsOf(link, account),
    foot: foot(link, account),
  });
}

function alertNewsOf(link: PaymentLink): RichTextBlock[] {
  const money = link.state.kind === 'paid' ? 'paid' : openLinkOf(link).length > 0 ? 'may_move' : 'none';
  return alertNewsBlocks(link.alertNews, money);
}

export function linkModal(link: PaymentLink, account: ShownAccount, where?: Run[]): Modal {
  return messageModal('Payment link', shownLink(link, account, where));
}

/** A note that mentions the requester: an edit of the message doesn't notify them. */
export function linkNoteMessage(
  note: LinkNote,
  link: PaymentLink,
  account: ShownAccount,
  about: PostAttempt,
): SlackMessage {
  const message = noteMessage({
    ...linkHead(link, note),
    body: [rich`${person(link.by)}: ${noteWords[note]}`, ...alertNewsOf(link)],
    foot: foot(link, account),
  });
  return forPosting(message, `${linkEventType}_note`, about);
}

const reviewWords = 'money may have moved, but not as agreed. Don’t deliver; ask the payments service.';
const givenBackWords = 'its money went back to the customer. If you delivered, tell your payments lead.';
const noteWords = { paid: 'your link is paid.', review: reviewWords, given_back: givenBackWords } as const;

function body(link: PaymentLink, account: ShownAccount): NonNullable<Note['body']> {
  const { state, order, evidence, terms, alertNews } = link;
  const proof = evidence ? proofLine(evidence) : [];
  // Other links never save a card, so they say nothing about it.
  const saved = terms.savesCard ? cardSavedLines(link.cardSaved, account) : [];
  switch (state.kind) {
    case 'asking':
      return [
        rich`Waiting for the payments service. Nobody is charged by this.`,
        rich`You may close this: the link appears in its message.`,
      ];
    case 'open': {
      const how = terms.savesCard ? 'by card, which is saved.' : 'there. No card is saved.';
      return [
        ...(order ? [codeLines([order.checkoutLink])] : []),
        alertNews
          ? labelled('Next', 'don’t send it, unless the customer still owes this.')
          : labelled('Copy it and send it to the customer', `they pay ${amountWord(terms.money)} ${how}`),
        ...failure(link),
      ];
    }
    case 'confirming':
      return [
        rich`${bold('Don’t deliver yet.')} The event says paid; the look-up doesn’t prove it.`,
        labelled('Next', 'the bot keeps checking. Don’t ask the customer to pay again.'),
        ...proof,
        ...saved,
      ];
    case 'paid':
      return saved;
    case 'review':
      return [labelled('Review', reviewWords), ...proof];
    case 'given_back':
      return [labelled('Next', 'don’t deliver. If you did already, tell your payments lead.'), ...proof];
    case 'aged':
      return [rich`The customer can still pay; then this message says so.`, ...failure(link)];
    case 'lost':
      return state.why === undefined
        ? [rich`The service gave no clear answer; nobody was charged.`, labelled('Next', 'press New link.')]
        : quoted('Why:', state.why);
    case 'refused':
      return quoted('Why:', state.why);
  }
}

/** A failed try of the customer, who may try again. */
function failure({ failure: failed }: PaymentLink): RichTextBlock[] {
  if (!failed) return [];
  return [
    richText(labelled('A try failed', moment(failed.atMs), '. The link can still be paid.')),
    ...quoted('The bank says:', failed.why),
  ];
}

function buttonsOf(
  { reference, terms, order, alertNews, state: { kind } }: PaymentLink,
  { environment }: ShownAccount,
): Button[] {
  const check = button({ actionId: linkActions.check, text: 'Look up', value: reference });
  const again = (text: string): Button => button({ actionId: linkActions.again, text, value: reference });
  switch (kind) {
    case 'open':
      return [...(order ? openButton('Open link', order.checkoutLink) : []), check];
    case 'confirming':
    case 'review':
      return [check];
    case 'aged':
      return [check, again('New link')];
    case 'lost':
      return [again('New link')];
    case 'refused':
      return [again('Correct and try again')];
    case 'paid':
      // No proof if people must first find out whether to give the money back.
      return alertNews ? [] : proofButton(environment, reference, terms.money.minor);
    case 'asking':
    case 'given_back':
      return [];
  }
}

function foot({ state, evidence }: PaymentLink, account: ShownAccount): ReturnType<typeof checkedFoot> {
  return state.kind === 'paid'
    ? checkedFoot(account, state.atMs, evidence && provenWords(evidence))
    : accountFoot(account);
}

/** Buttons of payment links. Each has the reference as its value. */
export const linkActions = {
  check: 'link_check',
  show: 'link_show',
  again: 'link_again',
} as const;

export const linkModalId = 'link';

/** The outcomes that get a note. */
type LinkNote = keyof typeof noteWords;

/** A link's message, and the notes below it. */
export type LinkBodies = {
  link: { reference: string };
  link_note: { reference: string; what: LinkNote };
};

export function linkRenders(
  findLink: (reference: string) => Promise<PaymentLink | undefined>,
  account: ShownAccount,
): Renders<LinkBodies> {
  async function requireLink(reference: string): Promise<PaymentLink> {
    const link = await findLink(reference);
    if (!link) throw new Error('The link of a message is not in the store.');
    return link;
  }
  return {
    async link({ reference }, _work, about) {
      const link = await requireLink(reference);
      return { kind: 'shown', message: linkMessage(link, account, about), orTo: link.by };
    },
    /** In a channel the note is posted in the thread of the link's message; in a direct message without a thread. */
    async link_note({ reference, what: note }, { record: { channel } }, about) {
      const link = await requireLink(reference);
      // The link has changed meanwhile; another note says how.
      if (link.state.kind !== note) return { kind: 'nothing' };
      const message = linkNoteMessage(note, link, account, about);
      const shown = { kind: 'shown', message, calls: [link.by] } as const;
      return channel === link.by ? shown : { ...shown, below: { key: linkMessageKey(link) } };
    },
  };
}

export function linkMessageKey({ reference, place: channel }: PaymentLink): MessageKey<'link'> {
  return messageKey('link', `${channel}:${reference}`);
}

/** Prefilled fields of the form. */
export type LinkPrefill = Partial<Omit<PaymentLink['terms'], 'money'>> & {
  amountMinor?: number;
  currency?: string;
  reference?: string;
};

type LinkFormOptions = {
  shownAccount: ShownAccount;
  /** The first currency is the default. */
  currencies: readonly string[];
  /** The channel of the request, unless it was a direct message; kept in the form's metadata. */
  channel?: string;
  prefill?: LinkPrefill;
  /** The id of the alert that it should resolve; kept in the form's metadata too. */
  alert?: string;
  /** That alert's links that may be paid; submitting the form accepts them. */
  openLinks?: readonly OpenPayment[];
  nowMs: number;
};

/** `channel`: of the request. `despite`: the accepted links of the alert. */
const linkMetadata = codec(
  z.object({
    channel: z.string().exactOptional(),
    alert: z.string().exactOptional(),
    despite: z.array(z.string()).exactOptional(),
  }),
);

const longestCustomerId = 100;
/** Values of the form's choices. */
const [here, save, once] = ['here', 'save', 'once'];

/** With `channel`, the form also asks whether to post the link there. */
function linkFields(currencies: readonly string[], channel: string | undefined) {
  const where = choice({
    label: 'Post it',
    hint: 'The message says when it’s paid.',
    choices: [
      { text: 'In this channel', value: here },
      { text: 'To me only', value: 'alone' },
    ],
  });
  return form('link', {
    amount: text({ label: amountLabel(currencies), placeholder: '12,500.00' }, parseAmount),
    ...(currencies.length > 1 ? { currency: currencyField(currencies) } : {}),
    email: email({ label: 'Customer’s e-mail', hint: 'A saved card is charged with this e-mail.' }),
    saves_card: choice({
      label: 'Card',
      choices: [
        { text: 'Save the card for later charges', value: save },
        { text: 'Don’t save it', value: once },
      ],
    }),
    customer_id: optional(text({ label: 'Customer id', maxLength: longestCustomerId }, parsed)),
    reference: optional(
      text(
        {
          label: 'Our reference',
          hint: 'Must be unique. Leave empty to have one generated.',
          maxLength: longestOrderReference,
        },
        parseOrderReference,
      ),
    ),
    ...(channel === undefined ? {} : { place: where }),
  });
}

/** The form for a link's terms. Submitting it requests an order, which charges nobody. */
export function linkForm(options: LinkFormOptions): Modal {
  const { shownAccount, currencies, channel, alert, prefill = {}, openLinks = [], nowMs } = options;
  const { amountMinor, currency, savesCard = true, customerEmail, customerId, reference } = prefill;
  const isOffered = currency === undefined || currencies.includes(currency);
  const filled = {
    // Leave the amount empty if its currency isn't offered: in another currency it would be another amount.
    amount: amountMinor === undefined || !isOffered ? undefined : amountOnly(amountMinor),
    currency,
    saves_card: savesCard ? save : once,
    email: customerEmail,
    customer_id: customerId,
    reference,
  };
  return modal({
    callbackId: linkModalId,
    title: 'Payment link',
    blocks: [
      ...openPaymentBlocks(openLinks, nowMs),
      richText(rich`The customer pays on the payments service’s page. It charges nobody by itself.`),
      ...linkFields(currencies, channel).inputs(filled),
      accountFoot(shownAccount),
    ],
    submit: 'Create the link',
    privateMetadata: linkMetadata.write({
      ...withoutUndefined({ channel, alert }),
      ...(openLinks.length > 0 && { despite: openLinks.map(asAccepted) }),
    }),
  });
}

/** The form's values. `channel`: where the link's message goes; absent: to the person alone. */
export function readLinkForm(values: ViewValues, currencies: readonly string[], metadata: string) {
  const about = linkMetadata.read(metadata);
  const expired = { link_amount: 'This form has expired. Open it again.' };
  if (!about) return { kind: 'errors', errors: expired } as const;
  const { channel, ...ofAlert } = about;
  const filled = linkFields(currencies, channel).read(values);
  if (filled.kind === 'errors') return filled;
  const {
    amount,
    currency = currencies[0] ?? '',
    saves_card,
    email: customerEmail,
    customer_id,
    reference,
    place,
  } = filled.read;
  const terms: PaymentLink['terms'] = {
    money: { minor: amount, currency },
    customerEmail,
    savesCard: saves_card !== once,
    ...withoutUndefined({ customerId: customer_id }),
  };
  return {
    kind: 'read',
    terms,
    ...ofAlert,
    ...withoutUndefined({ reference, channel: place === here ? channel : undefined }),
  } as const;
}

export const takenErrors = {
  link_reference: 'A charge or another link has this reference. Choose another, or leave it empty.',
};
