import type { Account } from '../../account.ts';
import { chargeReferencePrefix } from '../../domain/order-reference.ts';
import { withoutUndefined } from '../../domain/json.ts';
import {
  type Run,
  button,
  channelName,
  context,
  divider,
  header,
  plainText,
  rich,
} from '../../slack/kit/blocks.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import { type ChargePlace, homeFoot, messageFoot } from '../../slack/words/charge-place.ts';
import {
  type Caller,
  type Pressed,
  type Submission,
  type ViewAnswer,
  defineCommand,
  itself,
} from '../../slack/command.ts';
import type { HomeBlock, Modal, SlackMessage } from '../../slack/kit/message.ts';
import { parseAmountAlone } from '../../slack/command-text.ts';
import type { Lookup } from '../../domain/alert.ts';
import { referenceWord } from '../../slack/words/evidence.ts';
import type { PaymentLink } from './link-case.ts';
import { type LinksNeeds, createPaymentLinks } from './payment-links.ts';
import {
  type LinkPrefill,
  linkActions,
  linkForm,
  linkHead,
  linkModal,
  linkModalId,
  linkViews,
  linkWords,
  readLinkForm,
  shownLink,
  takenErrors,
} from './link-screens.ts';

/**
 * Payment links: their orders, followed until they are paid (`payment-links.ts`). `/pay link [amount]` opens a form; submitting
 * it requests an order and posts its link in a message, which later says when it is paid. A form requests at most one order,
 * even if submitted twice.
 */
export function createLinks(account: Account, around: LinksNeeds) {
  const { place, settings, slack, now } = account;
  const { chargeCurrencies: currencies } = settings;
  const links = createPaymentLinks(account, around);

  const formFor = (prefill: LinkPrefill, caller: Caller, alert?: string): Modal =>
    linkForm({ place, currencies, prefill, ...channelOf(caller), ...withoutUndefined({ alert }) });

  /** One request per modal; a repeated submit shows the existing link. */
  async function askForLink({ caller, viewId, values, privateMetadata }: Submission): Promise<ViewAnswer> {
    const { userId } = caller;
    const form = readLinkForm(values, currencies, privateMetadata);
    if (form.kind === 'errors') return form;
    const { kind: _read, ...wanted } = form;
    const beginning = await links.begin({ viewId, by: userId, ...wanted });
    switch (beginning.kind) {
      case 'taken':
        return { kind: 'errors', errors: takenErrors };
      case 'known':
        return { kind: 'update', modal: linkModal(beginning.link, place, whereOf(beginning.link)) };
      case 'begun':
        return {
          kind: 'update',
          modal: linkModal(beginning.link, place),
          async carryOn() {
            const link = await beginning.carryOn();
            const where = whereOf(link);
            const modal = linkModal(link, place, where);
            // A link has a message, which outlives the modal. A refused one has none, so pass one.
            const alone = link.state.kind === 'refused' ? { message: shownLink(link, place, where) } : {};
            await slack.showEnd({ viewId, userId }, { modal, ...alone });
          },
        };
    }
  }

  /** Looks up whether the link is paid; answers in the modal or by a reply. Its message is edited if its state changed. */
  async function check({ value, view, updateModal, reply }: Pressed): Promise<void> {
    const looked = await links.lookNow(value);
    if (!looked) return await reply(unknownLinkMessage(value));
    const { link, lookup } = looked;
    if (view) return await updateModal(linkModal(link, place, lookedLine(link, lookup)));
    await reply(lookedMessage(link, lookup, place, now()));
  }

  async function show(pressed: Pressed): Promise<void> {
    const link = await find(pressed);
    if (link) await pressed.openModal(linkModal(link, place));
  }

  /**
   * Reopens the form. After a refusal in the same modal, which keeps the generated reference. Otherwise in a new modal: the
   * old one's id stands for the old link. A colleague sees the e-mail masked, so they must type it.
   */
  async function again(pressed: Pressed): Promise<void> {
    const { caller, view, openModal, updateModal } = pressed;
    const link = await find(pressed);
    if (!link) return;
    const { money, customerEmail, customerId, savesCard } = link.terms;
    const isRefused = link.state.kind === 'refused';
    const form = linkForm({
      place,
      currencies,
      ...withoutUndefined({ alert: link.alert }),
      ...(caller.channelId === undefined ? placeOf(link) : channelOf(caller)),
      prefill: {
        amountMinor: money.minor,
        currency: money.currency,
        savesCard,
        ...withoutUndefined({
          customerId,
          customerEmail: link.by === caller.userId ? customerEmail : undefined,
        }),
        ...(isRefused ? typedReference(link) : {}),
      },
    });
    await (isRefused && view ? updateModal(form) : openModal(form));
  }

  async function find({ value, reply }: Pressed): Promise<PaymentLink | undefined> {
    const link = await links.find(value);
    if (!link) await reply(unknownLinkMessage(value));
    return link;
  }

  const verb = defineCommand<LinkPrefill>({
    verb: 'link',
    usage: '[amount]',
    summary: 'Payment link',
    examples: ['link', 'link 100.00'],
    permission: 'link',
    effect: 'none',
    menu: { actionId: 'menu.link', text: 'Payment link', opens: 'modal' },
    opensForm: true,
    parse: (typed) => parseAmountAlone(typed, 'The customer and everything else are asked for in a form.'),
    modals: [
      {
        callbackId: linkModalId,
        effect: 'none',
        ifNoAnswer: 'If none comes, look at your Home: the link is there once it is made.',
        submit: askForLink,
      },
    ],
    presses: [
      { actionId: linkActions.check, about: itself, press: check },
      { actionId: linkActions.show, about: itself, opensForm: true, press: show },
      { actionId: linkActions.again, about: itself, press: again },
    ],
    home: async ({ userId }) => homeLinks(await links.openOf(userId), place),

    async run(prefill, { caller, openModal }) {
      await openModal(formFor(prefill, caller));
      return undefined;
    },
  });
  return {
    ...links,
    form: formFor,
    verbs: [verb],
    messages: { views: linkViews(links.find), words: linkWords(place) },
  };
}

