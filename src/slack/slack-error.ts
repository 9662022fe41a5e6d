import {
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
} from '@slack/web-api';
import { errorCode } from '../domain/failure.ts';
import { outsideText } from './kit/text.ts';

/**
 * What a failed call to Slack means for the caller. `not_sent` surely had no effect; `unsure` may have had
 * one (a lost answer, a timeout, a 5xx, an unreadable body).
 */
export type SlackProblem =
  | { kind: 'rate_limited'; retryAfterMs: number }
  | { kind: 'refused'; slackError: string }
  | { kind: 'not_sent'; cause: unknown }
  | { kind: 'unsure'; cause: unknown };

/** Slack says of these that part of the work may have been done before the error. */
const unsureAnswers = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);

/** Causes that arise before a byte of the request left. */
const beforeSending =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_\w+|ERR_SSL_\w+|CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/;

const defaultRetryAfterMs = 30_000;

/** Reads any error of `@slack/web-api`. What it does not know is `unsure`, so that nothing is repeated blindly. */
export function readSlackError(error: unknown): SlackProblem {
  if (error instanceof WebAPIRateLimitedError) {
    return { kind: 'rate_limited', retryAfterMs: error.retryAfter * 1000 };
  }
  if (error instanceof WebAPIPlatformError) return readPlatformError(error);
  if (error instanceof WebAPIHTTPError) return readHttpError(error);
  if (error instanceof WebAPIRequestError && failedBeforeSending(error.original)) {
    return { kind: 'not_sent', cause: error };
  }
  return { kind: 'unsure', cause: error };
}

function readPlatformError(error: WebAPIPlatformError): SlackProblem {
  const slackError = error.data.error;
  // web-api puts a body that is no JSON into `error`; it is neither a code nor fit for the log.
  if (!/^[a-z][a-z0-9_]{0,79}$/i.test(slackError)) {
    return { kind: 'unsure', cause: new Error('Slack’s answer was not readable') };
  }
  if (slackError === 'ratelimited' || slackError === 'rate_limited') {
    const seconds = error.data.response_metadata?.['retryAfter'];
    return {
      kind: 'rate_limited',
      retryAfterMs: typeof seconds === 'number' ? seconds * 1000 : defaultRetryAfterMs,
    };
  }
  return unsureAnswers.has(slackError) ? { kind: 'unsure', cause: error } : { kind: 'refused', slackError };
}

function readHttpError(error: WebAPIHTTPError): SlackProblem {
  return error.statusCode >= 500 || error.statusCode === 408
    ? { kind: 'unsure', cause: error }
    : { kind: 'refused', slackError: `http_${error.statusCode}` };
}

function failedBeforeSending(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (beforeSending.test(errorCode(at) ?? '')) return true;
  }
  return false;
}

/** One word for a log line or a status: Slack's own error, or what kept it from answering. */
export function slackErrorWord(problem: SlackProblem): string {
  if (problem.kind === 'refused') return problem.slackError;
  if (problem.kind === 'rate_limited') return 'ratelimited';
  return problem.kind === 'not_sent' ? 'unreachable' : 'no_usable_answer';
}

const tokenFix =
  'Reinstall the app to the workspace and put the new bot token into SLACK_BOT_TOKEN, then restart.';
/** For the log and for whoever is refused: without this scope nobody can be told from a guest. */
export const usersReadFix =
  'Whoever runs this bot gives the app the scope users:read of manifest.yml and reinstalls it';

const blocksFix = 'This is a bug in the bot: report it with the time of this line.';

const fixes: Record<string, string> = {
  invalid_auth: tokenFix,
  not_authed: tokenFix,
  account_inactive: tokenFix,
  token_revoked: tokenFix,
  token_expired: 'Turn token rotation off for the app, reinstall it, and set SLACK_BOT_TOKEN.',
  user_removed_from_team: tokenFix,
  not_allowed_token_type:
    'SLACK_BOT_TOKEN must be the bot token, which starts with xoxb-, and SLACK_APP_TOKEN the app-level one, xapp-.',
  team_disabled: 'The Slack workspace is disabled: ask its owner.',
  team_access_not_granted: 'Ask an organisation admin to add the app to this workspace.',
  org_login_required: 'The workspace is moving to an organisation: wait until Slack has finished.',
  ekm_access_denied: 'An admin suspended access to the workspace’s data: ask them.',
  missing_scope: 'Give the app the scope of manifest.yml that is missing, and reinstall it.',
  no_permission: 'Give the app the scope of manifest.yml that is missing, and reinstall it.',
  accesslimited: 'Slack does not let this app call the method: ask a workspace admin.',
  method_deprecated: 'Update the bot: Slack withdrew this method.',
  unknown_method: 'SLACK_API_URL does not point to a Slack API that knows this method.',
};

