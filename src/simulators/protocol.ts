/**
 * What the playground's page and its server say to each other, and what the two simulators
 * (local Slack workspace, payments service) show of themselves. Types only: the page imports them too.
 *
 * GET  /                       the page
 * GET  /state?user=U…          PageState as that person sees it
 * GET  /events?user=U…         server-sent events; each `data:` is a whole PageState
 * POST /act                    { user, action: PageAction } → ActResult
 */

export type PageUser = { id: string; name: string; realName: string; role: string; avatarColor: string };

export type PageChannel = {
  id: string;
  name: string;
  kind: 'channel' | 'dm';
  topic: string;
  botIsMember: boolean;
  /** Only the app writes here. */
  readOnly?: true;
};

/** A Block Kit block as JSON, already validated by the workspace; the page draws it. */
export type PageBlock = { type: string; block_id?: string; [field: string]: unknown };

export type PageMessage = {
  ts: string;
  channel: string;
  threadTs?: string;
  authorId: string;
  authorName: string;
  authorIsBot: boolean;
  text: string;
  blocks: PageBlock[];
  attachments: { color?: string; blocks: PageBlock[] }[];
  /** Only this person sees it. */
  ephemeral: boolean;
  edited: boolean;
  replyCount: number;
  files?: { id: string; name: string; title: string; text: string }[];
};

export type PageView = {
  id: string;
  type: 'modal' | 'home';
  title: string;
  submit?: string;
  close?: string;
  blocks: PageBlock[];
  /** Messages for fields by block_id, after `response_action: errors`. */
  errors: Record<string, string>;
  /** Submitted and not yet answered. */
  busy: boolean;
};

/** One HTTP exchange between bot, Slack and the payments service, newest last. Secrets are masked by whoever records it. */
export type Exchange = {
  id: number;
  at: number;
  from: 'bot' | 'slack' | 'payments' | 'customer';
  to: 'bot' | 'slack' | 'payments';
  method: string;
  path: string;
  /** Absent while under way; 0 when there was no answer. */
  status?: number;
  durationMs?: number;
  /** One line a newcomer understands, like "chat.postMessage to #pay-alerts" or "payment_failed, bad signature". */
  summary: string;
  request?: string;
  response?: string;
};

export type PaymentsOrder = {
  orderReference: string;
  orderId: string;
  amount: string;
  currency: string;
  customerEmail: string;
  customerId?: string;
  state: 'created' | 'awaiting_otp' | 'paid' | 'declined' | 'failed';
  reason?: string;
  isSavedCardCharge: boolean;
  /** While the payment waits for it: what the bank sent to the customer's phone, and how long it is good. */
  otp?: { code: string; resends: number; triesLeft: number; until: number };
  checkoutLink?: string;
  at: number;
};

export type PaymentsDelivery = {
  id: number;
  event: string;
  orderReference: string;
  attempts: number;
  lastStatus?: number;
  state: 'waiting' | 'delivered' | 'gave_up';
  /** How it was sent once more; absent for the first sending. */
  how?: 'again' | 'new_id' | 'late' | 'bad_signature';
};

export type PaymentsCard = {
  label: string;
  /** The simulator's own, to be copied; in exchanges it is struck out. */
  tokenKey: string;
  customerEmail: string;
  cardPan: string;
  cardType: string;
  /** What the bank does with every charge of it, in words. */
  does: string;
};

/** What becomes of the next saved-card charge that is not rejected, once; `as_usual` leaves it to its amount and card. */
export type NextCharge =
  | 'as_usual'
  | 'approve'
  | 'otp'
  | 'decline'
  | 'three_d_secure'
  /** Charged, and the answer never comes. */
  | 'lost_answer'
  /** Not charged, and no answer comes. */
  | 'lost_request';

/** How the simulated service behaves until told otherwise. */
export type PaymentsWeather = 'normal' | 'hang' | 'error_500' | 'rate_limited' | 'unauthorized';

