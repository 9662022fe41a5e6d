import {
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
} from '@slack/web-api';
import { errorCode } from '../domain/failure.ts';
import { outsideText } from './kit/text.ts';

/**
 * Why a call to Slack failed. `not_sent`: it had no effect. `unsure`: it may have had one (a lost answer, a timeout, a 5xx, an
 * unreadable body).
 */
export type SlackProblem =
  | { kind: 'rate_limited'; retryAfterMs: number }
  | { kind: 'refused'; slackError: string }
  | { kind: 'not_sent'; cause: unknown }
  | { kind: 'unsure'; cause: unknown };

/** Slack may have done part of the work before these errors. */
const unsureAnswers = new Set([
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
  'update_failed',
  'fetch_members_failed',
]);

/** Errors that occur before the request is sent. */
const beforeSending =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_\w+|ERR_SSL_\w+|CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/;

const defaultRetryAfterMs = 30_000;

/** Reads any error of `@slack/web-api`. Unknown errors are `unsure`, so nothing is repeated blindly. */
export function readSlackError(error: unknown): SlackProblem {
  if (error instanceof WebAPIRateLimitedError) {
    return { kind: 'rate_limited', retryAfterMs: error.retryAfter * 1000 };
  }
  if (error instanceof WebAPIPlatformError) return readPlatformError(error);
  if (error instanceof WebAPIHTTPError) return readHttpError(error);
  if (isLimitedWithoutTime(error)) return { kind: 'rate_limited', retryAfterMs: defaultRetryAfterMs };
  if (error instanceof WebAPIRequestError && failedBeforeSending(error.original)) {
    return { kind: 'not_sent', cause: error };
  }
  return { kind: 'unsure', cause: error };
}

/** A 429 without `Retry-After`, for which web-api has no class of its own (node-slack-sdk#1421). */
function isLimitedWithoutTime(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Retry header did not contain a valid timeout');
}

