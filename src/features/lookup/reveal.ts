import type { Account } from '../../account.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { ServiceFailure, StoreUnavailable } from '../../domain/failure.ts';
import { type OrderReference, parseOrderReference } from '../../domain/order-reference.ts';
import { serviceFailureNote } from '../../slack/words/error-message.ts';
import type { Caller, Permission, Press, Pressed } from '../../slack/command.ts';
import { context, plainText, rich } from '../../slack/kit/blocks.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import { messageModal } from '../../slack/kit/modals.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import { cut, oneLine } from '../../slack/kit/text.ts';
import { referenceWord } from '../../slack/words/payment-words.ts';
import { revealActionId } from '../../slack/words/transaction-message.ts';

/** For reading a customer's whole e-mail. */
export const revealPermission: Permission = 'reveal';

/** The e-mail in the bot's own charge or payment link of a reference, from the store. */
type OwnEmail = (reference: OrderReference) => Promise<string | undefined>;

export type Reveals = ReturnType<typeof createReveals>;

/** *Reveal e-mail*, on any surface. */
export function createReveals(
  account: Pick<Account, 'payments' | 'people' | 'slack' | 'audit' | 'name' | 'now' | 'log'>,
  ownEmail: OwnEmail,
) {
  const { mayRun } = account.people;
  const { showResult } = account.slack;
  const revealEmail = createRevealEmail(account, ownEmail);

  async function answerOf(request: RevealRequest): Promise<SlackMessage> {
    try {
      const revealed = await revealEmail(request);
      return revealed.kind === 'revealed'
        ? revealedMessage(revealed.email, request.reference)
        : notRevealedMessage(revealed.kind);
    } catch (error) {
      // Show the failure in the modal too, so the modal doesn't say *Reading* for ever.
      if (!(error instanceof ServiceFailure)) throw error;
      return noteMessage(
        serviceFailureNote(error, { reference: request.reference, moneyMayHaveMoved: false }),
      );
    }
  }
  /**
   * Shows the e-mail as an ephemeral message in a channel, or in a new modal above a modal. Elsewhere only a direct message
   * is possible, and Slack keeps those, so nothing is revealed or recorded.
   */
  async function reveal(pressed: Pressed, reference: OrderReference): Promise<void> {
    const { caller, view, reply, openModal } = pressed;
    const { userId, channelId } = caller;
    if (view) {
      const viewId = await openModal(revealingModal());
      const answer = await answerOf({ reference, by: userId, where: 'modal' });
      // If the modal was closed, its replacement holds no address.
      const instead = notRevealedMessage('closed');
      return await showResult({ viewId, userId }, { modal: revealModal(answer), message: instead });
    }
    if (channelId === undefined) return await reply(notRevealedMessage('no_place'));
    const answer = await answerOf({ reference, by: userId, where: channelId });
    await reply(answer, notRevealedMessage('no_place'));
  }
  const press: Press = {
    actionId: revealActionId,
    permissions: [revealPermission],
    async press(pressed) {
      const reference = parseOrderReference(pressed.value);
      if (reference.ok) await reveal(pressed, reference.value);
    },
  };
  return {
    press,
    /** Whether to offer *Reveal e-mail*; the press checks again. */
    may: async (caller: Caller): Promise<boolean> =>
      (await mayRun(revealPermission, caller)).kind === 'allowed',
  };
}

/** `by`: the reader. `where`: the channel id in which they read, or `modal`; for the audit. */
type RevealRequest = { reference: OrderReference; by: string; where: string };

type Revealed =
  | { kind: 'revealed'; email: string }
  /** Neither the service's record nor the bot's own has an e-mail. */
  | { kind: 'no_address' }
  /** The audit could not record the reader. */
  | { kind: 'not_on_record' };

/**
 * Finds a customer's whole e-mail, in the service's record or else the bot's own, and returns it only once the audit says who
 * reads it, of which reference and where. Throws `ServiceFailure` if the service doesn't answer and the bot has no e-mail.
 */
export function createRevealEmail(
  { payments, audit, name, now, log }: Pick<Account, 'payments' | 'audit' | 'name' | 'now' | 'log'>,
  ownEmail: OwnEmail,
): (request: RevealRequest) => Promise<Revealed> {
  async function findEmail(reference: OrderReference): Promise<string | undefined> {
    const own = (await ownEmail(reference))?.trim() || undefined;
    try {
      const found = await payments.findTransaction(reference);
      // A record of another order has another customer.
      const theirs = found?.orderReference === reference ? found.customerEmail?.trim() : undefined;
      return theirs || own;
    } catch (error) {
      if (error instanceof ServiceFailure && own !== undefined) return own;
      throw error;
    }
  }
  return async function revealEmail({ reference, by, where }) {
    const email = await findEmail(reference);
    if (email === undefined) return { kind: 'no_address' };
    const atMs = now();
    try {
      await audit.append({
        id: `reveal:${by}:${reference}:${atMs}`,
        atMs,
        who: by,
        where,
        what: 'reveal',
        ...withoutUndefined({ account: name }),
        reference,
        result: 'revealed',
      });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      log('error', 'an address is not revealed: the audit takes no entry', { userId: by }, error);
      return { kind: 'not_on_record' };
    }
    return { kind: 'revealed', email };
  };
}

/** An e-mail address can't be longer. */
const longestEmail = 320;

export function revealedMessage(email: string, reference: string): SlackMessage {
  return noteMessage({
    state: cut(oneLine(email), longestEmail),
    about: [referenceWord(reference)],
    foot: context(plainText('Only you see this. The audit trail says that you did.')),
  });
}

/**
 * `no_address`: no e-mail is known. `not_on_record`: the audit could not be written. `no_place`: nothing here is for this
 * person's eyes alone. `closed`: the modal was closed before the answer came.
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

/** Opened before the look-up: Slack's trigger expires after three seconds. */
export function revealingModal(): Modal {
  return revealModal(noteMessage({ state: '⏳ Reading the e-mail …' }));
}

export function revealModal(message: SlackMessage): Modal {
  return messageModal('Customer e-mail', message);
}
