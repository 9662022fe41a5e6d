import type { RichTextBlock } from '@slack/types';
import type { ChargeNote } from '../../domain/charge-note.ts';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { headline, person, richText } from '../../slack/kit/blocks.ts';
import { placeAlone, referenceWord } from '../../slack/words/evidence.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { amountWord, chargeHeadline, labelled, plain } from '../../slack/words/charge-facts.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import { resendWords, standing } from './otp-lines.ts';
import { repeatLine, type AboutMessage } from '../../slack/words/repeat-line.ts';
import { stateBlocks } from './state-lines.ts';
import { toldWord } from '../../slack/words/state-words.ts';

const noteEventType = 'payops_charge_note';

/** One step of a charge, for the thread below the desk's message. Names nobody who has just clicked. */
export function chargeNoteMessage(
  note: ChargeNote,
  charge: ChargeSeen,
  place: ChargePlace,
  about: AboutMessage,
): SlackMessage {
  const { text, blocks } = noteParts(note, charge);
  return {
    text,
    blocks: [...blocks, ...repeatLine(about.mayBeRepeat), placeAlone(place.environment, place.account)],
    metadata: { event_type: noteEventType, event_payload: { key: about.key } },
  };
}

type Parts = { text: string; blocks: RichTextBlock[] };

function noteParts(note: ChargeNote, charge: ChargeSeen): Parts {
  switch (note.kind) {
    case 'told': {
      const { text, block } = chargeHeadline(charge, toldWord(note.what, charge));
      return { text, blocks: [block, ...toldBlocks(note, charge)] };
    }
    case 'handed_over': {
      const { text, block } = shortLine('🤝 Taken over', charge);
      const line = labelled('From', person(note.from), '. Who has it now is in the message above.');
      return { text, blocks: [block, richText(line)] };
    }
    case 'resent': {
      const { text, block } = shortLine('🔁 Another code was asked for', charge);
      return { text, blocks: [block, richText(labelled('Answer', resendWords(note.answer)))] };
    }
  }
}

/** The charge may have moved on since: what it is now is told by its own note and stands above. */
function toldBlocks({ what }: Extract<ChargeNote, { kind: 'told' }>, charge: ChargeSeen): RichTextBlock[] {
  if (charge.state.kind !== what) return [];
  if (what !== 'otp') return stateBlocks(charge);
  return [richText(plain('The bank sent the customer a code; its agent enters it.'), standing(charge))];
}

function shortLine(state: string, { terms, reference }: ChargeSeen): { text: string; block: RichTextBlock } {
  return headline(state, [amountWord(terms.money), referenceWord(reference)]);
}
