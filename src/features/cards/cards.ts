import type { Account, Feature } from '../../account.ts';
import { parsed, problem, type Parsed } from '../../domain/parsed.ts';
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
import { askedHereAlone, type ChargePlace } from '../../slack/words/charge-place.ts';
import {
  defineCommand,
  type Caller,
  type Command,
  type MayRun,
  type Permission,
  type Press,
  type Pressed,
} from '../../slack/command.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import { oneLine } from '../../slack/kit/text.ts';
import { cardChoice } from '../../slack/words/card-words.ts';

/** `missing`: the settings without which the environment's saved cards cannot be asked for. */
type SavedCards = { kind: 'ready'; desk: SavedCardDesk } | { kind: 'missing'; settings: string[] };

/** What saved cards need of other features. */
type Around = {
  ledger: CardLedger | undefined;
  /** The forms that begin with a card of the list. */
  chargeForm: (card: OfferedCard) => Modal;
  cardEmailForm: (card: OfferedCard) => Modal;
};

type Screens = ChargePlace &
  Pick<Around, 'chargeForm' | 'cardEmailForm'> & {
    savedCards: SavedCards;
    /** The bot remembers cards. */
    canOffer: boolean;
    mayRun: MayRun;
    now: () => number;
  };

/**
 * The saved cards of customers: those that the service lists (`saved-card-desk.ts`), and those that the bot remembers
 * so that nobody pastes a token (`card-ledger.ts`).
 */
export function createCards(account: Account, around: Around): Feature {
  const { place, payments, people, audit, now } = account;
  const { savedCards: calls } = payments;
  const savedCards: SavedCards =
    calls.kind === 'missing'
      ? calls
      : {
          kind: 'ready',
          desk: createSavedCardDesk({
            ...account,
            ...around,
            listSavedCards: calls.list,
            deleteSavedCard: calls.remove,
            note: audit.note,
          }),
        };
  return {
    verbs: [
      cardsCommand({
        ...place,
        ...around,
        savedCards,
        canOffer: around.ledger !== undefined,
        mayRun: people.mayRun,
        now,
      }),
    ],
  };
}

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
 * `/pay cards <e-mail>`: the saved cards of a customer as the service lists them, to charge, to change or to delete.
 * While its environment's shape is not set up it is hidden, and says which settings it needs when it is typed.
 */
function cardsCommand(deps: Screens): Command {
  const { savedCards } = deps;
  if (savedCards.kind === 'missing') {
    return defineCommand<undefined>({
      ...facts,
      summary: 'Saved cards: not set up here',
      hidden: true,
      parse: () => parsed(undefined),
      run: async () => notSetUpMessage(savedCards.settings, deps),
    });
  }
  const ready: Ready = { ...deps, desk: savedCards.desk };
  return defineCommand<{ email: string }>({
    ...facts,
    summary: 'Saved cards',
    presses: cardsPresses(ready),
    parse: parseQuestion,
    run: ({ email }, { caller, whileWaiting }) =>
      whileWaiting(list(ready, email, caller), listingMessage(email)),
  });
}

type Ready = Screens & { desk: SavedCardDesk };

/** What was typed is not repeated: an e-mail address stays out of what the bot says. */
function parseQuestion(words: readonly string[]): Parsed<{ email: string }> {
  const email = oneLine(words[0] ?? '');
  if (words.length !== 1) return problem('Give the customer’s e-mail, and nothing else.');
  const wrong = emailFormProblem(email);
  return wrong === undefined ? parsed({ email }) : problem(wrong);
}

async function list(deps: Ready, email: string, caller: Caller): Promise<SlackMessage> {
  const [listed, context] = await Promise.all([
    deps.desk.list(email, caller.userId),
    contextOf(deps, caller),
  ]);
  switch (listed.kind) {
    case 'listed': {
      const message = cardsMessage(listed, context);
      return listed.cards.length === 0 ? askedHereAlone(message, deps) : message;
    }
    case 'not_found':
      return askedHereAlone(noCardsMessage(email, context), deps);
    case 'refused':
      return refusedCardsMessage({ email, message: listed.message }, context);
  }
}

/** Only what the caller may do is offered; whether they may is asked once more when they press it. */
async function contextOf(deps: Ready, caller: Caller): Promise<CardsContext> {
  const can = async (permission: Permission): Promise<boolean> =>
    (await deps.mayRun(permission, caller)).kind === 'allowed';
  const [charge, changeEmail, remove] = await Promise.all([
    can('charge'),
    can('card-email'),
    can(deleteCardPermission),
  ]);
  return {
    place: deps,
    may: { charge, changeEmail, remove },
    canOffer: deps.canOffer,
    nowMs: deps.now(),
  };
}

function cardsPresses(deps: Ready): Press[] {
  return [
    {
      actionId: cardsActions.charge,
      permissions: ['charge'],
      opensForm: true,
      press: (pressed) => openWith(deps, pressed, deps.chargeForm),
    },
    {
      actionId: cardsActions.changeEmail,
      permissions: ['card-email'],
      opensForm: true,
      press: (pressed) => openWith(deps, pressed, deps.cardEmailForm),
    },
    {
      actionId: cardsActions.remove,
      permissions: [deleteCardPermission],
      effect: 'access',
      replacesMessage: true,
      press: (pressed) => remove(deps, pressed),
    },
  ];
}

/** Opens a form with the card chosen in it, which the bot remembers from now on: a form offers no other. */
async function openWith(
  { desk }: Ready,
  { caller, value, openModal, reply }: Pressed,
  form: (card: OfferedCard) => Modal,
): Promise<void> {
  const place = cardsPlace.read(value);
  const card = place && (await desk.remember({ ...place, by: caller.userId }));
  await (card ? openModal(form(cardChoice(card))) : reply(goneCardsMessage()));
}

async function remove(deps: Ready, { caller, value, reply }: Pressed): Promise<void> {
  const place = cardsPlace.read(value);
  const at = place && { ...place, by: caller.userId };
  const card = at && (await deps.desk.card(at));
  if (!at || !card) return await reply(goneCardsMessage());
  await reply(deletingMessage(card, at));
  const deletion = await deps.desk.remove(at);
  await reply(deletion ? deletionMessage(deletion, at, await contextOf(deps, caller)) : goneCardsMessage());
}
