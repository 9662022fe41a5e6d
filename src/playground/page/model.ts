import type { ConfirmationDialog } from '@slack/types';
import type {
  ActResult,
  Exchange,
  PageAction,
  PageOption,
  WorkspaceAction,
} from '../../simulators/protocol.ts';
import type { ElementState, Values } from './form.ts';
import type { ServedState } from './served.ts';

export type Connection = 'connecting' | 'live' | 'reconnecting';

/** Where a block stands, and so where its actions come from. */
export type Container = Extract<WorkspaceAction, { kind: 'block_action' }>['container'];

export type Place = {
  container: Container;
  blockId: string;
  actionId: string;
  /** In an input block without `dispatch_action` a change is only remembered until the view is submitted. */
  silent: boolean;
};

export const panelTabs = ['orders', 'cards', 'events', 'weather'] as const;
export type PanelTab = (typeof panelTabs)[number];

export const logParties = ['all', 'slack', 'payments', 'webhooks'] as const;
export type LogParty = (typeof logParties)[number];

export type Pressed = { place: Place; state: ElementState; confirm?: ConfirmationDialog | undefined };

/** `waiting`: the bot has not answered yet for this text. */
export type Suggestions = { text: string; options: PageOption[]; chosen: number; waiting: boolean };

/** What belongs to this browser tab alone; everything else is the server's. */
export type Ui = {
  connection: Connection;
  channel: string | undefined;
  tab: 'messages' | 'home';
  thread: { channel: string; ts: string } | undefined;
  /** What stands in a composer, by channel id, or by `channel/ts` for a thread. */
  drafts: Record<string, string>;
  /** Which offered command is marked, and the draft for which the list was closed with Escape. */
  completion: { marked: number; closedFor: string | undefined };
  commands: { sent: string[]; recalled: number | undefined };
  /** What was typed and chosen in blocks, by view id or `channel/ts`. */
  typed: Record<string, Values>;
  pending: Pressed | undefined;
  suggestions: Record<string, Suggestions>;
  /** The newest message a person has seen, by `user/channel`. */
  seen: Record<string, string>;
  openedTs: string;
  problem: string | undefined;
  /** What was copied last, by the key of its button. */
  copied: string | undefined;
  panelTab: PanelTab;
  panelShown: boolean;
  log: {
    open: boolean;
    text: string;
    party: LogParty;
    chosen: number | undefined;
    detail: Exchange | undefined;
  };
  guideHidden: boolean;
};

export type Model = { userId: string | undefined; page: ServedState | undefined; ui: Ui };

export type UiEvent =
  | { kind: 'received'; page: ServedState }
  | { kind: 'connection'; connection: Connection }
  | { kind: 'acted'; action: PageAction; result: ActResult }
  | { kind: 'act'; action: PageAction }
  | { kind: 'problem'; problem: string | undefined }
  | { kind: 'choose_user'; userId: string }
  | { kind: 'choose_channel'; channel: string }
  | { kind: 'choose_tab'; tab: Ui['tab'] }
  | { kind: 'open_thread'; channel: string; ts: string }
  | { kind: 'close_thread' }
  | { kind: 'draft'; place: string; text: string; focus?: true }
  | { kind: 'mark_command'; marked: number }
  | { kind: 'close_commands'; draft: string }
  | { kind: 'recall'; place: string; step: 1 | -1 }
  | { kind: 'send'; channel: string; threadTs?: string | undefined }
  | { kind: 'press'; pressed: Pressed }
  | { kind: 'confirm_answered'; yes: boolean }
  | { kind: 'suggest'; place: Place; text: string }
  | { kind: 'mark_suggestion'; key: string; chosen: number }
  | { kind: 'close_suggestions'; key: string }
  | { kind: 'submit_view'; viewId: string }
  | { kind: 'close_view'; viewId: string }
  | { kind: 'copy'; key: string; text: string }
  | { kind: 'copied'; key: string }
  | { kind: 'choose_panel_tab'; tab: PanelTab }
  | { kind: 'show_panel'; shown: boolean }
  | { kind: 'open_log'; open: boolean }
  | { kind: 'filter_log'; text?: string; party?: LogParty }
  | { kind: 'choose_exchange'; id: number | undefined }
  | { kind: 'exchange_read'; exchange: Exchange }
  | { kind: 'hide_guide'; hidden: boolean };

/** What must happen outside the page's own state after an event. */
export type Effect =
  | { kind: 'act'; action: PageAction }
  | { kind: 'connect'; userId: string }
  | { kind: 'read_exchange'; id: number }
  | { kind: 'keep_guide_hidden'; hidden: boolean }
  | { kind: 'copy'; key: string; text: string }
  | { kind: 'focus'; selector: string };

export type Step = { model: Model; effects: Effect[] };

export type Dispatch = (event: UiEvent) => void;

/** What every drawing function is given. */
export type Draw = { page: ServedState; ui: Ui; dispatch: Dispatch };

/** One tab's state before the first word from the server. `openedTs` is Slack's kind of time: seconds, as text. */
export function initialModel(userId: string | undefined, openedTs: string, guideHidden: boolean): Model {
  return {
    userId,
    page: undefined,
    ui: {
      connection: 'connecting',
      channel: undefined,
      tab: 'messages',
      thread: undefined,
      drafts: {},
      completion: { marked: 0, closedFor: undefined },
      commands: { sent: [], recalled: undefined },
      typed: {},
      pending: undefined,
      suggestions: {},
      seen: {},
      openedTs,
      problem: undefined,
      copied: undefined,
      panelTab: 'orders',
      panelShown: false,
      log: { open: true, text: '', party: 'all', chosen: undefined, detail: undefined },
      guideHidden,
    },
  };
}

/** Under this key the values typed into a container are kept. */
export function scopeOf(container: Container): string {
  return container.type === 'view' ? container.viewId : `${container.channel}/${container.ts}`;
}

export function suggestionKey(place: Place): string {
  return `${scopeOf(place.container)}/${place.blockId}/${place.actionId}`;
}

export function threadPlace(channel: string, threadTs: string | undefined): string {
  return threadTs === undefined ? channel : `${channel}/${threadTs}`;
}
