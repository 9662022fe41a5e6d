import { hash } from 'node:crypto';
import type {
  AckFn,
  BlockAction,
  BlockElementAction,
  BlockSuggestion,
  GlobalShortcut,
  MessageShortcut,
  RespondArguments,
  RespondFn,
  SlashCommand,
  ViewOutput,
  ViewResponseAction,
  ViewSubmitAction,
} from '@slack/bolt';
import type { Option } from '@slack/types';
import { withDeadline } from '../../deadline.ts';
import {
  cardNumberProblem,
  cardNumberMessage,
  errorReply,
  expiredMessage,
  refusalMessage,
  usageMessage,
} from '../words/error-message.ts';
import { holdsCardNumber, maskNumbers } from '../../domain/card.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { plainId } from '../../domain/merchant.ts';
import type { Log } from '../../log.ts';
import {
  answer,
  asTyped,
  once,
  problemTitles,
  recordRequest,
  refuse,
  slashCommand,
  type BotRequest,
  type SlackSide,
} from '../answer.ts';
import { linkActionId, plainText, type Choice } from '../kit/blocks.ts';
import {
  permissionsOf,
  type AccountSide,
  type CommandButton,
  type Caller,
  type Command,
  type Prepared,
  type Press,
  type Pressed,
  type Understood,
} from '../command.ts';
import { limits } from '../kit/limits.ts';
import type { SlackMessage } from '../kit/message.ts';
import { messageTexts } from '../message-texts.ts';
import { createOpenModal, messageModal } from '../kit/modals.ts';
import { inAccount } from '../own-account.ts';
import { createAcknowledgement, createReply, type Reply } from '../reply.ts';
import { fixFor, readSlackError, slackErrorWord } from '../slack-error.ts';
import type { Identity } from '../workspace.ts';
import { answerForm, toViewResponse } from './form.ts';
import {
  blocksWithCardNumber,
  callerOf,
  fromOf,
  labelOf,
  threadOf,
  typedBy,
  messageOf,
  containerKey,
  shownValues,
  valueOf,
} from './payload.ts';
import { createScreen } from './screen.ts';

/** One request from Slack: `go` answers it, if the guards let it through. */
type Turn = {
  caller: Caller;
  /** For the audit; absent: refusals are not recorded. */
  what?: BotRequest['what'];
  /** A card number was typed. Checked before the text is stored, echoed or logged. */
  hasCardNumber?: boolean;
  /** Shows a refusal in place of the answer. */
  refuse: (title: string, message: SlackMessage) => Promise<void>;
  go: () => Promise<void>;
};

/** Why a request was not answered as asked, and what the person is told. */
type Stopped = { result: 'refused' | 'failed'; title: string; message: SlackMessage; reason: string };

/**
 * Answers one request, unless a card number was typed or the person is of another workspace. An error becomes a message
 * for the person.
 */
export async function take(turn: Turn | undefined, side: SlackSide): Promise<void> {
  if (!turn) return;
  const { caller: who, what } = turn;
  const stopped = refusalOf(turn, side) ?? (await turn.go().then(() => undefined, broken));
  if (!stopped) return;
  const { result, title, message, reason } = stopped;
  if (what) recordRequest(side, { what, who, about: {}, result, reason });
  await turn.refuse(title, message);

  function broken(error: unknown): Stopped {
    const told = errorReply(error, { who, moneyMayHaveMoved: false }, side.log);
    return { result: 'failed', title: problemTitles.failed, ...told };
  }
}

/** Refuses a typed card number first, then a person of another workspace. */
function refusalOf({ caller, hasCardNumber }: Turn, { log, identity }: SlackSide): Stopped | undefined {
  if (hasCardNumber === true) {
    log('warn', 'A card number was typed and refused', { userId: caller.userId });
    const reason = 'a card number was typed';
    return { result: 'refused', title: 'Not accepted', message: cardNumberMessage(), reason };
  }
  if (!isStranger(caller, identity())) return undefined;
  const message = strangerMessage();
  return { result: 'refused', title: problemTitles.refused, message, reason: 'of another workspace' };
}

/** Shared channels show the bot's buttons to other workspaces. In an organisation one person has several team ids. */
function isStranger(caller: Caller, own: Identity | undefined): boolean {
  if (!own?.teamId || own.enterpriseId !== undefined || caller.teamId === undefined) return false;
  return caller.teamId !== own.teamId;
}

