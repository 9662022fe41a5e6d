import { UnknownError, type App, type ViewSubmitAction } from '@slack/bolt';
import { newErrorId } from '../../log.ts';
import type { SlackSide } from '../answer.ts';
import { mentionTurn } from './mention.ts';
import { callerOf } from './payload.ts';
import { commandTurn, formTurn, listTurn, openHome, pressTurn, shortcutTurn, take } from './turns.ts';

/** Every id: the command set looks ids up, because some carry an account's name. */
const any = /^/;

/**
 * Registers every listener; none throws. Presses are acknowledged first, forms and lists with their answer, commands with
 * their answer unless it is slow: nothing may use up Slack's three seconds.
 */
export function addListeners(app: App, side: SlackSide): void {
  // A middleware, because Bolt would try each listener below before `app.command`: a tenth of a command's time.
  app.use((args) => ('command' in args ? take(commandTurn(args.command, args, side), side) : args.next()));

  app.action({ type: 'block_actions' }, async ({ body, ack, respond }) => {
    await ack();
    await take(pressTurn(body, respond, side), side);
    if (body.view?.type === 'home') await openHome(callerOf(body, 'home'), side);
  });

  app.view<ViewSubmitAction>({ type: 'view_submission' }, ({ body, ack }) =>
    take(formTurn(ack, body, side), side),
  );

  app.options(any, ({ body, ack }) =>
    take(
      listTurn((options) => ack({ options }), body, side),
      side,
    ),
  );

  app.shortcut(any, async ({ shortcut, ack, respond }) => {
    await ack();
    // Without a response_url Bolt's `respond` doesn't work.
    await take(shortcutTurn(shortcut, 'response_url' in shortcut ? respond : undefined, side), side);
  });

  app.event('app_home_opened', async ({ event, body }) => {
    if (event.tab !== 'home') return;
    await openHome({ userId: event.user, teamId: body.team_id, from: 'home' }, side);
  });

  app.event('app_mention', async ({ event, body }) => {
    const turn = mentionTurn(event, body.team_id, side);
    if (turn && (await turn.isFirst())) await take(turn, side);
  });

  app.error(async (error) => {
    const cause = error instanceof UnknownError ? error.original : error;
    side.log('error', 'A request from Slack could not be handled', { errorId: newErrorId() }, cause);
  });
}
