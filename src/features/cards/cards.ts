import type { Account, Feature } from '../../account.ts';
import { parsed, problem, type Parsed } from '../../domain/wording.ts';
import type { CardLedger } from './card-ledger.ts';
import { type CardListings, type CardPosition, createCardListings } from './card-listings.ts';
import {
  type CardAct,
  type CardsContext,
  cardsActions,
  cardsMessage,
  cardPosition,
  deletingMessage,
  deletionMessage,
  deletionModal,
  deletionModalId,
  deletionResultModal,
  goneCardsMessage,
  listingMessage,
  noCardsMessage,
  notSetUpMessage,
  readCardAct,
  refusedCardsMessage,
} from './cards-message.ts';
import { emailFormProblem, type OfferedCard } from '../../slack/kit/form.ts';
import { withOtherAccounts } from '../../slack/words/account-foot.ts';
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
import { offeredCard } from '../../slack/words/card-words.ts';

type CardsNeeds = {
  ledger: CardLedger | undefined;
  /** The forms with this card chosen. */
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

const verbParts = {
  verb: 'cards',
  usage: '<e-mail>',
  examples: ['cards ada@example.com'],
  permission: 'cards',
  effect: 'none',
} as const;

/**
 * `/pay cards <e-mail>` lists a customer's saved cards from the service, to charge, change or delete them
 * (`card-listings.ts`). `card-ledger.ts` has the cards that the bot remembers. If the environment lacks settings, the
 * command is hidden; if it is typed, it names them.
 */
export function createCards(account: Account, needs: CardsNeeds): Feature {
  const { shownAccount, payments } = account;
  const { savedCards: calls } = payments;
  if (calls.kind === 'missing') {
    const notSetUp = defineCommand<undefined>({
      ...verbParts,
      summary: 'Saved cards: not set up here',
      hidden: true,
      parse: () => parsed(undefined),
      run: async () => notSetUpMessage(calls.settings, shownAccount),
    });
    return { verbs: [notSetUp] };
  }
  const listings = createCardListings(account, needs.ledger, calls);
  return { verbs: [cardsCommand(account, needs, listings)] };
}

function cardsCommand(
  { shownAccount, people, slack, now }: Account,
  needs: CardsNeeds,
  listings: CardListings,
): Command {
  async function list(email: string, caller: Caller): Promise<SlackMessage> {
    const [listed, context] = await Promise.all([listings.list(email, caller.userId), contextOf(caller)]);
    switch (listed.kind) {
      case 'listed': {
        const message = cardsMessage(listed, context);
        return listed.cards.length === 0 ? withOtherAccounts(message, shownAccount) : message;
      }
      case 'not_found':
        return withOtherAccounts(noCardsMessage(email, context), shownAccount);
      case 'refused':
        return refusedCardsMessage({ email, message: listed.message }, context);
    }
  }

  /** What the message shows besides the cards. A press checks the permission again. */
  async function contextOf(caller: Caller): Promise<CardsContext> {
    const isAllowed = async (permission: Permission): Promise<boolean> =>
      (await people.mayRun(permission, caller)).kind === 'allowed';
    const may = Object.entries(actPermissions).map(
      async ([act, [permission]]) => [act, await isAllowed(permission)] as const,
    );
    return {
      shownAccount,
      may: Object.fromEntries(await Promise.all(may)),
      canOffer: needs.ledger !== undefined,
      nowMs: now(),
    };
  }

  /**
   * Opens the form of the chosen action. To charge or change a card, puts it into the ledger first: those forms offer
   * only remembered cards.
   */
  async function openAction({ caller, value, openModal, reply }: Pressed): Promise<void> {
    const { act, at } = readCardAct(value) ?? {};
    const own = at && { ...at, by: caller.userId };
    if (act === 'remove') {
      const card = own && (await listings.card(own));
      if (!card) return await reply(goneCardsMessage());
      return void (await openModal(deletionModal(card, at, shownAccount)));
    }
    const card = own && (await listings.remember(own));
    if (!card) return await reply(goneCardsMessage());
    const form = act === 'charge' ? needs.chargeForm : needs.cardEmailForm;
    await openModal(form(offeredCard(card)));
  }

  async function turnPage({ caller, value, reply }: Pressed): Promise<void> {
    const at = cardPosition.read(value);
    const [listing, context] = await Promise.all([
      at && listings.listing(at.list, caller.userId),
      contextOf(caller),
    ]);
    await reply(listing ? cardsMessage(listing, context, at?.index) : goneCardsMessage());
  }

  async function submitDeletion({ caller, viewId, privateMetadata }: Submission): Promise<ViewAnswer> {
    const { userId } = caller;
    const position = cardPosition.read(privateMetadata);
    const at = position && { ...position, by: userId };
    const card = at && (await listings.card(at));
    if (!at || !card) return { kind: 'update', modal: deletionResultModal(goneCardsMessage()) };
    return {
      kind: 'update',
      modal: deletionResultModal(deletingMessage(card, at)),
      async carryOn() {
        const message = await remove(at);
        await slack.showResult({ viewId, userId }, { modal: deletionResultModal(message), message });
      },
    };
  }

  async function remove(at: CardPosition & { by: string }): Promise<SlackMessage> {
    const deletion = await listings.remove(at);
    return deletion ? deletionMessage(deletion, at, shownAccount, now()) : goneCardsMessage();
  }

  /** Repeats a deletion whose answer was lost. */
  async function repeatDeletion({ caller, value, view, updateModal, reply }: Pressed): Promise<void> {
    const show = (message: SlackMessage): Promise<void> =>
      view ? updateModal(deletionResultModal(message)) : reply(message);
    const position = cardPosition.read(value);
    const at = position && { ...position, by: caller.userId };
    const card = at && (await listings.card(at));
    if (!at || !card) return await show(goneCardsMessage());
    await show(deletingMessage(card, at));
    await show(await remove(at));
  }

  return defineCommand<{ email: string }>({
    ...verbParts,
    summary: 'Saved cards',
    presses: [
      {
        actionId: cardsActions.more,
        permissions(value) {
          const { act } = readCardAct(value) ?? {};
          return act && actPermissions[act];
        },
        opensForm: true,
        press: openAction,
      },
      { actionId: cardsActions.page, replacesMessage: true, press: turnPage },
      {
        actionId: cardsActions.remove,
        permissions: actPermissions.remove,
        effect: 'access',
        replacesMessage: true,
        press: repeatDeletion,
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
    parse: parseEmail,
    run: ({ email }, { caller, whileWaiting }) => whileWaiting(list(email, caller), listingMessage(email)),
  });
}

/** Reads the typed e-mail. Problems don't repeat the text: the bot never shows an e-mail address there. */
function parseEmail(words: readonly string[]): Parsed<{ email: string }> {
  const email = oneLine(words[0] ?? '');
  if (words.length !== 1) return problem('Give the customer’s e-mail, and nothing else.');
  const wrong = emailFormProblem(email);
  return wrong === undefined ? parsed({ email }) : problem(wrong);
}
