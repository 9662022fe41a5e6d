import { z } from 'zod';
import { problem } from '../../domain/wording.ts';
import type { ActResult, PageBlock, PageOption, PageUser, WorkspaceAction } from '../protocol.ts';
import { applyAnswer } from './app-answer.ts';
import type { BotAnswer, BotDelivery } from './bot-delivery.ts';
import { botName, botUserId, canSee, type Channel, teamId } from './directory.ts';
import {
  findElement,
  type Element,
  type PlacedElement,
  unfilledInputs,
  type Values,
  withoutUntouched,
} from './elements.ts';
import { slackbotDraft, type Message } from './messages.ts';
import { channelPayload, commonPayload, eventPayload, messagePayload, slashPayload } from './payloads.ts';
import { fill, readView, type View, viewPayload } from './views.ts';
import type { World } from './world.ts';

type Of<Kind extends WorkspaceAction['kind']> = Extract<WorkspaceAction, { kind: Kind }>;

/** Does what a person does in Slack; resolves when the bot has acknowledged, or failed to. */
export async function act(deps: ActDeps, userId: string, action: WorkspaceAction): Promise<ActResult> {
  const user = deps.world.directory.user(userId);
  if (user === undefined) return problem(`There is no person ${userId} in this workspace.`);
  switch (action.kind) {
    case 'send_message':
      return sendMessage(deps, user, action);
    case 'block_action':
      return press(deps, user, action);
    case 'submit_view':
      return submitView(deps, user, action);
    case 'close_view':
      return closeView(deps, user, action);
    case 'open_home':
      return openHome(deps, user);
    case 'global_shortcut':
      return globalShortcut(deps, user, action.callbackId);
    case 'message_shortcut':
      return messageShortcut(deps, user, action);
    case 'suggest':
      return suggest(deps, user, action);
  }
}

/** Slack would repeat this event to a bot that is away; here the person reopens their Home. */
async function openHome({ world, bot }: ActDeps, user: PageUser): Promise<ActResult> {
  if (!world.app.hasHome) return problem('This app has no Home.');
  const shown = world.views.home(user.id);
  if (!world.app.events.has('app_home_opened')) return { ok: true };
  const event = {
    type: 'app_home_opened',
    user: user.id,
    channel: world.directory.directMessage(user.id)?.id ?? '',
    tab: 'home',
    ...(shown === undefined ? {} : { view: viewPayload(shown) }),
    event_ts: world.ids.ts(),
  };
  const payload = eventPayload(world, event);
  await bot.send({ kind: 'events_api', payload }, `${user.realName} opens the App Home`);
  return { ok: true };
}

function interact(deps: ActDeps, user: PageUser, payload: object, does: string): Promise<BotAnswer> {
  const whole = { ...commonPayload(user), ...payload };
  return deps.bot.send({ kind: 'interactive', payload: whole }, `${user.realName} ${does}`);
}

/** Offers only shortcuts that the manifest names. */
async function globalShortcut(deps: ActDeps, user: PageUser, callbackId: string): Promise<ActResult> {
  const { world } = deps;
  const name = shortcutName(world, 'global', callbackId);
  if (name === undefined) return problem('This app has no such shortcut.');
  const payload = {
    type: 'shortcut',
    callback_id: callbackId,
    action_ts: world.ids.ts(),
    trigger_id: world.triggers.issue({ userId: user.id, fromModal: false }),
  };
  return actResult(await interact(deps, user, payload, `runs the shortcut "${name}"`));
}

async function messageShortcut(
  deps: ActDeps,
  user: PageUser,
  asked: Of<'message_shortcut'>,
): Promise<ActResult> {
  const { world } = deps;
  const name = shortcutName(world, 'message', asked.callbackId);
  if (name === undefined) return problem('This app has no such shortcut.');
  const channel = world.directory.channel(asked.channel);
  const message = world.messages.find(asked.channel, asked.ts);
  if (channel === undefined || message === undefined || !canSee(channel, user.id))
    return problem('That message is gone.');
  const target = { channel: channel.id, userId: user.id, messageTs: message.ts };
  const payload = {
    type: 'message_action',
    callback_id: asked.callbackId,
    action_ts: world.ids.ts(),
    message_ts: message.ts,
    message: messagePayload(message, true),
    channel: channelPayload(channel),
    trigger_id: world.triggers.issue({ userId: user.id, fromModal: false }),
    response_url: deps.responseUrl(world.responseUrls.issue(target)),
  };
  return actResult(await interact(deps, user, payload, `runs "${name}" on a message`));
}

