import { ServiceFailure } from '../../domain/failure.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { newErrorId, type Log } from '../../log.ts';
import type { Caller, Command } from '../command.ts';
import {
  bugMessage,
  modalRefusedMessage,
  serviceFailureMessage,
  storeUnavailableMessage,
} from './error-message.ts';
import type { SlackMessage } from '../kit/message.ts';
import { ModalRefused } from '../kit/modals.ts';
import { fixFor } from '../slack-error.ts';

/** What was being done when it broke, and whether the verb itself had begun or only the guards before it. */
export type Doing = { command: Command; caller: Caller; reference?: OrderReference; hasBegun: boolean };

/** What a person is told, and in a word why, for the audit. */
export type ErrorReply = { message: SlackMessage; reason: string };

/**
 * The one place where a throw becomes words. A `ServiceFailure`, `StoreUnavailable` or `ModalRefused` says what
 * happened, whether money may have moved and what happens next; anything else is our bug, and its id is on the screen
 * and in the log.
 */
export function errorReply(error: unknown, doing: Doing, log: Log): ErrorReply {
  const moneyMayHaveMoved = doing.hasBegun && doing.command.effect === 'money';
  const reference = doing.reference === undefined ? {} : { reference: doing.reference };
  const { userId } = doing.caller;
  const { verb } = doing.command;
  if (error instanceof ServiceFailure) {
    log('warn', 'The payments service gave no usable answer', { verb, userId, failure: error.kind }, error);
    const message = serviceFailureMessage(error, { ...reference, moneyMayHaveMoved });
    return { message, reason: `the payments service: ${error.kind}` };
  }
  if (error instanceof StoreUnavailable) {
    log('warn', 'The store did not answer', { verb, userId }, error);
    return {
      message: storeUnavailableMessage({ ...reference, moneyMayHaveMoved }),
      reason: 'the store was away',
    };
  }
  if (error instanceof ModalRefused) {
    const { kind, slackError } = error;
    log('warn', 'Slack opened no modal', { verb, userId, slackError, fix: fixFor(slackError) });
    const message = modalRefusedMessage(kind, { ...reference, moneyMayHaveMoved });
    return { message, reason: `Slack opened no modal: ${slackError}` };
  }
  const errorId = newErrorId();
  log('error', 'A command failed', { errorId, verb, userId }, error);
  return { message: bugMessage(errorId, { moneyMayHaveMoved }), reason: `error ${errorId}` };
}
