import type {
  App,
  BlockAction,
  GlobalShortcut,
  MessageShortcut,
  RespondFn,
  SlashCommand,
  ViewClosedAction,
  ViewSubmitAction,
} from '@slack/bolt';
import { holdsCardNumber } from '../../domain/card-number.ts';
import { answer } from '../answer.ts';
import { isStranger, strangerMessage } from '../people/asker.ts';
import type { Caller } from '../command.ts';
import { cardNumberMessage } from '../error-message.ts';
import { createOpenModal } from '../modals.ts';
import { noteRefused, ofAnotherWorkspace } from '../record-asked.ts';
import { createReply, type ReplyAddress } from '../reply.ts';
import { routeClosing } from './route-closing.ts';
import { placeKey, pressingOf, routePress, valueOf, type PressDeps } from './route-press.ts';
import { routeSubmission, type SubmissionDeps } from './route-submission.ts';
import { routeShortcut } from './route-shortcut.ts';
import { optionsFor, type SuggestionDeps } from './route-suggestion.ts';
import { fixFor, readSlackError, slackErrorWord } from '../slack-error.ts';

export type RouterDeps = PressDeps &
  SubmissionDeps &
  SuggestionDeps & {
    /** Called before the App Home is made for who has just opened it; absent where nothing follows it. */
    homeOpened?: (caller: Caller) => Promise<void>;
  };

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
    if (event.tab !== 'home') return;
    const owner: Caller = { userId: event.user, teamId: body.team_id, from: 'home' };
    await deps
      .homeOpened?.(owner)
      .catch((error: unknown) => deps.log('warn', 'An App Home is not followed', {}, error));
    await publishHome(owner, deps, hashOf(event.view));
  });
  app.shortcut<GlobalShortcut | MessageShortcut>(/.*/, async ({ ack, body, respond }) => {
    await ack();
    await routeShortcut(body, 'response_url' in body ? respond : undefined, deps);
  });
}

async function routeCommand(typed: SlashCommand, respond: RespondFn, deps: RouterDeps): Promise<void> {
  const { user_id: userId, team_id: teamId, channel_id: channelId } = typed;
  const caller: Caller = { userId, teamId, channelId, from: 'command' };
  const reply = createReply({ caller, respond, replaces: 'earlier' }, deps.client, deps.log);
  // Looked at before anything else can keep, echo or log the text.
  if (holdsCardNumber(typed.text)) {
    deps.log('warn', 'A card number was typed and refused', { userId: caller.userId });
    noteRefused(deps, { what: 'command', caller, reason: 'a card number was typed' });
    return reply(cardNumberMessage());
  }
  if (isStranger(caller, deps.identity())) {
    noteRefused(deps, { what: 'command', caller, reason: ofAnotherWorkspace });
    return reply(strangerMessage());
  }
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
  if (isStranger(caller, deps.identity())) {
    noteRefused(deps, { what: 'press', caller, reason: ofAnotherWorkspace });
    return reply(strangerMessage());
  }
  const claimKey = `press:${placeKey(body)}:${action.action_id}`;
  await answer({ caller, what: 'press', understood, claimKey, openModal, reply }, deps);
}

function placeOf(body: BlockAction): ReplyAddress['replaces'] {
  return body.container['is_ephemeral'] === true ? 'pressed' : 'nothing';
}

/** Bolt's type of the event's view is that of a modal, and lacks it. */
function hashOf(view: object | undefined): string | undefined {
  return view && 'hash' in view && typeof view.hash === 'string' ? view.hash : undefined;
}

/**
 * Shows the person their App Home as it is now. `over`: only in the place of the view of that hash; one that was shown
 * meanwhile is as new. Never throws: what Slack refuses is logged, and the Home stays as it was.
 */
export async function publishHome(
  caller: Caller,
  deps: Pick<RouterDeps, 'client' | 'commands' | 'identity' | 'log'>,
  over?: string,
): Promise<void> {
  try {
    if (isStranger(caller, deps.identity())) return;
    const { blocks } = await deps.commands.home(caller);
    const hash = over === undefined ? {} : { hash: over };
    await deps.client.views.publish({ user_id: caller.userId, view: { type: 'home', blocks }, ...hash });
  } catch (error) {
    const slackError = slackErrorWord(readSlackError(error));
    if (slackError === 'hash_conflict') return;
    deps.log('warn', 'The App Home could not be shown', { slackError, fix: fixFor(slackError) }, error);
  }
}
