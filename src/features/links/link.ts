import type { Account } from '../../account.ts';
import { createBackground } from '../../under-way.ts';
import { chargeReferencePrefix } from '../../domain/order-reference.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
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
  type Command,
  type Pressed,
  type Submission,
  type ViewAnswer,
  defineCommand,
  itself,
} from '../../slack/command.ts';
import type { HomeBlock, Modal, SlackMessage } from '../../slack/kit/message.ts';
import type { ShowEnd } from '../../slack/reply.ts';
import { parseAmountAlone } from '../../slack/command-text.ts';
import type { Lookup } from '../../domain/alert.ts';
import { referenceWord } from '../../slack/words/evidence.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { type PaymentLink, linkPrefix } from './link-case.ts';
import { type PaymentLinks, type PaymentLinksDeps, createPaymentLinks } from './payment-links.ts';
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

/** What links need of other features: looking a payment up, and who hears of one that is proven. */
type Around = Pick<PaymentLinksDeps, 'lookUp' | 'lookUpNow' | 'paid'>;

export type Links = ReturnType<typeof createLinks>;

/** Payment links: the orders they are made of, and what follows them until they are paid (`payment-links.ts`). */
export function createLinks(account: Account, around: Around) {
  const { place, settings, payments, slack, audit, leaseMs, log, now } = account;
  const background = createBackground(log, 'a payment link');
  const links = createPaymentLinks({
    ...account,
    ...around,
    createCheckoutOrder: payments.createCheckoutOrder,
    callbackUrl: settings.linkCallbackUrl,
    // A lease is longer than a call and its repeat.
    rules: { askAgainMs: leaseMs, followMs: settings.linkFollowHours * 3_600_000 },
    audit: audit.write,
    inBackground: background.add,
  });
  const screens = { ...place, links, currencies: settings.chargeCurrencies, showEnd: slack.showEnd, now };
  return {
    ...links,
    form: (prefill: LinkPrefill, caller: Caller) => formFor(screens, prefill, caller),
    verbs: [linkCommand(screens)],
    messages: { views: linkViews({ findLink: links.find }), words: linkWords(place) },
    cases: [{ prefix: linkPrefix, work: links.work }],
    onPaymentEvent: (event: PaymentEvent) => links.trigger(event),
    drained: background.drained,
  };
}

type LinkScreens = ChargePlace & {
  links: PaymentLinks;
  currencies: readonly string[];
  showEnd: ShowEnd;
  now: () => number;
};

/**
 * `/pay link [amount]`: the form, the order, and its link on a card that says when it is paid. Running it asks the
 * service for nothing; a form asks for one order at most, however often it is submitted.
 */
function linkCommand(deps: LinkScreens): Command {
  return defineCommand<LinkPrefill>({
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
        submit: (submission) => askForLink(deps, submission),
      },
    ],
    presses: [
      { actionId: linkActions.check, about: itself, press: (pressed) => checkLink(deps, pressed) },
      {
        actionId: linkActions.show,
        about: itself,
        opensForm: true,
        press: (pressed) => showLink(deps, pressed),
      },
      { actionId: linkActions.again, about: itself, press: (pressed) => formAgain(deps, pressed) },
    ],
    home: (caller) => open(deps, caller),

    async run(prefill, { caller, openModal }) {
      await openModal(formFor(deps, prefill, caller));
      return undefined;
    },
  });
}

function formFor(deps: LinkScreens, prefill: LinkPrefill, caller: Caller): Modal {
  return linkForm({ place: deps, currencies: deps.currencies, prefill, ...channelOf(caller) });
}

async function open(deps: LinkScreens, { userId }: Caller): Promise<HomeBlock[]> {
  return homeLinks(await deps.links.openOf(userId), deps);
}

/** Asked for once, whoever submits it how often: what is known already is shown instead. */
async function askForLink(deps: LinkScreens, submission: Submission): Promise<ViewAnswer> {
  const { caller, viewId, values, privateMetadata } = submission;
  const form = readLinkForm(values, deps.currencies, privateMetadata);
  if (form.kind === 'errors') return form;
  const { kind: _read, ...wanted } = form;
  const beginning = await deps.links.begin({ viewId, by: caller.userId, ...wanted });
  switch (beginning.kind) {
    case 'taken':
      return { kind: 'errors', errors: takenErrors };
    case 'known':
      return { kind: 'update', modal: linkModal(beginning.link, deps, whereOf(beginning.link)) };
    case 'begun':
      return {
        kind: 'update',
        modal: linkModal(beginning.link, deps),
        async carryOn() {
          const link = await beginning.carryOn();
          const where = whereOf(link);
          const modal = linkModal(link, deps, where);
          // A link that is made has its card, which outlives the modal; what was refused has none.
          const alone = link.state.kind === 'refused' ? { message: shownLink(link, deps, where) } : {};
          await deps.showEnd({ viewId, userId: caller.userId }, { modal, ...alone });
        },
      };
  }
}

