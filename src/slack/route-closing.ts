import type { ViewClosedAction } from '@slack/bolt';
import { newErrorId } from '../log.ts';
import { callerOf, isStranger } from './asker.ts';
import type { PressDeps } from './route-press.ts';

/**
 * A modal was closed, and Slack takes no answer. Nothing is refused here: what follows from closing it is told
 * to the person alone, and is about what they had in front of them. Never throws.
 */
export async function routeClosing(
  body: ViewClosedAction,
  deps: Pick<PressDeps, 'commands' | 'identity' | 'log'>,
): Promise<void> {
  const caller = callerOf(body);
  if (isStranger(caller, deps.identity())) return;
  const found = deps.commands.modal(body.view.callback_id);
  if (!found?.modal.closed) return;
  const { id: viewId, private_metadata: privateMetadata } = body.view;
  try {
    await found.modal.closed({ caller, viewId, privateMetadata });
  } catch (error) {
    const about = { errorId: newErrorId(), verb: found.command.verb, userId: caller.userId };
    deps.log('error', 'A closed modal could not be followed up', about, error);
  }
}
