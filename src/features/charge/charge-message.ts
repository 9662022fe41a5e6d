import type { ActionsBlock, RichTextBlock } from '@slack/types';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { fields, headline, moment, person, richText } from '../../slack/kit/blocks.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { amountWord, chargeHeadline, labelled, plain, termFields } from '../../slack/words/charge-facts.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import { placeAlone, quoted, referenceWord } from '../../slack/words/evidence.ts';
import { type AboutMessage, repeatLine } from '../../slack/kit/note.ts';
import { holdWords } from '../../slack/words/retry-lines.ts';
import { isClosed, isInDoubt, toldWord } from '../../slack/words/state-words.ts';
import type { ChargeNote } from '../../domain/charge-note.ts';
import type { ChargeState, Told } from '../../domain/charge-state.ts';
import type { Log } from '../../log.ts';
import { messageKey } from '../../messages/message-record.ts';
import type { Views } from '../../messages/views.ts';
import { messageButtons, modalButtons } from './charge-buttons.ts';
import { correction, inHand, resendWords, reviewLines, standing, stateBlocks } from './state-lines.ts';

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
      ...directFacts(charge),
      ...repeatLine(about.mayBeRepeat),
      placeAlone(place.environment, place.account),
      ...buttons(what, charge),
    ],
    metadata: { event_type: directEventType, event_payload: { key: about.key } },
  };
}

function directFacts(charge: ChargeSeen): RichTextBlock[] {
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

/** What is said of a charge is kept by its reference alone: the rest is read when it leaves. */
export type ChargeBodies = {
  charge: { reference: string };
  charge_note: { reference: string; note: ChargeNote };
  charge_direct: { reference: string; what: Told };
};

export type ChargeShown =
  | { kind: 'charge'; charge: ChargeSeen }
  | { kind: 'charge_note'; note: ChargeNote; charge: ChargeSeen }
  | { kind: 'charge_direct'; what: Told; charge: ChargeSeen };

export type ChargePostDeps = {
  findCharge: (reference: string) => Promise<ChargeSeen | undefined>;
  log: Log;
};

export function chargeViews({ findCharge, log }: ChargePostDeps): Views<ChargeBodies, ChargeShown> {
  async function requireCharge(reference: string): Promise<ChargeSeen> {
    const charge = await findCharge(reference);
    if (!charge) throw new Error('There is something to say of a charge that is not in the store.');
    return charge;
  }
  return {
    /** In the desk’s channel. */
    async charge({ reference }) {
      return { kind: 'shown', post: { kind: 'charge', charge: await requireCharge(reference) } };
    },
    /** A step of it, in the thread below. */
    async charge_note({ reference, note }) {
      const charge = await requireCharge(reference);
      const below = { key: messageKey('charge', reference) };
      return { kind: 'shown', post: { kind: 'charge_note', note, charge }, below };
    },
    /** What its agent is told where the modal may be closed; not posted any more once another message tells it better. */
    async charge_direct({ reference, what }, { entry: { key }, record: { posted } }) {
      const charge = await requireCharge(reference);
      const { state } = charge;
      if (!posted && isUndecided(what, state)) return { kind: 'later' };
      if (!posted && isOver(what, state)) {
        log('info', 'not told: it no longer holds', { key, result: state.kind });
        return { kind: 'nothing' };
      }
      return { kind: 'shown', post: { kind: 'charge_direct', what, charge } };
    },
  };
}

/**
 * A verdict that the charge no longer has, or a request for a code once there is a verdict: another message
 * tells that one.
 */
function isOver(what: Told, state: ChargeState): boolean {
  return what === 'otp' ? 'concludedAt' in state : state.kind !== what;
}

/** A verdict that is being looked up once more: it may stand again, and would not be told a second time. */
function isUndecided(what: Told, state: ChargeState): boolean {
  return what !== 'otp' && !('concludedAt' in state);
}
