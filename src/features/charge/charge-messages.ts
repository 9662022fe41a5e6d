import type { RichTextBlock } from '@slack/types';
import type { Account } from '../../account.ts';
import type { Lookup } from '../../domain/alert.ts';
import { type ChargeSeen, type AgentNews, isClosed, isConcluded } from '../../domain/charge.ts';
import type { Notice } from '../../messages/notices.ts';
import { bold, fields, moment, person, richText } from '../../slack/kit/blocks.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { amountWord, chargeHead, labelled, plain, termFields } from '../../slack/words/charge-facts.ts';
import type { ShownAccount } from '../../slack/words/account-foot.ts';
import { quoted, referenceWord } from '../../slack/words/payment-words.ts';
import { type PostAttempt, type Note, noteMessage, forPosting } from '../../slack/kit/note.ts';
import { holdWords } from '../../slack/words/next-steps.ts';
import { isInDoubt, saidGivenBack, earlierStateWord } from '../../slack/words/state-words.ts';
import { type MessageKey, messageKey } from '../../messages/message-record.ts';
import type { Renders } from '../../messages/deliver.ts';
import { messageButtons, modalButtons } from './charge-modal.ts';
import {
  alertNewsOf,
  chargeFoot,
  correction,
  notMineBlocks,
  notMineLines,
  notMineWords,
  reviewLines,
  stateBlocks,
} from './charge-words.ts';
import { codeLine, agentSince, triesAndTime } from './code-modal.ts';
import { createMessages, type Messages } from '../../messages/messages.ts';
import { tellKey } from './machine.ts';

/** The notes in a charge's thread; each is posted once. People are Slack user ids. */
export type ChargeNote =
  | { kind: 'told'; what: AgentNews }
  | { kind: 'handed_over'; from: string; to: string }
  | { kind: 'not_mine' }
  /** A signed event says that the charge was given back, but a look-up (`found`) doesn't. */
  | { kind: 'said_given_back'; found: Lookup['kind'] };

/**
 * A charge's message in the desk channel; it is edited as the charge continues. Once settled it is shortened: without
 * terms and buttons, and only the thread says why it ended and what to do.
 */
export function chargeMessage(charge: ChargeSeen, account: ShownAccount, about: PostAttempt): SlackMessage {
  const said = [...correction(charge), ...alertNewsOf(charge), ...notMineBlocks(charge), ...advice(charge)];
  const body = [...said, ...facts(charge), ...messageButtons(charge)];
  return forPosting(noteOf(charge, account, { body }), 'payops_charge', about);
}

function advice(charge: ChargeSeen): RichTextBlock[] {
  if (charge.state.kind === 'review') return [richText(...reviewLines)];
  return isInDoubt(charge) ? [richText(plain(bold('Do not charge again.'), ' The bot keeps checking.'))] : [];
}

function facts(charge: ChargeSeen): RichTextBlock[] {
  const nextTry = charge.state.kind === 'declined' ? holdWords(charge.nextTry) : undefined;
  const agent = [person(charge.agent)];
  if (isClosed(charge)) return fields({ Agent: agent, Card: nextTry });
  const { otp, state } = charge;
  return fields({
    ...termFields(charge.terms),
    Agent: agent,
    Code: otp ? codeLine(charge) : undefined,
    Since: state.kind === 'confirming' ? [moment(state.since)] : undefined,
  });
}

/** The notice to the operators that a customer did not ask for a charge. */
export function notMineNotice(charge: Pick<ChargeSeen, 'reference' | 'agent' | 'terms' | 'state'>): Notice {
  const pressed = 'The customer pressed it on the page for the code. Agent: ';
  return {
    state: notMineWords,
    about: [amountWord(charge.terms.money), charge.reference],
    lines: [plain(pressed, person(charge.agent)), ...notMineLines(charge.state.kind)],
  };
}

/** The note about one step of a charge, for the thread of its message. Doesn't ping the person who just clicked. */
export function chargeNoteMessage(
  note: ChargeNote,
  charge: ChargeSeen,
  account: ShownAccount,
  about: PostAttempt,
): SlackMessage {
  return forPosting(noteOf(charge, account, noteParts(note, charge)), 'payops_charge_note', about);
}

