import type { Account } from '../../account.ts';
import { chargeReferencePrefix, parseOrderReference } from '../../domain/order-reference.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { undefinedIfUnreadable } from '../../records/records.ts';
import { type Run, button, channelName, divider, header, listBlocks, rich } from '../../slack/kit/blocks.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import { type ShownAccount, homeFoot, checkedFoot } from '../../slack/words/account-foot.ts';
import {
  type Caller,
  type Pressed,
  type Submission,
  type ViewAnswer,
  defineCommand,
  wholeValue,
} from '../../slack/command.ts';
import type { MessageBlock, Modal, SlackMessage } from '../../slack/kit/message.ts';
import { parseAmountAlone } from '../../slack/command-text.ts';
import type { Lookup } from '../../domain/alert.ts';
import { referenceWord } from '../../slack/words/payment-words.ts';
import type { PaymentLink } from './link-case.ts';
import { type LinkNeeds, createPaymentLinks } from './payment-links.ts';
import {
  type LinkPrefill,
  linkActions,
  linkForm,
  linkHead,
  linkModal,
  linkModalId,
  linkRenders,
  readLinkForm,
  shownLink,
  takenErrors,
} from './link-screens.ts';

/**
 * Payment links: their orders, followed until they are paid (`payment-links.ts`). `/pay link [amount]` opens a form;
 * submitting it requests an order and posts its link in a message, which later says when it is paid. A form requests at
 * most one order, even if submitted twice.
 */
export function createLinks(
  account: Account,
  needs: LinkNeeds & { firstAlert: (alert: string) => Promise<string> },
) {
  const { shownAccount, settings, slack, now } = account;
  const { chargeCurrencies: currencies } = settings;
  const links = createPaymentLinks(account, needs);

  async function formFor(prefill: LinkPrefill, where: { channel?: string }, alert?: string): Promise<Modal> {
    const openLinks = alert === undefined ? [] : await links.openForAlert(alert);
    const shown = { shownAccount, currencies, prefill, openLinks, nowMs: now() };
    return linkForm({ ...shown, ...where, ...withoutUndefined({ alert }) });
  }

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
        return { kind: 'update', modal: linkModal(beginning.link, shownAccount, whereOf(beginning.link)) };
      case 'begun':
        return {
          kind: 'update',
          modal: linkModal(beginning.link, shownAccount),
          async carryOn() {
            const link = await beginning.carryOn();
            const where = whereOf(link);
            const modal = linkModal(link, shownAccount, where);
            // If the modal is closed by now, the link's message shows the result. A refused link has none: send it.
            const replacement =
              link.state.kind === 'refused' ? { message: shownLink(link, shownAccount, where) } : {};
            await slack.showResult({ viewId, userId }, { modal, ...replacement });
          },
        };
    }
  }

  async function check({ value, view, updateModal, reply }: Pressed): Promise<void> {
    const looked = await links.lookNow(value);
    if (!looked) return await reply(unknownLinkMessage(value));
    const { link, lookup } = looked;
    if (view) return await updateModal(linkModal(link, shownAccount, lookUpLine(link, lookup)));
    await reply(lookUpMessage(link, lookup, shownAccount, now()));
  }

  async function show(pressed: Pressed): Promise<void> {
    const link = await find(pressed);
    if (link) await pressed.openModal(linkModal(link, shownAccount));
  }

  /**
   * Reopens the form, filled in. After a refusal the form stays in its modal, whose id gives the same generated
   * reference. Otherwise it opens a new modal: the old modal's id stands for the old link. The requester's colleagues
   * see the e-mail masked, so they must type it.
   */
  async function reopenForm(pressed: Pressed): Promise<void> {
    const { caller, view, openModal, updateModal } = pressed;
    const link = await find(pressed);
    if (!link) return;
    const { money, customerEmail, customerId, savesCard } = link.terms;
    const isRefused = link.state.kind === 'refused';
    const prefill: LinkPrefill = {
      amountMinor: money.minor,
      currency: money.currency,
      savesCard,
      ...withoutUndefined({
        customerId,
        customerEmail: link.by === caller.userId ? customerEmail : undefined,
      }),
      ...(isRefused ? typedReference(link) : {}),
    };
    const where = caller.channelId === undefined ? channelOfLink(link) : channelOf(caller);
    const form = await formFor(prefill, where, link.alert);
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
    parse: (typed) =>
      parseAmountAlone(typed, {
        most: 'an amount',
        rest: 'The customer and everything else are asked for in a form.',
      }),
    modals: [
      {
        callbackId: linkModalId,
        effect: 'none',
        ifNoAnswer: 'If none comes, look at your Home: the link is there once it is made.',
        submit: askForLink,
      },
    ],
    presses: [
      { actionId: linkActions.check, about: wholeValue, press: check },
      { actionId: linkActions.show, about: wholeValue, opensForm: true, press: show },
      { actionId: linkActions.again, about: wholeValue, press: reopenForm },
    ],
    home: async ({ userId }) => homeLinks(await links.openByAgent(userId), shownAccount),

    async run(prefill, { caller, openModal }) {
      await openModal(await formFor(prefill, channelOf(caller)));
      return undefined;
    },
  });
  return {
    ...links,
    /** `alert`: the one that the link should resolve. */
    form: async (prefill: LinkPrefill, caller: Caller, alert?: string) =>
      await formFor(prefill, channelOf(caller), alert && (await needs.firstAlert(alert))),
    /** Whether this is a link that saves no card; false also if it can't be read. Throws StoreUnavailable. */
    async savesNoCard(reference: string): Promise<boolean> {
      if (!parseOrderReference(reference).ok) return false;
      return (await links.find(reference).catch(undefinedIfUnreadable))?.terms.savesCard === false;
    },
    verbs: [verb],
    messages: linkRenders(links.find, shownAccount),
  };
}

