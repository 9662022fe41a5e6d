import type { BlockAction, BlockElementAction, RespondFn } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import { refuse, type AnswerDeps, type Refusal as Refused } from '../answer.ts';
import { callerOf, isStranger, strangerMessage } from '../people/asker.ts';
import type { Caller, Command, CommandSet, OpenModal, Press, Pressed } from '../command.ts';
import { cardNumberMessage } from '../error-message.ts';
import { errorReply } from '../error-reply.ts';
import type { SlackMessage } from '../message.ts';
import { createOpenModal, ModalRefused, updateModal, wordsModal } from '../modals.ts';
import { ofAnotherWorkspace, recordAsked } from '../record-asked.ts';
import { createReply, type Reply, type ReplyAddress } from '../reply.ts';
import { blocksWithCardNumber, viewValues } from '../view-values.ts';
import type { Identity } from '../workspace.ts';

export type PressDeps = AnswerDeps & {
  client: WebClient;
  commands: CommandSet;
  /** Undefined while Slack has not said who the bot is. */
  identity: () => Identity | undefined;
};

/** One press, already acknowledged, and the ways to answer it. */
export type Pressing = {
  body: BlockAction;
  action: BlockElementAction;
  caller: Caller;
  openModal: OpenModal;
  reply: Reply;
};

/** A press of an element that runs its own function; `found` is what claims it. */
export async function routePress(
  pressing: Pressing,
  found: { command: Command; press: Press },
  deps: PressDeps,
): Promise<void> {
  const startedAt = deps.now();
  const outcome = await carryOut(pressing, found, deps);
  if (outcome.message) await tell(pressing, outcome.message);
  const { command, press } = found;
  recordAsked(deps, {
    what: 'press',
    caller: pressing.caller,
    command,
    part: press.actionId,
    reference: press.about?.(valueOf(pressing.action)),
    other: press.aboutOther?.(valueOf(pressing.action)),
    result: outcome.result,
    reason: outcome.reason,
    startedAtMs: startedAt,
  });
}

type Told = { title: string; message: SlackMessage; mayPush: boolean };

type Outcome = { result: 'answered' | 'refused' | 'repeated' | 'failed'; message?: Told; reason?: string };

/** Never rejects: what goes wrong is the outcome. */
async function carryOut(
  pressing: Pressing,
  { command, press }: { command: Command; press: Press },
  deps: PressDeps,
): Promise<Outcome> {
  const { caller } = pressing;
  let hasBegun = false;
  try {
    const refusal = await guard(pressing, { command, press }, deps);
    if (refusal) {
      const { title, message, reason } = refusal;
      return { result: 'refused', message: { title, message, mayPush: true }, reason };
    }
    if (await isRepeat(pressing, deps)) return { result: 'repeated' };
    hasBegun = true;
    await press.press(pressedIn(pressing, deps));
    return { result: 'answered' };
  } catch (error) {
    const doing = { ...command, effect: press.effect ?? 'none' };
    const { message, reason } = errorReply(error, { command: doing, caller, hasBegun }, deps.log);
    // The trigger that Slack just refused opens no modal for the words about that either.
    const mayPush = !(error instanceof ModalRefused);
    return { result: 'failed', message: { title: 'Something went wrong', message, mayPush }, reason };
  }
}

type Refusal = Refused & { title: string };

async function guard(
  { caller, body, action }: Pressing,
  { command, press }: { command: Command; press: Press },
  deps: PressDeps,
): Promise<Refusal | undefined> {
  // What stands in the inputs comes along with every press.
  if (blocksWithCardNumber(body.view?.state ?? body.state).length > 0) {
    deps.log('warn', 'A card number was typed and refused', { userId: caller.userId });
    return { title: 'Not accepted', message: cardNumberMessage(), reason: 'a card number was typed' };
  }
  if (isStranger(caller, deps.identity())) {
    return { title: 'Not allowed', message: strangerMessage(), reason: ofAnotherWorkspace };
  }
  const permissions = press.permissionsFor ? press.permissionsFor(valueOf(action)) : press.permissions;
  const refusal = await refuse(caller, command, deps.mayRun, permissions);
  return refusal && { title: 'Not allowed', ...refusal };
}

/**
 * A double click or a redelivery of one person's; of two persons both run, and what they press decides. By Slack's
 * own time of the press, in seconds: each press claims its second and the next, so that of two within a second
 * one runs, while the same button works again two seconds later.
 */
async function isRepeat({ body, action, caller }: Pressing, deps: PressDeps): Promise<boolean> {
  const key = `press:${placeKey(body)}:${caller.userId}:${action.action_id}:${valueOf(action)}`;
  const second = Math.floor(Number(action.action_ts));
  if (!(await deps.claimOnce(`${key}:${second}`))) return true;
  return !(await deps.claimOnce(`${key}:${second + 1}`));
}

function pressedIn({ body, action, caller, openModal, reply }: Pressing, deps: PressDeps): Pressed {
  const view = isModal(body) ? body.view : undefined;
  return {
    caller,
    value: valueOf(action),
    ...(view === undefined
      ? {}
      : { view: { id: view.id, privateMetadata: view.private_metadata, values: viewValues(view.state) } }),
    ...messageOf(body),
    openModal,
    async updateModal(modal) {
      if (view) await updateModal(deps.client, { viewId: view.id, modal }, deps.log);
    },
    reply,
  };
}

function messageOf({ container }: BlockAction): Pick<Pressed, 'message'> {
  const { channel_id: channel, message_ts: ts, is_ephemeral: isEphemeral } = container;
  if (typeof channel !== 'string' || typeof ts !== 'string' || isEphemeral === true) return {};
  return { message: { channel, ts } };
}

/** On top of the modal that was pressed in, where the person looks; else, or when Slack opens none, as a message. */
async function tell({ body, openModal, reply }: Pressing, told: Told): Promise<void> {
  if (isModal(body) && told.mayPush) {
    const isShown = await openModal(wordsModal(told.title, told.message)).then(
      () => true,
      () => false,
    );
    if (isShown) return;
  }
  await reply(told.message);
}

/** The ways to answer a press; `replaces` says what an answer takes the place of. */
export function pressingOf(
  { body, action, respond }: { body: BlockAction; action: BlockElementAction; respond: RespondFn },
  replaces: ReplyAddress['replaces'],
  deps: PressDeps,
): Pressing {
  const caller = callerOf(body, from(body));
  // Bolt gives a `respond` that cannot work where Slack sent no response_url: in a modal and the App Home.
  const working = body.response_url ? respond : undefined;
  return {
    body,
    action,
    caller,
    openModal: createOpenModal(deps.client, { triggerId: body.trigger_id, onTop: isModal(body) }),
    reply: createReply({ caller, respond: working, replaces }, deps.client, deps.log),
  };
}

function from({ view }: BlockAction): NonNullable<Caller['from']> {
  if (!view) return 'message';
  return view.type === 'modal' ? 'modal' : 'home';
}

function isModal({ view }: BlockAction): boolean {
  return view?.type === 'modal';
}

/** Of a button or a choice. What a person typed is never a value: it would end in the store, as part of a key. */
export function valueOf(action: BlockElementAction): string {
  if (action.type.endsWith('_input')) return '';
  if ('selected_option' in action) return action.selected_option?.value ?? '';
  return 'value' in action && typeof action.value === 'string' ? action.value : '';
}

/** A message is known by its channel and time, a view by the state in which its button was pressed. */
export function placeKey({ container, view }: BlockAction): string {
  return view ? `${view.id}:${view.hash}` : `${container['channel_id']}:${container['message_ts']}`;
}
