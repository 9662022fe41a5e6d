import type { ConfirmationDialog } from '@slack/types';
import type { ActResult, PageAction, PageOption, PageState } from '../../simulators/protocol.ts';

export type Thread = { channel: string; ts: string };

/** The state of this browser tab only; the rest comes from the server, or is in the page's fields. */
class Ui {
  connection: 'live' | 'reconnecting' = 'live';
  channel: string | undefined;
  tab: 'messages' | 'home' = 'messages';
  thread: Thread | undefined;
  /** Unsent text, by channel id, or by `channel/ts` for a thread. */
  drafts: Record<string, string> = {};
  confirm: { dialog: ConfirmationDialog; go: () => void } | undefined;
  /** The one open list of a searched select; `waiting`: the bot has not answered for this text yet. */
  search: { id: string; text: string; options: PageOption[]; marked: number; waiting: boolean } | undefined;
  /** The newest message that a person has seen, by `user/channel`. */
  seen: Record<string, string> = {};
  problem: string | undefined;
  panelTab: 'Orders' | 'Saved cards' | 'Events' | 'Faults' = 'Orders';
  /** Whether a narrow window shows the panel. A wide window always does. */
  isPanelShown = false;
  isLogOpen = false;
}

export const ui = new Ui();

/** The server's last state. Nothing is drawn before the first state has arrived. */
export let page: PageState;

/** In Slack's format: seconds, as text. */
const openedTs = String(Date.now() / 1000);
let draw = (): void => {};
let isDrawing = false;
let source: EventSource | undefined;

export function drawWith(draws: () => void): void {
  draw = draws;
}

/** Changes this tab's state, and draws the page soon afterwards. */
export function update(change: Partial<Ui> = {}): void {
  Object.assign(ui, change);
  const newest = page?.messages[ui.channel ?? '']?.at(-1)?.ts;
  if (newest !== undefined && ui.tab !== 'home') ui.seen[`${page.user.id}/${ui.channel}`] = newest;
  if (isDrawing || page === undefined) return;
  isDrawing = true;
  queueMicrotask(() => {
    isDrawing = false;
    draw();
  });
}

/**
 * Follows the server as that person while the page is open. The person is in the address, so a second tab can be
 * another one.
 */
export function followAs(userId: string | undefined): void {
  source?.close();
  const query = userId === undefined ? '' : `?user=${encodeURIComponent(userId)}`;
  if (userId !== undefined) history.replaceState(null, '', query);
  source = new EventSource(`/events${query}`);
  let isFirst = true;
  source.addEventListener('message', ({ data }: MessageEvent<string>) => {
    receive(JSON.parse(data) as PageState);
    const isStranger = userId !== undefined && page.user.id !== userId;
    if (isFirst && isStranger)
      update({ problem: `Nobody here is ${userId}. You are ${page.user.realName}.` });
    isFirst = false;
  });
  source.addEventListener('error', () => update({ connection: 'reconnecting' }));
}

function receive(news: PageState): void {
  const wasDm = page?.channels.find(({ id }) => id === ui.channel)?.kind === 'dm';
  page = news;
  const isThere = page.channels.some(({ id }) => id === ui.channel);
  // A direct message has another id for each person: switching people in one stays in it.
  const first = page.channels.find(({ kind, name }) => (wasDm ? kind === 'dm' : name === 'pay-desk'));
  if (!isThere) Object.assign(ui, { channel: first?.id, tab: 'messages', thread: undefined });
  update({ connection: 'live' });
}

/** How many messages of others arrived since this person last looked. */
export function unread(channel: string): number {
  const seen = Number(ui.seen[`${page.user.id}/${channel}`] ?? openedTs);
  return (page.messages[channel] ?? []).filter(
    ({ ts, authorId }) => Number(ts) > seen && authorId !== page.user.id,
  ).length;
}

export function openChannel(channel: string): void {
  update({ channel, tab: 'messages', thread: undefined });
  focusSoon('#composer');
}

export function focusSoon(selector: string): void {
  setTimeout(() => document.querySelector<HTMLElement>(selector)?.focus());
}

/** Performs an action as this person. Never rejects: problems are shown on the page and returned. */
export async function act(action: PageAction): Promise<ActResult> {
  update({ problem: undefined });
  const result = await ask(action);
  update({ problem: result.ok ? undefined : result.problem });
  return result;
}

async function ask(action: PageAction): Promise<ActResult> {
  try {
    const response = await fetch('/act', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ user: page.user.id, action }),
    });
    return (await response.json()) as ActResult;
  } catch {
    return { ok: false, problem: 'The playground does not answer. Is it still running in the terminal?' };
  }
}
