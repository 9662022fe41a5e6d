import type { ActionsBlock, RichTextBlock } from '@slack/types';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import type { Told } from '../../domain/charge-state.ts';
import { fields, richText } from '../../slack/kit/blocks.ts';
import { placeAlone, quoted } from '../../slack/words/evidence.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { messageButtons, modalButtons } from './charge-buttons.ts';
import { chargeHeadline, plain, termFields } from '../../slack/words/charge-facts.ts';
import { repeatLine, type AboutMessage } from '../../slack/words/repeat-line.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import { inHand, standing } from './otp-lines.ts';
import { stateBlocks } from './state-lines.ts';

const directEventType = 'payops_charge_direct';

/**
 * What the agent is told of a charge, in full, because the modal may be closed. The request for a code is
 * edited once the code is no longer awaited, and says then what the charge has become, without a button.
 */
export function chargeDirectMessage(
  what: Told,
  charge: ChargeSeen,
  place: ChargePlace,
  about: AboutMessage,
): SlackMessage {
  const { text, block } = chargeHeadline(charge);
  return {
    text,
    blocks: [
      block,
      ...body(charge),
      ...facts(charge),
      ...repeatLine(about.mayBeRepeat),
      placeAlone(place.environment, place.account),
      ...buttons(what, charge),
    ],
    metadata: { event_type: directEventType, event_payload: { key: about.key } },
  };
}

function facts(charge: ChargeSeen): RichTextBlock[] {
  return charge.state.kind === 'otp' || charge.state.kind === 'review'
    ? []
    : fields({ Card: termFields(charge.terms).Card });
}

function body(charge: ChargeSeen): RichTextBlock[] {
  if (charge.state.kind !== 'otp') return stateBlocks(charge);
  return [
    ...quoted('The bank says:', charge.bankWords),
    richText(
      plain('Ask for the code only while you talk to the customer, never in a message.'),
      standing(charge),
      // Only after a hand-over, so that the first message pings nobody; an edit pings nobody.
      ...(charge.handOvers.length === 0 ? [] : [inHand(charge)]),
    ),
  ];
}

/** A conclusion has those of its modal, which may be closed. */
function buttons(what: Told, charge: ChargeSeen): ActionsBlock[] {
  if (what !== charge.state.kind) return [];
  return what === 'otp' ? messageButtons(charge) : modalButtons(charge);
}