function strangerMessage(): SlackMessage {
  return refusalMessage({
    what: 'use from another workspace',
    rule: 'Only people of the bot’s own workspace can use it',
    whoCan: 'Ask a member of that workspace',
  });
}

export function commandTurn(
  typed: SlashCommand,
  { ack, respond }: { ack: AckFn<RespondArguments>; respond: RespondFn },
  side: SlackSide,
): Turn {
  const { user_id: userId, team_id: teamId, channel_id: channelId, trigger_id: triggerId } = typed;
  const { client, log } = side;
  const caller: Caller = { userId, teamId, channelId, from: 'command' };
  const acknowledgement = createAcknowledgement(ack, { withinMs: side.ackMs, log });
  const reply = createReply({ userId, respond, replaces: 'earlier', acknowledgement }, client, log);
  return {
    what: 'command',
    caller,
    hasCardNumber: holdsCardNumber(typed.text),
    refuse: (_, message) => reply(message),
    async go() {
      const request = requestOf(side.commands.understand(typed.text, channelId));
      const openModal = createOpenModal(client, { triggerId, onTop: false });
      const screen = createScreen({ client, log, label: 'Pay', openModal, reply, acknowledgement });
      await answer({ what: 'command', who: caller, ...request, repeat: once(triggerId), screen }, side);
    },
  };
}

type RequestPart = Pick<
  BotRequest,
  'account' | 'label' | 'permission' | 'about' | 'effect' | 'opensForm' | 'run'
>;

/** What typed text, a mention or a shortcut asks the bot to do. */
export function requestOf(source: { account: AccountSide; understood: Understood }): RequestPart {
  return inAccount(source.account.merchant, () => readRequest(source));
}

function readRequest({ account, understood }: { account: AccountSide; understood: Understood }): RequestPart {
  if (understood.kind === 'unclear') {
    const { message } = understood;
    return {
      account,
      label: slashCommand,
      permission: [],
      about: {},
      ...withoutEffect,
      run: async () => ({ result: 'unclear', message }),
    };
  }
  const { command } = understood;
  const { verb, merchant, effect, opensForm = false } = command;
  const own = { account, label: asTyped(command), permission: [permissionsOf(command)] };
  if (understood.kind === 'read')
    return { ...own, ...preparedRequest(command, understood.prepared), ...withoutEffect };
  const { words } = understood;
  const read = command.prepare(words);
  if (read.ok) {
    // If these words need a permission of their own, name them in its refusal: the command alone may be allowed.
    const label = read.value.permission === undefined ? own.label : [own.label, ...words].join(' ');
    return { ...own, label, ...preparedRequest(command, read.value), effect, opensForm };
  }
  const example = command.examples.find((one) => one.includes(' ')) ?? verb;
  const message = usageMessage(read.problem, `${slashCommand} ${example}`);
  return {
    ...own,
    about: { verb, merchant },
    ...withoutEffect,
    run: async () => ({ result: 'unreadable', message }),
  };
}

const withoutEffect = { effect: 'none', opensForm: false } as const;

function preparedRequest(
  command: Command,
  prepared: Prepared,
): Pick<RequestPart, 'permission' | 'about' | 'run'> {
  const { verb, merchant } = command;
  const { permission, run } = prepared;
  return {
    permission: [permissionsOf(command), ...(permission === undefined ? [] : [[permission]])],
    about: {
      verb,
      merchant,
      /** Read again after `run`, which may find the reference. Masked: typed text may be a mistyped card number. */
      get reference() {
        return prepared.reference && maskNumbers(prepared.reference);
      },
    },
    run: async (conversation) => ({ result: 'answered', message: await run(conversation) }),
  };
}