function whereOf({ place, by, state }: PaymentLink): Run[] {
  if (state.kind === 'refused') return [];
  return place === by ? rich`Posted to you only.` : rich`Posted in ${channelName(place)}.`;
}

/** Leaves out a generated reference: it belongs to its modal. */
function typedReference({ reference }: PaymentLink): { reference?: string } {
  return reference.startsWith(chargeReferencePrefix) ? {} : { reference };
}

/** In a direct message there is no channel to post in: the link goes to the requester alone. */
function channelOf({ channelId }: Caller): { channel?: string } {
  return channelId === undefined || channelId.startsWith('D') ? {} : { channel: channelId };
}

/** For a press inside a modal, which names no channel: the channel of the first request. */
function placeOf({ place, by }: PaymentLink): { channel?: string } {
  return place === by ? {} : { channel: place };
}

const mostShown = 5;

/** A part of the App Home: the person's unpaid links; empty without any. */
export function homeLinks(links: readonly PaymentLink[], place: ChargePlace): HomeBlock[] {
  if (links.length === 0) return [];
  const more = links.length - mostShown;
  return [
    header('Your open payment links'),
    ...links.slice(0, mostShown).flatMap((link) => {
      const show = button({ actionId: linkActions.show, text: 'Show link', value: link.reference });
      return noteMessage({ ...linkHead(link), buttons: [show] }).blocks;
    }),
    ...(more > 0 ? [context(plainText(`… and ${more} more.`))] : []),
    ...homeFoot(place),
    divider(),
  ];
}

/** The result of a person's look-up, for them alone; the message itself is edited. */
function lookedMessage(link: PaymentLink, lookup: Lookup, place: ChargePlace, nowMs: number): SlackMessage {
  return noteMessage({
    ...linkHead(link),
    body: [lookedLine(link, lookup)],
    foot: messageFoot(place, nowMs),
  });
}

/** The result in words; empty if the link itself says it. */
function lookedLine({ state }: PaymentLink, lookup: Lookup): Run[] {
  return state.kind === 'paid' ? [] : rich`${lookUpWords(lookup)}`;
}

function lookUpWords(lookup: Lookup): string {
  switch (lookup.kind) {
    case 'unchecked':
      return 'The payments service couldn’t be asked. Try again in a minute.';
    case 'not_found':
      return 'No payment so far.';
    case 'not_paid':
      return `The payments service says ${lookup.transaction.status}: not paid, and final.`;
    case 'given_back':
      return `The payments service says ${lookup.transaction.status}: paid and given back.`;
    case 'no_reference':
    case 'not_confirmed':
    case 'confirmed':
      return 'No payment of this amount is proven so far. Don’t deliver yet.';
  }
}

/** The link does not exist, or was forgotten. */
function unknownLinkMessage(reference: string): SlackMessage {
  return noteMessage({
    state: '⚠️ No such link here',
    about: [referenceWord(reference)],
    body: [rich`It wasn’t made here, or too long ago. /pay lookup asks the payments service.`],
  });
}
