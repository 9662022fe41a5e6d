import { z } from 'zod';

/**
 * The messages between the playground's page and its server, and what the two simulators (local Slack workspace, payments
 * service) show. The page imports only types from here.
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

/** A file as everybody in the channel sees it; the playground has only text files. */
export type SharedFile = { id: string; name: string; title: string; text: string };

export type PageMessage = {
  ts: string;
  channel: string;
  threadTs?: string;
  authorId: string;
  authorName: string;
  authorIsBot: boolean;
  text: string;
  blocks: PageBlock[];
  /** Only this person sees it. */
  ephemeral: boolean;
  edited: boolean;
  replyCount: number;
  files?: SharedFile[];
};

export type PageView = {
  id: string;
  type: 'modal' | 'home';
  /** The app's own name for this kind of modal. */
  callbackId: string;
  title: string;
  submit?: string;
  close?: string;
  blocks: PageBlock[];
  /** Messages for fields by block_id, after `response_action: errors`. */
  errors: Record<string, string>;
  /** Submitted and not yet answered. */
  busy: boolean;
};

/** One HTTP exchange between bot, Slack and the payments service, newest last. Secrets are masked before it is recorded. */
export type Exchange = {
  id: number;
  at: number;
  from: 'bot' | 'slack' | 'payments' | 'customer';
  to: 'bot' | 'slack' | 'payments';
  method: string;
  path: string;
  /** Absent while under way; 0 if there was no answer. */
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
  state: 'created' | 'awaiting_otp' | 'paid' | 'declined' | 'failed' | 'given_back';
  reason?: string;
  isSavedCardCharge: boolean;
  /** While the payment waits for a code: the code on the customer's phone, and until when it is valid. */
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
  /** How it was redelivered; absent for the first delivery. */
  how?: Redelivery;
};

export type PaymentsCard = {
  label: string;
  /** The simulator's own, to be copied; masked in exchanges. */
  tokenKey: string;
  customerEmail: string;
  cardPan: string;
  cardType: string;
  /** How the bank treats its charges, in words. */
  does: string;
};

export type PaymentsState = {
  mode: PaymentsMode;
  orders: PaymentsOrder[];
  deliveries: PaymentsDelivery[];
  cards: PaymentsCard[];
  /** Decline reasons that the panel can give the next saved-card charge. */
  declineReasons: string[];
  nextCharge: NextCharge;
};

const id = z.string().min(1).max(300);
const line = z.string().max(300);
/** Current values of all inputs of the view or message: block_id → action_id → element state. */
const values = z.record(z.string(), z.record(z.string(), z.unknown()));
const terms = { amount: line, customerEmail: line };

const nextCharge = z.enum([
  'as_usual',
  'approve',
  'otp',
  'decline',
  'three_d_secure',
  /** Charged, but the answer is lost. */
  'lost_answer',
  /** Not charged, and no answer. */
  'lost_request',
]);
/** The outcome of the next saved-card charge that is not rejected, once; `as_usual`: by its amount and card. */
export type NextCharge = z.infer<typeof nextCharge>;

const mode = z.enum(['normal', 'hang', 'error_500', 'rate_limited', 'unauthorized']);
/** How the simulated service behaves until it is changed. */
export type PaymentsMode = z.infer<typeof mode>;

const redelivery = z.enum(['again', 'new_id', 'late', 'bad_signature']);
/** How an event is redelivered. */
export type Redelivery = z.infer<typeof redelivery>;