const channelFixes: Record<string, (channel: string) => string> = {
  channel_not_found: (channel) =>
    `Check the channel id ${channel} in payops.yml; if the channel is private, invite the bot there: /invite @pay.`,
  not_in_channel: (channel) =>
    `Invite the bot: /invite @pay in ${channel}. Or give the app the scope chat:write.public.`,
  is_archived: (channel) => `Unarchive ${channel}, or set another channel in payops.yml for new alerts.`,
  // Of an edit, where a post is told is_archived: it can be edited once the channel is back.
  is_inactive: (channel) => `Unarchive ${channel}, or set another channel in payops.yml for new alerts.`,
  restricted_action: (channel) => `A workspace rule keeps the bot from posting in ${channel}: ask an admin.`,
  restricted_action_read_only_channel: (channel) =>
    `${channel} is read-only: let the bot post there, or set another channel in payops.yml for new alerts.`,
  restricted_action_thread_only_channel: (channel) =>
    `${channel} allows threads only: set another channel in payops.yml for new alerts.`,
  team_not_found: (channel) => `${channel} belongs to another workspace: set a channel of this one.`,
};

const left = (person: string): string =>
  `${person} has left the workspace or can’t be written to: reassign their alerts.`;

/** Of a direct message Slack says of the person what it else says of the bot or of a channel. */
const personFixes: Record<string, (person: string) => string> = {
  account_inactive: left,
  user_disabled: left,
  user_not_found: left,
  user_not_visible: left,
  channel_not_found: left,
  is_archived: left,
  is_inactive: left,
  cannot_dm_bot: (person) => `${person} is a bot: no person reads what is sent to it.`,
  messages_tab_disabled: () => 'Turn the Messages tab of the app’s App Home on, as manifest.yml has it.',
};

function isPerson(channel: string): boolean {
  return /^[UWD]/.test(channel);
}

/** Whom Slack’s word is about, for a message to that channel or person. */
export function refusalAbout(slackError: string, channel: string): RefusalAbout {
  if (isAboutMessage(slackError)) return 'message';
  if (isPerson(channel) && Object.hasOwn(personFixes, slackError)) return 'channel';
  if (Object.hasOwn(fixes, slackError) || slackError.startsWith('http_')) return 'bot';
  return Object.hasOwn(channelFixes, slackError) ? 'channel' : 'unclear';
}

/** Whether Slack refuses this one message for what is in it; another may pass. */
export function isAboutMessage(slackError: string): boolean {
  return /^(msg_(blocks_)?too_long|invalid_blocks|invalid_metadata|metadata_|invalid_arg|no_text|too_many_|http_413$)/.test(
    slackError,
  );
}

/** Slack's word comes from outside: one like “constructor” must find nothing. */
function ownFix<Fix>(table: Record<string, Fix>, slackError: string): Fix | undefined {
  return Object.hasOwn(table, slackError) ? table[slackError] : undefined;
}

const longestErrorWord = 80;

/** What a person must do so that Slack stops refusing, by Slack's own error word. */
export function fixFor(slackError: string, channel = 'the channel'): string {
  const ofPerson = isPerson(channel) ? ownFix(personFixes, slackError)?.(channel) : undefined;
  const own = ofPerson ?? ownFix(fixes, slackError) ?? ownFix(channelFixes, slackError)?.(channel);
  if (own !== undefined) return own;
  if (isAboutMessage(slackError)) return blocksFix;
  const shown = outsideText(slackError, longestErrorWord);
  if (shown.startsWith('http_')) {
    return `Something between the bot and Slack answered HTTP ${shown.slice(5)}: check SLACK_API_URL and the proxy.`;
  }
  return `Look up “${shown}” in the Slack API documentation, or ask a workspace admin.`;
}

export const awayFix =
  'None needed if Slack is down: the bot keeps trying. Else check SLACK_API_URL and the network.';

/**
 * What Slack refuses, as far as its word says. `message`: this one alone, others may pass. `channel`: all that is for
 * this channel or person. `bot`: all that the bot does. `unclear`: a word nobody here knows.
 */
export type RefusalAbout = 'message' | 'channel' | 'bot' | 'unclear';
