import { WebAPIPlatformError, type WebClient } from '@slack/web-api';
import { fixFor, readSlackError, refusalAbout, slackErrorWord } from '../../slack/slack-error.ts';

/** Whether the bot can post in a channel, as far as Slack says before anything is posted there. */
type ChannelReach =
  | { kind: 'reachable' }
  /** It takes posts, though the bot is no member; whether it takes edits too, Slack does not say. */
  | { kind: 'outside'; fix: string }
  /** Nothing will arrive there until a person does what `fix` says. */
  | { kind: 'unreachable'; slackError: string; fix: string }
  /** Slack does not let the bot look; asking again changes nothing. */
  | { kind: 'unchecked'; slackError: string; fix: string }
  /** Slack did not answer, or asks to wait: worth asking again. */
  | { kind: 'away'; slackError: string; retryAfterMs?: number };

/** Slack's answers that come again however often one asks. */
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
 * Says of a channel, in Slack's own error words, what a post there would be refused for. Needs the scopes
 * `channels:read` and `groups:read`; without one of them it says of no channel that it is not there, because a
 * private one may be hidden. Never throws for anything Slack or the network does.
 */
export function createLookAtChannel(client: WebClient): (channel: string) => Promise<ChannelReach> {
  return async function lookAtChannel(channel) {
    // Nobody archives one or invites the bot there, and asking needs a scope that the app has no other use for.
    if (channel.startsWith('D')) return { kind: 'reachable' };
    try {
      const answer = await client.conversations.info({ channel });
      return judge(channel, answer.channel, answer.response_metadata?.scopes);
    } catch (error) {
      return judgeFailure(channel, error);
    }
  };
}

type Conversation = { is_archived?: boolean; is_member?: boolean };

function judge(channel: string, found: Conversation = {}, scopes?: readonly string[]): ChannelReach {
  if (found.is_archived) return unreachable('is_archived', channel);
  if (found.is_member !== false) return { kind: 'reachable' };
  if (isLacking('chat:write.public', scopes)) return unreachable('not_in_channel', channel);
  return { kind: 'outside', fix: `Invite the bot: /invite @pay in ${channel}.` };
}

function judgeFailure(channel: string, error: unknown): ChannelReach {
  const problem = readSlackError(error);
  const slackError = slackErrorWord(problem);
  if (problem.kind === 'rate_limited')
    return { kind: 'away', slackError, retryAfterMs: problem.retryAfterMs };
  if (problem.kind !== 'refused') return { kind: 'away', slackError };
  if (cannotLook.has(slackError)) return unchecked(slackError, channel);
  const about = refusalAbout(slackError, channel);
  // The token, or what stands between the bot and Slack: health says so of Slack itself.
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

/** Only what Slack has told: scopes that it did not name are not held to be lacking. */
function isLacking(scope: string, scopes: readonly string[] | undefined): boolean {
  return scopes !== undefined && !scopes.includes(scope);
}

function scopesOf(error: unknown): readonly string[] | undefined {
  return error instanceof WebAPIPlatformError ? error.data.response_metadata?.scopes : undefined;
}
