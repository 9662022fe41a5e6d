import { defineCommand, itself, type Caller, type Command } from '../slack/command.ts';
import { linkActions, linkModalId, shareModalId } from '../slack/link/link-actions.ts';
import { linkForm, type LinkPrefill } from '../slack/link/link-form.ts';
import { homeLinks } from '../slack/link/link-list.ts';
import type { HomeBlock } from '../slack/message.ts';
import { parseAmountAlone } from './amount-alone.ts';
import { askForLink } from './link/ask-for-link.ts';
import type { LinkDeps } from './link/link-deps.ts';
import { channelOf, checkLink, formAgain, openShare, shareLink, showLink } from './link/link-presses.ts';

export type { LinkDeps };

/**
 * `/pay link [amount]`: the form, the order, and its link on a card that says when it is paid. Running it asks the
 * service for nothing; a form asks for one order at most, however often it is submitted.
 */
export function linkCommand(deps: LinkDeps): Command {
  return defineCommand<LinkPrefill>({
    verb: 'link',
    usage: '[amount]',
    summary: 'Make a payment link that saves the customer’s card, and see when it is paid',
    examples: ['link', 'link 100.00'],
    permission: 'link',
    effect: 'none',
    menu: { text: 'Payment link', opens: 'modal' },
    opensForm: true,
    parse: (typed) => parseAmountAlone(typed, 'The customer and everything else are asked for in a form.'),
    modals: [
      {
        callbackId: linkModalId,
        effect: 'none',
        ifNoAnswer: 'If none comes, look at your Home: the link is there once it is made.',
        submit: (submission) => askForLink(deps, submission),
      },
      {
        callbackId: shareModalId,
        effect: 'none',
        about: itself,
        submit: (submission) => shareLink(deps, submission),
      },
    ],
    presses: [
      { actionId: linkActions.check, about: itself, press: (pressed) => checkLink(deps, pressed) },
      {
        actionId: linkActions.share,
        about: itself,
        opensForm: true,
        press: (pressed) => openShare(deps, pressed),
      },
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
      await openModal(linkForm({ place: deps, currencies: deps.currencies, prefill, ...channelOf(caller) }));
      return undefined;
    },
  });
}

async function open(deps: LinkDeps, { userId }: Caller): Promise<HomeBlock[]> {
  return homeLinks(await deps.links.openOf(userId), deps, deps.now());
}
