import type { PageAction, PageBlock, PageOption } from '../../simulators/protocol.ts';
import { valuesOf, type ElementState, type Values } from './form.ts';
import { keepSame } from './keep-same.ts';
import {
  scopeOf,
  suggestionKey,
  threadPlace,
  type Container,
  type Effect,
  type Model,
  type Place,
  type Pressed,
  type Step,
  type Ui,
  type UiEvent,
} from './model.ts';
import type { ServedState } from './served.ts';

type Handler<K extends UiEvent['kind']> = (model: Model, event: Extract<UiEvent, { kind: K }>) => Step;

/** The page's whole behaviour: what an event makes of the tab's state, and what must happen outside of it. */
export function step(model: Model, event: UiEvent): Step {
  return (handlers[event.kind] as (model: Model, event: UiEvent) => Step)(model, event);
}

function withUi(model: Model, change: Partial<Ui>, ...effects: Effect[]): Step {
  return { model: { ...model, ui: { ...model.ui, ...change } }, effects };
}

function acting(action: PageAction): Effect {
  return { kind: 'act', action };
}

const handlers: { [K in UiEvent['kind']]: Handler<K> } = {
  received: (model, { page }) => receive(model, page),
  connection: (model, { connection }) => withUi(model, { connection }),
  act: (model, { action }) => withUi(model, { problem: undefined }, acting(action)),
  acted: (model, { action, result }) => {
    if (!result.ok) {
      const suggestions = action.kind === 'suggest' ? {} : model.ui.suggestions;
      return withUi(model, { problem: result.problem, drafts: unsent(model.ui, action), suggestions });
    }
    if (action.kind === 'suggest') return suggested(model, action, result.options ?? []);
    return { model, effects: [] };
  },
  problem: (model, { problem }) => withUi(model, { problem }),
  choose_user: (model, { userId }) => ({
    model: {
      ...model,
      userId,
      ui: { ...model.ui, thread: undefined, pending: undefined, problem: undefined },
    },
    effects: [{ kind: 'connect', userId }],
  }),
  choose_channel: (model, { channel }) => {
    const ui = { ...model.ui, channel, tab: 'messages' as const, thread: undefined };
    return withUi(model, { ...ui, seen: seenNow(ui, model.page) }, { kind: 'focus', selector: '#composer' });
  },
  choose_tab: (model, { tab }) => {
    const ui = { ...model.ui, tab };
    const seen = seenNow(ui, model.page);
    return withUi(model, { tab, seen }, ...(tab === 'home' ? [acting({ kind: 'open_home' })] : []));
  },
  open_thread: (model, { channel, ts }) =>
    withUi(model, { thread: { channel, ts } }, { kind: 'focus', selector: '#thread-composer' }),
  close_thread: (model) => withUi(model, { thread: undefined }, { kind: 'focus', selector: '#composer' }),
  draft: (model, { place, text, focus }) =>
    withUi(
      model,
      {
        drafts: { ...model.ui.drafts, [place]: text },
        completion: { marked: 0, closedFor: undefined },
        commands: { ...model.ui.commands, recalled: undefined },
      },
      ...(focus ? [{ kind: 'focus' as const, selector: '#composer' }] : []),
    ),
  mark_command: (model, { marked }) => withUi(model, { completion: { ...model.ui.completion, marked } }),
  close_commands: (model, { draft }) =>
    withUi(model, { completion: { ...model.ui.completion, closedFor: draft } }),
  recall: (model, event) => recall(model, event),
  send: (model, event) => send(model, event),
  press: (model, { pressed }) =>
    pressed.confirm ? withUi(model, { pending: pressed }) : press(model, pressed),
  confirm_answered: (model, { yes }) => {
    const { pending } = model.ui;
    const closed = withUi(model, { pending: undefined });
    return yes && pending ? press(closed.model, pending) : closed;
  },
  suggest: (model, { place, text }) => suggest(model, place, text),
  mark_suggestion: (model, { key, chosen }) => {
    const open = model.ui.suggestions[key];
    if (!open) return { model, effects: [] };
    return withUi(model, { suggestions: { ...model.ui.suggestions, [key]: { ...open, chosen } } });
  },
  close_suggestions: (model, { key }) => {
    const { [key]: _closed, ...suggestions } = model.ui.suggestions;
    return withUi(model, { suggestions });
  },
  copy: (model, { key, text }) => ({ model, effects: [{ kind: 'copy', key, text }] }),
  copied: (model, { key }) => withUi(model, { copied: key }),
  submit_view: (model, { viewId }) => submitView(model, viewId),
  close_view: (model, { viewId }) => ({ model, effects: [acting({ kind: 'close_view', viewId })] }),
  choose_panel_tab: (model, { tab }) => withUi(model, { panelTab: tab }),
  show_panel: (model, { shown }) => withUi(model, { panelShown: shown }),
  open_log: (model, { open }) => withUi(model, { log: { ...model.ui.log, open } }),
  filter_log: (model, { text, party }) =>
    withUi(model, {
      log: { ...model.ui.log, text: text ?? model.ui.log.text, party: party ?? model.ui.log.party },
    }),
  choose_exchange: (model, { id }) =>
    withUi(
      model,
      { log: { ...model.ui.log, chosen: id, detail: undefined } },
      ...(id === undefined ? [] : [{ kind: 'read_exchange' as const, id }]),
    ),
  exchange_read: (model, { exchange }) =>
    exchange.id === model.ui.log.chosen
      ? withUi(model, { log: { ...model.ui.log, detail: exchange } })
      : { model, effects: [] },
  hide_guide: (model, { hidden }) =>
    withUi(model, { guideHidden: hidden }, { kind: 'keep_guide_hidden', hidden }),
};

