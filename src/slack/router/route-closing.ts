import type { ViewClosedAction } from '@slack/bolt';
import { newErrorId } from '../../log.ts';
import { refuse } from '../answer.ts';
import { callerOf, isStranger } from '../people/asker.ts';
import type { PressDeps } from './route-press.ts';

/**
 * A modal was closed, and Slack takes no answer. Who may not submit it any more is told nothing of it either: what
 * follows from closing it is about what they had in front of them. Never throws.
 */
export async function routeClosing(
  body: ViewClosedAction,
  deps: Pick<PressDeps, 'commands' | 'identity' | 'log' | 'mayRun'>,
): Promise<void> {
  const caller = callerOf(body, 'modal');
  if (isStranger(caller, deps.identity())) return;
  const found = deps.commands.modal(body.view.callback_id);
  if (!found?.modal.closed) return;
  const { id: viewId, private_metadata: privateMetadata } = body.view;
  try {
    if (await refuse(caller, found.command, deps.mayRun, found.modal.permissions)) return;
    await found.modal.closed({ caller, viewId, privateMetadata });
  } catch (error) {
    const about = { errorId: newErrorId(), verb: found.command.verb, userId: caller.userId };
    deps.log('error', 'A closed modal could not be followed up', about, error);
  }
}
