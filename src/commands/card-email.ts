import { cardEmailActions } from '../slack/card-email/card-email-actions.ts';
import { cardEmailModal, cardEmailModalId } from '../slack/card-email/form-modal.ts';
import { readBackModalId } from '../slack/card-email/read-back-modal.ts';
import { chargeActions } from '../slack/charge/charge-actions.ts';
import { defineCommand, type Command } from '../slack/command.ts';
import { formParts, type CardEmailDeps } from './card-email/card-email-deps.ts';
import { correctAgain, openForCharge } from './card-email/card-email-presses.ts';
import { makeChange, readBack } from './card-email/card-email-modals.ts';
import { suggestCards } from './charge/known-cards.ts';
import { nothingAfter } from './nothing-after.ts';

export type { CardEmailDeps };

/**
 * `/pay card-email`: the form, the read-back of exactly what changes, the change, and what became of it, all in
 * one modal. Running it changes nothing; the change is asked for once for each time it is read back.
 */
export function cardEmailCommand(deps: CardEmailDeps): Command {
  return defineCommand<undefined>({
    verb: 'card-email',
    usage: '',
    summary: 'Change the e-mail that a saved card is linked with',
    examples: ['card-email'],
    permission: 'card-email',
    menu: { text: 'Change a card’s e-mail', opens: 'modal' },
    opensForm: true,
    effect: 'none',
    // What was typed is not repeated: an e-mail address stays out of what the bot says.
    parse: nothingAfter('Type nothing after it: the card and both addresses are asked for in a form.'),
    modals: [
      { callbackId: cardEmailModalId, effect: 'none', submit: (submission) => readBack(deps, submission) },
      { callbackId: readBackModalId, effect: 'access', submit: (submission) => makeChange(deps, submission) },
    ],
    presses: [
      { actionId: cardEmailActions.again, press: (pressed) => correctAgain(deps, pressed) },
      {
        actionId: chargeActions.changeEmail,
        opensForm: true,
        press: (pressed) => openForCharge(deps, pressed),
      },
    ],
    suggestions: [{ actionId: cardEmailActions.card, suggest: (typed) => suggestCards(deps.ledger, typed) }],

    async run(_nothing, { openModal }) {
      await openModal(cardEmailModal(formParts(deps)));
      return undefined;
    },
  });
}
