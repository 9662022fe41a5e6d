import type { RichTextBlock } from '@slack/types';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { fields, moment, person, richText } from '../../slack/kit/blocks.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { messageButtons } from './charge-buttons.ts';
import { chargeHeadline, plain, termFields } from '../../slack/words/charge-facts.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import { standing } from './otp-lines.ts';
import { placeAlone } from '../../slack/words/evidence.ts';
import { repeatLine, type AboutMessage } from '../../slack/words/repeat-line.ts';
import { holdWords } from '../../slack/words/retry-lines.ts';
import { correction, reviewLines } from './state-lines.ts';
import { isClosed, isInDoubt } from '../../slack/words/state-words.ts';

/** What the metadata of the desk's message is called; the key in it finds the message again. */
const chargeEventType = 'payops_charge';

/**
 * One charge as the desk channel sees it, edited as it goes on; the same charge gives the same message. A
 * settled one loses its terms and buttons; why it ended so, and what is to be done, is said in the thread alone.
 */
export function chargeMessage(charge: ChargeSeen, place: ChargePlace, about: AboutMessage): SlackMessage {
  const { text, block } = chargeHeadline(charge);
  return {
    text,
    blocks: [
      block,
      ...correction(charge),
      ...advice(charge),
      ...facts(charge),
      ...messageButtons(charge),
      placeAlone(place.environment, place.account),
      ...repeatLine(about.mayBeRepeat),
    ],
    metadata: { event_type: chargeEventType, event_payload: { key: about.key } },
  };
}

function advice(charge: ChargeSeen): RichTextBlock[] {
  if (charge.state.kind === 'review') return [richText(...reviewLines)];
  return isInDoubt(charge) ? [richText(plain('Do not charge again. The bot keeps checking.'))] : [];
}

function facts(charge: ChargeSeen): RichTextBlock[] {
  const nextTry = charge.state.kind === 'declined' ? holdWords(charge.nextTry) : undefined;
  const agent = [person(charge.agent)];
  if (isClosed(charge)) return fields({ Agent: agent, Card: nextTry });
  const { otp, state } = charge;
  return fields({
    ...termFields(charge.terms),
    Agent: agent,
    Code: state.kind === 'otp' && otp ? standing(charge) : undefined,
    Since: state.kind === 'confirming' ? [moment(state.since)] : undefined,
  });
}
