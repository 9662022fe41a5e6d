import type { ActionsBlock, Button, RichTextBlock } from '@slack/types';
import { outcomeWords } from '../../domain/outcome.ts';
import type { LinkNote, LinkState, PaymentLink } from '../../domain/payment-link.ts';
import { cardSavedLines, cardSavedState } from '../../slack/words/card-saved-lines.ts';
import {
  type Run,
  actions,
  button,
  code,
  codeLines,
  fields,
  headline,
  moment,
  person,
  richText,
} from '../../slack/kit/blocks.ts';
import { amountWord, labelled, plain } from '../../slack/words/charge-facts.ts';
import { type ChargePlace, messageFoot, placeTitle } from '../../slack/words/charge-place.ts';
import { type AboutMessage, repeatLine } from '../../slack/kit/note.ts';
import { customerWord, quoted, referenceWord, proofLine, word } from '../../slack/words/evidence.ts';
import type { MessageBlock, Modal, SlackMessage } from '../../slack/kit/message.ts';
import { wordsModal } from '../../slack/kit/modals.ts';
import { messageKey } from '../../messages/message-record.ts';
import type { Views } from '../../messages/views.ts';

const linkEventType = 'payops_link';

const stateWords: Record<LinkState['kind'], string> = {
  asking: '⏳ Asking for a payment link',
  open: '🔗 Payment link, not paid yet',
  confirming: `🕓 ${outcomeWords.approved}`,
  paid: `✅ ${outcomeWords.paid}`,
  review: `🚨 ${outcomeWords.review}`,
  aged: '⌛ No payment came so far',
  lost: '⚠️ The link is lost',
  unanswered: '⚠️ No payment link',
  refused: `⛔ ${outcomeWords.rejected}`,
};

/** The first line: state, amount, customer, reference. */
export function linkHeadline(link: PaymentLink): { text: string; block: RichTextBlock } {
  const { state, cardSaved, terms, reference } = link;
  return headline(cardSavedState(cardSaved, stateWords[state.kind]), [
    amountWord(terms.money),
    customerWord(terms.customerEmail),
    referenceWord(reference),
  ]);
}

/** A link's card, edited as it goes on; the same link gives the same card. One that is paid loses its link and buttons. */
export function linkMessage(link: PaymentLink, place: ChargePlace, about: AboutMessage): SlackMessage {
  const { text, block } = linkHeadline(link);
  return {
    text,
    blocks: [
      block,
      ...body(link, place),
      ...facts(link),
      ...buttons(link),
      foot(link, place),
      ...repeatLine(about.mayBeRepeat),
    ],
    metadata: { event_type: linkEventType, event_payload: { key: about.key } },
  };
}

/** The same for the one person who asks to see it; `where` says where its card stands. */
export function shownLink(link: PaymentLink, place: ChargePlace, where: Run[] = []): SlackMessage {
  const { text, block } = linkHeadline(link);
  return {
    text,
    blocks: [
      block,
      ...body(link, place),
      ...(where.length === 0 ? [] : [richText(where)]),
      ...facts(link),
      ...buttons(link),
      foot(link, place),
    ],
  };
}

export function linkModal(link: PaymentLink, place: ChargePlace, where?: Run[]): Modal {
  return wordsModal(placeTitle('Payment link', place), shownLink(link, place, where));
}

/** Beside the card, for whoever asked: an edit tells nobody. It names them, so that they are called. */
export function linkNoteMessage(
  note: LinkNote,
  link: PaymentLink,
  place: ChargePlace,
  about: AboutMessage,
): SlackMessage {
  const { terms, reference, cardSaved, by } = link;
  const { text, block } = headline(cardSavedState(cardSaved, stateWords[note]), [
    amountWord(terms.money),
    customerWord(terms.customerEmail),
    referenceWord(reference),
  ]);
  const said = note === 'paid' ? 'your link is paid.' : reviewWords;
  return {
    text,
    blocks: [
      block,
      richText(plain(person(by), `: ${said}`)),
      foot(link, place),
      ...repeatLine(about.mayBeRepeat),
    ],
    metadata: { event_type: `${linkEventType}_note`, event_payload: { key: about.key } },
  };
}

const reviewWords = 'money may have moved, but not as agreed. Give no value; ask the payments service.';

function body(link: PaymentLink, place: ChargePlace): MessageBlock[] {
  const { state, order, evidence } = link;
  const proof = evidence ? [proofLine(evidence)] : [];
  switch (state.kind) {
    case 'asking':
      return [richText(...askingLines)];
    case 'open':
      return [
        ...(order ? [codeLines([order.checkoutLink])] : []),
        richText(...openLines(link)),
        ...failure(link),
      ];
    case 'confirming':
      return [richText(...confirmingLines), ...proof, ...saved(link, place)];
    case 'paid':
      return [...proof, ...saved(link, place)];
    case 'review':
      return [richText(labelled('Review', reviewWords)), ...proof];
    case 'aged':
      return [richText(...agedLines), ...failure(link)];
    case 'lost':
    case 'unanswered':
      return [richText(...lostLines[state.kind])];
    case 'refused':
      return quoted('Why:', state.why);
  }
}