function shortcutName(world: World, kind: 'global' | 'message', callbackId: string): string | undefined {
  return world.app.shortcuts.find((one) => one.kind === kind && one.callbackId === callbackId)?.name;
}

type ActDeps = {
  world: World;
  bot: BotDelivery;
  /** The whole address of a response_url's path. */
  responseUrl: (path: string) => string;
};

/** What Slack shows after an unacknowledged press or submission. */
function actResult(answer: BotAnswer): ActResult {
  switch (answer.kind) {
    case 'acknowledged':
      return { ok: true };
    case 'timeout':
      return problem('Operation timed out. Apps need to respond within 3 seconds.');
    case 'refused':
      return problem(`This app responded with status code ${answer.status}.`);
    case 'unreachable':
      return problem('This app could not be reached.');
    case 'not_asked':
      return problem('This app is not configured to handle interactive responses.');
  }
}

/** Text typed into the message field: a message or a slash command. */
async function sendMessage(deps: ActDeps, user: PageUser, typed: Of<'send_message'>): Promise<ActResult> {
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
  typed: Of<'send_message'>,
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

async function runSlash(deps: ActDeps, at: Place, typed: Of<'send_message'>): Promise<ActResult> {
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
  switch (answer.kind) {
    case 'timeout':
      return 'operation_timeout';
    case 'refused':
      return answer.status >= 500 ? 'http_service_error' : 'http_client_error';
    case 'unreachable':
    case 'not_asked':
      return 'dispatch_failed';
  }
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

type Surface = { kind: 'message'; message: Message } | { kind: 'view'; view: View };

/** A press, choice or tick of an existing element, with its current state. */
async function press(deps: ActDeps, user: PageUser, pressed: Of<'block_action'>): Promise<ActResult> {
  const { world } = deps;
  const surface = findSurface(world, user, pressed.container);
  if (surface === undefined) return problem('That message or view is gone.');
  const placed = findElement(blocksOf(surface), pressed.blockId, pressed.actionId) ?? asDrawn(pressed);
  if (placed === undefined) return problem('That button or field is not there any more.');
  const { block } = placed;
  if (block.type === 'input' && block['dispatch_action'] !== true)
    return problem('That field is sent with its form alone.');
  const action = readAction(world, placed, pressed.element);
  if (action === undefined) return problem('That choice is not one of the options.');
  if (surface.kind === 'view') fill(surface.view, pressed.values);
  const fromModal = surface.kind === 'view' && surface.view.definition.type === 'modal';
  const payload = {
    type: 'block_actions',
    trigger_id: world.triggers.issue({ userId: user.id, fromModal }),
    ...surfacePayload(deps, user, surface),
    actions: [action],
  };
  return actResult(await interact(deps, user, payload, `presses ${labelOf(placed, action)}`));
}

function asDrawn({
  mayBeOutdated,
  blockId,
  actionId,
  element,
}: Of<'block_action'>): PlacedElement | undefined {
  if (mayBeOutdated !== true) return undefined;
  return { block: { type: 'actions', block_id: blockId }, blockId, actionId, element };
}

/**
 * The options of an external select, requested from the app while the person types. *No results* until they come. If the
 * app answers late, Slack does not ask for this list again until it is redrawn.
 */
async function suggest(deps: ActDeps, user: PageUser, asked: Of<'suggest'>): Promise<ActResult> {
  const { world } = deps;
  const surface = findSurface(world, user, { type: 'view', viewId: asked.viewId });
  const placed = surface && findElement(blocksOf(surface), asked.blockId, asked.actionId);
  if (surface === undefined || placed === undefined || !placed.element.type.endsWith('external_select')) {
    return problem('That field is not there any more.');
  }
  const noResults: ActResult = { ok: true, options: [] };
  if (surface.kind === 'view' && surface.view.silentLists.has(asked.blockId)) return noResults;
  const payload = {
    type: 'block_suggestion',
    action_id: asked.actionId,
    block_id: asked.blockId,
    value: asked.text,
    ...surfacePayload(deps, user, surface),
  };
  const answer = await interact(deps, user, payload, `looks for "${asked.text}" in a list`);
  if (answer.kind === 'not_asked') return noResults;
  if (answer.kind === 'timeout') {
    if (surface.kind === 'view') surface.view.silentLists.add(asked.blockId);
    return noResults;
  }
  if (answer.kind !== 'acknowledged') return actResult(answer);
  const options = readOptions(answer.body);
  return options === undefined ? problem('There was a problem loading the options.') : { ok: true, options };
}

function findSurface(
  world: World,
  user: PageUser,
  container: Of<'block_action'>['container'],
): Surface | undefined {
  if (container.type === 'view') {
    const view = world.views.find(container.viewId);
    const isInFront =
      view !== undefined &&
      (view === world.views.home(user.id) || view === world.views.stack(user.id).at(-1));
    return isInFront ? { kind: 'view', view } : undefined;
  }
  const channel = world.directory.channel(container.channel);
  if (channel === undefined || !canSee(channel, user.id)) return undefined;
  const message = world.messages.findFor(user.id, container.channel, container.ts);
  return message === undefined ? undefined : { kind: 'message', message };
}

function blocksOf(surface: Surface): PageBlock[] {
  if (surface.kind === 'view') return surface.view.blocks;
  return surface.message.blocks;
}

/** For an ephemeral message Slack sends only its place, not the message. */
function surfacePayload(deps: ActDeps, user: PageUser, surface: Surface): Record<string, unknown> {
  if (surface.kind === 'view') {
    const { view } = surface;
    return { container: { type: 'view', view_id: view.id }, view: viewPayload(view) };
  }
  const { world } = deps;
  const { message } = surface;
  const channel = world.directory.channel(message.channel);
  const target = { channel: message.channel, userId: user.id, messageTs: message.ts };
  return {
    container: {
      type: 'message',
      message_ts: message.ts,
      channel_id: message.channel,
      is_ephemeral: message.visibleTo !== undefined,
      ...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
    },
    ...(channel === undefined ? {} : { channel: channelPayload(channel) }),
    ...(message.visibleTo === undefined ? { message: messagePayload(message, true) } : {}),
    response_url: deps.responseUrl(world.responseUrls.issue(target)),
  };
}

const fixedFields = ['text', 'value', 'style'];

/** A button's value comes from the app's own block, never from the page; a choice must be an offered option. */
function readAction(world: World, placed: PlacedElement, sent: Element): Record<string, unknown> | undefined {
  const { element } = placed;
  const same = {
    type: element.type,
    action_id: placed.actionId,
    block_id: placed.blockId,
    action_ts: world.ids.ts(),
  };
  if (element.type === 'button') {
    const fixed = fixedFields
      .filter((name) => element[name] !== undefined)
      .map((name) => [name, element[name]]);
    return { ...Object.fromEntries(fixed), ...escapedLabel(element), ...same };
  }
  return isOffered(element, sent) ? { ...sent, ...same } : undefined;
}

/** Users report `&amp;` in the labels of presses. */
function escapedLabel(element: Element): object {
  const label = z.looseObject({ text: z.string() }).safeParse(element['text']);
  return label.success ? { text: { ...label.data, text: escaped(label.data.text) } } : {};
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const pickShape = z.looseObject({ value: z.string() });

function isOffered(element: Element, sent: Element): boolean {
  const offered = z.array(pickShape).safeParse(element['options']);
  const picked = pickShape.safeParse(sent['selected_option']);
  if (!offered.success || !picked.success) return true;
  return offered.data.some((option) => option.value === picked.data.value);
}

const optionShape = z.object({
  text: z.looseObject({ type: z.literal('plain_text'), text: z.string().min(1).max(75) }),
  value: z.string().min(1).max(150),
});
const suggestionsShape = z.looseObject({ options: z.array(optionShape).max(100) });

function readOptions(body: unknown): PageOption[] | undefined {
  const read = suggestionsShape.safeParse(body);
  if (!read.success) return undefined;
  return read.data.options.map(({ text: { text }, value }) => ({
    text: { type: 'plain_text', text },
    value,
  }));
}

/** The element's label, or the chosen option's. */
function labelOf(placed: PlacedElement, action: Record<string, unknown>): string {
  const readable = z.looseObject({ text: z.string() });
  const chosen = z.looseObject({ text: readable }).safeParse(action['selected_option']);
  if (chosen.success) return `"${chosen.data.text.text}"`;
  const label = readable.safeParse(placed.element['text']);
  return label.success ? `"${label.data.text}"` : placed.actionId;
}

const trouble: ActResult = problem('We had some trouble connecting. Try again?');

/** Submits a modal and applies the acknowledgement; without one in time the modal stays. */
async function submitView(deps: ActDeps, user: PageUser, submitted: Of<'submit_view'>): Promise<ActResult> {
  const { world } = deps;
  const view = topView(world, user, submitted.viewId);
  if (view === undefined) return problem('That view is not in front of you any more.');
  if (view.busy) return problem('It is being sent already.');
  if (view.definition.submit === undefined) return problem('This view has nothing to submit.');
  fill(view, submitted.values);
  view.errors = unfilledInputs(view.blocks, view.values);
  if (Object.keys(view.errors).length > 0) {
    world.changed();
    return problem('Some fields need your attention.');
  }
  view.busy = true;
  world.changed();
  const payload = {
    type: 'view_submission',
    trigger_id: world.triggers.issue({ userId: user.id, fromModal: true }),
    view: { ...viewPayload(view), state: { values: sentState(world, view) } },
    response_urls: [],
  };
  view.oldState = undefined;
  const title = view.definition.title?.text ?? 'a form';
  const answer = await interact(deps, user, payload, `submits "${title}"`);
  view.busy = false;
  const result = obey(world, view, answer);
  world.changed();
  return result;
}

function sentState({ quirks }: World, view: View): Values {
  if (quirks.firstSubmissionIsOld === true && view.oldState !== undefined) return view.oldState;
  const isLost = quirks.untouchedInitialsAreNull === true && view.isUpdated;
  return isLost ? withoutUntouched(view.blocks, view.touched, view.values) : view.values;
}

/** The answers that the app may give: the Slack actions it uses. */
const acknowledgement = z.discriminatedUnion('response_action', [
  z.looseObject({ response_action: z.literal('update'), view: z.unknown() }),
  z.looseObject({ response_action: z.literal('errors'), errors: z.record(z.string(), z.string().min(1)) }),
]);

function obey(world: World, view: View, answer: BotAnswer): ActResult {
  if (answer.kind !== 'acknowledged') return trouble;
  if (answer.body === undefined || answer.body === '') {
    world.views.close(view);
    return { ok: true };
  }
  const read = acknowledgement.safeParse(answer.body);
  if (!read.success) return trouble;
  switch (read.data.response_action) {
    case 'errors':
      return showErrors(view, read.data.errors);
    case 'update':
      return showNext(world, view, read.data.view);
  }
}

/** Slack takes errors for input blocks of this view only. */
function showErrors(view: View, errors: Record<string, string>): ActResult {
  const inputs = new Set(
    view.blocks.filter((block) => block.type === 'input').map((block) => block.block_id),
  );
  const blockIds = Object.keys(errors);
  if (blockIds.length === 0 || blockIds.some((blockId) => !inputs.has(blockId))) return trouble;
  view.errors = errors;
  return { ok: true };
}

function showNext(world: World, view: View, next: unknown): ActResult {
  const read = readView(next, 'modal');
  if (read.kind === 'refused') return trouble;
  world.views.update(view, read.definition);
  return { ok: true };
}

/** Closes at once: the app never asks to be notified. */
function closeView({ world }: ActDeps, user: PageUser, closed: Of<'close_view'>): ActResult {
  const view = topView(world, user, closed.viewId);
  if (view === undefined) return problem('That view is not in front of you any more.');
  world.views.close(view);
  world.changed();
  return { ok: true };
}

function topView(world: World, user: PageUser, viewId: string): View | undefined {
  const top = world.views.stack(user.id).at(-1);
  return top?.id === viewId ? top : undefined;
}
