import type { ConfirmationDialog } from '@slack/types';
import type { ActResult, PageAction, PageOption, PageState } from '../../simulators/protocol.ts';

export type Thread = { channel: string; ts: string };

/** What belongs to this browser tab alone; everything else is the server's, or stands in a field of the page. */
class Ui {
  connection: 'live' | 'reconnecting' = 'live';
  channel: string | undefined;
  tab: 'messages' | 'home' = 'messages';
  thread: Thread | undefined;
  /** What stands in a composer, by channel id, or by `channel/ts` for a thread. */
  drafts: Record<string, string> = {};
  /** What was sent from here, oldest first, and how far back ↑ has gone. */
  sent: string[] = [];
  recalled = 0;
  confirm: { dialog: ConfirmationDialog; go: () => void } | undefined;
  /** The one open list of a searched select; `waiting`: the bot has not answered yet for this text. */
  search: { id: string; text: string; options: PageOption[]; marked: number; waiting: boolean } | undefined;
  /** The newest message a person has seen, by `user/channel`. */
  seen: Record<string, string> = {};
  problem: string | undefined;
  panelTab: 'Orders' | 'Saved cards' | 'Events' | 'Faults' = 'Orders';
  /** In a window with room for it, it always is. */
  isPanelShown = false;
  isLogOpen = false;
}

export const ui = new Ui();

/** What the server said last. Nothing is drawn before it is there. */
export let page: PageState;

/** Slack's kind of time: seconds, as text. */
const openedTs = String(Date.now() / 1000);
let draw = (): void => {};
let isDrawing = false;
let source: EventSource | undefined;

export function drawWith(draws: () => void): void {
  draw = draws;
}

/** Changes what is this tab's own, and draws soon. */
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

/** Follows the server as that person for as long as the page is open. The person stands in the address, so that a second tab can be somebody else. */
export function be(userId: string | undefined): void {
  source?.close();
  const asked = userId === undefined ? '' : `?user=${encodeURIComponent(userId)}`;
  if (userId !== undefined) history.replaceState(null, '', asked);
  source = new EventSource(`/events${asked}`);
  source.addEventListener(
    'message',
    ({ data }: MessageEvent<string>) => {
      receive(JSON.parse(data) as PageState);
      const isStranger = userId !== undefined && page.user.id !== userId;
      if (isStranger) update({ problem: `Nobody here is ${userId}. You are ${page.user.realName}.` });
    },
    { once: true },
  );
  source.addEventListener('message', ({ data }: MessageEvent<string>) =>
    receive(JSON.parse(data) as PageState),
  );
  source.addEventListener('error', () => update({ connection: 'reconnecting' }));
}

function receive(news: PageState): void {
  const wasDm = page?.channels.find(({ id }) => id === ui.channel)?.kind === 'dm';
  page = news;
  const isThere = page.channels.some(({ id }) => id === ui.channel);
  // A direct message has another id for every person: switching people in one stays in one.
  const first = page.channels.find(({ kind, name }) => (wasDm ? kind === 'dm' : name === 'pay-desk'));
  if (!isThere) Object.assign(ui, { channel: first?.id, tab: 'messages', thread: undefined });
  update({ connection: 'live' });
}

/** How many messages of others came since this person looked there. */
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

/** Does something as this person. Never rejects: what went wrong is told on the page and given back. */
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