function noteParts(note: ChargeNote, charge: ChargeSeen): Partial<Note> {
  const { terms, reference } = charge;
  const short = [amountWord(terms.money), referenceWord(reference)];
  switch (note.kind) {
    case 'told':
      return { state: earlierStateWord(note.what, charge), body: toldBody(note.what, charge) };
    case 'not_mine':
      return { state: `🚨 ${notMineWords}`, about: short, body: notMineLines(charge.state.kind) };
    case 'said_given_back':
      return {
        state: `⚠️ ${saidGivenBack(note.found)}`,
        about: short,
        body: [labelled('Next', 'ask the payments service whether the money went back.')],
      };
    case 'handed_over': {
      const line = labelled('From', person(note.from), '. The message above says who has it now.');
      return { state: '🤝 Taken over', about: short, body: [line] };
    }
  }
}

/** Empty if the charge has changed since: its present state is in the message above. */
function toldBody(what: AgentNews, charge: ChargeSeen): NonNullable<Note['body']> {
  if (charge.state.kind !== what) return [];
  if (what !== 'otp') return stateBlocks(charge);
  const who = charge.codeEntry === 'customer' ? 'they type it' : 'its agent enters it';
  return [plain(`The bank sent the customer a code; ${who}.`), triesAndTime(charge)];
}

/**
 * The direct message to the agent about a charge. It is complete, because the modal may be closed. A request for a code
 * is edited once the code is settled: it then shows the charge's state, without a button.
 */
export function chargeDirectMessage(
  what: AgentNews,
  charge: ChargeSeen,
  account: ShownAccount,
  about: PostAttempt,
): SlackMessage {
  const { state, terms } = charge;
  const isOpen = state.kind === 'otp';
  const card = isOpen || state.kind === 'review' ? [] : fields({ Card: termFields(terms).Card });
  // A conclusion has the modal's buttons, because the modal may be closed.
  const buttons = isOpen ? messageButtons(charge) : modalButtons(charge, account);
  const body = [...(isOpen ? codeRequest(charge) : stateBlocks(charge)), ...card];
  const message = noteOf(charge, account, { body: [...body, ...(what === state.kind ? buttons : [])] });
  return forPosting(message, 'payops_charge_direct', about);
}

function codeRequest(charge: ChargeSeen): RichTextBlock[] {
  return [
    ...notMineBlocks(charge),
    ...alertNewsOf(charge),
    ...quoted('The bank says:', charge.bankWords),
    richText(
      plain(whoTypes(charge)),
      codeLine(charge),
      // Name the agent only after a hand-over. Until then the message would ping the agent, who has it already.
      ...(charge.handOvers.length === 0 ? [] : [agentSince(charge)]),
    ),
  ];
}

function whoTypes({ customer, codeEntry }: ChargeSeen): string {
  if (customer) return 'The customer types the code by their link.';
  return codeEntry === 'customer'
    ? 'Only the customer types the code: make a link and send it to them.'
    : 'Ask for the code on the phone, never in writing.';
}

function noteOf(charge: ChargeSeen, account: ShownAccount, more: Partial<Note>): SlackMessage {
  return noteMessage({ ...chargeHead(charge), ...more, foot: chargeFoot(charge, account) });
}

/**
 * The stored bodies of messages. They name the charge and what to tell; the charge is read when the message is sent.
 */
type ChargeBodies = {
  charge: { reference: string };
  /** `isDirect`: sent to the agent instead of a thread. */
  charge_note: { reference: string; note: ChargeNote; isDirect?: true };
  charge_direct: { reference: string; what: AgentNews };
};

