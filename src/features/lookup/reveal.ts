import { ServiceFailure } from '../../domain/failure.ts';
import { type OrderReference, parseOrderReference } from '../../domain/order-reference.ts';
import { refusalMessage, serviceFailureMessage } from '../../slack/words/error-message.ts';
import type { Caller, MayRun, Permission, Press, Pressed } from '../../slack/command.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import {
  notRevealedMessage,
  revealActionId,
  revealModal,
  revealedMessage,
  revealingModal,
} from '../../slack/words/reveal-message.ts';
import type { ShowEnd } from '../../slack/show-end.ts';
import type { Audit } from '../../domain/audit-entry.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Transaction } from '../../domain/transaction.ts';
import type { Log } from '../../log.ts';

/** To read a customer's e-mail in full. */
export const revealPermission: Permission = 'reveal';

export type RevealActions = {
  /** For this account. */
  mayRun: MayRun;
  revealEmail: RevealEmail;
  showEnd: ShowEnd;
};

/** *Reveal e-mail* on an answer that its reader alone sees. */
export function revealPress(deps: RevealActions): Press {
  return {
    actionId: revealActionId,
    permissions: [revealPermission],
    async press(pressed) {
      const reference = parseOrderReference(pressed.value);
      if (reference.ok) await reveal(deps, pressed, reference.value);
    },
  };
}

/** Whether to offer it. Whether they may is asked once more when they press it. */
export async function mayReveal({ mayRun }: Pick<RevealActions, 'mayRun'>, caller: Caller): Promise<boolean> {
  return (await mayRun(revealPermission, caller)).kind === 'allowed';
}

/** Where a choice of a message that everybody sees asks for it: whoever may not is told so. */
export async function revealIfAllowed(
  deps: RevealActions,
  pressed: Pressed,
  reference: OrderReference,
): Promise<void> {
  const permit = await deps.mayRun(revealPermission, pressed.caller);
  if (permit.kind === 'allowed') return await reveal(deps, pressed, reference);
  const { rule, whoCan } = permit;
  await pressed.reply(refusalMessage({ what: 'Reveal e-mail', rule, whoCan }));
}

/**
 * In a channel as a message that Slack shows to the one person and does not keep; in a modal on top of it. Anywhere
 * else there is only a direct message, which stays: nothing is revealed there, and nothing put on record.
 */
async function reveal(deps: RevealActions, pressed: Pressed, reference: OrderReference): Promise<void> {
  const { caller, view, reply } = pressed;
  if (view) return await revealOnTop(deps, pressed, reference);
  if (caller.channelId === undefined) return await reply(notRevealedMessage('no_place'));
  const answer = await answerOf(deps, { reference, by: caller.userId, where: caller.channelId });
  await reply(answer, notRevealedMessage('no_place'));
}

async function revealOnTop(
  deps: RevealActions,
  { caller, openModal }: Pressed,
  reference: OrderReference,
): Promise<void> {
  const viewId = await openModal(revealingModal());
  const answer = await answerOf(deps, { reference, by: caller.userId, where: 'modal' });
  // Closed meanwhile: what is told in its place holds no address.
  const instead = notRevealedMessage('closed');
  await deps.showEnd({ viewId, userId: caller.userId }, { modal: revealModal(answer), message: instead });
}

async function answerOf(
  { revealEmail }: RevealActions,
  asked: Parameters<RevealEmail>[0],
): Promise<SlackMessage> {
  try {
    const revealed = await revealEmail(asked);
    return revealed.kind === 'revealed'
      ? revealedMessage(revealed.email, asked.reference)
      : notRevealedMessage(revealed.kind);
  } catch (error) {
    // Where the answer would stand: a modal that asks for ever tells nobody anything.
    if (!(error instanceof ServiceFailure)) throw error;
    return serviceFailureMessage(error, { reference: asked.reference, moneyMayHaveMoved: false });
  }
}

export type RevealDeps = {
  /** Undefined when the service knows no such transaction; throws `ServiceFailure`. */
  findTransaction: (reference: OrderReference) => Promise<Transaction | undefined>;
  /** The address of the bot's own charge or payment link under this reference; asks the store alone. */
  ownEmail: (reference: OrderReference) => Promise<string | undefined>;
  audit: Audit;
  /** The merchant account's name; undefined in a bot that knows one alone. */
  account: string | undefined;
  now: () => number;
  log: Log;
};

/** Who wants to read the address of which order, and where they see it. */
export type RevealAsked = { reference: OrderReference; by: string; where: string };

type Revealed =
  | { kind: 'revealed'; email: string }
  /** Neither the service's record nor the bot's own names one. */
  | { kind: 'no_address' }
  /** That somebody reads it could not be put on record. */
  | { kind: 'not_on_record' };

type RevealEmail = (asked: RevealAsked) => Promise<Revealed>;

/**
 * A customer's e-mail in full, for one person. It is read anew, of the service or of the bot's own record, and comes
 * out of here only once the audit has who read it, of which order and where: without that nobody sees it. A service
 * that does not answer keeps back what the bot does not know itself: throws `ServiceFailure`.
 */
export function createRevealEmail(deps: RevealDeps): RevealEmail {
  return async function revealEmail({ reference, by, where }) {
    const email = await findEmail(deps, reference);
    if (email === undefined) return { kind: 'no_address' };
    const { account, now } = deps;
    const atMs = now();
    try {
      await deps.audit({
        id: `reveal:${by}:${reference}:${atMs}`,
        atMs,
        who: by,
        where,
        what: 'reveal',
        ...(account === undefined ? {} : { account }),
        reference,
        result: 'revealed',
      });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      deps.log('error', 'an address is not revealed: the audit takes no entry', { userId: by }, error);
      return { kind: 'not_on_record' };
    }
    return { kind: 'revealed', email };
  };
}

async function findEmail(
  { findTransaction, ownEmail }: RevealDeps,
  reference: OrderReference,
): Promise<string | undefined> {
  const own = (await ownEmail(reference))?.trim() || undefined;
  try {
    const found = await findTransaction(reference);
    // A record of another order has another customer.
    const theirs = found?.orderReference === reference ? found.customerEmail?.trim() : undefined;
    return theirs || own;
  } catch (error) {
    if (error instanceof ServiceFailure && own !== undefined) return own;
    throw error;
  }
}
