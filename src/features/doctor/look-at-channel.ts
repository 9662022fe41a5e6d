import { WebAPIPlatformError, type WebClient } from '@slack/web-api';
import { fixFor, readSlackError, refusalAbout, slackErrorWord } from '../../slack/slack-error.ts';

/** Whether the bot can post in a channel, as far as Slack says without a post. */
type ChannelReach =
  | { kind: 'reachable' }
  /** The bot may post without being a member. Slack doesn't say whether it may edit its posts there. */
  | { kind: 'outside'; fix: string }
  /** The bot can post there, and people of another company can read it (Slack Connect). */
  | { kind: 'shared'; fix: string }
  /** Posts fail until a person does what `fix` says. */
  | { kind: 'unreachable'; slackError: string; fix: string }
  /** Slack doesn't let the bot check this channel, also not later. */
  | { kind: 'unchecked'; slackError: string; fix: string }
  /** Slack didn't answer, or refused the token: check again later. */
  | { kind: 'away'; slackError: string };

/** Errors with which Slack refuses the check itself, also later. */
const cannotLook = new Set([
  'missing_scope',
  'no_permission',
  'not_allowed_token_type',
  'accesslimited',
  'unknown_method',
  'method_deprecated',
]);

const scopeFix =
  'To have the channels checked, grant the scopes channels:read and groups:read, and reinstall the app.';

/**
 * Why Slack would refuse a post in a channel, by Slack's error words. Needs the scopes `channels:read` and
 * `groups:read`; without `groups:read` a missing channel may be a hidden private one. Throws Slack's error if Slack asks
 * to wait; never for other errors of Slack or the network.
 */
export async function lookAtChannel(client: WebClient, channel: string): Promise<ChannelReach> {
  // A direct message can't be archived or left, and checking it needs a scope that the app has no other use for.
  if (channel.startsWith('D')) return { kind: 'reachable' };
  try {
    const answer = await client.conversations.info({ channel });
    return judge(channel, answer.channel, answer.response_metadata?.scopes);
  } catch (error) {
    return judgeFailure(channel, error);
  }
}

type Conversation = { is_archived?: boolean; is_member?: boolean; is_ext_shared?: boolean };

function judge(channel: string, found: Conversation = {}, scopes?: readonly string[]): ChannelReach {
  if (found.is_archived) return unreachable('is_archived', channel);
  const isOutside = found.is_member === false;
  if (isOutside && isLacking('chat:write.public', scopes)) return unreachable('not_in_channel', channel);
  if (isOutside) return { kind: 'outside', fix: `Invite the bot: /invite @pay in ${channel}.` };
  return found.is_ext_shared
    ? { kind: 'shared', fix: 'Set another channel in payops.yml, unless they may.' }
    : { kind: 'reachable' };
}

function judgeFailure(channel: string, error: unknown): ChannelReach {
  const problem = readSlackError(error);
  const slackError = slackErrorWord(problem);
  if (problem.kind === 'rate_limited') throw error;
  if (problem.kind !== 'refused') return { kind: 'away', slackError };
  if (cannotLook.has(slackError)) return unchecked(slackError, channel);
  const about = refusalAbout(slackError, channel);
  // The token or the connection is at fault, which another check reports.
  if (about === 'bot') return { kind: 'away', slackError };
  const mayBeHidden = slackError === 'channel_not_found' && isLacking('groups:read', scopesOf(error));
  return about === 'channel' && !mayBeHidden
    ? unreachable(slackError, channel)
    : unchecked(slackError, channel);
}

function unreachable(slackError: string, channel: string): ChannelReach {
  return { kind: 'unreachable', slackError, fix: fixFor(slackError, channel) };
}

function unchecked(slackError: string, channel: string): ChannelReach {
  const isScope = slackError === 'missing_scope' || slackError === 'channel_not_found';
  return { kind: 'unchecked', slackError, fix: isScope ? scopeFix : fixFor(slackError, channel) };
}

/** Whether Slack listed the app's scopes and this one is not among them. */
function isLacking(scope: string, scopes: readonly string[] | undefined): boolean {
  return scopes !== undefined && !scopes.includes(scope);
}

function scopesOf(error: unknown): readonly string[] | undefined {
  return error instanceof WebAPIPlatformError ? error.data.response_metadata?.scopes : undefined;
}
