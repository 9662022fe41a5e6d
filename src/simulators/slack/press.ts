import { z } from 'zod';
import { problem } from '../../domain/wording.ts';
import type { ActResult, PageBlock, PageOption, PageUser } from '../protocol.ts';
import { canSee } from './directory.ts';
import { findElement, type Element, type PlacedElement } from './elements.ts';
import { type ActDeps, actResult, interact, type ActionOf } from './interact.ts';
import type { Message } from './messages.ts';
import { channelPayload, messagePayload } from './payloads.ts';
import { fill, type View, viewPayload } from './views.ts';
import type { World } from './world.ts';

type Surface = { kind: 'message'; message: Message } | { kind: 'view'; view: View };

/** A press, choice or tick of an existing element, with its current state. */
export async function press(
  deps: ActDeps,
  user: PageUser,
  pressed: ActionOf<'block_action'>,
): Promise<ActResult> {
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
}: ActionOf<'block_action'>): PlacedElement | undefined {
  if (mayBeOutdated !== true) return undefined;
  return { block: { type: 'actions', block_id: blockId }, blockId, actionId, element };
}

/**
 * The options of an external select, requested from the app while the person types. *No results* until they come. If the
 * app answers late, Slack does not ask for this list again until it is redrawn.
 */
export async function suggest(deps: ActDeps, user: PageUser, asked: ActionOf<'suggest'>): Promise<ActResult> {
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
  container: ActionOf<'block_action'>['container'],
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
