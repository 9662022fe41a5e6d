import type { ActResult, PageUser, WorkspaceAction } from '../protocol.ts';
import { type ActDeps, no } from './act-result.ts';
import { applyAnswer } from './app-answer.ts';
import type { BotAnswer } from './bot-line.ts';
import { botName, botUserId, canSee, type Channel } from './cast.ts';
import { slackbotDraft } from './messages.ts';
import { slashPayload } from './payloads.ts';
import type { World } from './world.ts';

type Typed = Extract<WorkspaceAction, { kind: 'send_message' }>;

/** What a person types into the composer: a message, or a slash command. */
export async function sendMessage(deps: ActDeps, user: PageUser, typed: Typed): Promise<ActResult> {
  const { world } = deps;
  const channel = world.directory.channel(typed.channel);
  if (channel === undefined || !canSee(channel, user.id)) return no('There is no such channel.');
  if (channel.archived) return no('This channel is archived.');
  if (channel.kind === 'dm' && (world.app.messagesReadOnly || !world.app.messagesTab)) {
    return no('Sending messages to this app has been turned off.');
  }
  const text = typed.text.trim();
  if (text === '') return no('Type something first.');
  if (text.startsWith('/')) return runSlash(deps, { user, channel }, { ...typed, text });
  return postAsPerson(world, { user, channel }, { ...typed, text });
}

type Place = { user: PageUser; channel: Channel };

function postAsPerson(world: World, at: Place, typed: Typed): ActResult {
  const { user, channel } = at;
  const text = withIds(world, typed.text, false);
  const parent = typed.threadTs === undefined ? undefined : world.messages.find(channel.id, typed.threadTs);
  if (typed.threadTs !== undefined && parent === undefined) return no('That thread is gone.');
  world.messages.post({
    text,
    blocks: [],
    attachments: [],
    channel: channel.id,
    authorId: user.id,
    authorName: user.realName,
    threadTs: parent?.threadTs ?? parent?.ts,
  });
  world.changed();
  return { ok: true };
}

async function runSlash(deps: ActDeps, at: Place, typed: Typed): Promise<ActResult> {
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
    text: known.shouldEscape ? withIds(world, rest, true) : rest,
    responseUrl: deps.responseUrl(world.responseUrls.issue(target)),
  });
  const summary = `${[command, rest].join(' ').trim()} by ${at.user.realName}`;
  const answer = await deps.line.send({ kind: 'slash_commands', payload }, summary);
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
  switch (answer.kind) {
    case 'timeout':
      return 'operation_timeout';
    case 'refused':
      return answer.status >= 500 ? 'http_service_error' : 'http_client_error';
    case 'unreachable':
      return 'dispatch_failed';
  }
}

/** Slack's own command, so that a newcomer can try what membership changes. */
function invite(world: World, at: Place, who: string): ActResult {
  const bot = `@${botName.toLowerCase()}`;
  if (who.toLowerCase() !== bot) {
    return slackbotSays(world, at, `Only ${bot} can be invited in this playground.`);
  }
  at.channel.botIsMember = true;
  return slackbotSays(world, at, `${bot} is in ${world.directory.label(at.channel.id)} now.`);
}

function slackbotSays(world: World, at: Place, text: string): ActResult {
  world.messages.post(slackbotDraft(at.channel.id, at.user.id, text));
  world.changed();
  return { ok: true };
}

/** Names become ids as Slack sends them; in commands with the name behind a bar, and links and e-mails wrapped. */
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