export type PaymentsState = {
  weather: PaymentsWeather;
  orders: PaymentsOrder[];
  deliveries: PaymentsDelivery[];
  cards: PaymentsCard[];
  /** Bank behaviours the panel can give the next saved-card charge. */
  declineReasons: string[];
  nextCharge: NextCharge;
  /** The last two digits of an amount that stand above what the card does, as `.06`. */
  magicAmounts: { ending: string; does: string }[];
};

export type PaymentsAction =
  | { kind: 'create_order'; amount: string; customerEmail: string; orderReference?: string }
  /** The customer pays the order by card in the checkout page, or the bank decides a charge at last; `outcome` is what it does. */
  | { kind: 'pay_order'; orderReference: string; outcome: 'approved' | 'declined' }
  /** The merchant's own system charges a saved card and the bank declines; a payment_failed event follows. */
  | { kind: 'decline_saved_card_charge'; amount: string; customerEmail: string; reason: string }
  /** So many declines of saved cards at once, for reasons and amounts of their own. */
  | { kind: 'send_failures'; count: number }
  | { kind: 'approve_saved_card_charge'; amount: string; customerEmail: string }
  /** Sends an event that was sent before once more: as it was, with a new event id, late, or with a bad signature. */
  | { kind: 'redeliver'; deliveryId: number; how: 'again' | 'new_id' | 'late' | 'bad_signature' }
  /** `reason` with `decline`: the bank's words. */
  | { kind: 'order_next_charge'; next: NextCharge; reason?: string }
  | { kind: 'set_weather'; weather: PaymentsWeather };

export type WorkspaceAction =
  | { kind: 'send_message'; channel: string; text: string; threadTs?: string }
  /** A press on a button, select, overflow, checkbox …: the element's action_id and its new value as Slack would send it. */
  | {
      kind: 'block_action';
      blockId: string;
      actionId: string;
      element: { type: string; [field: string]: unknown };
      container: { type: 'message'; channel: string; ts: string } | { type: 'view'; viewId: string };
      /** Values of all input elements of the view or message as they stand: block_id → action_id → element state. */
      values: Record<string, Record<string, unknown>>;
      /** The person's screen is behind: the element was there when it was drawn, and is sent as it was then. */
      behind?: true;
    }
  | { kind: 'submit_view'; viewId: string; values: Record<string, Record<string, unknown>> }
  | { kind: 'close_view'; viewId: string }
  | { kind: 'open_home' }
  | { kind: 'global_shortcut'; callbackId: string }
  | { kind: 'message_shortcut'; callbackId: string; channel: string; ts: string }
  /** Options for an external select; answered through ActResult.options. */
  | { kind: 'suggest'; blockId: string; actionId: string; text: string; viewId?: string };

export type BotAction = { kind: 'bot_kill' } | { kind: 'bot_start' };

export type PageAction = WorkspaceAction | PaymentsAction | BotAction;

export type PageOption = { text: { type: 'plain_text'; text: string }; value: string };

export type ActResult = { ok: true; options?: PageOption[] } | { ok: false; problem: string };

/** The part of the page that the local Slack workspace knows. */
export type WorkspaceState = {
  user: PageUser;
  users: PageUser[];
  channels: PageChannel[];
  /** By channel id, oldest first, as this person sees them (other people's ephemeral messages are absent). */
  messages: Record<string, PageMessage[]>;
  /** The person's open modals, bottom first; the last is the one on top. */
  views: PageView[];
  home?: PageView;
  slashCommands: { command: string; description: string; usageHint: string }[];
  globalShortcuts: { callbackId: string; name: string }[];
  messageShortcuts: { callbackId: string; name: string }[];
};

export type BotState = { status: 'starting' | 'ready' | 'down'; url: string; starts: number };

export type PageState = WorkspaceState & { payments: PaymentsState; bot: BotState; log: Exchange[] };
