import { describe, expect, it } from 'vitest';
import { createRefusals } from '../../src/app/refusals.ts';
import type { PostOutcome } from '../../src/domain/delivery.ts';

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
