import type {
  App,
  BlockAction,
  RespondFn,
  SlashCommand,
  ViewClosedAction,
  ViewSubmitAction,
} from '@slack/bolt';
import { holdsCardNumber } from '../domain/card-number.ts';
import { answer } from './answer.ts';
import { isStranger, strangerMessage } from './asker.ts';
import type { Caller } from './command.ts';
import { cardNumberMessage } from './error-message.ts';
import { createOpenModal } from './modals.ts';
import { createReply, type ReplyAddress } from './reply.ts';
import { routeClosing } from './route-closing.ts';
import { placeKey, pressingOf, routePress, valueOf, type PressDeps } from './route-press.ts';
import { routeSubmission, type SubmissionDeps } from './route-submission.ts';
import { optionsFor, type SuggestionDeps } from './route-suggestion.ts';
import { fixFor, readSlackError, slackErrorWord } from './slack-error.ts';

export type RouterDeps = PressDeps & SubmissionDeps & SuggestionDeps;

/**
 * One listener for each way in, and none throws. Commands and presses are acknowledged before anything else,
 * forms and lists with their answer: nothing that hangs behind one can cost Slack's three seconds.
 */
export function addRoutes(app: App, deps: RouterDeps): void {
  app.command(/.*/, async ({ ack, command, respond }) => {
    await ack();
    await routeCommand(command, respond, deps);
  });
  app.action<BlockAction>({ type: 'block_actions' }, async ({ ack, body, respond }) => {
    await ack();
    await routeAction(body, respond, deps);
  });
  app.view<ViewSubmitAction>({ callback_id: /.*/, type: 'view_submission' }, async ({ ack, body }) =>
    routeSubmission(ack, body, deps),
  );
  app.view<ViewClosedAction>({ callback_id: /.*/, type: 'view_closed' }, async ({ ack, body }) => {
    await ack();
    await routeClosing(body, deps);
  });
  app.options<'block_suggestion'>({ type: 'block_suggestion', action_id: /.*/ }, async ({ ack, body }) =>
    ack({ options: await optionsFor(body, deps) }),
  );
  app.event('app_home_opened', async ({ event, body }) => {
    if (event.tab === 'home') await publishHome({ userId: event.user, teamId: body.team_id }, deps);
  });
  // No verb has a shortcut: what an older manifest still sends ends here.
  app.shortcut(/.*/, async ({ ack }) => ack());
}

async function routeCommand(typed: SlashCommand, respond: RespondFn, deps: RouterDeps): Promise<void> {
  const caller = { userId: typed.user_id, teamId: typed.team_id, channelId: typed.channel_id };
  const reply = createReply({ caller, respond, replaces: 'earlier' }, deps.client, deps.log);
  // Looked at before anything else can keep, echo or log the text.
  if (holdsCardNumber(typed.text)) {
    deps.log('warn', 'A card number was typed and refused', { userId: caller.userId });
    return reply(cardNumberMessage());
  }
  if (isStranger(caller, deps.identity())) return reply(strangerMessage());
  const understood = deps.commands.understand(typed.text, typed.channel_id);
  const openModal = createOpenModal(deps.client, { triggerId: typed.trigger_id, onTop: false });
  await answer({ caller, understood, claimKey: `slash:${typed.trigger_id}`, openModal, reply }, deps);
}

async function routeAction(body: BlockAction, respond: RespondFn, deps: RouterDeps): Promise<void> {
  const [action] = body.actions;
  if (!action) return;
  const found = deps.commands.press(action.action_id);
  if (found) {
    // The message that was pressed in stays: its other buttons are still of use.
    return routePress(pressingOf({ body, action, respond }, 'nothing', deps), found, deps);
  }
  const understood = deps.commands.pressed(action.action_id, valueOf(action));
  // A link button, or one of a message from before an update.
  if (!understood) return;
  const { caller, openModal, reply } = pressingOf({ body, action, respond }, placeOf(body), deps);
  if (isStranger(caller, deps.identity())) return reply(strangerMessage());
  const claimKey = `press:${placeKey(body)}:${action.action_id}`;
  await answer({ caller, understood, claimKey, openModal, reply }, deps);
}

function placeOf(body: BlockAction): ReplyAddress['replaces'] {
  return body.container['is_ephemeral'] === true ? 'pressed' : 'nothing';
}

async function publishHome(caller: Caller, deps: RouterDeps): Promise<void> {
  try {
    if (isStranger(caller, deps.identity())) return;
    const { blocks } = await deps.commands.home(caller);
    await deps.client.views.publish({ user_id: caller.userId, view: { type: 'home', blocks } });
  } catch (error) {
    const slackError = slackErrorWord(readSlackError(error));
    deps.log('warn', 'The App Home could not be shown', { slackError, fix: fixFor(slackError) }, error);
  }
}