function whereOf({ place, by, state }: PaymentLink): Run[] {
  if (state.kind === 'refused') return [];
  return place === by ? rich`Posted to you only.` : rich`Posted in ${channelName(place)}.`;
}

/** Looks whether it is paid; the card is edited when it is. Answers where the person looks. */
async function checkLink(deps: LinkScreens, pressed: Pressed): Promise<void> {
  const { value, view, updateModal, reply } = pressed;
  const looked = await deps.links.lookNow(value);
  if (!looked) return await reply(unknownLinkMessage(value));
  const { link, lookup } = looked;
  if (view) return await updateModal(linkModal(link, deps, lookedLine(link, lookup)));
  await reply(lookedMessage(link, lookup, { place: deps, nowMs: deps.now() }));
}

async function showLink(deps: LinkScreens, pressed: Pressed): Promise<void> {
  const link = await find(deps, pressed);
  if (link) await pressed.openModal(linkModal(link, deps));
}

/**
 * Back to the form. What was surely not made keeps its dialogue, and with it its reference; a new link needs a modal
 * of its own, or it would be the old one. A colleague types the e-mail, which they see masked.
 */
async function formAgain(deps: LinkScreens, pressed: Pressed): Promise<void> {
  const link = await find(deps, pressed);
  if (!link) return;
  const { money, customerId, savesCard } = link.terms;
  const customerEmail = link.by === pressed.caller.userId ? link.terms.customerEmail : undefined;
  const isRefused = link.state.kind === 'refused';
  const form = linkForm({
    place: deps,
    currencies: deps.currencies,
    ...(pressed.caller.channelId === undefined ? placeOf(link) : channelOf(pressed.caller)),
    prefill: {
      amountMinor: money.minor,
      currency: money.currency,
      savesCard,
      ...withoutUndefined({ customerEmail, customerId }),
      ...(isRefused ? typedReference(link) : {}),
    },
  });
  await (isRefused && pressed.view ? pressed.updateModal(form) : pressed.openModal(form));
}

/** The bot's own is that of the dialogue, and stays it. */
function typedReference({ reference }: PaymentLink): { reference?: string } {
  return reference.startsWith(chargeReferencePrefix) ? {} : { reference };
}

/** A conversation of two people is no channel: who asks there is told alone. */
function channelOf({ channelId }: Caller): { channel?: string } {
  return channelId === undefined || channelId.startsWith('D') ? {} : { channel: channelId };
}

/** Where nothing says where the person is, in a modal: the channel that the link was asked for in. */
function placeOf({ place, by }: PaymentLink): { channel?: string } {
  return place === by ? {} : { channel: place };
}

async function find({ links }: LinkScreens, { value, reply }: Pressed): Promise<PaymentLink | undefined> {
  const link = await links.find(value);
  if (!link) await reply(unknownLinkMessage(value));
  return link;
}

const mostShown = 5;

/** A part of the App Home: the person's links that nobody has paid yet; nothing without any. */
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

/** What a look by a person found, for them alone; the card itself is edited. */
function lookedMessage(
  link: PaymentLink,
  lookup: Lookup,
  { place, nowMs }: { place: ChargePlace; nowMs: number },
): SlackMessage {
  return noteMessage({
    ...linkHead(link),
    body: [lookedLine(link, lookup)],
    foot: messageFoot(place, 'looked at', nowMs),
  });
}

/** What a look found, in words; nothing where the link itself says it. */
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
    case 'no_reference':
    case 'not_confirmed':
    case 'confirmed':
      return 'No payment of this amount is proven so far. Give no value.';
  }
}

/** There is no such link, or it was forgotten. */
function unknownLinkMessage(reference: string): SlackMessage {
  return noteMessage({
    state: '⚠️ No such link here',
    about: [referenceWord(reference)],
    body: [rich`It wasn’t made here, or too long ago. /pay lookup asks the payments service.`],
  });
}