const askingLines = [
  plain('Waiting for the payments service. Nobody is charged by this.'),
  plain('You may close this: the message follows it.'),
];

function openLines({ terms }: PaymentLink): Run[][] {
  const saves = terms.savesCard ? 'by card, which is saved.' : 'there. No card is saved.';
  return [labelled('Send it to the customer', `they pay ${amountWord(terms.money)} ${saves}`)];
}

const confirmingLines = [
  plain('The event says paid; the look-up doesn’t prove it yet. Give no value.'),
  labelled('Next', 'the bot keeps checking. Don’t ask the customer to pay again.'),
];

const agedLines = [plain('The customer can still pay; then this message says so.')];

const lostLines = {
  lost: [
    plain('The answer with the link was lost; nobody was charged.'),
    labelled('Next', 'press New link.'),
  ],
  unanswered: [
    plain('The service gave no clear answer; nobody was charged.'),
    labelled('Next', 'press New link.'),
  ],
} as const;

/** What an event says of a try; the customer may try again. */
function failure({ failure: failed }: PaymentLink): RichTextBlock[] {
  if (!failed) return [];
  return [
    richText(labelled('A try failed', moment(failed.atMs), '. The link can still be paid.')),
    ...quoted('The bank says:', failed.why),
  ];
}

/** Whether the card was saved is nobody's question where it was not to be. */
function saved({ cardSaved, terms }: PaymentLink, place: ChargePlace): MessageBlock[] {
  return terms.savesCard ? cardSavedLines(cardSaved, place) : [];
}

function facts({ order, terms, by }: PaymentLink): RichTextBlock[] {
  return fields({
    'The service’s order id': order && [code(word(order.orderId) ?? '')],
    'Customer id': word(terms.customerId),
    'Asked for by': [person(by)],
  });
}

function buttons(link: PaymentLink): ActionsBlock[] {
  const row = buttonsOf(link);
  return row.length === 0 ? [] : [actions(...row)];
}

function buttonsOf({ reference, state: { kind } }: PaymentLink): Button[] {
  const check = button({ actionId: linkActions.check, text: 'Check now', value: reference });
  const again = (text: string): Button => button({ actionId: linkActions.again, text, value: reference });
  switch (kind) {
    case 'open':
      return [check, button({ actionId: linkActions.share, text: 'Share to channel', value: reference })];
    case 'confirming':
    case 'review':
      return [check];
    case 'aged':
      return [check, again('New link')];
    case 'lost':
    case 'unanswered':
      return [again('New link')];
    case 'refused':
      return [again('Correct and try again')];
    case 'asking':
    case 'paid':
      return [];
  }
}

function foot({ state, askedAtMs }: PaymentLink, place: ChargePlace): ReturnType<typeof messageFoot> {
  return state.kind === 'paid'
    ? messageFoot(place, 'proven', state.atMs)
    : messageFoot(place, 'asked for', askedAtMs);
}

/** The buttons of payment links, wherever they stand; each carries the reference of its link. */
export const linkActions = {
  check: 'link_check',
  share: 'link_share',
  show: 'link_show',
  again: 'link_again',
} as const;

export const linkModalId = 'link';
export const shareModalId = 'link_share';

/** A link's card, and what is said below it. */
export type LinkBodies = {
  link: { reference: string };
  link_note: { reference: string; what: LinkNote };
};

export type LinkShown = { kind: 'link'; note?: LinkNote; link: PaymentLink };

export type LinkPostDeps = {
  findLink: (reference: string) => Promise<PaymentLink | undefined>;
};

export function linkViews({ findLink }: LinkPostDeps): Views<LinkBodies, LinkShown> {
  async function requireLink(reference: string): Promise<PaymentLink> {
    const link = await findLink(reference);
    if (!link) throw new Error('There is something to say of a link that is not in the store.');
    return link;
  }
  return {
    /** A link's card in one place. */
    async link({ reference }) {
      return { kind: 'shown', post: { kind: 'link', link: await requireLink(reference) } };
    },
    /** Below the card in a channel; to the person alone where the card is theirs alone. */
    async link_note({ reference, what: note }, { record: { channel } }) {
      const link = await requireLink(reference);
      // Another note tells what it has become since.
      if (link.state.kind !== note) return { kind: 'nothing' };
      const post = { kind: 'link', note, link } as const;
      if (channel === link.by) return { kind: 'shown', post };
      return { kind: 'shown', post, below: { key: linkCardKey(reference, channel) } };
    },
  };
}

/** One card for each place, a channel or a person. */
export function linkCardKey(reference: string, place: string): string {
  return messageKey('link', `${place}:${reference}`);
}