/** A press runs a command with arguments from the button, or the button's own function. */
export function pressTurn(body: BlockAction, respond: RespondFn, side: SlackSide): Turn | undefined {
  const [action] = body.actions;
  if (!action) return undefined;
  const { client, log, commands } = side;
  const value = valueOf(action);
  const found = commands.find('action', action.action_id);
  if (!found && plainId(action.action_id) === linkActionId) return undefined;
  const caller = { ...callerOf(body, fromOf(body)), ...withoutUndefined({ threadTs: threadOf(body) }) };
  const view = body.view?.type === 'modal' ? body.view : undefined;
  const label = labelOf(action);
  const address = {
    userId: caller.userId,
    // In a modal and the App Home there is no response_url, so Bolt's `respond` doesn't work.
    respond: body.response_url ? respond : undefined,
    threadTs: threadOf(body),
  };
  const isEphemeral = body.container['is_ephemeral'] === true;
  // Replace only an ephemeral message, and only if its other buttons are no longer useful.
  const isReplaced = found && ('words' in found.part || found.part.replacesMessage);
  const replaces = isEphemeral && isReplaced ? 'pressed' : 'nothing';
  const openModal = createOpenModal(client, { triggerId: body.trigger_id, onTop: view !== undefined });
  const reply = createReply({ ...address, replaces }, client, log);
  const beside = createReply(address, client, log);
  const screen = createScreen({ client, log, label, openModal, reply, beside, view });
  const turn = {
    what: 'press',
    caller,
    // Slack sends all inputs with every press.
    hasCardNumber: blocksWithCardNumber(body.view?.state ?? body.state).length > 0,
    refuse: screen.sayProblem,
  } as const;
  if (!found) return { ...turn, go: () => screen.sayProblem(expiredTitle, expiredMessage('button')) };
  const { account, command, part } = found;
  const common = { what: 'press', who: caller, screen, repeat: pressedBefore(body, action, part) } as const;
  return {
    ...turn,
    async go() {
      if ('words' in part) {
        const understood = { kind: 'command', command, words: part.words(value) } as const;
        return await answer({ ...common, ...requestOf({ account, understood }), label }, side);
      }
      const pressed: Pressed = {
        caller,
        value,
        openModal: screen.openModal,
        updateModal: screen.updateModal,
        reply: screen.reply,
        ...typedBy(action),
        ...(view && { view: seenView(view) }),
        ...messageOf(body),
      };
      await answer({ ...common, account, label, ...pressRequest(command, part, pressed) }, side);
    },
  };
}

const expiredTitle = 'Expired';

function seenView(view: ViewOutput): NonNullable<Pressed['view']> {
  return { id: view.id, privateMetadata: view.private_metadata, values: shownValues(view) };
}

/** For a button with its own function. */
function pressRequest(
  command: Command,
  press: Press,
  pressed: Pressed,
): Pick<BotRequest, 'permission' | 'about' | 'effect' | 'opensForm' | 'run'> {
  const { value } = pressed;
  const { verb, merchant } = command;
  const { actionId: part, about, aboutOther, permissions, effect = 'none', opensForm = false } = press;
  const own = typeof permissions === 'function' ? permissions(value) : permissions;
  return {
    permission: [own ?? permissionsOf(command)],
    about: { verb, merchant, part, reference: about?.(value), other: aboutOther?.(value) },
    effect,
    opensForm,
    async run() {
      await press.press(pressed);
      return { result: 'answered' };
    },
  };
}

/**
 * Detects one person's double click or repeated delivery; two persons' presses both run. Goes by Slack's time of the press
 * in seconds: each press claims its second and the next, so of two within a second one runs, and two seconds later the
 * button works again. A second press of a button that runs a command is always answered.
 */
function pressedBefore(
  body: BlockAction,
  action: BlockElementAction,
  part: CommandButton | Press,
): BotRequest['repeat'] {
  const container = containerKey(body);
  // Hashed: a button's value may hold outside text, which must not be in a key.
  const pressed = [container, body.user.id, action.action_id, valueOf(action)].join('\n');
  const key = `press:${hash('sha256', pressed)}`;
  const second = Math.floor(Number(action.action_ts));
  return async (claim) => {
    if (!(await claim(`${key}:${action.action_ts}`))) return 'delivered_again';
    if ('words' in part) return 'first';
    const isFirst = (await claim(`${key}:${second}`)) && (await claim(`${key}:${second + 1}`));
    return isFirst ? 'first' : 'pressed_again';
  };
}

