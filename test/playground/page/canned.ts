import type {
  ActResult,
  PageBlock,
  PageMessage,
  PageState,
  PageView,
} from '../../../src/simulators/protocol.ts';
import { startPageServer, type ActRequest, type PageServer } from '../../../src/playground/server.ts';

export const users = [
  { id: 'U1', name: 'ada', realName: 'Ada', role: 'Support agent', avatarColor: '#2f6f8f' },
  { id: 'U2', name: 'olu', realName: 'Olu', role: 'In no role', avatarColor: '#5d7a3a' },
];

export function message(ts: string, change: Partial<PageMessage> = {}): PageMessage {
  return {
    ts,
    channel: 'C1',
    authorId: 'B1',
    authorName: 'Pay',
    authorIsBot: true,
    text: '',
    blocks: [],
    attachments: [],
    ephemeral: false,
    edited: false,
    replyCount: 0,
    ...change,
  };
}

export function view(blocks: PageBlock[], change: Partial<PageView> = {}): PageView {
  return {
    id: 'V1',
    type: 'modal',
    callbackId: 'charge',
    title: 'Charge a saved card',
    submit: 'Charge',
    close: 'Cancel',
    blocks,
    errors: {},
    busy: false,
    ...change,
  };
}

/** A page state as the server would send it, with nothing in its conversations. */
export function emptyState(userId = 'U1'): PageState {
  const user = users.find(({ id }) => id === userId);
  if (!user) throw new Error(`Nobody is ${userId}.`);
  return {
    user,
    users,
    channels: [
      { id: 'C1', name: 'pay-desk', kind: 'channel', topic: 'Support', botIsMember: true },
      { id: 'C2', name: 'pay-alerts', kind: 'channel', topic: 'Alerts', botIsMember: true },
      { id: `D-${userId}`, name: 'Pay', kind: 'dm', topic: '', botIsMember: true },
    ],
    messages: { C1: [], C2: [], [`D-${userId}`]: [] },
    views: [],
    slashCommands: [
      { command: '/pay', description: 'Payments', usageHint: '<reference> | help' },
      { command: '/payroll', description: 'Another app’s', usageHint: '[month]' },
    ],
    globalShortcuts: [{ callbackId: 'charge', name: 'Charge a saved card' }],
    messageShortcuts: [{ callbackId: 'lookup_here', name: 'Look up the reference here' }],
    payments: {
      weather: 'normal',
      orders: [
        {
          orderReference: 'ORDER-1002',
          orderId: 'o2',
          amount: '8400.00',
          currency: 'NGN',
          customerEmail: 'bola@example.com',
          state: 'created',
          isSavedCardCharge: false,
          checkoutLink: 'http://127.0.0.1:9/checkout/o2',
          at: 1_700_000_000_000,
        },
      ],
      deliveries: [
        {
          id: 7,
          event: 'payment_failed',
          orderReference: 'SUB-1',
          attempts: 1,
          lastStatus: 200,
          state: 'delivered',
        },
      ],
      cards: [
        {
          label: 'Ada Obi',
          tokenKey: 'tok-ada',
          customerEmail: 'ada@example.com',
          cardPan: '5399**4081',
          cardType: 'Visa',
          does: 'Every charge is approved.',
        },
      ],
      declineReasons: ['Insufficient funds', 'Do not honour'],
      nextCharge: 'as_usual',
      magicAmounts: [{ ending: '.06', does: 'The answer never comes.' }],
    },
    bot: { status: 'ready', url: 'http://127.0.0.1:9', starts: 1, lastLines: [] },
    log: [],
    slackFaults: [],
    openedAt: 1_700_000_000_000,
  };
}

const plain = (text: string): { type: 'plain_text'; text: string } => ({ type: 'plain_text', text });
export const option = (text: string): { text: { type: 'plain_text'; text: string }; value: string } => ({
  text: plain(text),
  value: text,
});