/** What could not be sent stands in its composer again, unless something else was begun there. */
function unsent({ drafts }: Ui, action: PageAction): Ui['drafts'] {
  if (action.kind !== 'send_message') return drafts;
  const place = threadPlace(action.channel, action.threadTs);
  return { ...drafts, [place]: drafts[place] || action.text };
}

function receive(model: Model, news: ServedState): Step {
  const page = keepSame(model.page, news);
  const visible = page.channels.some((channel) => channel.id === model.ui.channel);
  const channel = visible ? model.ui.channel : startChannel(model, page);
  const ui: Ui = {
    ...model.ui,
    connection: 'live',
    channel,
    tab: visible ? model.ui.tab : 'messages',
    typed: typedStillOpen(model, page),
  };
  return {
    model: { userId: page.user.id, page, ui: { ...ui, seen: seenNow(ui, page) } },
    effects: refreshDetail(model, page),
  };
}

/** Where people ask things, so that an alert elsewhere is seen to arrive. A direct message has another id for every person: switching users in one stays in one. */
function startChannel(model: Model, page: ServedState): string | undefined {
  const was = model.page?.channels.find((channel) => channel.id === model.ui.channel);
  const alike = page.channels.find((channel) => channel.kind === 'dm' && was?.kind === 'dm');
  const desk = page.channels.find((channel) => channel.name === 'pay-desk');
  return (alike ?? desk ?? page.channels[0])?.id;
}

/** What was typed into a field is forgotten when the field or its view is gone: an OTP does not stay in the tab's memory. */
function typedStillOpen(model: Model, page: ServedState): Record<string, Values> {
  const views = [...page.views, ...(page.home ? [page.home] : [])];
  const open = new Map(views.map((view) => [view.id, new Set(view.blocks.map((block) => block.block_id))]));
  return Object.fromEntries(
    Object.entries(model.ui.typed).flatMap(([scope, values]): [string, Values][] => {
      if (scope.includes('/')) return [[scope, values]];
      const blocks = open.get(scope);
      if (!blocks) return [];
      const kept = Object.entries(values).filter(([blockId]) => blocks.has(blockId));
      return [[scope, Object.fromEntries(kept)]];
    }),
  );
}

/** An exchange that was chosen while under way gets its answer when that is there. */
function refreshDetail(model: Model, page: ServedState): Effect[] {
  const { detail } = model.ui.log;
  if (!detail || detail.status !== undefined) return [];
  const now = page.log.find((exchange) => exchange.id === detail.id);
  return now?.status === undefined ? [] : [{ kind: 'read_exchange', id: detail.id }];
}

function seenNow(ui: Ui, page: ServedState | undefined): Ui['seen'] {
  const newest = ui.channel === undefined ? undefined : page?.messages[ui.channel]?.at(-1)?.ts;
  if (!page || ui.channel === undefined || newest === undefined || ui.tab === 'home') return ui.seen;
  return { ...ui.seen, [`${page.user.id}/${ui.channel}`]: newest };
}

