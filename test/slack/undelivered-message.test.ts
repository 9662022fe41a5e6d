import { describe, expect, it } from 'vitest';
import type { Undelivered } from '../../src/domain/delivery.ts';
import { findBlockProblems } from '../../src/slack/assert-blocks.ts';
import {
  deliverAgainId,
  deliveringAgainMessage,
  undeliveredMessage,
} from '../../src/slack/undelivered-message.ts';
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
    expect(text).toBe('⚠️ 12 messages could not be delivered · one channel');
    const shown = JSON.stringify(blocks);
    for (const words of ['12 messages', channel, '2026-09-14 13:37 UTC', 'not_in_channel', '/invite @pay']) {
      expect(shown).toContain(words);
    }
  });

  it('counts channels and people apart', () => {
    const all = ['C0ALERTS01', 'U0ADA00001', 'U0OMAR0001'].map((place) => undelivered({ channel: place }));
    expect(undeliveredMessage(all).text).toContain(
      '36 messages could not be delivered · one channel and 2 people',
    );
  });

  it('asks before it delivers again, and says how much and where', () => {
    const { blocks } = undeliveredMessage([undelivered({ messages: 1 })]);
    expect(JSON.stringify(blocks)).toContain(
      '"text":"One message for the channel above. Do it once the reason is mended: else Slack refuses it once more."',
    );
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

  const tried = { channel: 'C0PRIVATE1', slackError: 'channel_not_found', fix: 'Invite the bot.' };

  it('calls nothing well while Slack refuses what is tried again by itself', () => {
    const { text, blocks } = undeliveredMessage([], [tried]);
    expect(text).toBe('⚠️ Slack refuses messages, and they are tried again · one channel');
    const shown = JSON.stringify(blocks);
    for (const words of ['C0PRIVATE1', 'channel_not_found', 'First: Invite the bot.', 'nothing to press']) {
      expect(shown).toContain(words);
    }
    expect(shown).not.toContain(deliverAgainId);
    expect(findBlockProblems('message', blocks)).toEqual([]);
  });

  it('has what is tried again behind what is given up, and names no channel twice', () => {
    const { text, blocks } = undeliveredMessage([undelivered()], [{ ...tried, channel }, tried]);
    expect(text).toContain('12 messages could not be delivered · one channel');
    const shown = JSON.stringify(blocks);
    expect(shown.match(/Tried again by itself/g)).toHaveLength(1);
    expect(shown.indexOf('C0PRIVATE1')).toBeGreaterThan(shown.indexOf(deliverAgainId));
  });

  it('keeps Slack’s limits with many that are tried again, and says how many it leaves out', () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ ...tried, channel: `C0PRIVAT${index}` }));
    const { blocks } = undeliveredMessage([], many);
    expect(findBlockProblems('message', blocks)).toEqual([]);
    expect(JSON.stringify(blocks)).toContain('And 30 more');
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
    expect(JSON.stringify(blocks).includes('in their old order')).toBe(messages > 1);
  });
});