/** One of every block that the bot makes of messages, with `text` in every place where text can stand. */
export function everyMessageBlock(text: string): PageBlock[] {
  const richText = {
    type: 'rich_text',
    elements: [
      {
        type: 'rich_text_section',
        elements: [
          { type: 'text', text, style: { bold: true } },
          { type: 'user', user_id: text },
          { type: 'usergroup', usergroup_id: text },
          { type: 'channel', channel_id: text },
          { type: 'date', timestamp: 1_700_000_000, format: text, fallback: text },
        ],
      },
      { type: 'rich_text_quote', elements: [{ type: 'text', text }] },
      { type: 'rich_text_preformatted', elements: [{ type: 'text', text }] },
    ],
  };
  const refund = {
    type: 'button',
    action_id: 'refund',
    text: plain('Refund NGN 5.00'),
    style: 'danger',
    value: 'r1',
    confirm: {
      title: plain('Refund NGN 5.00?'),
      text: { type: 'mrkdwn', text: `*Sure* ${text}` },
      confirm: plain('Refund it'),
      deny: plain('Keep it'),
      style: 'danger',
    },
  };
  return [
    { type: 'header', block_id: 'header', text: plain(text) },
    { type: 'section', block_id: 'section', text: { type: 'mrkdwn', text } },
    { type: 'divider', block_id: 'divider' },
    { type: 'context', block_id: 'context', elements: [{ type: 'mrkdwn', text }, plain(text)] },
    {
      type: 'actions',
      block_id: 'actions',
      elements: [
        { type: 'button', action_id: 'plain', text: plain(text), value: 'v' },
        refund,
        { type: 'overflow', action_id: 'over', options: [option('Mute'), option(text)] },
        { type: 'static_select', action_id: 'static', placeholder: plain(text), options: [option('one')] },
        { type: 'users_select', action_id: 'users', placeholder: plain('Who') },
      ],
    },
    { ...richText, block_id: 'rich' },
  ];
}

/** Inputs of every kind that the bot's forms have, some with values to begin with. */
export function everyInput(text: string): PageBlock[] {
  const input = (blockId: string, element: Record<string, unknown>, more: object = {}): PageBlock => ({
    type: 'input',
    block_id: blockId,
    label: plain(`${blockId} ${text}`),
    hint: plain(text),
    element: { action_id: 'a', ...element },
    ...more,
  });
  return [
    input('amount', { type: 'plain_text_input', initial_value: '12,500.00' }),
    input('otp', { type: 'plain_text_input', min_length: 4, max_length: 6, placeholder: plain('Code') }),
    input('note', { type: 'plain_text_input' }, { optional: true }),
    input('card', {
      type: 'static_select',
      options: [option('Visa'), option('Verve')],
      initial_option: option('Verve'),
    }),
    input(
      'terminal',
      { type: 'external_select', placeholder: plain('Terminal'), min_query_length: 0 },
      { optional: true },
    ),
    input('who', { type: 'users_select', initial_user: 'U2' }),
    input('where', { type: 'conversations_select' }),
    input('radio', {
      type: 'radio_buttons',
      options: [option('now'), option('later')],
      initial_option: option('now'),
    }),
  ];
}

export type CannedPlayground = PageServer & {
  /** What the page asked to be done, oldest first. */
  acts: ActRequest[];
  /** Changes what one person sees and tells the page. */
  show: (change: (state: PageState) => PageState) => void;
  answer: (result: ActResult) => void;
  /** As it was at its start. */
  reset: () => void;
};

/** The page's real server in front of canned states: what the page asks for is only written down. */
export async function startCanned(
  stateOf: (userId: string) => PageState,
  port = 0,
): Promise<CannedPlayground> {
  const acts: ActRequest[] = [];
  const listeners = new Set<() => void>();
  let read = stateOf;
  let result: ActResult = { ok: true };
  const server = await startPageServer(
    {
      state: (userId = 'U1') => read(userId),
      act(request) {
        acts.push(request);
        return Promise.resolve(result);
      },
      exchange: (id) => {
        const found = read('U1').log.find((exchange) => exchange.id === id);
        return found && { ...found, request: 'the request body', response: 'the response body' };
      },
      botLog: () => 'one line',
      botSettings: () => ({ PORT: '3000' }),
      onChange: (listener) => listeners.add(listener),
    },
    port,
  );
  return {
    ...server,
    acts,
    show(change) {
      const before = read;
      read = (userId) => change(before(userId));
      for (const listener of listeners) listener();
    },
    answer(next) {
      result = next;
    },
    reset() {
      acts.length = 0;
      read = stateOf;
      result = { ok: true };
    },
  };
}
