import type { App } from '@slack/bolt';
import type { ActResult } from '../../../src/simulators/protocol.ts';
import { startPageServer, type PageServer } from '../../../src/playground/server.ts';
import { startPaymentsService, type PaymentsService } from '../../../src/simulators/payments/service.ts';
import type { Workspace } from '../../../src/simulators/slack/workspace.ts';
import { openBot, openWorkspace } from '../../simulators/slack/support.ts';

export type Desk = {
  workspace: Workspace;
  payments: PaymentsService;
  page: PageServer;
  app: App;
};

/** The page on a real workspace and payments service, with a small Bolt app in the bot's place. */
export async function openDesk(register: (app: App) => void): Promise<Desk> {
  const workspace = await openWorkspace();
  const payments = await startPaymentsService({ retryDelaysMs: [] });
  const app = await openBot(workspace, register);
  const page = await startPageServer(
    {
      firstUser: workspace.ids.users.agent,
      state: (userId) => ({
        ...workspace.state(userId),
        payments: payments.state(),
        bot: { status: 'ready', url: 'http://127.0.0.1:9', starts: 1, lastLines: [] },
        log: [],
      }),
      act({ user, action }): Promise<ActResult> {
        if (action.to === 'workspace') return workspace.act(user, action.action);
        if (action.to === 'payments') return payments.act(action.action);
        return Promise.resolve({ ok: false, problem: 'There is no bot to end here.' });
      },
      exchange: () => undefined,
      botLog: () => '',
      botSettings: () => ({}),
      onChange(listener) {
        const ends = [workspace.onChange(listener), payments.onChange(listener)];
        return () => {
          for (const end of ends) end();
        };
      },
    },
    0,
  );
  return { workspace, payments, page, app };
}

const plain = (text: string) => ({ type: 'plain_text' as const, text });

export const adasCard = { text: plain('Mastercard ·· 4081 · a***@example.com'), value: 'card-4081' };
export const bolasCard = { text: plain('Visa ·· 1127 · b***@example.com'), value: 'card-1127' };

/** Modals shaped as those of charging: a form, a read-back, a wait for the bank, a code, an outcome. */
export const modals = {
  form: (amount?: string) => ({
    type: 'modal' as const,
    callback_id: 'charge',
    title: plain('Charge a saved card'),
    submit: plain('Check the terms'),
    blocks: [
      {
        type: 'input' as const,
        block_id: 'charge_card',
        optional: true,
        label: plain('Saved card'),
        hint: plain('By card type, last four digits or e-mail'),
        element: {
          type: 'external_select' as const,
          action_id: 'charge_card',
          min_query_length: 0,
          placeholder: plain('Choose or type to search'),
          ...(amount === undefined ? {} : { initial_option: bolasCard }),
        },
      },
      {
        type: 'input' as const,
        block_id: 'token_key',
        optional: true,
        label: plain('Token key'),
        element: { type: 'plain_text_input' as const, action_id: 'token_key' },
      },
      {
        type: 'input' as const,
        block_id: 'amount',
        label: plain('Amount'),
        element: {
          type: 'plain_text_input' as const,
          action_id: 'amount',
          ...(amount === undefined ? {} : { initial_value: amount }),
        },
      },
      {
        type: 'input' as const,
        block_id: 'currency',
        label: plain('Currency'),
        element: {
          type: 'static_select' as const,
          action_id: 'currency',
          options: [{ text: plain('NGN'), value: 'NGN' }],
          initial_option: { text: plain('NGN'), value: 'NGN' },
        },
      },
      { type: 'context' as const, elements: [{ type: 'mrkdwn' as const, text: '*LIVE* · Lagos store' }] },
    ],
  }),
  terms: () => ({
    type: 'modal' as const,
    callback_id: 'terms',
    title: plain('Check the terms'),
    submit: plain('Charge NGN 12,500.00'),
    close: plain('Cancel'),
    blocks: [
      {
        type: 'section' as const,
        text: { type: 'mrkdwn' as const, text: 'The same card was charged NGN 12,500.00 four minutes ago.' },
      },
      {
        type: 'rich_text' as const,
        elements: [
          {
            type: 'rich_text_section' as const,
            elements: [
              { type: 'text' as const, text: 'By ' },
              { type: 'user' as const, user_id: 'U0LEAD0001' },
              { type: 'text' as const, text: ' at ' },
              {
                type: 'date' as const,
                timestamp: 1_790_000_000,
                format: '{date_short_pretty} {time}',
                fallback: 'earlier',
              },
            ],
          },
        ],
      },
      { type: 'header' as const, text: plain('NGN 12,500.00') },
      {
        type: 'actions' as const,
        elements: [{ type: 'button' as const, action_id: 'change', text: plain('Change the terms') }],
      },
    ],
  }),
  charging: () => ({
    type: 'modal' as const,
    callback_id: 'state',
    title: plain('Charging…'),
    blocks: [{ type: 'section' as const, text: plain('The bank is being asked.') }],
  }),
  code: () => ({
    type: 'modal' as const,
    callback_id: 'otp',
    title: plain('Enter the code'),
    submit: plain('Submit the code'),
    blocks: [
      {
        type: 'input' as const,
        block_id: 'otp_code',
        label: plain('The code from the customer’s bank'),
        hint: plain('3 of 3 tries left'),
        element: {
          type: 'plain_text_input' as const,
          action_id: 'otp_code',
          min_length: 4,
          max_length: 10,
          focus_on_load: true,
        },
      },
      {
        type: 'actions' as const,
        elements: [
          { type: 'button' as const, action_id: 'otp_resend', text: plain('Resend code') },
          {
            type: 'button' as const,
            action_id: 'otp_take_over',
            text: plain('Take over'),
            confirm: {
              title: plain('Take over NGN 12,500.00?'),
              text: plain('Ada can then no longer enter its code.'),
              confirm: plain('Take over'),
              deny: plain('Leave it'),
            },
          },
        ],
      },
      { type: 'context' as const, elements: [plain('A new code does not give more time.')] },
    ],
  }),
  outcome: (text: string) => ({
    type: 'modal' as const,
    callback_id: 'state',
    title: plain('Paid (confirmed)'),
    close: plain('Close'),
    blocks: [{ type: 'section' as const, text: plain(text) }],
  }),
};
