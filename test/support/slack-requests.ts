import { createHmac } from 'node:crypto';

export const signingSecret = '8f742231b10e8888abcd99yyyzzz85a5';
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

type Sender = { userId: string; teamId?: string };

function person({ userId, teamId: team = teamId }: Sender) {
  return {
    team: { id: teamId, domain: 'shop' },
    user: { id: userId, username: 'agent', team_id: team },
    api_app_id: 'A0APP',
    token: 'unused',
  };
}

function form(payload: Record<string, unknown>): string {
  return new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
}

export type Pressed = Sender & { actionId: string; value: string };

/** The form body of a press on a button of a message that one person sees. */
export function pressBody({ actionId, value, ...from }: Pressed, responseUrl: string): string {
  const container = { type: 'message', channel_id: 'C0SUPPORT', message_ts: '1700000000.000100' };
  return form({
    type: 'block_actions',
    ...person(from),
    trigger_id: '1.3.def',
    response_url: responseUrl,
    channel: { id: 'C0SUPPORT', name: 'support' },
    container: { ...container, is_ephemeral: true },
    actions: [
      {
        type: 'button',
        value,
        text: { type: 'plain_text', text: 'Button' },
        block_id: 'b',
        action_id: actionId,
        action_ts: '1700000001.000000',
      },
    ],
  });
}

/** A modal as it is sent in; `inputs` are texts by their block id. */
export type SentView = {
  id: string;
  callbackId: string;
  privateMetadata: string;
  inputs?: Record<string, string>;
};

export type Submitted = Sender & { view: SentView };

/** The form body of a submitted modal. */
export function submitBody({ view, ...from }: Submitted): string {
  const inputs = Object.entries(view.inputs ?? {});
  return form({
    type: 'view_submission',
    ...person(from),
    trigger_id: '1.4.ghi',
    view: {
      id: view.id,
      team_id: teamId,
      type: 'modal',
      callback_id: view.callbackId,
      private_metadata: view.privateMetadata,
      hash: '1.h',
      title: { type: 'plain_text', text: 'Form' },
      blocks: inputs.map(([blockId]) => ({ type: 'input', block_id: blockId })),
      state: {
        values: Object.fromEntries(
          inputs.map(([blockId, value]) => [blockId, { it: { type: 'plain_text_input', value } }]),
        ),
      },
    },
    response_urls: [],
  });
}
