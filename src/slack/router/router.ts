import { createHash } from 'node:crypto';
import type {
  App,
  BlockAction,
  BlockElementAction,
  GlobalShortcut,
  MessageShortcut,
  RespondFn,
  SlashCommand,
  ViewClosedAction,
  ViewOutput,
  ViewSubmitAction,
} from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import { holdsCardNumber } from '../../domain/card-number.ts';
import { isJsonObject } from '../../domain/json-pointer.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import { parsed } from '../../domain/parsed.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { answer, type AnswerDeps, type Asked } from '../answer.ts';
import type {
  Caller,
  Command,
  CommandSet,
  OpenModal,
  Prepared,
  Press,
  Pressed,
  Shortcut,
} from '../command.ts';
import { cardNumberMessage } from '../words/error-message.ts';
import { messageTexts } from '../message-texts.ts';
import { createOpenModal, wordsModal } from '../kit/modals.ts';
import { callerOf, isStranger, strangerMessage } from '../people/asker.ts';
import { noteRefused, ofAnotherWorkspace } from '../record-asked.ts';
import { createReply, type Reply, type ReplyAddress } from '../reply.ts';
import { fixFor, readSlackError, slackErrorWord } from '../slack-error.ts';
import { blocksWithCardNumber, viewValues } from '../kit/view-values.ts';
import type { Identity } from '../workspace.ts';
import { routeClosing, routeSubmission, type SubmissionDeps } from './route-submission.ts';
import { optionsFor, type SuggestionDeps } from './route-suggestion.ts';
import { createScreen, type Screen } from './screen.ts';

export type RouterDeps = AnswerDeps &
  SubmissionDeps &
  SuggestionDeps & {
    client: WebClient;
    commands: CommandSet;
    /** Undefined while Slack has not said who the bot is. */
    identity: () => Identity | undefined;
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
    if (body.view?.type === 'home') await publishHome(callerOf(body, 'home'), deps, body.view.hash);
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
    await publishHome(owner, deps, hashOf(event.view));
  });
  app.shortcut<GlobalShortcut | MessageShortcut>(/.*/, async ({ ack, body, respond }) => {
    await ack();
    await routeShortcut(body, 'response_url' in body ? respond : undefined, deps);
  });
}

async function routeCommand(typed: SlashCommand, respond: RespondFn, deps: RouterDeps): Promise<void> {
  const { user_id: userId, team_id: teamId, channel_id: channelId, trigger_id: triggerId } = typed;
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
  const openModal = createOpenModal(deps.client, { triggerId, onTop: false });
  const { client, log } = deps;
  const screen = createScreen({ client, log, label: 'Payops', openModal, reply });
  await answer({ caller, understood, repeat: once(triggerId), screen }, deps);
}

/** Slack can deliver what was typed or chosen more than once, and gives it a trigger of its own. */
function once(triggerId: string): Asked['repeat'] {
  return async (claim) => ((await claim(`asked:${triggerId}`)) ? 'first' : 'delivered_again');
}

/**
 * A press, and what it runs: a verb with other words, or a function of its own. Both go the way of what is typed: the
 * same guards, the same patience, the same audit line.
 */