function readPlatformError(error: WebAPIPlatformError): SlackProblem {
  const slackError = error.data.error;
  // web-api puts a non-JSON body into `error`: neither a code nor fit for the log.
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

/** One word for a log line or a status: Slack's error, or why there was no answer. */
export function slackErrorWord(problem: SlackProblem): string {
  if (problem.kind === 'refused') return problem.slackError;
  if (problem.kind === 'rate_limited') return 'ratelimited';
  return problem.kind === 'not_sent' ? 'unreachable' : 'no_usable_answer';
}

const tokenFix =
  'Reinstall the app to the workspace and put the new bot token into SLACK_BOT_TOKEN, then restart.';
/** For the log and refusals: without this scope guests can't be detected. */
export const usersReadFix =
  'Whoever runs this bot gives the app the scope users:read of manifest.yml and reinstalls it';

const blocksFix = 'This is a bug in the bot: report it with the time of this line.';
const methodFix = 'Update the bot: Slack withdrew this method.';
const enterpriseFix = 'Ask an organisation admin to let the app work in this workspace.';
const migrationFix = 'The workspace is moving to an organisation: wait until Slack has finished.';
const windowFix = 'None needed: what was pressed is pressed again.';
const uploadsFix = 'An admin restricts which files may be uploaded: ask them.';
const planFix = 'The workspace’s plan has no user groups: list user ids in payops.yml.';

const fixes: Record<string, string> = {
  // Slack also says this to an address that isn't on the app's list.
  invalid_auth: `${tokenFix} Or allow the bot’s address, if the app restricts its token to some.`,
  not_authed: tokenFix,
  account_inactive: tokenFix,
  token_revoked: tokenFix,
  token_expired: 'Turn token rotation off for the app, reinstall it, and set SLACK_BOT_TOKEN.',
  user_removed_from_team: tokenFix,
  not_allowed_token_type:
    'SLACK_BOT_TOKEN must be the bot token, which starts with xoxb-, and SLACK_APP_TOKEN the app-level one, xapp-.',
  team_disabled: 'The Slack workspace is disabled: ask its owner.',
  team_access_not_granted: 'Ask an organisation admin to add the app to this workspace.',
  enterprise_is_restricted: enterpriseFix,
  app_access_restricted: enterpriseFix,
  forbidden_team: enterpriseFix,
  org_login_required: migrationFix,
  team_added_to_org: migrationFix,
  message_limit_exceeded:
    'The workspace sends more messages than its plan allows: wait, or ask its owner for another plan.',
  two_factor_setup_required:
    'The workspace asks for two-factor authentication: whoever installed the app sets it up.',
  access_denied: 'Slack denies the app access: ask a workspace admin.',
  ekm_access_denied: 'An admin suspended access to the workspace’s data: ask them.',
  missing_scope: 'Give the app the scope of manifest.yml that is missing, and reinstall it.',
  no_permission: 'Give the app the scope of manifest.yml that is missing, and reinstall it.',
  accesslimited: 'Slack takes no such call from the bot’s network: ask a workspace admin.',
  method_deprecated: methodFix,
  deprecated_endpoint: methodFix,
  unknown_method: 'SLACK_API_URL does not point to a Slack API that knows this method.',
  insecure_request: 'SLACK_API_URL must begin with https.',
};

/** For calls other than posts: members, histories, modals and the App Home. */
const otherFixes: Record<string, string> = {
  plan_upgrade_required: planFix,
  paid_teams_only: planFix,
  no_such_subteam: 'The user group is gone: take it out of payops.yml.',
  users_not_found: 'The user group names people who are gone: look at it in Slack.',
  user_not_found: 'Nobody of the workspace has this id: correct it in payops.yml.',
  user_not_visible: 'The app may not see this person: ask a workspace admin.',
  user_not_in_channel: 'None needed: the person left the channel, and is answered by direct message.',
  thread_not_found: 'None needed: the thread is gone, and what follows goes into the channel.',
  not_enabled: 'Turn the Home tab of the app’s App Home on, as manifest.yml has it.',
  missing_profile_id: 'This person has no Home: ask a workspace admin.',
  not_implemented: 'This person has no Home: ask a workspace admin.',
  expired_trigger_id: windowFix,
  exchanged_trigger_id: windowFix,
  trigger_expired: windowFix,
  trigger_exchanged: windowFix,
  invalid_trigger_id: windowFix,
  push_limit_reached: 'None needed: three windows are open already, which is the most.',
  hash_conflict: 'None needed: somebody else was faster.',
  not_found: 'None needed: the window was closed.',
  file_uploads_disabled: uploadsFix,
  file_uploads_except_images_disabled: uploadsFix,
  file_type_not_allowed: uploadsFix,
  file_upload_size_restricted: uploadsFix,
  storage_limit_reached: 'The workspace’s storage is full: delete files, or ask its owner for another plan.',
};

const channelFixes: Record<string, (channel: string) => string> = {
  channel_not_found: (channel) =>
    `Check the channel id ${channel} in payops.yml; if the channel is private, invite the bot there: /invite @pay.`,
  not_in_channel: (channel) =>
    `Invite the bot: /invite @pay in ${channel}. Or give the app the scope chat:write.public.`,
  is_archived: (channel) => `Unarchive ${channel}, or set another channel in payops.yml for new alerts.`,
  // For edits only (posts get is_archived): works again once the channel is back.
  is_inactive: (channel) => `Unarchive ${channel}, or set another channel in payops.yml for new alerts.`,
  restricted_action: (channel) => `A workspace rule keeps the bot from posting in ${channel}: ask an admin.`,
  restricted_action_read_only_channel: (channel) =>
    `${channel} is read-only: let the bot post there, or set another channel in payops.yml for new alerts.`,
  restricted_action_thread_only_channel: (channel) =>
    `${channel} allows threads only: set another channel in payops.yml for new alerts.`,
  team_not_found: (channel) => `${channel} belongs to another workspace: set a channel of this one.`,
  posting_to_channel_denied: (channel) =>
    `A channel rule keeps the bot from posting in ${channel}: ask an admin.`,
  messages_tab_disabled: () => 'Turn the Messages tab of the app’s App Home on, as manifest.yml has it.',
  external_channel_migrating: (channel) =>
    `None needed: ${channel} is moving to another workspace, and the bot keeps trying.`,
  channel_is_limited_access: (channel) => `Slack limits who may see ${channel}: invite the bot there.`,
  method_not_supported_for_channel_type: (channel) => `Set another channel than ${channel} in payops.yml.`,
};

const leftFix = (person: string): string =>
  `${person} has left the workspace or can’t be written to: reassign their alerts.`;

/**
 * In a direct message Slack's errors are about the person, not a channel. `account_inactive` is about the bot: Slack takes
 * messages to people who have left (python-slack-sdk#1156).
 */
const personFixes: Record<string, (person: string) => string> = {
  user_disabled: leftFix,
  user_not_found: leftFix,
  user_not_visible: leftFix,
  channel_not_found: leftFix,
  is_archived: leftFix,
  is_inactive: leftFix,
  cannot_dm_bot: (person) => `${person} is a bot: no person reads what is sent to it.`,
};

function isPersonOrDirect(channel: string): boolean {
  return /^[UWD]/.test(channel);
}

/** The subject of Slack’s error, for a message to that channel or person. */
export function refusalAbout(slackError: string, channel: string): RefusalAbout {
  if (isAboutMessage(slackError)) return 'message';
  if (isPersonOrDirect(channel) && Object.hasOwn(personFixes, slackError)) return 'channel';
  if (Object.hasOwn(fixes, slackError) || slackError.startsWith('http_')) return 'bot';
  return Object.hasOwn(channelFixes, slackError) ? 'channel' : 'unclear';
}

/** Prefixes of errors about the sent text, blocks, metadata, files or form. */
const messageWords = [
  'msg_too_long|msg_blocks_too_long|no_text|no_dual_|markdown_|metadata_|attachment_|block_mismatch|blocked_file|view_too_',
  'invalid_(blocks|metadata|attachments|arg|array_arg|charset|form_data|post_type|cursor|limit|ts_|team|channel$)|missing_(arg|post_type|file_data)',
  'too_many_|max_file_|unable_to_share|slack_connect_|cant_broadcast|streaming_|draft_|duplicate_|channels_limit_|list_record_',
  'file_(deleted|is_deleted|not_found|share_limit|update_)|snippet_|unknown_s|alt_txt_|as_user_|agent_prompt_|send_on_behalf_',
  // Errors about one message or thread. `delivery.ts` first reads those that say the message or thread is gone.
  'message_not_found|cant_update_|edit_window_|cannot_reply_|thread_locked|restricted_action_(thread_locked|non_threadable)|http_413$',
].join('|');
const aboutMessage = new RegExp(`^(${messageWords})`);

/** Whether Slack refuses only this message, for its content. */
export function isAboutMessage(slackError: string): boolean {
  return aboutMessage.test(slackError);
}

/** Slack's error is outside text: “constructor” must find nothing. */
function ownFix<Fix>(table: Record<string, Fix>, slackError: string): Fix | undefined {
  return Object.hasOwn(table, slackError) ? table[slackError] : undefined;
}

const longestErrorWord = 80;

export const awayFix =
  'None needed if Slack is down: the bot keeps trying. Else check SLACK_API_URL and the network.';

/** What a person must do so that Slack accepts, by Slack's error. */
export function fixFor(slackError: string, channel = 'the channel'): string {
  const ofPerson = isPersonOrDirect(channel) ? ownFix(personFixes, slackError)?.(channel) : undefined;
  const own =
    ofPerson ??
    ownFix(fixes, slackError) ??
    ownFix(channelFixes, slackError)?.(channel) ??
    ownFix(otherFixes, slackError);
  if (own !== undefined) return own;
  if (slackError === 'unreachable' || slackError === 'no_usable_answer') return awayFix;
  if (isAboutMessage(slackError)) return blocksFix;
  const shown = outsideText(slackError, longestErrorWord);
  if (shown.startsWith('http_')) {
    return `Something between the bot and Slack answered HTTP ${shown.slice(5)}: check SLACK_API_URL and the proxy.`;
  }
  return `Look up “${shown}” in the Slack API documentation, or ask a workspace admin.`;
}

/**
 * What Slack refuses. `message`: only this message. `channel`: everything for this channel or person. `bot`: everything
 * the bot does. `unclear`: an unknown error.
 */
export type RefusalAbout = 'message' | 'channel' | 'bot' | 'unclear';
