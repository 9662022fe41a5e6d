import type { Account, Feature } from '../../account.ts';
import { parsed, problem, type Parsed } from '../../domain/wording.ts';
import type { CardLedger } from './card-ledger.ts';
import { createSavedCardDesk, type SavedCardDesk } from './saved-card-desk.ts';
import {
  type CardsContext,
  cardsActions,
  cardsMessage,
  cardsPlace,
  deletingMessage,
  deletionMessage,
  goneCardsMessage,
  listingMessage,
  noCardsMessage,
  notSetUpMessage,
  refusedCardsMessage,
} from './cards-message.ts';
import { emailFormProblem, type OfferedCard } from '../../slack/kit/form.ts';
import { askedHereAlone } from '../../slack/words/charge-place.ts';
import {
  defineCommand,
  type Caller,
  type Command,
  type Permission,
  type Press,
  type Pressed,
} from '../../slack/command.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import { oneLine } from '../../slack/kit/text.ts';
import { cardChoice } from '../../slack/words/card-words.ts';

/** What saved cards need of other features. */
type Around = {
  ledger: CardLedger | undefined;
  /** The forms that begin with a card of the list. */
  chargeForm: (card: OfferedCard) => Modal;
  cardEmailForm: (card: OfferedCard) => Modal;
};

/** To delete a saved card; the list alone needs `cards`. */
export const deleteCardPermission: Permission = 'card-delete';

const facts = {
  verb: 'cards',
  usage: '<e-mail>',
  examples: ['cards ada@example.com'],
  permission: 'cards',
  effect: 'none',
} as const;

/**
 * The saved cards of customers: those that the service lists (`saved-card-desk.ts`), and those that the bot remembers
 * so that nobody pastes a token (`card-ledger.ts`). `/pay cards <e-mail>`: a customer's, to charge, to change or to delete.
 * While its environment's shape is not set up it is hidden, and says which settings it needs when it is typed.
 */
export function createCards(account: Account, around: Around): Feature {
  const { place, payments } = account;
  const { savedCards: calls } = payments;
  if (calls.kind === 'missing') {
    const notSetUp = defineCommand<undefined>({
      ...facts,
      summary: 'Saved cards: not set up here',
      hidden: true,
      parse: () => parsed(undefined),
      run: async () => notSetUpMessage(calls.settings, place),
    });
    return { verbs: [notSetUp] };
  }
  const desk = createSavedCardDesk(account, around.ledger, calls);
  return { verbs: [cardsCommand(account, around, desk)] };
}

function cardsCommand({ place, people, now }: Account, around: Around, desk: SavedCardDesk): Command {
  async function list(email: string, caller: Caller): Promise<SlackMessage> {
    const [listed, context] = await Promise.all([desk.list(email, caller.userId), contextOf(caller)]);
    switch (listed.kind) {
      case 'listed': {
        const message = cardsMessage(listed, context);
        return listed.cards.length === 0 ? askedHereAlone(message, place) : message;
      }
      case 'not_found':
        return askedHereAlone(noCardsMessage(email, context), place);
      case 'refused':
        return refusedCardsMessage({ email, message: listed.message }, context);
    }
  }

  /** Only what the caller may do is offered; whether they may is asked once more when they press it. */
  async function contextOf(caller: Caller): Promise<CardsContext> {
    const can = async (permission: Permission): Promise<boolean> =>
      (await people.mayRun(permission, caller)).kind === 'allowed';
    const [charge, changeEmail, remove] = await Promise.all(
      ['charge', 'card-email', deleteCardPermission].map(can),
    );
    return {
      place,
      may: { charge, changeEmail, remove },
      canOffer: around.ledger !== undefined,
      nowMs: now(),
    };
  }

  /** Opens a form with the card chosen in it, which the bot remembers from now on: a form offers no other. */
  function opens(permission: Permission, actionId: string, form: (card: OfferedCard) => Modal): Press {
    return {
      actionId,
      permissions: [permission],
      opensForm: true,
      async press({ caller, value, openModal, reply }) {
        const at = cardsPlace.read(value);
        const card = at && (await desk.remember({ ...at, by: caller.userId }));
        await (card ? openModal(form(cardChoice(card))) : reply(goneCardsMessage()));
      },
    };
  }

  async function remove({ caller, value, reply }: Pressed): Promise<void> {
    const seen = cardsPlace.read(value);
    const at = seen && { ...seen, by: caller.userId };
    const card = at && (await desk.card(at));
    if (!at || !card) return await reply(goneCardsMessage());
    await reply(deletingMessage(card, at));
    const deletion = await desk.remove(at);
    await reply(deletion ? deletionMessage(deletion, at, place, now()) : goneCardsMessage());
  }

  return defineCommand<{ email: string }>({
    ...facts,
    summary: 'Saved cards',
    presses: [
      opens('charge', cardsActions.charge, around.chargeForm),
      opens('card-email', cardsActions.changeEmail, around.cardEmailForm),
      {
        actionId: cardsActions.remove,
        permissions: [deleteCardPermission],
        effect: 'access',
        replacesMessage: true,
        press: remove,
      },
    ],
    parse: parseQuestion,
    run: ({ email }, { caller, whileWaiting }) => whileWaiting(list(email, caller), listingMessage(email)),
  });
}

/** What was typed is not repeated: an e-mail address stays out of what the bot says. */
function parseQuestion(words: readonly string[]): Parsed<{ email: string }> {
  const email = oneLine(words[0] ?? '');
  if (words.length !== 1) return problem('Give the customer’s e-mail, and nothing else.');
  const wrong = emailFormProblem(email);
  return wrong === undefined ? parsed({ email }) : problem(wrong);
}
