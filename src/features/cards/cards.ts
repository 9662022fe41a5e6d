import type { Account, Feature } from '../../account.ts';
import { parsed, problem, type Parsed } from '../../domain/wording.ts';
import type { CardLedger } from './card-ledger.ts';
import { createSavedCardDesk, type SavedCardDesk } from './saved-card-desk.ts';
import {
  type CardAct,
  type CardsContext,
  type CardsPlace,
  cardsActions,
  cardsMessage,
  cardsPlace,
  deletingMessage,
  deletionMessage,
  deletionModal,
  deletionModalId,
  deletionWindow,
  goneCardsMessage,
  listingMessage,
  noCardsMessage,
  notSetUpMessage,
  readCardAct,
  refusedCardsMessage,
} from './cards-message.ts';
import { emailFormProblem, type OfferedCard } from '../../slack/kit/form.ts';
import { askedHereAlone } from '../../slack/words/charge-place.ts';
import {
  defineCommand,
  type Caller,
  type Command,
  type Permission,
  type Pressed,
  type Submission,
  type ViewAnswer,
} from '../../slack/command.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import { oneLine } from '../../slack/kit/text.ts';
import { cardChoice } from '../../slack/words/card-words.ts';

/** What saved cards need of other features. */
type CardsNeeds = {
  ledger: CardLedger | undefined;
  /** Forms with this card chosen. */
  chargeForm: (card: OfferedCard) => Modal;
  cardEmailForm: (card: OfferedCard) => Modal;
};

/** The permission to delete a saved card. The list needs only `cards`. */
export const deleteCardPermission: Permission = 'card-delete';

const actPermissions = {
  charge: ['charge'],
  changeEmail: ['card-email'],
  remove: [deleteCardPermission],
} as const satisfies Record<CardAct, readonly Permission[]>;

const facts = {
  verb: 'cards',
  usage: '<e-mail>',
  examples: ['cards ada@example.com'],
  permission: 'cards',
  effect: 'none',
} as const;

/**
 * Customers' saved cards: those that the service lists (`saved-card-desk.ts`), and those that the bot remembers, so
 * that agents need not paste tokens (`card-ledger.ts`). `/pay cards <e-mail>` lists a customer's cards, to charge,
 * change or delete them. While settings of the environment are missing, the command is hidden; if it is typed, it names
 * them.
 */
export function createCards(account: Account, around: CardsNeeds): Feature {
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

function cardsCommand(
  { place, people, slack, now }: Account,
  around: CardsNeeds,
  desk: SavedCardDesk,
): Command {
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

  /** The actions that the caller may do. A press checks again. */
  async function contextOf(caller: Caller): Promise<CardsContext> {
    const can = async (permission: Permission): Promise<boolean> =>
      (await people.mayRun(permission, caller)).kind === 'allowed';
    const may = Object.entries(actPermissions).map(
      async ([act, [permission]]) => [act, await can(permission)] as const,
    );
    return {
      place,
      may: Object.fromEntries(await Promise.all(may)),
      canOffer: around.ledger !== undefined,
      nowMs: now(),
    };
  }

  /**
   * Opens a form with the card chosen. First puts the card into the ledger, because forms offer only remembered cards.
   */
  async function choose({ caller, value, openModal, reply }: Pressed): Promise<void> {
    const { act, at } = readCardAct(value) ?? {};
    const theirs = at && { ...at, by: caller.userId };
    if (act === 'remove' && at && theirs) {
      const card = await desk.card(theirs);
      if (!card) return await reply(goneCardsMessage());
      await openModal(deletionModal(card, at, place));
      return;
    }
    const card = theirs && (await desk.remember(theirs));
    if (!card) return await reply(goneCardsMessage());
    const form = act === 'charge' ? around.chargeForm : around.cardEmailForm;
    await openModal(form(cardChoice(card)));
  }

  async function turnPage({ caller, value, reply }: Pressed): Promise<void> {
    const at = cardsPlace.read(value);
    const [listing, context] = await Promise.all([
      at && desk.listing(at.list, caller.userId),
      contextOf(caller),
    ]);
    await reply(listing ? cardsMessage(listing, context, at?.index) : goneCardsMessage());
  }

  async function submitDeletion({ caller, viewId, privateMetadata }: Submission): Promise<ViewAnswer> {
    const { userId } = caller;
    const seen = cardsPlace.read(privateMetadata);
    const at = seen && { ...seen, by: userId };
    const card = at && (await desk.card(at));
    if (!at || !card) return { kind: 'update', modal: deletionWindow(goneCardsMessage()) };
    return {
      kind: 'update',
      modal: deletionWindow(deletingMessage(card, at)),
      async carryOn() {
        const message = await removed(at);
        await slack.showEnd({ viewId, userId }, { modal: deletionWindow(message), message });
      },
    };
  }

  async function removed(at: CardsPlace & { by: string }): Promise<SlackMessage> {
    const deletion = await desk.remove(at);
    return deletion ? deletionMessage(deletion, at, place, now()) : goneCardsMessage();
  }

  /** Repeats a deletion whose answer was lost. */
  async function removeAgain({ caller, value, view, updateModal, reply }: Pressed): Promise<void> {
    const show = (message: SlackMessage): Promise<void> =>
      view ? updateModal(deletionWindow(message)) : reply(message);
    const seen = cardsPlace.read(value);
    const at = seen && { ...seen, by: caller.userId };
    const card = at && (await desk.card(at));
    if (!at || !card) return await show(goneCardsMessage());
    await show(deletingMessage(card, at));
    await show(await removed(at));
  }

  return defineCommand<{ email: string }>({
    ...facts,
    summary: 'Saved cards',
    presses: [
      {
        actionId: cardsActions.more,
        permissions(value) {
          const { act } = readCardAct(value) ?? {};
          return act && actPermissions[act];
        },
        opensForm: true,
        press: choose,
      },
      { actionId: cardsActions.page, replacesMessage: true, press: turnPage },
      {
        actionId: cardsActions.remove,
        permissions: actPermissions.remove,
        effect: 'access',
        replacesMessage: true,
        press: removeAgain,
      },
    ],
    modals: [
      {
        callbackId: deletionModalId,
        effect: 'access',
        ifNoAnswer: 'If none comes, list the cards again: a deleted one is gone.',
        permissions: actPermissions.remove,
        submit: submitDeletion,
      },
    ],
    parse: parseQuestion,
    run: ({ email }, { caller, whileWaiting }) => whileWaiting(list(email, caller), listingMessage(email)),
  });
}

/** Reads the typed e-mail. Problems don't repeat the text: the bot never shows an e-mail address there. */
function parseQuestion(words: readonly string[]): Parsed<{ email: string }> {
  const email = oneLine(words[0] ?? '');
  if (words.length !== 1) return problem('Give the customer’s e-mail, and nothing else.');
  const wrong = emailFormProblem(email);
  return wrong === undefined ? parsed({ email }) : problem(wrong);
}
