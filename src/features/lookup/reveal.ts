import { ServiceFailure } from '../../domain/failure.ts';
import { parseOrderReference, type OrderReference } from '../../domain/order-reference.ts';
import type { RevealEmail } from './reveal-email.ts';
import { refusalMessage, serviceFailureMessage } from '../../slack/words/error-message.ts';
import type { Caller, MayRun, Permission, Press, Pressed } from '../../slack/command.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import {
  notRevealedMessage,
  revealActionId,
  revealedMessage,
  revealingModal,
  revealModal,
} from '../../slack/words/reveal-message.ts';
import type { ShowEnd } from '../../slack/show-end.ts';

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
