import { withoutUndefined } from '../../domain/without-undefined.ts';
import { noticeLine, modal, richText, textInput, words } from '../blocks.ts';
import {
  cardInput,
  emailFormProblem,
  longestEmail,
  readCardChoice,
  tokenInput,
  type CardChoice,
  type OfferedCard,
} from '../charge/card-inputs.ts';
import { placeFoot, placeTitle, type ChargePlace } from '../charge/charge-place.ts';
import type { ViewValues } from '../command.ts';
import type { Modal, ModalBlock } from '../message.ts';
import { oneLine } from '../text.ts';
import { cardEmailActions } from './card-email-actions.ts';

export const cardEmailModalId = 'card_email';

/** The block ids of the fields; a field's error is told under the same name. */
export const cardEmailFields = {
  card: cardEmailActions.card,
  token: 'card_email_token',
  current: 'card_email_current',
  next: 'card_email_new',
} as const;

/** What a person typed and chose. */
export type CardEmailForm = {
  card: CardChoice;
  /** Absent: the one the card is saved with. */
  currentEmail?: string;
  newEmail: string;
};

export type CardEmailModalOptions = {
  place: ChargePlace;
  /** Whether saved cards are known and can be chosen. */
  ledger: boolean;
  prefill?: { card?: OfferedCard; currentEmail?: string; newEmail?: string };
  problem?: string;
  /** What is wrong with the current e-mail: stands right above its field, which has the cursor. */
  currentProblem?: string;
};

/** Collects a change of a card's e-mail; nothing is sent by it. */
export function cardEmailModal(options: CardEmailModalOptions): Modal {
  const { place, ledger, prefill = {}, problem } = options;
  const blocks: ModalBlock[] = [
    ...(problem === undefined ? [] : [noticeLine('warning', problem)]),
    richText([
      words('Changes the e-mail that a saved card is linked with, never the card. You read it back first.'),
    ]),
    ...(ledger ? [cardInput(cardEmailFields.card, prefill.card)] : []),
    tokenInput(cardEmailFields.token, ledger),
    ...currentInput(options),
    textInput({
      id: cardEmailFields.next,
      label: 'New e-mail',
      hint: 'Every later charge of the card needs it.',
      maxLength: longestEmail,
      ...filled(prefill.newEmail),
    }),
    placeFoot(place),
  ];
  return modal({
    callbackId: cardEmailModalId,
    title: placeTitle('Card e-mail', place),
    blocks,
    submit: 'Read it back',
  });
}

function currentInput({ ledger, prefill, currentProblem }: CardEmailModalOptions): ModalBlock[] {
  const input = textInput({
    id: cardEmailFields.current,
    label: 'Current e-mail',
    hint: ledger
      ? 'Empty: the one the card is saved with. Needed when a token key is pasted.'
      : 'The one the card is linked with now; the service refuses any other.',
    maxLength: longestEmail,
    optional: ledger,
    focus: currentProblem !== undefined,
    ...filled(prefill?.currentEmail),
  });
  return currentProblem === undefined ? [input] : [noticeLine('warning', currentProblem), input];
}

function filled(initial: string | undefined): { initial?: string } {
  return initial === undefined || initial === '' ? {} : { initial };
}

export type ReadCardEmail =
  | { kind: 'read'; form: CardEmailForm }
  | { kind: 'errors'; errors: Record<string, string> };

/** Everything that is wrong at once, each at its own field and without repeating what was typed. */
export function readCardEmailModal(values: ViewValues): ReadCardEmail {
  const card = readCardChoice(values, cardEmailFields);
  // As they are shown when they are read back: what nobody sees is not sent either.
  const currentEmail = oneLine(values[cardEmailFields.current] ?? '') || undefined;
  const newEmail = oneLine(values[cardEmailFields.next] ?? '');
  const isPasted = card.ok && card.value.kind === 'pasted';
  const errors = withoutUndefined({
    [cardEmailFields.token]: card.ok ? undefined : card.problem,
    [cardEmailFields.current]: currentEmailProblem(currentEmail, isPasted),
    [cardEmailFields.next]: emailFormProblem(newEmail) ?? sameProblem(currentEmail, newEmail),
  });
  if (!card.ok || Object.keys(errors).length > 0) return { kind: 'errors', errors };
  return { kind: 'read', form: { card: card.value, newEmail, ...withoutUndefined({ currentEmail }) } };
}

function currentEmailProblem(email: string | undefined, isNeeded: boolean): string | undefined {
  if (email !== undefined) return emailFormProblem(email);
  return isNeeded ? 'Needed with a pasted token key: the e-mail the card is linked with now.' : undefined;
}

/** Letter for letter: whether the service tells upper from lower case is not shown, so case alone can be put right. */
export function sameProblem(currentEmail: string | undefined, newEmail: string): string | undefined {
  return currentEmail === newEmail ? 'The card is linked with this e-mail already. Type another.' : undefined;
}