export function chargeRenders(
  findCharge: (reference: string) => Promise<ChargeSeen | undefined>,
  { shownAccount, log }: Pick<Account, 'shownAccount' | 'log'>,
): Renders<ChargeBodies> {
  async function requireCharge(reference: string): Promise<ChargeSeen> {
    const charge = await findCharge(reference);
    if (!charge) throw new Error('A message is about a charge that is not in the store.');
    return charge;
  }
  return {
    /** The message in the desk’s channel. */
    async charge({ reference }, _work, about) {
      return { kind: 'shown', message: chargeMessage(await requireCharge(reference), shownAccount, about) };
    },
    /** The note about a step, in that message's thread. */
    async charge_note({ reference, note, isDirect }, { record: { posted } }, about) {
      const charge = await requireCharge(reference);
      if (note.kind === 'told' && !posted && charge.state.kind !== note.what) {
        // A look-up is under way. It may confirm this verdict, so wait; another verdict has a note of its own.
        return note.what === 'otp' || isConcluded(charge.state) ? { kind: 'nothing' } : { kind: 'later' };
      }
      const message = chargeNoteMessage(note, charge, shownAccount, about);
      const shown = {
        kind: 'shown',
        message,
        calls: note.kind === 'handed_over' ? [note.from] : [],
      } as const;
      return isDirect ? shown : { ...shown, below: { key: messageKey('charge', reference) } };
    },
    /** The direct message to the agent. Not sent if it is outdated: the next verdict has its own. */
    async charge_direct({ reference, what }, { entry: { key }, record: { posted } }, about) {
      const charge = await requireCharge(reference);
      const { state } = charge;
      const holds = what === 'otp' ? !isConcluded(state) : state.kind === what;
      if (posted || holds)
        return { kind: 'shown', message: chargeDirectMessage(what, charge, shownAccount, about) };
      // A look-up is under way. If it confirms this verdict, no second message is stored, so wait with this one.
      if (!isConcluded(state)) return { kind: 'later' };
      log('info', 'not told: it no longer holds', { key, result: state.kind });
      return { kind: 'nothing' };
    },
  };
}

/**
 * Stores a charge's messages, to be sent by the outbox. Call these after the charge was stored: a message shows the
 * charge as it is stored at the time of sending. Idempotent; they resolve once the message is stored. Without a desk
 * channel only agents get messages. Methods throw StoreUnavailable.
 */
export function createChargePosts(
  deps: Pick<Account, 'store' | 'sealer' | 'rememberMs' | 'leaseMs' | 'now' | 'wake'>,
  deskChannel: string | undefined,
) {
  const messages: Messages<ChargeBodies> = createMessages(deps);

  /** Updates the message in the desk channel, also if the policy no longer has that channel. */
  function refreshDesk(reference: string): Promise<void> {
    const key = messageKey('charge', reference);
    if (deskChannel === undefined) return messages.refresh(key);
    return messages.postOrRefresh(key, { channel: deskChannel, body: { reference } });
  }

  return {
    /** Whether there is a desk channel: its message stays when the modal is closed. */
    hasDesk: deskChannel !== undefined,

    /**
     * Updates the message in the desk channel, the requests for a code that these agents got, and the direct messages of
     * the verdicts that were told: one may turn out to be wrong.
     */
    async refresh(
      reference: string,
      { agents, told }: { agents: readonly string[]; told: readonly AgentNews[] },
    ): Promise<void> {
      const codes = [...new Set(agents)].map((userId) => codeRequestKey(reference, userId));
      const verdicts = told
        .filter((what) => what !== 'otp')
        .map((what) => messageKey('charge_direct', tellKey(reference, what)));
      await Promise.all([
        refreshDesk(reference),
        ...[...codes, ...verdicts].map((key) => messages.refresh(key)),
      ]);
    },

    /**
     * Posts a note in the thread of the desk channel's message, once per name; a verdict's note is edited if the verdict is
     * told again. Without a desk channel does nothing.
     */
    async note(reference: string, name: string, note: ChargeNote): Promise<void> {
      if (deskChannel === undefined) return;
      const key = messageKey('charge_note', `${reference}:${name}`);
      const isVerdict = note.kind === 'told' && note.what !== 'otp';
      const message = { channel: deskChannel, body: { reference, note }, isNote: true } as const;
      await (isVerdict ? messages.postOrRefresh(key, message) : messages.post(key, message));
    },

    async tellAgent(userId: string, reference: string, name: string, note: ChargeNote): Promise<void> {
      const key = messageKey('charge_note', `${reference}:${name}:direct`);
      const body = { reference, note, isDirect: true } as const;
      await messages.post(key, { channel: userId, body, isNote: true });
    },

    /**
     * Sends a direct message, once per key. `refresh` edits it. A request for a code is sent once per charge and person.
     */
    async direct(userId: string, key: string, { reference, what }: { reference: string; what: AgentNews }) {
      // Never give up: without a desk channel nobody else gets the message, and agents don't look for undelivered ones.
      const message = { channel: userId, body: { reference, what }, isNeverGivenUp: true } as const;
      const name = what === 'otp' ? codeRequestKey(reference, userId) : messageKey('charge_direct', key);
      await messages.post(name, message);
    },
  };
}

/** The key of a request for a code: one per charge and agent. */
function codeRequestKey(reference: string, userId: string): MessageKey<'charge_direct'> {
  return messageKey('charge_direct', `otp:${reference}:${userId}`);
}
