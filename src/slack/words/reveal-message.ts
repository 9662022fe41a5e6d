// A customer's e-mail in full, for the one person who may read it: nowhere else does the bot write one that was not
// typed by whoever reads it.

import type { Button } from '@slack/types';
import { button, context, plainText, rich } from '../kit/blocks.ts';
import { referenceWord } from './evidence.ts';
import type { Modal, SlackMessage } from '../kit/message.ts';
import { noteMessage } from '../kit/note.ts';
import { wordsModal } from '../kit/modals.ts';
import { cut, oneLine } from '../kit/text.ts';

/** The longest that an address can be. */
const longestEmail = 320;

export const revealActionId = 'reveal_email';

/** The value names the order, never the address: that is read when it is pressed. */
export function revealButton(reference: string): Button {
  return button({ actionId: revealActionId, text: 'Reveal e-mail', value: reference });
}

export function revealedMessage(email: string, reference: string): SlackMessage {
  return noteMessage({
    state: cut(oneLine(email), longestEmail),
    about: [referenceWord(reference)],
    foot: context(plainText('Only you see this. The audit trail says that you did.')),
  });
}

/**
 * `no_address`: nobody knows one. `not_on_record`: the audit could not be written. `no_place`: where it was pressed
 * nothing can be shown to one person alone. `closed`: the window for it was closed before the answer came.
 */
type NotRevealed = 'no_address' | 'not_on_record' | 'no_place' | 'closed';

export function notRevealedMessage(why: NotRevealed): SlackMessage {
  const { state, next } = notRevealedWords[why];
  return noteMessage({ state, body: [rich`${next}`] });
}

const notRevealedWords: Record<NotRevealed, { state: string; next: string }> = {
  no_address: {
    state: 'No e-mail is known',
    next: 'Neither the payments service nor the bot has one.',
  },
  not_on_record: {
    state: '⚠️ Not revealed',
    next: 'The audit trail couldn’t be written. Try again in a minute; if it stays so, tell the people who run this bot.',
  },
  no_place: {
    state: 'Not revealed',
    next: 'Look the reference up in a channel, and press Reveal e-mail there.',
  },
  closed: {
    state: 'Not revealed',
    next: 'The window was closed. Press Reveal e-mail again.',
  },
};

/** In front of a modal: opened at once, because Slack waits no longer for it than three seconds. */
export function revealingModal(): Modal {
  return revealModal(noteMessage({ state: '⏳ Reading the e-mail …' }));
}

export function revealModal(message: SlackMessage): Modal {
  return wordsModal('Customer e-mail', message);
}