function recall(model: Model, { place, step }: Extract<UiEvent, { kind: 'recall' }>): Step {
  const { sent, recalled } = model.ui.commands;
  const next = (recalled ?? sent.length) + step;
  if (next < 0 || sent.length === 0) return { model, effects: [] };
  const text = sent[next] ?? '';
  const position = next >= sent.length ? undefined : next;
  return withUi(model, {
    drafts: { ...model.ui.drafts, [place]: text },
    commands: { sent, recalled: position },
    completion: { marked: 0, closedFor: text },
  });
}

function send(model: Model, { channel, threadTs }: Extract<UiEvent, { kind: 'send' }>): Step {
  const place = threadPlace(channel, threadTs);
  const text = (model.ui.drafts[place] ?? '').trim();
  if (text === '') return { model, effects: [] };
  const { sent } = model.ui.commands;
  return withUi(
    model,
    {
      problem: undefined,
      drafts: { ...model.ui.drafts, [place]: '' },
      completion: { marked: 0, closedFor: undefined },
      commands: { sent: sent.at(-1) === text ? sent : [...sent, text].slice(-50), recalled: undefined },
    },
    acting({ kind: 'send_message', channel, text, ...(threadTs === undefined ? {} : { threadTs }) }),
  );
}

function blocksOf(page: ServedState | undefined, container: Container): PageBlock[] {
  if (!page) return [];
  if (container.type === 'view') {
    const views = page.home ? [...page.views, page.home] : page.views;
    return views.find((view) => view.id === container.viewId)?.blocks ?? [];
  }
  const message = page.messages[container.channel]?.find((candidate) => candidate.ts === container.ts);
  return [...(message?.blocks ?? []), ...(message?.attachments.flatMap(({ blocks }) => blocks) ?? [])];
}

function remember(model: Model, place: Place, state: ElementState): Record<string, Values> {
  const scope = scopeOf(place.container);
  const values = model.ui.typed[scope] ?? {};
  const block = { ...values[place.blockId], [place.actionId]: state };
  return { ...model.ui.typed, [scope]: { ...values, [place.blockId]: block } };
}

const stateless = new Set(['button', 'overflow', 'workflow_button']);

function press(model: Model, { place, state }: Pressed): Step {
  const typed = stateless.has(state.type) ? model.ui.typed : remember(model, place, state);
  const kept = withUi(model, { typed, problem: undefined });
  if (place.silent) return kept;
  const { container, blockId, actionId } = place;
  const values = valuesOf(blocksOf(model.page, container), typed[scopeOf(container)]);
  const element = { ...state, action_id: actionId, block_id: blockId };
  return {
    model: kept.model,
    effects: [acting({ kind: 'block_action', blockId, actionId, element, container, values })],
  };
}

function suggest(model: Model, place: Place, text: string): Step {
  const key = suggestionKey(place);
  const open = model.ui.suggestions[key];
  const { blockId, actionId, container } = place;
  return withUi(
    model,
    {
      suggestions: {
        ...model.ui.suggestions,
        [key]: { text, options: open?.options ?? [], chosen: 0, waiting: true },
      },
    },
    acting({
      kind: 'suggest',
      blockId,
      actionId,
      text,
      ...(container.type === 'view' ? { viewId: container.viewId } : {}),
    }),
  );
}

/** Answers may come out of order: only the one for what stands in the field now is shown. */
function suggested(
  model: Model,
  action: Extract<PageAction, { kind: 'suggest' }>,
  options: PageOption[],
): Step {
  const suggestions = Object.fromEntries(
    Object.entries(model.ui.suggestions).map(([key, open]) => {
      const asked = key.endsWith(`/${action.blockId}/${action.actionId}`) && open.text === action.text;
      return [key, asked ? { ...open, options, chosen: 0, waiting: false } : open];
    }),
  );
  return withUi(model, { suggestions });
}

function submitView(model: Model, viewId: string): Step {
  const view = model.page?.views.find((candidate) => candidate.id === viewId);
  if (!view || view.busy) return { model, effects: [] };
  const values = valuesOf(view.blocks, model.ui.typed[viewId]);
  return withUi(model, { problem: undefined }, acting({ kind: 'submit_view', viewId, values }));
}