export const paymentsAction = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('create_order'), ...terms, orderReference: line.exactOptional() }),
  /** The customer pays the order by card on the checkout page, or the bank decides a pending charge. */
  z.object({ kind: z.literal('pay_order'), orderReference: id, outcome: z.enum(['approved', 'declined']) }),
  /** The merchant's own system charges a saved card and the bank declines; a payment_failed event follows. */
  z.object({ kind: z.literal('decline_saved_card_charge'), ...terms, reason: line }),
  z.object({ kind: z.literal('approve_saved_card_charge'), ...terms }),
  /** This many declines of saved cards at once, with different reasons and amounts. */
  z.object({ kind: z.literal('send_failures'), count: z.int().min(1).max(500) }),
  /** The payment is returned to the customer; with `sends` a payment_refunded event follows. */
  z.object({ kind: z.literal('give_back'), orderReference: id, sends: z.boolean() }),
  z.object({ kind: z.literal('redeliver'), deliveryId: z.int(), how: redelivery }),
  /** `reason` with `decline`: the bank's words. */
  z.object({ kind: z.literal('set_next_charge'), next: nextCharge, reason: line.exactOptional() }),
  z.object({ kind: z.literal('set_mode'), mode }),
]);
export type PaymentsAction = z.infer<typeof paymentsAction>;

export const workspaceAction = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('send_message'),
    channel: id,
    text: z.string().max(40_000),
    threadTs: id.exactOptional(),
  }),
  /** A press on a button, select, overflow …: the element's action_id and its new value as Slack would send it. */
  z.object({
    kind: z.literal('block_action'),
    blockId: line,
    actionId: line,
    element: z.looseObject({ type: z.string() }),
    container: z.discriminatedUnion('type', [
      z.object({ type: z.literal('message'), channel: id, ts: id }),
      z.object({ type: z.literal('view'), viewId: id }),
    ]),
    values,
    /** If the element is no longer there, it is sent as the person's screen had drawn it. */
    mayBeOutdated: z.literal(true).exactOptional(),
  }),
  z.object({ kind: z.literal('submit_view'), viewId: id, values }),
  z.object({ kind: z.literal('close_view'), viewId: id }),
  z.object({ kind: z.literal('open_home') }),
  z.object({ kind: z.literal('global_shortcut'), callbackId: id }),
  z.object({ kind: z.literal('message_shortcut'), callbackId: id, channel: id, ts: id }),
  /** Options for an external select; answered through ActResult.options. */
  z.object({
    kind: z.literal('suggest'),
    blockId: line,
    actionId: line,
    text: line,
    viewId: id,
  }),
]);
export type WorkspaceAction = z.infer<typeof workspaceAction>;

const slackFault = z.enum(['old_workspace', 'not_in_channel']);
/** A faulty set-up of the workspace. */
export type WorkspaceFault = z.infer<typeof slackFault>;

export const playgroundAction = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('bot_kill') }),
  z.object({ kind: z.literal('bot_start') }),
  z.object({ kind: z.literal('set_slack_fault'), fault: slackFault, isOn: z.boolean() }),
]);
export type PlaygroundAction = z.infer<typeof playgroundAction>;

export type PageAction = WorkspaceAction | PaymentsAction | PlaygroundAction;

export type PageOption = { text: { type: 'plain_text'; text: string }; value: string };

export type ActResult = { ok: true; options?: PageOption[] } | { ok: false; problem: string };

/** The part of the page that the local Slack workspace knows. */
export type WorkspaceState = {
  /** The app's own account, as people mention it. */
  app: { userId: string; name: string };
  user: PageUser;
  users: PageUser[];
  channels: PageChannel[];
  /** By channel id, oldest first, as this person sees them: without other people's ephemeral messages. */
  messages: Record<string, PageMessage[]>;
  /** The person's open modals, bottom first; the last is the one on top. */
  views: PageView[];
  home?: PageView;
  slashCommands: { command: string; description: string; usageHint: string }[];
  globalShortcuts: { callbackId: string; name: string }[];
  messageShortcuts: { callbackId: string; name: string }[];
};

/** `lastLines`: the end of its log, while it is down. */
export type BotState = {
  status: 'starting' | 'ready' | 'down';
  url: string;
  starts: number;
  lastLines: string[];
};

export type PageState = WorkspaceState & {
  payments: PaymentsState;
  bot: BotState;
  log: Exchange[];
  slackFaults: WorkspaceFault[];
  /** When the playground's opening conversation ended; later messages are new. */
  openedAt?: number;
};
