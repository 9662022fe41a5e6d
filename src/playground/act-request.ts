import { z } from 'zod';

const id = z.string().min(1).max(300);
const line = z.string().max(300);
const values = z.record(z.string(), z.record(z.string(), z.unknown()));

const workspaceActions = [
  z.object({
    kind: z.literal('send_message'),
    channel: id,
    text: z.string().max(40_000),
    threadTs: id.exactOptional(),
  }),
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
  }),
  z.object({ kind: z.literal('submit_view'), viewId: id, values }),
  z.object({ kind: z.literal('close_view'), viewId: id }),
  z.object({ kind: z.literal('open_home') }),
  z.object({ kind: z.literal('global_shortcut'), callbackId: id }),
  z.object({ kind: z.literal('message_shortcut'), callbackId: id, channel: id, ts: id }),
  z.object({
    kind: z.literal('suggest'),
    blockId: line,
    actionId: line,
    text: line,
    viewId: id.exactOptional(),
  }),
] as const;

const terms = { amount: line, customerEmail: line };

const paymentsActions = [
  z.object({ kind: z.literal('create_order'), ...terms, orderReference: line.exactOptional() }),
  z.object({ kind: z.literal('pay_order'), orderReference: id, outcome: z.enum(['approved', 'declined']) }),
  z.object({ kind: z.literal('decline_saved_card_charge'), ...terms, reason: line }),
  z.object({ kind: z.literal('approve_saved_card_charge'), ...terms }),
  z.object({ kind: z.literal('send_failures'), count: z.int().min(1).max(500) }),
  z.object({
    kind: z.literal('redeliver'),
    deliveryId: z.int(),
    how: z.enum(['again', 'new_id', 'late', 'bad_signature']),
  }),
  z.object({
    kind: z.literal('order_next_charge'),
    next: z.enum(['as_usual', 'approve', 'otp', 'decline', 'three_d_secure', 'lost_answer', 'lost_request']),
  }),
  z.object({
    kind: z.literal('set_weather'),
    weather: z.enum(['normal', 'hang', 'error_500', 'rate_limited', 'unauthorized']),
  }),
] as const;

const botActions = [
  z.object({ kind: z.literal('bot_kill') }),
  z.object({ kind: z.literal('bot_start') }),
] as const;

/** What the page may ask to be done: the protocol's PageAction, told apart by who carries it out. */
export const actRequest = z.object({
  user: id,
  action: z.union([
    z
      .discriminatedUnion('kind', workspaceActions)
      .transform((action) => ({ to: 'workspace' as const, action })),
    z
      .discriminatedUnion('kind', paymentsActions)
      .transform((action) => ({ to: 'payments' as const, action })),
    z.discriminatedUnion('kind', botActions).transform((action) => ({ to: 'bot' as const, action })),
  ]),
});

export type ActRequest = z.infer<typeof actRequest>;
