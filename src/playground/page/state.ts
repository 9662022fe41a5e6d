import type { ConfirmationDialog } from '@slack/types';
import type { ActResult, Exchange, PageAction, PageOption, PageState } from '../../simulators/protocol.ts';

export type Thread = { channel: string; ts: string };

/** What belongs to this browser tab alone; everything else is the server's, or stands in a field of the page. */
type Ui = {
  connection: 'live' | 'reconnecting';
  channel: string | undefined;
  tab: 'messages' | 'home';
  thread: Thread | undefined;
  /** What stands in a composer, by channel id, or by `channel/ts` for a thread. */
  drafts: Record<string, string>;
  confirm: { dialog: ConfirmationDialog; go: () => void } | undefined;
  /** The one open list of a searched select; `waiting`: the bot has not answered yet for this text. */
  search: { id: string; text: string; options: PageOption[]; marked: number; waiting: boolean } | undefined;
  /** The newest message a person has seen, by `user/channel`. */
  seen: Record<string, string>;
  problem: string | undefined;
  copied: string | undefined;
  panel: { tab: string; isShown: boolean };
  log: { isOpen: boolean; text: string; detail: Exchange | undefined };
};

export const ui: Ui = {
  connection: 'live',
  channel: undefined,
  tab: 'messages',
  thread: undefined,
  drafts: {},
  confirm: undefined,
  search: undefined,
  seen: {},
  problem: undefined,
  copied: undefined,
  panel: { tab: 'Orders', isShown: false },
  log: { isOpen: false, text: '', detail: undefined },
};

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
  markSeen();
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
  const followed = new EventSource(`/events${asked}`);
  source = followed;
  followed.addEventListener('message', (event: MessageEvent<string>) =>
    receive(JSON.parse(event.data) as PageState),
  );
  followed.addEventListener('error', () => {
    update({ connection: 'reconnecting' });
    // The browser opens a broken stream again; one that it has given up on does not come back by itself.
    if (followed.readyState === EventSource.CLOSED)
      setTimeout(() => followed === source && be(userId), 1_000);
  });
}

function receive(news: PageState): void {
  const earlier: PageState | undefined = page;
  page = news;
  const isThere = page.channels.some(({ id }) => id === ui.channel);
  if (!isThere) Object.assign(ui, { channel: startChannel(earlier), tab: 'messages', thread: undefined });
  const { detail } = ui.log;
  if (detail && detail.status === undefined) void readExchange(detail.id);
  update({ connection: 'live' });
}

/** Where people ask things. A direct message has another id for every person: switching people in one stays in one. */
function startChannel(earlier: PageState | undefined): string | undefined {
  const wasDm = earlier?.channels.find(({ id }) => id === ui.channel)?.kind === 'dm';
  const wanted = page.channels.find(({ kind, name }) => (wasDm ? kind === 'dm' : name === 'pay-desk'));
  return (wanted ?? page.channels[0])?.id;
}

function markSeen(): void {
  const newest = page?.messages[ui.channel ?? '']?.at(-1)?.ts;
  if (newest !== undefined && ui.tab !== 'home') ui.seen[`${page.user.id}/${ui.channel}`] = newest;
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

/** Shows one exchange with its bodies, if it is still kept. */
export async function readExchange(id: number): Promise<void> {
  const response = await fetch(`/exchange?id=${id}`).catch(() => undefined);
  if (response?.ok) update({ log: { ...ui.log, detail: (await response.json()) as Exchange } });
}
