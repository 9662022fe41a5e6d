import { createHmac } from 'node:crypto';

export const signingSecret = '8f742231b10e8888abcd99yyyzzz85a5';

export type SignedRequest = { headers: Record<string, string>; body: string };

/** Signs a body like Slack. `atMs`: the request's time, by default now. */
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

/** The form body of `/pay`. */
export function slashBody(typed: {
  text: string;
  userId: string;
  teamId: string;
  triggerId: string;
  responseUrl: string;
}): string {
  return new URLSearchParams({
    token: 'unused',
    command: '/pay',
    text: typed.text,
    response_url: typed.responseUrl,
    trigger_id: typed.triggerId,
    user_id: typed.userId,
    user_name: 'agent',
    team_id: typed.teamId,
    team_domain: 'shop',
    channel_id: 'C0SUPPORT',
    channel_name: 'support',
    api_app_id: 'A0APP',
  }).toString();
}
