import { describe, expect, it } from 'vitest';
import { createRefusals } from '../../../src/messages/outbox.ts';
import type { PostOutcome } from '../../../src/messages/delivery.ts';

const minute = 60_000;
const hour = 60 * minute;
const refused: PostOutcome = {
  kind: 'refused',
  slackError: 'not_in_channel',
  fix: 'Invite the bot.',
  about: 'channel',
};

function posted(channel: string): PostOutcome {
  return { kind: 'posted', channel, ts: '1.1' };
}

function openRefusals() {
  const clock = { nowMs: 1_000_000 };
  return { clock, ...createRefusals(() => clock.nowMs) };
}

describe('the health of posts', () => {
  it('names a channel that is refused, what to do, and is well after the next post there', () => {
    const { note, health } = openRefusals();
    expect(health()).toEqual({ state: 'ok' });
    note('C0ONE', refused);
    note('C0TWO', posted('C0TWO'));
    expect(health()).toEqual({
      state: 'degraded',
      detail: 'Slack refuses posts to C0ONE: not_in_channel',
      fix: 'Invite the bot.',
    });
    note('C0ONE', posted('C0ONE'));
    expect(health()).toEqual({ state: 'ok' });
  });

  it('says since when Slack gives no answer, and is well after any answer', () => {
    const { clock, note, looked, health } = openRefusals();
    const lost: PostOutcome = { kind: 'unsure', cause: 'lost' };
    const answers = [
      () => note('C0TWO', posted('C0TWO')),
      () => note('C0TWO', { kind: 'rate_limited', retryAfterMs: 1_000 }),
      () => looked({ kind: 'absent' }),
      () => looked({ kind: 'unknown', slackError: 'ratelimited', retryAfterMs: 1_000 }),
    ];
    for (const answer of answers) {
      note('C0ONE', lost);
      clock.nowMs += 5 * minute;
      note('C0TWO', { kind: 'not_sent', cause: 'refused' });
      looked({ kind: 'unknown', slackError: 'no_usable_answer' });
      const since = new Date(clock.nowMs - 5 * minute).toISOString().slice(0, 16).replace('T', ' ');
      expect(health()).toEqual({
        state: 'degraded',
        detail: `Slack has given posts no usable answer since ${since} UTC; what is to be told waits`,
        fix: expect.stringContaining('SLACK_API_URL'),
      });
      answer();
      expect(health()).toEqual({ state: 'ok' });
    }
  });

  it('forgets a lost answer that nothing is tried again after', () => {
    const { clock, note, health } = openRefusals();
    note('C0ONE', { kind: 'unsure', cause: 'lost' });
    clock.nowMs += 71 * minute;
    expect(health()).toEqual({ state: 'ok' });
  });

  it('lists every channel that is refused, for whoever asks what is undelivered, and counts them in health', () => {
    const { note, refused: list, health } = openRefusals();
    note('C0ONE', refused);
    note('C0TWO', refused);
    expect(list()).toEqual([
      { channel: 'C0ONE', slackError: 'not_in_channel', fix: 'Invite the bot.' },
      { channel: 'C0TWO', slackError: 'not_in_channel', fix: 'Invite the bot.' },
    ]);
    expect(health().detail).toBe('Slack refuses posts to C0ONE: not_in_channel, and to 1 more');
  });

  it('stays degraded while something is tried again, though once an hour alone', () => {
    const { clock, note, health } = openRefusals();
    for (let round = 0; round < 24; round += 1) {
      note('C0ONE', refused);
      clock.nowMs += hour;
      expect(health().state).toBe('degraded');
    }
  });

  it('forgets a channel that nothing waits for: its route changed, or its person left', () => {
    const { clock, note, health } = openRefusals();
    note('C0GONE', refused);
    clock.nowMs += 50 * minute;
    note('C0STILL', refused);
    clock.nowMs += 21 * minute;
    expect(health().detail).toContain('C0STILL');
    clock.nowMs += hour;
    expect(health()).toEqual({ state: 'ok' });
  });
});
