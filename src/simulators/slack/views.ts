import type { PageBlock, PageView } from '../protocol.ts';
import { type ApiAnswer, granted, type Method, method, optionalText, refused, text } from './api-answer.ts';
import { findViewProblems } from './assert-blocks.ts';
import { appId, botId, teamId } from './directory.ts';
import { completeValues, nameBlocks, stillThere, type Values } from './elements.ts';
import type { Ids, Trigger } from './ids.ts';
import { parsedJson } from './message-content.ts';
import type { World } from './world.ts';

/** A view that passed the strict check. */
type ViewDefinition = {
  type: 'modal' | 'home';
  title?: { text: string };
  submit?: { text: string };
  close?: { text: string };
  blocks: PageBlock[];
  callback_id?: string;
  private_metadata?: string;
};

export type View = {
  readonly id: string;
  readonly userId: string;
  readonly rootId: string;
  readonly previousId: string | undefined;
  hash: string;
  definition: ViewDefinition;
  blocks: PageBlock[];
  values: Values;
  /** The values that the person typed or chose. */
  touched: Values;
  errors: Record<string, string>;
  busy: boolean;
  /** Block ids of lists that the app answered too late: Slack doesn't ask for them again. */
  readonly silentLists: Set<string>;
  /** It replaced another view. */
  isUpdated: boolean;
  /** The state of the replaced view, until a submission is sent. */
  oldState: Values | undefined;
};

type ReadView =
  | { kind: 'view'; definition: ViewDefinition }
  | { kind: 'refused'; error: string; messages: string[] };

/** Slack's own checks of a view, before the trigger and the open modals are looked at. */
export function readView(raw: unknown, surface: 'modal' | 'home'): ReadView {
  const problems = findViewProblems(raw);
  const definition = raw as ViewDefinition;
  if (problems.length === 0 && definition.type === surface) return { kind: 'view', definition };
  if (problems.length === 0) problems.push(`/type: expected "${surface}"`);
  const messages = problems.map((problem) => `[ERROR] ${problem}`);
  return { kind: 'refused', error: 'invalid_arguments', messages };
}

const maxStack = 3;

export function createViews(ids: Ids) {
  const stacks = new Map<string, View[]>();
  const homes = new Map<string, View>();

  /** A person's open modals, bottom first. */
  function stack(userId: string): View[] {
    return stacks.get(userId) ?? [];
  }
  function everyView(): View[] {
    return [...homes.values(), ...[...stacks.values()].flat()];
  }
  function create(userId: string, definition: ViewDefinition): View {
    const view = blankView(ids.id('V'), userId, definition, definition.type === 'home' ? [] : stack(userId));
    show(view, definition);
    return view;
  }
  function update(view: View, definition: ViewDefinition): void {
    view.isUpdated = true;
    view.oldState = completeValues(view.blocks, view.values);
    show(view, definition);
  }
  function show(view: View, definition: ViewDefinition): void {
    view.definition = definition;
    view.blocks = nameBlocks(definition.blocks, ids);
    view.hash = `${ids.ts()}.${ids.secret(4)}`;
    // As in Slack, a field's text stays while its block and action ids stay.
    view.values = stillThere(view.blocks, view.values);
    view.touched = stillThere(view.blocks, view.touched);
    view.errors = {};
    view.busy = false;
  }
  return {
    stack,
    update,
    find: (id: string) => everyView().find((view) => view.id === id),
    home: (userId: string) => homes.get(userId),
    open(userId: string, definition: ViewDefinition) {
      stacks.delete(userId);
      const view = create(userId, definition);
      stacks.set(userId, [view]);
      return view;
    },
    /** Undefined: three modals are open, and Slack allows no fourth. */
    push(userId: string, definition: ViewDefinition) {
      if (stack(userId).length >= maxStack) return undefined;
      const view = create(userId, definition);
      stacks.set(userId, [...stack(userId), view]);
      return view;
    },
    publish(userId: string, definition: ViewDefinition) {
      const shown = homes.get(userId);
      if (shown === undefined) {
        const view = create(userId, definition);
        homes.set(userId, view);
        return view;
      }
      update(shown, definition);
      return shown;
    },
    /** Removes the view and those above it. */
    close(view: View) {
      const open = stack(view.userId);
      const at = open.indexOf(view);
      if (at >= 0) stacks.set(view.userId, open.slice(0, at));
    },
  };
}

