import { describe, expect, it } from 'vitest';
import { type RefusalAbout, fixFor, refusalAbout } from '../../src/slack/slack-error.ts';

const channel = 'C0ALERTS01';
const person = 'U0ADA00001';
const directMessage = 'D0ADA00001';

describe('whom Slack’s refusal is about', () => {
  it.each<[RefusalAbout, string[]]>([
    [
      'channel',
      [
        'channel_not_found',
        'not_in_channel',
        'is_archived',
        'restricted_action',
        'restricted_action_read_only_channel',
        'restricted_action_thread_only_channel',
        'team_not_found',
      ],
    ],
    [
      'bot',
      [
        'invalid_auth',
        'not_authed',
        'account_inactive',
        'token_revoked',
        'token_expired',
        'user_removed_from_team',
        'not_allowed_token_type',
        'team_disabled',
        'team_access_not_granted',
        'org_login_required',
        'ekm_access_denied',
        'missing_scope',
        'no_permission',
        'accesslimited',
        'method_deprecated',
        'unknown_method',
        'http_403',
        'http_407',
      ],
    ],
    ['message', ['msg_too_long', 'msg_blocks_too_long', 'invalid_blocks', 'invalid_metadata', 'no_text']],
    ['unclear', ['never_heard_of', 'toString', 'constructor']],
  ])('is %s for %j', (about, words) => {
    for (const word of words) expect([word, refusalAbout(word, channel)]).toEqual([word, about]);
  });

  it.each([person, directMessage])('is the person for what is said of one, and never the bot (%s)', (to) => {
    const words = ['account_inactive', 'user_disabled', 'user_not_found', 'channel_not_found', 'is_archived'];
    for (const word of words) {
      expect([word, refusalAbout(word, to)]).toEqual([word, 'channel']);
      expect(fixFor(word, to)).toContain(`${to} has left`);
      expect(fixFor(word, to)).not.toContain('SLACK_BOT_TOKEN');
    }
    expect(refusalAbout('token_revoked', to)).toBe('bot');
    expect(fixFor('token_revoked', to)).toContain('SLACK_BOT_TOKEN');
  });

  it('knows that what is too large for a proxy is that one message', () => {
    expect(refusalAbout('http_413', 'C0ALERTS01')).toBe('message');
  });

  it('has a fix in words for each, also for a word nobody knows', () => {
    for (const word of ['not_in_channel', 'token_revoked', 'never_heard_of', 'constructor', 'http_403']) {
      expect(fixFor(word, channel)).toMatch(/\.$/);
    }
  });
});
