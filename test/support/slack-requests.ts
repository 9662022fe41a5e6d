import { createHmac } from 'node:crypto';

export const signingSecret = '8f742231b10e8888abcd99yyyzzz85a5';
export const botToken = 'xoxb-test-token';
export const teamId = 'T0TEAM';

export type SignedRequest = { headers: Record<string, string>; body: string };

/** Signs a body as Slack does. `atMs` is the time of the request, the real one unless told. */
export function signSlack(
  body: string,
  options: { contentType?: string; atMs?: number; secret?: string } = {},
): SignedRequest {
  const timestamp = String(Math.floor((options.atMs ?? Date.now()) / 1000));
  const hash = createHmac('sha256', options.secret ?? signingSecret)
    .update(`v0:${timestamp}:${body}`)
    .digest('hex');
  return {
    body,
    headers: {
      'content-type': options.contentType ?? 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${hash}`,
    },
  };
}

export type Typed = {
  text: string;
  userId?: string;
  teamId?: string;
  triggerId?: string;
  responseUrl?: string;
  command?: string;
};

/** The form body of a slash command. */
export function slashBody(typed: Typed): string {
  return new URLSearchParams({
    token: 'unused',
    command: typed.command ?? '/pay',
    text: typed.text,
    response_url: typed.responseUrl ?? 'https://hooks.slack.test/commands/1',
    trigger_id: typed.triggerId ?? '1.2.abc',
    user_id: typed.userId ?? 'U0AGENT',
    user_name: 'agent',
    team_id: typed.teamId ?? teamId,
    team_domain: 'shop',
    channel_id: 'C0SUPPORT',
    channel_name: 'support',
    api_app_id: 'A0APP',
  }).toString();
}

export type Pressed = {
  actionId: string;
  value: string;
  userId?: string;
  teamId?: string;
  isEphemeral?: boolean;
  messageTs?: string;
  responseUrl?: string;
  /** The modal or App Home it stands in, in place of a message. */
  view?: SentView;
  /** Slack's own time of the press, in seconds. */
  actionTs?: string;
  /** In place of a button's fields: a select, an input. */
  element?: Record<string, unknown>;
};

export type SentView = {
  id?: string;
  type?: 'modal' | 'home';
  hash?: string;
  callbackId?: string;
  privateMetadata?: string;
  /** By block id, as Slack sends an input: `{ type, value }` or `{ type, selected_option }`. */
  inputs?: Record<string, Record<string, unknown>>;
  /** What stands in a block that is no input. */
  elsewhere?: Record<string, Record<string, unknown>>;
};

function viewPayload(view: SentView) {
  const values = Object.entries({ ...view.inputs, ...view.elsewhere });
  return {
    id: view.id ?? 'V1',
    team_id: teamId,
    type: view.type ?? 'modal',
    callback_id: view.callbackId ?? '',
    private_metadata: view.privateMetadata ?? '',
    hash: view.hash ?? '1.h',
    title: { type: 'plain_text', text: 'Form' },
    blocks: [
      ...Object.keys(view.inputs ?? {}).map((blockId) => ({ type: 'input', block_id: blockId })),
      ...Object.keys(view.elsewhere ?? {}).map((blockId) => ({ type: 'actions', block_id: blockId })),
    ],
    state: { values: Object.fromEntries(values.map(([blockId, element]) => [blockId, { it: element }])) },
  };
}

export function typedText(value: string | null): Record<string, unknown> {
  return { type: 'plain_text_input', value };
}

export function chosenOption(value: string): Record<string, unknown> {
  return { type: 'external_select', selected_option: { text: { type: 'plain_text', text: value }, value } };
}

function person(from: { userId?: string | undefined; teamId?: string | undefined }) {
  return {
    team: { id: teamId, domain: 'shop' },
    user: { id: from.userId ?? 'U0AGENT', username: 'agent', team_id: from.teamId ?? teamId },
    api_app_id: 'A0APP',
    token: 'unused',
  };
}

function form(payload: Record<string, unknown>): string {
  return new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
}

/** The form body of a press on an element of a message or a view. */
export function pressBody(pressed: Pressed): string {
  const { view } = pressed;
  const place = view
    ? { container: { type: 'view', view_id: view.id ?? 'V1' }, view: viewPayload(view) }
    : {
        response_url: pressed.responseUrl ?? 'https://hooks.slack.test/actions/1',
        channel: { id: 'C0SUPPORT', name: 'support' },
        container: {
          type: 'message',
          channel_id: 'C0SUPPORT',
          message_ts: pressed.messageTs ?? '1700000000.000100',
          is_ephemeral: pressed.isEphemeral ?? true,
        },
      };
  const button = { type: 'button', value: pressed.value, text: { type: 'plain_text', text: 'Button' } };
  return form({
    type: 'block_actions',
    ...person(pressed),
    trigger_id: '1.3.def',
    ...place,
    actions: [
      {
        ...(pressed.element ?? button),
        block_id: 'b',
        action_id: pressed.actionId,
        action_ts: pressed.actionTs ?? '1700000001.000000',
      },
    ],
  });
}

export type Submitted = { view: SentView; userId?: string; teamId?: string };

/** The form body of a submitted modal. */
export function submitBody(submitted: Submitted): string {
  return form({
    type: 'view_submission',
    ...person(submitted),
    trigger_id: '1.4.ghi',
    view: viewPayload(submitted.view),
    response_urls: [],
  });
}

/** The form body that tells that a modal was closed. */
export function closedBody(closed: Submitted): string {
  return form({
    type: 'view_closed',
    ...person(closed),
    view: viewPayload(closed.view),
    is_cleared: false,
  });
}

export type Sought = { actionId: string; typed: string; userId?: string; teamId?: string };

/** The form body of a request for the options of an external select. */
export function suggestBody(sought: Sought): string {
  return form({
    type: 'block_suggestion',
    ...person(sought),
    action_id: sought.actionId,
    block_id: 'b',
    value: sought.typed,
    container: { type: 'view', view_id: 'V1' },
    view: viewPayload({}),
  });
}

/** The JSON body of an event of the Events API. */
export function eventBody(event: Record<string, unknown>): string {
  return JSON.stringify({
    token: 'unused',
    team_id: teamId,
    api_app_id: 'A0APP',
    type: 'event_callback',
    event_id: 'Ev1',
    event_time: 1_700_000_000,
    authorizations: [
      { team_id: teamId, enterprise_id: null, user_id: 'U0BOT', is_bot: true, is_enterprise_install: false },
    ],
    event,
  });
}