function whereOf({ place: channel, by, state }: PaymentLink): Run[] {
  if (state.kind === 'refused') return [];
  return channel === by ? rich`Posted to you only.` : rich`Posted in ${channelName(channel)}.`;
}

/** Leaves out a generated reference: it belongs to its modal. */
function typedReference({ reference }: PaymentLink): { reference?: string } {
  return reference.startsWith(chargeReferencePrefix) ? {} : { reference };
}

/** A link that is requested in a direct message goes to the requester alone. */
function channelOf({ channelId }: Caller): { channel?: string } {
  return channelId === undefined || channelId.startsWith('D') ? {} : { channel: channelId };
}

/** A press inside a modal names no channel: use the channel of the first request. */
function channelOfLink({ place: channel, by }: PaymentLink): { channel?: string } {
  return channel === by ? {} : { channel };
}

const mostShown = 5;

/** The person's unpaid links on the App Home; empty if there are none. */
export function homeLinks(links: readonly PaymentLink[], account: ShownAccount): MessageBlock[] {
  if (links.length === 0) return [];
  return [
    header('Your open payment links'),
    ...listBlocks(links, mostShown, (link) => {
      const show = button({ actionId: linkActions.show, text: 'Show link', value: link.reference });
      return noteMessage({ ...linkHead(link), buttons: [show] }).blocks;
    }),
    ...homeFoot(account),
    divider(),
  ];
}

/** The result of a person's look-up, for them alone. */
function lookUpMessage(
  link: PaymentLink,
  lookup: Lookup,
  account: ShownAccount,
  nowMs: number,
): SlackMessage {
  return noteMessage({
    ...linkHead(link),
    body: [lookUpLine(link, lookup)],
    foot: checkedFoot(account, nowMs),
  });
}

/** The look-up's result in words; empty for a paid link, which says so itself. */
function lookUpLine({ state }: PaymentLink, lookup: Lookup): Run[] {
  if (state.kind === 'paid') return [];
  if (lookup.kind === 'not_paid' || lookup.kind === 'given_back') {
    const end = lookup.kind === 'not_paid' ? 'not paid, and final' : 'paid and given back';
    return rich`The payments service says ${lookup.transaction.status ?? ''}: ${end}.`;
  }
  if (lookup.kind === 'not_found') return rich`No payment so far.`;
  return lookup.kind === 'unchecked'
    ? rich`The payments service couldn’t be asked. Try again in a minute.`
    : rich`No payment of this amount is proven so far. Don’t deliver yet.`;
}

/** For a link that never existed or was forgotten. */
function unknownLinkMessage(reference: string): SlackMessage {
  return noteMessage({
    state: '⚠️ No such link here',
    about: [referenceWord(reference)],
    body: [rich`It wasn’t made here, or too long ago. /pay lookup asks the payments service.`],
  });
}
