import type { App, BlockAction, RespondFn, SlashCommand } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import { holdsCardNumber } from '../domain/card-number.ts';
import { answer, type AnswerDeps } from './answer.ts';
import type { Caller, CommandSet } from './command.ts';
import { cardNumberMessage, refusalMessage } from './error-message.ts';
import type { SlackMessage } from './message.ts';
import { createReply, type ReplyAddress } from './reply.ts';
import { fixFor, readSlackError, slackErrorWord } from './slack-error.ts';
import type { Identity } from './workspace.ts';

export type RouterDeps = AnswerDeps & {
  client: WebClient;
  commands: CommandSet;
  /** Undefined while Slack has not said who the bot is. */
  identity: () => Identity | undefined;
};

/**
 * One listener for each way in. Each acknowledges before anything else, so that nothing that hangs behind it
 * can cost Slack's three seconds, and none throws afterwards.
 */
export function addRoutes(app: App, deps: RouterDeps): void {
  app.command(/.*/, async ({ ack, command, respond }) => {
    await ack();
    await routeCommand(command, respond, deps);
  });
  app.action<BlockAction>({ type: 'block_actions' }, async ({ ack, body, respond }) => {
    await ack();
    await routePress(body, respond, deps);
  });
  app.event('app_home_opened', async ({ event, body }) => {
    if (event.tab === 'home') await publishHome({ userId: event.user, teamId: body.team_id }, deps);
  });
  // No verb has a modal, a select or a shortcut: what an older message or manifest still sends ends here.
  app.view(/.*/, async ({ ack }) => ack());
  app.options(/.*/, async ({ ack }) => ack({ options: [] }));
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
  if (isStranger(caller, deps)) return reply(strangerMessage());
  const understood = deps.commands.understand(typed.text);
  await answer({ caller, understood, claimKey: `slash:${typed.trigger_id}`, reply }, deps);
}

async function routePress(body: BlockAction, respond: RespondFn, deps: RouterDeps): Promise<void> {
  const [action] = body.actions;
  if (!action) return;
  const value = 'value' in action && typeof action.value === 'string' ? action.value : '';
  const understood = deps.commands.pressed(action.action_id, value);
  // A link button, or one of a message from before an update.
  if (!understood) return;
  const caller = callerOf(body);
  const reply = createReply(
    { caller, respond: respondOf(body, respond), replaces: placeOf(body) },
    deps.client,
    deps.log,
  );
  if (isStranger(caller, deps)) return reply(strangerMessage());
  const claimKey = `press:${placeKey(body)}:${action.action_id}`;
  await answer({ caller, understood, claimKey, reply }, deps);
}

/** A message is known by its channel and time, a view by the state in which its button was pressed. */
function placeKey({ container, view }: BlockAction): string {
  return view ? `${view.id}:${view.hash}` : `${container['channel_id']}:${container['message_ts']}`;
}

function callerOf(body: BlockAction): Caller {
  const teamId = body.user.team_id ?? body.team?.id;
  return {
    userId: body.user.id,
    ...(teamId === undefined ? {} : { teamId }),
    ...(body.channel === undefined ? {} : { channelId: body.channel.id }),
  };
}

/** Bolt gives a `respond` that cannot work where Slack sent no response_url: a press in the App Home. */
function respondOf(body: BlockAction, respond: RespondFn): RespondFn | undefined {
  return body.response_url ? respond : undefined;
}

function placeOf(body: BlockAction): ReplyAddress['replaces'] {
  return body.container['is_ephemeral'] === true ? 'pressed' : 'nothing';
}

/** In a shared channel people of other workspaces see the bot's buttons. In an organisation one person has many workspaces. */
function isStranger(caller: Caller, deps: RouterDeps): boolean {
  const own = deps.identity();
  if (!own?.teamId || own.enterpriseId !== undefined || caller.teamId === undefined) return false;
  return caller.teamId !== own.teamId;
}

function strangerMessage(): SlackMessage {
  return refusalMessage({
    what: 'use from another workspace',
    rule: 'Payments are worked with only by people of the workspace the bot is installed in',
    whoCan: 'a member of that workspace',
  });
}

async function publishHome(caller: Caller, deps: RouterDeps): Promise<void> {
  try {
    if (isStranger(caller, deps)) return;
    const { blocks } = await deps.commands.home(caller);
    await deps.client.views.publish({ user_id: caller.userId, view: { type: 'home', blocks } });
  } catch (error) {
    const slackError = slackErrorWord(readSlackError(error));
    deps.log('warn', 'The App Home could not be shown', { slackError, fix: fixFor(slackError) }, error);
  }
}