function blankView(id: string, userId: string, definition: ViewDefinition, below: readonly View[]): View {
  return {
    id,
    userId,
    rootId: below[0]?.id ?? id,
    previousId: below.at(-1)?.id,
    hash: '',
    definition,
    blocks: [],
    values: {},
    touched: {},
    errors: {},
    busy: false,
    silentLists: new Set(),
    isUpdated: false,
    oldState: undefined,
  };
}

/** Sets the person's inputs; untouched fields keep their value. */
export function fill(view: View, touched: Values): void {
  view.touched = { ...view.touched, ...touched };
  view.values = completeValues(view.blocks, { ...view.values, ...touched });
}

/** The view as Slack sends it to the app and returns it from views.*. */
export function viewPayload(view: View): Record<string, unknown> {
  const { definition } = view;
  return {
    id: view.id,
    team_id: teamId,
    type: definition.type,
    blocks: view.blocks,
    private_metadata: definition.private_metadata ?? '',
    callback_id: definition.callback_id ?? '',
    state: { values: completeValues(view.blocks, view.values) },
    hash: view.hash,
    title: definition.title ?? { type: 'plain_text', text: 'View Title', emoji: true },
    clear_on_close: false,
    notify_on_close: false,
    close: definition.close ?? null,
    submit: definition.submit ?? null,
    previous_view_id: view.previousId ?? null,
    root_view_id: view.rootId,
    app_id: appId,
    external_id: '',
    app_installed_team_id: teamId,
    bot_id: botId,
  };
}

export function toPageView(view: View): PageView {
  const { definition } = view;
  return {
    id: view.id,
    type: definition.type,
    callbackId: definition.callback_id ?? '',
    title: definition.title?.text ?? '',
    ...(definition.submit === undefined ? {} : { submit: definition.submit.text }),
    ...(definition.close === undefined ? {} : { close: definition.close.text }),
    blocks: view.blocks,
    errors: view.errors,
    busy: view.busy,
  };
}

/** views.*: modals and the App Home. They need no scope, but a fresh trigger. */

export const viewMethods: Record<string, Method> = {
  'views.open': method({}, { trigger_id: text }, (world, given, raw) =>
    withTrigger(world, given.trigger_id, raw['view'], (trigger, definition) =>
      world.views.open(trigger.userId, definition),
    ),
  ),
  'views.push': method({}, { trigger_id: text }, (world, given, raw) =>
    withTrigger(world, given.trigger_id, raw['view'], (trigger, definition) => {
      if (!trigger.fromModal || world.views.stack(trigger.userId).length === 0) return 'invalid_trigger_id';
      return world.views.push(trigger.userId, definition) ?? 'push_limit_reached';
    }),
  ),
  'views.update': method({}, { view_id: text, hash: optionalText }, update),
  'views.publish': method({}, { user_id: text }, publish),
};

type Show = (trigger: Trigger, definition: ViewDefinition) => View | string;

function withTrigger(world: World, triggerId: string, raw: unknown, show: Show): ApiAnswer {
  const read = readView(parsedJson(raw), 'modal');
  if (read.kind === 'refused') return refused(read.error, read.messages);
  const redeemed = world.triggers.check(triggerId);
  if (redeemed.kind === 'refused') return refused(redeemed.error);
  const shown = show(redeemed.for, read.definition);
  if (typeof shown === 'string') return refused(shown);
  world.triggers.spend(triggerId);
  return answerWith(world, shown);
}

function update(
  world: World,
  given: { view_id: string; hash?: string | undefined },
  raw: Record<string, unknown>,
): ApiAnswer {
  const view = world.views.find(given.view_id);
  const read = readView(parsedJson(raw['view']), view?.definition.type ?? 'modal');
  if (read.kind === 'refused') return refused(read.error, read.messages);
  if (view === undefined) return refused('not_found');
  if (given.hash !== undefined && given.hash !== view.hash) return refused('hash_conflict');
  world.views.update(view, read.definition);
  return answerWith(world, view);
}

function publish(world: World, given: { user_id: string }, raw: Record<string, unknown>): ApiAnswer {
  if (world.directory.user(given.user_id) === undefined) {
    return refused('invalid_arguments', ['[ERROR] user_id: no such user']);
  }
  if (!world.app.hasHome) return refused('not_enabled');
  const read = readView(parsedJson(raw['view']), 'home');
  if (read.kind === 'refused') return refused(read.error, read.messages);
  return answerWith(world, world.views.publish(given.user_id, read.definition));
}

function answerWith(world: World, view: View): ApiAnswer {
  world.changed();
  return granted({ view: viewPayload(view) });
}