async function routeAction(body: BlockAction, respond: RespondFn, deps: RouterDeps): Promise<void> {
  const [action] = body.actions;
  if (!action) return;
  const { client, log, commands } = deps;
  const value = valueOf(action);
  const own = commands.press(action.action_id);
  const understood = own ? undefined : commands.pressed(action.action_id, value);
  // A link button, or one of a message from before an update.
  if (!own && !understood) return;
  const caller = callerOf(body, fromOf(body));
  const view = body.view?.type === 'modal' ? body.view : undefined;
  const label = labelOf(action);
  // Bolt gives a `respond` that cannot work where Slack sent no response_url: in a modal and the App Home.
  const working = body.response_url ? respond : undefined;
  const replyThat = (replaces: ReplyAddress['replaces']) =>
    createReply({ caller, respond: working, replaces }, client, log);
  const isEphemeral = body.container['is_ephemeral'] === true;
  // The message that was pressed in stays where its other buttons are still of use.
  const replaces = isEphemeral && (understood ?? own?.press.replacesMessage) ? 'pressed' : 'nothing';
  const openModal = createOpenModal(client, { triggerId: body.trigger_id, onTop: view !== undefined });
  const [reply, beside] = [replyThat(replaces), replyThat('nothing')];
  const screen = createScreen({ client, log, label, openModal, reply, beside, view });
  // What stands in the inputs comes along with every press.
  if (blocksWithCardNumber(body.view?.state ?? body.state).length > 0) {
    log('warn', 'A card number was typed and refused', { userId: caller.userId });
    noteRefused(deps, { what: 'press', caller, reason: 'a card number was typed' });
    return await screen.sayProblem('Not accepted', cardNumberMessage(), true);
  }
  if (isStranger(caller, deps.identity())) {
    noteRefused(deps, { what: 'press', caller, reason: ofAnotherWorkspace });
    return await screen.sayProblem('Not allowed', strangerMessage(), true);
  }
  const asked = { caller, what: 'press', label, repeat: pressedBefore(body, action, own), screen } as const;
  if (understood) {
    return await answer({ ...asked, understood }, deps);
  }
  if (own) await answer({ ...asked, ...ownPress(own, { body, value, caller, screen, view }) }, deps);
}

type PressedIn = Pick<Pressed, 'caller' | 'value'> & {
  body: BlockAction;
  screen: Screen;
  view: ViewOutput | undefined;
};

/** What the element runs, as a verb is run. */
function ownPress(
  { command, press }: { command: Command; press: Press },
  { body, value, caller, screen, view }: PressedIn,
): Pick<Asked, 'understood' | 'part' | 'other' | 'permissions'> {
  const { openModal, updateModal, reply } = screen;
  const seen = view && {
    id: view.id,
    privateMetadata: view.private_metadata,
    values: viewValues(view.state),
  };
  const pressed: Pressed = {
    caller,
    value,
    ...(seen ? { view: seen } : {}),
    ...messageOf(body),
    openModal,
    updateModal,
    reply,
  };
  const prepared: Prepared = {
    ...withoutUndefined({ reference: press.about?.(value) as OrderReference | undefined }),
    async run() {
      await press.press(pressed);
      return undefined;
    },
  };
  return {
    understood: {
      kind: 'command',
      command: {
        ...command,
        effect: press.effect ?? 'none',
        opensForm: press.opensForm === true,
        prepare: () => parsed(prepared),
      },
      words: [],
    },
    part: press.actionId,
    other: press.aboutOther?.(value),
    permissions: press.permissionsFor ? press.permissionsFor(value) : press.permissions,
  };
}

/**
 * A double click or a redelivery of one person's; of two persons both run, and what they press decides. By Slack's
 * own time of the press, in seconds: each press claims its second and the next, so that of two within a second
 * one runs, while the same button works again two seconds later. A button that runs a verb with other words may be
 * pressed as fast as anybody types: each press is answered.
 */
function pressedBefore(
  body: BlockAction,
  action: BlockElementAction,
  own: object | undefined,
): Asked['repeat'] {
  const place = placeKey(body);
  // Hashed: a button's value may hold what somebody typed, which stands in no key of the store.
  const pressed = [place, body.user.id, action.action_id, valueOf(action)].join('\n');
  const key = `press:${createHash('sha256').update(pressed).digest('hex')}`;
  const second = Math.floor(Number(action.action_ts));
  return async (claim) => {
    if (!(await claim(`${key}:${action.action_ts}`))) return 'delivered_again';
    if (!own) return 'first';
    const isFirst = (await claim(`${key}:${second}`)) && (await claim(`${key}:${second + 1}`));
    return isFirst ? 'first' : 'pressed_again';
  };
}

function messageOf({ container }: BlockAction): Pick<Pressed, 'message'> {
  const { channel_id: channel, message_ts: ts, is_ephemeral: isEphemeral } = container;
  if (typeof channel !== 'string' || typeof ts !== 'string' || isEphemeral === true) return {};
  return { message: { channel, ts } };
}