/** A shortcut chosen in Slack's menus. */
export function shortcutTurn(
  body: GlobalShortcut | MessageShortcut,
  respond: RespondFn | undefined,
  side: SlackSide,
): Turn {
  const { client, log } = side;
  const caller = callerOf(body, 'shortcut');
  const openModal = createOpenModal(client, { triggerId: body.trigger_id, onTop: false });
  // Replace nothing: the message may be one of the bot's own.
  const threadTs = body.type === 'message_action' ? threadOf({ message: body.message }) : undefined;
  const direct = createReply({ userId: caller.userId, respond, threadTs }, client, log);
  /** Without a message there is no channel, and the person expects a modal. */
  const inModal: Reply = (message) =>
    openModal(messageModal('Not opened', message)).then(
      () => undefined,
      () => direct(message),
    );
  const reply = body.type === 'shortcut' ? inModal : direct;
  return {
    what: 'command',
    caller,
    refuse: (_, message) => reply(message),
    async go() {
      const found = await side.commands.shortcut(body.callback_id, caller);
      // The manifest is older or newer than the bot.
      if (!found) return await reply(expiredMessage('shortcut'));
      const { account, part } = found;
      const texts = body.type === 'message_action' ? messageTexts(body.message) : [];
      const understood: Understood =
        part.kind === 'global'
          ? { kind: 'command', command: found.command, words: [] }
          : { kind: 'read', command: found.command, prepared: part.prepare(texts) };
      const screen = createScreen({ client, log, label: part.name, openModal, reply });
      const request = { ...requestOf({ account, understood }), label: part.name };
      await answer({ what: 'command', who: caller, ...request, repeat: once(body.trigger_id), screen }, side);
    },
  };
}

/** Updates the person's App Home. Never throws: Slack's refusals are logged, and the Home stays. */
export async function openHome(caller: Caller, side: SlackSide): Promise<void> {
  const { client, commands, log } = side;
  async function go(): Promise<void> {
    try {
      const { blocks } = await commands.home(caller);
      await client.views.publish({ user_id: caller.userId, view: { type: 'home', blocks } });
    } catch (error) {
      const slackError = slackErrorWord(readSlackError(error));
      log('warn', 'The App Home could not be shown', { slackError, fix: fixFor(slackError) }, error);
    }
  }
  await take({ caller, refuse: async () => undefined, go }, side);
}

export function formTurn(ack: AckFn<ViewResponseAction>, body: ViewSubmitAction, side: SlackSide): Turn {
  const caller = callerOf(body, 'modal');
  const withCardNumber = blocksWithCardNumber(body.view.state);
  // Slack takes errors only for input blocks, and refuses the whole answer otherwise.
  const inputs = withCardNumber.filter((blockId) =>
    body.view.blocks.some((block) => block.type === 'input' && block.block_id === blockId),
  );
  return {
    what: 'form',
    caller,
    hasCardNumber: withCardNumber.length > 0,
    async refuse(title, message) {
      const errors = Object.fromEntries(inputs.map((blockId) => [blockId, cardNumberProblem]));
      const words = { kind: 'update', modal: messageModal(title, message) } as const;
      await ack(toViewResponse(inputs.length > 0 ? { kind: 'errors', errors } : words, body.view.blocks));
    },
    async go() {
      const found = side.commands.find('modal', body.view.callback_id);
      if (found) return await answerForm(ack, { ...found, caller, body }, side);
      const modal = messageModal(expiredTitle, expiredMessage('form'));
      await ack(toViewResponse({ kind: 'update', modal }, body.view.blocks));
    },
  };
}

/**
 * Choices of an external select, in time and within Slack's limits. On any error the list is empty: Slack shows no words
 * there.
 */
export function listTurn(
  offer: (options: Option[]) => Promise<void>,
  body: BlockSuggestion,
  { commands, log, suggestMs }: SlackSide,
): Turn {
  const caller = callerOf(body, body.view ? 'modal' : 'message');
  const found = commands.find('suggestion', body.action_id);
  async function choices(): Promise<readonly Choice[]> {
    if (!found) return [];
    const { account, command, part } = found;
    if (await refuse(caller, permissionsOf(command), account.mayRun, command.verb)) return [];
    return await part.suggest(body.value, caller);
  }
  return {
    caller,
    hasCardNumber: holdsCardNumber(body.value),
    refuse: () => offer([]),
    async go() {
      const about = { verb: found?.command.verb ?? '', userId: caller.userId };
      const all = await inAccount(found?.account.merchant, () => withDeadline(suggestMs, choices)).catch(
        (error: unknown) => {
          log('warn', 'A list could not be offered', about, error);
          return [];
        },
      );
      await offer(fitting(all, about, log));
    },
  };
}

/** Never cut a value: it would mean something else. */
function fitting(choices: readonly Choice[], about: { verb: string; userId: string }, log: Log): Option[] {
  const sendable = choices.filter(({ value }) => value !== '' && value.length <= limits.optionValue);
  if (sendable.length < choices.length) log('warn', 'A list holds values that Slack does not take', about);
  return sendable
    .slice(0, limits.options)
    .map(({ text, value }) => ({ text: plainText(text, limits.optionText), value }));
}
