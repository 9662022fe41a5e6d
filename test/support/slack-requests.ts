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
};

/** The form body of a press on a button of a message. */
export function pressBody(pressed: Pressed): string {
  const payload = {
    type: 'block_actions',
    team: { id: teamId, domain: 'shop' },
    user: { id: pressed.userId ?? 'U0AGENT', username: 'agent', team_id: pressed.teamId ?? teamId },
    api_app_id: 'A0APP',
    token: 'unused',
    trigger_id: '1.3.def',
    response_url: pressed.responseUrl ?? 'https://hooks.slack.test/actions/1',
    channel: { id: 'C0SUPPORT', name: 'support' },
    container: {
      type: 'message',
      channel_id: 'C0SUPPORT',
      message_ts: pressed.messageTs ?? '1700000000.000100',
      is_ephemeral: pressed.isEphemeral ?? true,
    },
    actions: [
      {
        type: 'button',
        block_id: 'b',
        action_id: pressed.actionId,
        action_ts: '1700000001.000000',
        value: pressed.value,
        text: { type: 'plain_text', text: 'Button' },
      },
    ],
  };
  return new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
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
