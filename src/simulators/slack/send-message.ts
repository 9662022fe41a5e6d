import { problem } from '../../domain/wording.ts';
import type { ActResult, PageUser } from '../protocol.ts';
import { applyAnswer } from './app-answer.ts';
import type { BotAnswer } from './bot-delivery.ts';
import { botName, botUserId, canSee, type Channel, teamId } from './directory.ts';
import type { ActDeps, ActionOf } from './interact.ts';
import { slackbotDraft } from './messages.ts';
import { eventPayload, slashPayload } from './payloads.ts';
import type { World } from './world.ts';

/** Text typed into the message field: a message or a slash command. */
export async function sendMessage(
  deps: ActDeps,
  user: PageUser,
  typed: ActionOf<'send_message'>,
): Promise<ActResult> {
  const { world } = deps;
  const channel = world.directory.channel(typed.channel);
  if (channel === undefined || !canSee(channel, user.id)) return problem('There is no such channel.');
  if (channel.archived) return problem('This channel is archived.');
  if (channel.kind === 'dm' && world.app.messagesTab !== 'on')
    return problem('Sending messages to this app has been turned off.');
  const text = typed.text.trim();
  if (text === '') return problem('Type something first.');
  if (text.startsWith('/')) return runSlash(deps, { user, channel }, { ...typed, text });
  return await postAsPerson(deps, { user, channel }, { ...typed, text });
}

type Place = { user: PageUser; channel: Channel };

/**
 * Sends a person's message to the bot if it names the bot in one of its channels. Slack needs no answer, and repeats the
 * event if there is none.
 */
async function postAsPerson(
  { world, bot }: ActDeps,
  at: Place,
  typed: ActionOf<'send_message'>,
): Promise<ActResult> {
  const { user, channel } = at;
  const text = withIds(world, typed.text, false);
  const parent = typed.threadTs === undefined ? undefined : world.messages.find(channel.id, typed.threadTs);
  if (typed.threadTs !== undefined && parent === undefined) return problem('That thread is gone.');
  const posted = world.messages.post({
    text,
    blocks: [],
    channel: channel.id,
    authorId: user.id,
    authorName: user.realName,
    threadTs: parent?.threadTs ?? parent?.ts,
  });
  world.changed();
  const { app } = world;
  const isHeard = app.events.has('app_mention') && app.scopes.has('app_mentions:read') && channel.botIsMember;
  if (!isHeard || !text.includes(`<@${botUserId}>`)) return { ok: true };
  const { ts, threadTs } = posted;
  const thread = threadTs === undefined ? {} : { thread_ts: threadTs };
  const event = {
    type: 'app_mention',
    user: user.id,
    text,
    ts,
    channel: channel.id,
    event_ts: ts,
    team: teamId,
    ...thread,
  };
  await bot.send(
    { kind: 'events_api', payload: eventPayload(world, event) },
    `${user.realName} names the bot`,
  );
  return { ok: true };
}

async function runSlash(deps: ActDeps, at: Place, typed: ActionOf<'send_message'>): Promise<ActResult> {
  const { world } = deps;
  const [command = '/', ...words] = typed.text.split(/\s+/);
  const rest = typed.text.slice(command.length).trim();
  if (command === '/invite') return invite(world, at, words.join(' '));
  const known = world.app.slashCommands.find((one) => one.command === command);
  if (known === undefined || !world.app.scopes.has('commands')) {
    return slackbotSays(
      world,
      at,
      `${command} is not a valid command. In Slack, all messages that start with the "/" character are interpreted as commands.`,
    );
  }
  if (typed.threadTs !== undefined) {
    return slackbotSays(world, at, `${command} is not supported in threads. Sorry!`);
  }
  const target = { channel: at.channel.id, userId: at.user.id };
  const payload = slashPayload(world, at, {
    command,
    text: known.escapes ? withIds(world, rest, true) : rest,
    responseUrl: deps.responseUrl(world.responseUrls.issue(target)),
  });
  const summary = `${[command, rest].join(' ').trim()} by ${at.user.realName}`;
  const answer = await deps.bot.send({ kind: 'slash_commands', payload }, summary);
  const error = answer.kind === 'acknowledged' ? shownError(world, target, answer.body) : slashError(answer);
  return error === undefined
    ? { ok: true }
    : slackbotSays(world, at, `${command} failed with the error "${error}"`);
}

function shownError(
  world: World,
  target: { channel: string; userId: string },
  body: unknown,
): string | undefined {
  if (body === undefined) return undefined;
  const applied = applyAnswer(world, target, body);
  return applied.kind === 'refused' ? applied.error : undefined;
}

function slashError(answer: Exclude<BotAnswer, { kind: 'acknowledged' }>): string {
  if (answer.kind === 'timeout') return 'operation_timeout';
  if (answer.kind !== 'refused') return 'dispatch_failed';
  return answer.status >= 500 ? 'http_service_error' : 'http_client_error';
}

/** Slack's own command, so newcomers can try membership. */
function invite(world: World, at: Place, who: string): ActResult {
  const bot = `@${botName.toLowerCase()}`;
  if (who.toLowerCase() !== bot) {
    return slackbotSays(world, at, `Only ${bot} can be invited in this playground.`);
  }
  if (at.channel.people !== undefined)
    return slackbotSays(world, at, 'Nobody can be invited to this conversation.');
  at.channel.botIsMember = true;
  return slackbotSays(world, at, `${bot} is in ${world.directory.label(at.channel.id)} now.`);
}

function slackbotSays(world: World, at: Place, text: string): ActResult {
  world.messages.post(slackbotDraft(at.channel.id, at.user.id, text));
  world.changed();
  return { ok: true };
}

/** Turns names into ids, like Slack; in commands with the name after a bar, and links and e-mails wrapped. */
function withIds(world: World, text: string, inCommand: boolean): string {
  const linked = inCommand
    ? text
        .replace(/\bhttps?:\/\/[^\s<>|]+/g, (url) => `<${url}>`)
        .replace(/(?<![\w<:.+-])[\w.+-]+@[\w-]+\.[\w.-]*\w/g, (email) => `<mailto:${email}|${email}>`)
    : text;
  return linked
    .replace(/(?<![\w<|])@([\w-]+)/g, (whole, name: string) => mention(world, name, inCommand) ?? whole)
    .replace(/(?<![\w<|/&])#([\w-]+)/g, (whole, name: string) => {
      const channel = world.directory.channels.find((one) => one.kind !== 'dm' && one.name === name);
      return channel === undefined
        ? whole
        : `<#${channel.id}|${inCommand || channel.kind === 'public' ? name : ''}>`;
    });
}

function mention(world: World, name: string, withName: boolean): string | undefined {
  const lower = name.toLowerCase();
  const group = world.directory.groups.find((one) => one.handle === lower);
  if (group !== undefined) return `<!subteam^${group.id}|@${group.handle}>`;
  const user = world.directory.users.find((one) => one.name === lower);
  const id = lower === botName.toLowerCase() ? botUserId : user?.id;
  if (id === undefined) return undefined;
  return withName ? `<@${id}|${lower}>` : `<@${id}>`;
}
