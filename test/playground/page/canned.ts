import type { ActResult, PageMessage, PageState } from '../../../src/simulators/protocol.ts';
import { startPageServer, type ActRequest, type PageServer } from '../../../src/playground/server.ts';

const users = [
  { id: 'U1', name: 'ada', realName: 'Ada', role: 'Support agent', avatarColor: '#2f6f8f' },
  { id: 'U2', name: 'olu', realName: 'Olu', role: 'In no role', avatarColor: '#5d7a3a' },
];

/** A message of the bot, in the channel that is open at first. */
export function message(ts: string, change: Partial<PageMessage> = {}): PageMessage {
  return {
    ts,
    channel: 'C1',
    authorId: 'B1',
    authorName: 'Pay',
    authorIsBot: true,
    text: '',
    blocks: [],
    ephemeral: false,
    edited: false,
    replyCount: 0,
    ...change,
  };
}

/** A page state as the server would send it, without messages. */
export function emptyState(userId = 'U1'): PageState {
  const user = users.find(({ id }) => id === userId);
  if (!user) throw new Error(`Nobody is ${userId}.`);
  return {
    app: { userId: 'UPAY', name: 'pay' },
    user,
    users,
    channels: [
      { id: 'C1', name: 'pay-desk', kind: 'channel', topic: 'Support', botIsMember: true },
      { id: 'C2', name: 'pay-alerts', kind: 'channel', topic: 'Alerts', botIsMember: true },
      { id: `D-${userId}`, name: 'Pay', kind: 'dm', topic: '', botIsMember: true, readOnly: true },
    ],
    messages: { C1: [], C2: [], [`D-${userId}`]: [] },
    views: [],
    slashCommands: [{ command: '/pay', description: 'Payments', usageHint: '<reference> | help' }],
    globalShortcuts: [{ callbackId: 'charge', name: 'Charge a saved card' }],
    messageShortcuts: [{ callbackId: 'lookup_here', name: 'Look up the reference here' }],
    payments: {
      mode: 'normal',
      orders: [],
      deliveries: [],
      cards: [],
      declineReasons: ['Insufficient funds'],
      nextCharge: 'as_usual',
    },
    bot: { status: 'ready', url: 'http://127.0.0.1:9', starts: 1, lastLines: [] },
    log: [],
    slackFaults: [],
    openedAt: 1_700_000_000_000,
  };
}

export type CannedPlayground = PageServer & {
  /** The page's actions, oldest first. */
  acts: ActRequest[];
  /** Changes the state that a person sees, and sends it to the page. */
  show: (change: (state: PageState) => Partial<PageState>) => void;
  /** Shows these messages in the open channel. */
  say: (...messages: PageMessage[]) => void;
  answer: (result: ActResult) => void;
  /** Resets everything to the beginning. */
  reset: () => void;
};

/** The page's real server with canned states. The page's actions are only recorded. */
export async function startCanned(port = 0): Promise<CannedPlayground> {
  const acts: ActRequest[] = [];
  const listeners = new Set<() => void>();
  let read = emptyState;
  let result: ActResult = { ok: true };
  const server = await startPageServer(
    {
      state: (userId = 'U1') => read(userId),
      act(request) {
        acts.push(request);
        return Promise.resolve(result);
      },
      exchange: (id) => read('U1').log.find((exchange) => exchange.id === id),
      botLog: () => 'one line',
      onChange: (listener) => listeners.add(listener),
    },
    port,
  );
  const show: CannedPlayground['show'] = (change) => {
    const before = read;
    read = (userId) => ({ ...before(userId), ...change(before(userId)) });
    for (const listener of listeners) listener();
  };
  return {
    ...server,
    acts,
    show,
    say: (...messages) => show((state) => ({ messages: { ...state.messages, C1: messages } })),
    answer: (next) => (result = next),
    reset() {
      acts.length = 0;
      read = emptyState;
      result = { ok: true };
    },
  };
}
