// What became of a change of a card's e-mail, in words; the modal and the direct message are made of the same.

import type { CardEmailEnd, ShownCardEmail } from '../../domain/card-email.ts';
import { bold, type Run } from '../blocks.ts';
import { cardWords } from '../charge/card-words.ts';
import { emailWord, labelled, plain, type EmailShown } from '../charge/charge-facts.ts';

export type EndWords = {
  /** Symbol and words. */
  state: string;
  lines: Run[][];
  /** The service's own words. */
  theirs?: string | undefined;
  /** The button back to the form, where that helps. */
  again?: string;
};

/** A lost answer leaves two possibilities, and the service tells them apart when it is asked the same again. */
export const doubtAdvice =
  'do it again with the same addresses; asking twice does no harm. If the service then says that the current address is not the one linked to the card, either the first try has changed it, or it was not the linked one before.';

export function endWords(end: CardEmailEnd, terms: ShownCardEmail, shown: EmailShown): EndWords {
  switch (end.kind) {
    case 'changed':
      return changedWords(end, terms, shown);
    case 'not_linked':
      return notChanged('the current e-mail that was given is not the one linked to the card.', {
        next: notLinkedAdvice,
        theirs: end.message,
        again: 'Correct and try again',
      });
    case 'no_such_card':
      return notChanged(
        'the service does not know this card’s token. It does not exist, was deleted, or was saved by another account.',
        {
          next: 'choose another card, or have the customer save the card anew.',
          again: 'Choose another card',
        },
      );
    case 'rejected':
      return end.reason === 'email_invalid'
        ? notChanged('the service does not take the e-mail as a valid one.', {
            ...correct,
            theirs: end.message,
          })
        : notChanged('the service refused the request for a reason it words itself.', {
            ...correct,
            theirs: end.message,
          });
    case 'not_made':
      return notMadeWords(end);
    case 'unknown':
      return {
        state: '❔ In doubt: the e-mail may have been changed',
        lines: [
          labelled('What happened', 'the payments service gave no answer that says whether it did it.'),
          labelled(
            'Money',
            'none moves by this. Until it is clear, a charge may be rejected for its e-mail.',
          ),
          labelled('Next', doubtAdvice),
        ],
        again: 'Do it again',
      };
  }
}

const notLinkedAdvice =
  'correct the current e-mail. If an earlier try of the same change had no answer, that one has probably made it: then charge with the new e-mail.';

const correct = {
  next: 'compare the addresses with the service’s words, if it sent any.',
  again: 'Correct and try again',
};

function changedWords(
  { list }: Extract<CardEmailEnd, { kind: 'changed' }>,
  { card, currentEmail, newEmail }: ShownCardEmail,
  shown: EmailShown,
): EndWords {
  const behind =
    'still has the old address, because the bot’s store did not answer. Make the same change again: the service will say that the address is not the linked one, and the bot then asks for the address at the next charge.';
  return {
    state: '✓ E-mail changed',
    lines: [
      plain('The e-mail of ', bold(cardWords(card)), ' is now ', bold(emailWord(newEmail, shown)), '.'),
      plain(
        'The old address no longer works: charges with ',
        emailWord(currentEmail, shown),
        ' are rejected.',
      ),
      ...(list === 'behind' ? [labelled('The bot’s list of cards', behind)] : []),
    ],
  };
}

type Advice = { next: string; theirs?: string | undefined; again?: string };

function notChanged(why: string, { next, theirs, again }: Advice): EndWords {
  return {
    state: '✗ E-mail not changed',
    lines: [labelled('Why', why), labelled('Next', next)],
    ...(theirs === undefined ? {} : { theirs }),
    ...(again === undefined ? {} : { again }),
  };
}

function notMadeWords(end: Extract<CardEmailEnd, { kind: 'not_made' }>): EndWords {
  switch (end.failure) {
    case 'unauthorized':
      return notChanged('the service refused the bot’s access token.', {
        next: 'trying again will not help. Whoever runs this bot must check its credentials and account id.',
      });
    case 'forbidden':
      return notChanged('the service does not allow this to the bot’s account.', {
        next: 'trying again will not help. Whoever runs this bot must ask the payments service for the permission.',
      });
    case 'rate_limited':
      return notChanged('the service’s call limit was reached.', {
        next: 'try again in a few minutes.',
        again: 'Try again',
      });
    case 'invalid_request':
      return notChanged('the service found the request itself invalid.', { ...correct, theirs: end.message });
  }
}

/** Above the field of the current e-mail, when the service did not take it. */
export const notLinkedProblem =
  'Nothing was changed: the service says that this is not the e-mail linked to the card. Correct it here. If an earlier try of the same change had no answer, that one has probably made it: then charge with the new e-mail.';