function fromOf({ view }: BlockAction): NonNullable<Caller['from']> {
  if (!view) return 'message';
  return view.type === 'modal' ? 'modal' : 'home';
}

/** Of a button or a choice. What a person typed is never a value: it would end in the store, as part of a key. */
function valueOf(action: BlockElementAction): string {
  if (action.type.endsWith('_input')) return '';
  if ('selected_option' in action) return action.selected_option?.value ?? '';
  return 'value' in action && typeof action.value === 'string' ? action.value : '';
}

/** What the person read on what they pressed. */
function labelOf(action: BlockElementAction): string {
  const text: unknown =
    'selected_option' in action ? action.selected_option?.text : 'text' in action ? action.text : undefined;
  const words = isJsonObject(text) && typeof text['text'] === 'string' ? text['text'] : '';
  return words.replace(/\s*…$/u, '') || 'This';
}

/** A message is known by its channel and time, a view by the state in which its button was pressed. */
function placeKey({ container, view }: BlockAction): string {
  return view ? `${view.id}:${view.hash}` : `${container['channel_id']}:${container['message_ts']}`;
}

/**
 * An entry of Slack's menus was chosen, and is acknowledged. It goes the way of what is typed: the same guards, the
 * same audit line, the same words for what goes wrong. Never throws.
 */
async function routeShortcut(
  body: GlobalShortcut | MessageShortcut,
  respond: RespondFn | undefined,
  deps: RouterDeps,
): Promise<void> {
  const caller = callerOf(body, 'shortcut');
  const openModal = createOpenModal(deps.client, { triggerId: body.trigger_id, onTop: false });
  const reply = body.type === 'shortcut' ? inModal(caller, openModal, deps) : inPlace(caller, respond, deps);
  if (isStranger(caller, deps.identity())) {
    noteRefused(deps, { what: 'command', caller, reason: ofAnotherWorkspace });
    return reply(strangerMessage());
  }
  const found = await deps.commands.shortcut(body.callback_id, caller);
  // Of a manifest that is older or newer than the bot.
  if (!found) return;
  const command = found.shortcut.kind === 'global' ? found.command : onMessage(found, found.shortcut, body);
  const understood = { kind: 'command', command, words: [] } as const;
  const { client, log } = deps;
  const { name: label } = found.shortcut;
  const screen = createScreen({ client, log, label, openModal, reply });
  await answer({ caller, label, understood, repeat: once(body.trigger_id), screen }, deps);
}

/** The verb, for this message: what is done with it is up to the shortcut. */
function onMessage(
  { command }: { command: Command },
  { prepare }: Extract<Shortcut, { kind: 'message' }>,
  body: GlobalShortcut | MessageShortcut,
): Command {
  return {
    ...command,
    prepare: () => parsed(prepare(body.type === 'message_action' ? messageTexts(body.message) : [])),
  };
}

/** Nothing is replaced: the message it was chosen on may be one of the bot's own. */
function inPlace(caller: Caller, respond: RespondFn | undefined, deps: RouterDeps): Reply {
  return createReply({ caller, respond, replaces: 'nothing' }, deps.client, deps.log);
}

/** There is no channel to answer in, and the person is looking for a modal; else a direct message. */
function inModal(caller: Caller, openModal: OpenModal, deps: RouterDeps): Reply {
  const direct = createReply({ caller, respond: undefined, replaces: 'nothing' }, deps.client, deps.log);
  return async function reply(message) {
    await openModal(wordsModal('Not opened', message)).catch(() => direct(message));
  };
}

/** Bolt's type of the event's view is that of a modal, and lacks it. */
function hashOf(view: object | undefined): string | undefined {
  return view && 'hash' in view && typeof view.hash === 'string' ? view.hash : undefined;
}

/**
 * Shows the person their App Home as it is now. `over`: only in the place of the view of that hash; one that was shown
 * meanwhile is as new. Never throws: what Slack refuses is logged, and the Home stays as it was.
 */
async function publishHome(
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
