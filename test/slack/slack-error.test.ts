import { expect, it } from 'vitest';
import { type RefusalAbout, fixFor, refusalAbout } from '../../src/slack/slack-error.ts';

const channel = 'C0ALERTS01';
const person = 'U0ADA00001';

it.each<[RefusalAbout, string, string[]]>([
  ['channel', channel, ['channel_not_found', 'not_in_channel', 'is_archived', 'restricted_action']],
  ['bot', channel, ['invalid_auth', 'account_inactive', 'token_revoked', 'missing_scope', 'http_403']],
  // A proxy answers 413 for a too large message, and refuses only that message.
  ['message', channel, ['msg_too_long', 'invalid_blocks', 'invalid_metadata', 'no_text', 'http_413']],
  ['unclear', channel, ['never_heard_of', 'toString', 'constructor']],
  ['channel', person, ['user_disabled', 'channel_not_found', 'is_archived']],
  ['channel', 'D0ADA00001', ['user_disabled', 'user_not_found']],
  ['bot', person, ['token_revoked', 'account_inactive']],
])('is about the %s: Slack’s errors for %s, each with a fix: %j', (about, to, words) => {
  for (const word of words) {
    expect([word, refusalAbout(word, to)]).toEqual([word, about]);
    expect(fixFor(word, to)).toMatch(/\.$/);
  }
});
