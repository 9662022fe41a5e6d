import { z } from 'zod';
import type { ActResult, PageBlock, PageOption, PageUser, WorkspaceAction } from '../protocol.ts';
import { type ActDeps, actResult, no } from './act-result.ts';
import { canSee } from './cast.ts';
import { completeValues, type Element, findElement, type PlacedElement } from './elements.ts';
import type { Message } from './messages.ts';
import { channelPayload, commonPayload, messagePayload } from './payloads.ts';
import { type View, viewPayload } from './views.ts';
import type { World } from './world.ts';

type Pressed = Extract<WorkspaceAction, { kind: 'block_action' }>;
type Surface = { kind: 'message'; message: Message } | { kind: 'view'; view: View };

/** A press, pick or tick on an element that is really there, as it stands now. */
export async function press(deps: ActDeps, user: PageUser, pressed: Pressed): Promise<ActResult> {
  const { world } = deps;
  const surface = findSurface(world, user, pressed.container);
  if (surface === undefined) return no('That message or view is gone.');
  const placed = findElement(blocksOf(surface), pressed.blockId, pressed.actionId) ?? asDrawn(pressed);
  if (placed === undefined) return no('That button or field is not there any more.');
  const action = readAction(world, placed, pressed.element);
  if (action === undefined) return no('That choice is not one of the options.');
  const values = completeValues(blocksOf(surface), pressed.values);
  if (surface.kind === 'view') surface.view.values = values;
  const fromModal = surface.kind === 'view' && surface.view.definition.type === 'modal';
  const answer = await deps.line.send(
    {
      kind: 'interactive',
      payload: {
        type: 'block_actions',
        ...commonPayload(user),
        trigger_id: world.triggers.issue({ userId: user.id, fromModal }),
        ...surfacePayload(deps, user, surface),
        ...(surface.kind === 'message' ? { state: { values } } : {}),
        actions: [action],
      },
    },
    `${user.realName} presses ${labelOf(placed, action)}`,
  );
  return actResult(answer);
}

function asDrawn({ behind, blockId, actionId, element }: Pressed): PlacedElement | undefined {
  if (behind !== true) return undefined;
  return { block: { type: 'actions', block_id: blockId }, blockId, actionId, element };
}

/** The options of an external select, asked of the app while the person types. */
export async function suggest(
  deps: ActDeps,
  user: PageUser,
  asked: Extract<WorkspaceAction, { kind: 'suggest' }>,
): Promise<ActResult> {
  const { world } = deps;
  const surface = findSurface(world, user, { type: 'view', viewId: asked.viewId });
  const placed = surface && findElement(blocksOf(surface), asked.blockId, asked.actionId);
  if (surface === undefined || placed === undefined || !placed.element.type.endsWith('external_select')) {
    return no('That field is not there any more.');
  }
  const answer = await deps.line.send(
    {
      kind: 'interactive',
      payload: {
        type: 'block_suggestion',
        ...commonPayload(user),
        action_id: asked.actionId,
        block_id: asked.blockId,
        value: asked.text,
        ...surfacePayload(deps, user, surface),
      },
    },
    `${user.realName} looks for "${asked.text}" in a list`,
  );
  if (answer.kind !== 'acknowledged') return actResult(answer);
  const options = readOptions(answer.body);
  return options === undefined ? no('There was a problem loading the options.') : { ok: true, options };
}

function findSurface(world: World, user: PageUser, container: Pressed['container']): Surface | undefined {
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
  const { blocks, attachments } = surface.message;
  return [...blocks, ...attachments.flatMap((attachment) => attachment.blocks)];
}

/** Ephemeral messages come without the message itself: Slack sends only where they stood. */
function surfacePayload(deps: ActDeps, user: PageUser, surface: Surface): Record<string, unknown> {
  if (surface.kind === 'view') {
    const { view } = surface;
    return { container: { type: 'view', view_id: view.id }, view: viewPayload(view) };
  }
  const { world } = deps;
  const { message } = surface;
  const channel = world.directory.channel(message.channel);
  const thread = message.threadTs === undefined ? {} : { threadTs: message.threadTs };
  const target = { channel: message.channel, userId: user.id, messageTs: message.ts, ...thread };
  return {
    container: {
      type: 'message',
      message_ts: message.ts,
      channel_id: message.channel,
      is_ephemeral: message.visibleTo !== undefined,
      ...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
    },
    ...(channel === undefined ? {} : { channel: channelPayload(channel) }),
    ...(message.visibleTo === undefined ? { message: wholeMessage(world, message) } : {}),
    response_url: deps.responseUrl(world.responseUrls.issue(target)),
  };
}

export function wholeMessage(world: World, message: Message): Record<string, unknown> {
  return messagePayload(message, { replies: world.messages.replies(message), withMetadata: true });
}

const fixedFields = ['text', 'value', 'style'];

/** A button's value is the app's own, never the page's; a pick must be one of the options. */
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
    return { ...Object.fromEntries(fixed), ...same };
  }
  return isOffered(element, sent) ? { ...sent, ...same } : undefined;
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

/** What the person reads on it, or the choice they read in it. */
function labelOf(placed: PlacedElement, action: Record<string, unknown>): string {
  const readable = z.looseObject({ text: z.string() });
  const chosen = z.looseObject({ text: readable }).safeParse(action['selected_option']);
  if (chosen.success) return `"${chosen.data.text.text}"`;
  const label = readable.safeParse(placed.element['text']);
  return label.success ? `"${label.data.text}"` : placed.actionId;
}
