import { describe, expect, it } from 'vitest';
import type { Undelivered } from '../../src/domain/delivery.ts';
import { findBlockProblems } from '../../src/slack/assert-blocks.ts';
import {
  deliverAgainId,
  deliveringAgainMessage,
  undeliveredMessage,
} from '../../src/slack/dead-letters-message.ts';
import { noticeMessage } from '../../src/slack/notice-message.ts';
import { limits } from '../../src/slack/limits.ts';

const channel = 'C0ALERTS01';

function undelivered(more: Partial<Undelivered> = {}): Undelivered {
  const sinceMs = Date.UTC(2026, 8, 14, 13, 37);
  const fix = 'Invite the bot: /invite @pay in C0ALERTS01.';
  return { channel, messages: 12, sinceMs, slackError: 'not_in_channel', fix, ...more };
}

describe('the list of what is undelivered', () => {
  it('says how much for which channel, since when, why, and what to do first', () => {
    const { text, blocks } = undeliveredMessage([undelivered()]);
    expect(text).toBe('⚠️ 12 messages could not be delivered · one channel or person');
    const shown = JSON.stringify(blocks);
    for (const words of ['12 messages', channel, '2026-09-14 13:37 UTC', 'not_in_channel', '/invite @pay']) {
      expect(shown).toContain(words);
    }
  });

  it('asks before it delivers again, and says how much and where', () => {
    const { blocks } = undeliveredMessage([undelivered({ messages: 1 })]);
    expect(JSON.stringify(blocks)).toContain('"text":"One message for C0ALERTS01');
    expect(blocks.at(-1)).toMatchObject({
      elements: [
        { action_id: deliverAgainId, value: channel, confirm: { confirm: { text: 'Deliver again' } } },
      ],
    });
  });

  it('names a person as one', () => {
    const { blocks } = undeliveredMessage([undelivered({ channel: 'U0ADA00001' })]);
    expect(JSON.stringify(blocks)).toContain('"user_id":"U0ADA00001"');
  });

  it('keeps Slack’s limits with many channels and long words, and says how many it leaves out', () => {
    const many = Array.from({ length: 300 }, (_, index) =>
      undelivered({ channel: `C${String(index).padStart(9, '0')}`, fix: 'x'.repeat(5_000), messages: 1e9 }),
    );
    const { text, blocks } = undeliveredMessage(many.map((one) => ({ ...one, fix: one.fix.slice(0, 900) })));
    expect(findBlockProblems('message', blocks)).toEqual([]);
    expect(text.length).toBeLessThan(limits.sectionText);
    expect(JSON.stringify(blocks)).toContain('And 290 more');
  });

  it('says so when there is nothing', () => {
    const { text, blocks } = undeliveredMessage([]);
    expect(text).toContain('Nothing is undelivered');
    expect(findBlockProblems('message', blocks)).toEqual([]);
  });

  it.each([0, 1, 12])('answers the press with what became of it (%d)', (messages) => {
    const { text, blocks } = deliveringAgainMessage(channel, messages);
    expect(findBlockProblems('message', blocks)).toEqual([]);
    expect(text).toContain(['Nothing is left', 'One message', '12 messages'][[0, 1, 12].indexOf(messages)]);
  });
});

describe('the notice of an unknown event', () => {
  it('says for how long it is kept, and its kind not told again', () => {
    const notice = { kind: 'unknown_event', eventKind: 'refund' } as const;
    const { text, blocks } = noticeMessage({ notice, key: 'k', mayBeRepeat: false });
    expect(text).toBe('⚠️ A signed event of unknown kind arrived · refund');
    expect(JSON.stringify(blocks)).toMatch(
      /kept for as long as WEBHOOK_REMEMBER_DAYS says; until then events of this kind are not told again\./,
    );
    expect(findBlockProblems('message', blocks)).toEqual([]);
  });
});

describe('the notice of a refused channel', () => {
  it('names the channel, Slack’s word, the fix, and where the messages are', () => {
    const notice = { kind: 'refused', ...undelivered(), giveUpHours: 24 } as const;
    const { text, blocks } = noticeMessage({ notice, key: 'k', mayBeRepeat: false });
    expect(text).toBe(`⚠️ Slack refuses the messages for a channel or person · ${channel} · not_in_channel`);
    expect(JSON.stringify(blocks)).toMatch(/\/invite @pay.*Nothing is lost.*24 hours.*\/pay undelivered/);
    expect(findBlockProblems('message', blocks)).toEqual([]);
  });

  it('shows the channel by its name too, and names no person: that would ping them', () => {
    const [inChannel, toPerson] = [channel, 'U0ADA00001'].map((place) => {
      const notice = { kind: 'refused', ...undelivered({ channel: place }), giveUpHours: 24 } as const;
      return JSON.stringify(noticeMessage({ notice, key: 'k', mayBeRepeat: false }).blocks);
    });
    expect(inChannel).toContain(`{"type":"channel","channel_id":"${channel}"}`);
    expect(toPerson).not.toMatch(/"type":"(user|channel)"/);
  });

  it('says how much a storm’s digest counts there that nobody sees', () => {
    const [shown, plain] = [4_812, 0].map((gathered) => {
      const notice = { kind: 'refused', ...undelivered(), giveUpHours: 24, gathered } as const;
      return JSON.stringify(noticeMessage({ notice, key: 'k', mayBeRepeat: false }).blocks);
    });
    expect(shown).toContain('it counted 4812 when this was told');
    expect(plain).not.toContain('storm');
  });
});
