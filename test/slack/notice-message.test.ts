import { describe, expect, it } from 'vitest';
import { unreadableKind, type Notice } from '../../src/domain/notice.ts';
import { findBlockProblems } from '../../src/slack/assert-blocks.ts';
import { noticeMessage } from '../../src/slack/notice-message.ts';
import { shownLines } from './shown-text.ts';

const channel = 'C0ALERTS01';
const sinceMs = Date.UTC(2026, 8, 14, 13, 37);
const fix = 'Invite the bot: /invite @pay in C0ALERTS01.';
const refusal = { channel, sinceMs, slackError: 'not_in_channel', fix };

function linesOf(notice: Notice): string {
  const message = noticeMessage({ notice, key: 'k', mayBeRepeat: false });
  expect(findBlockProblems('message', message.blocks)).toEqual([]);
  return shownLines(message).join('\n');
}

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

  it('names the days, where the release that wrote it knew them', () => {
    expect(linesOf({ kind: 'unknown_event', eventKind: 'refund', keptDays: 30 })).toContain(
      'kept for 30 days; until then',
    );
  });

  it('calls what has no kind no kind', () => {
    const lines = linesOf({ kind: 'unknown_event', eventKind: unreadableKind, keptDays: 30 });
    expect(lines).toContain('⚠️ A signed delivery without an event kind arrived\n');
    expect(lines).toContain('until then no further one is told');
    expect(lines).toContain('npm run explain-delivery');
  });
});

describe('the notice of a repeat that differs', () => {
  const differing = { kind: 'event_differs', eventKind: 'payment_failed', orderReference: 'SUB-1' } as const;

  it.each([
    [['amount'], 'Its amount is another one. The first alert stands.'],
    [['amount', 'reason'], 'Its amount and its reason are others.'],
    [[], 'Its amount or outcome is another one.'],
  ] as const)('says which part of it does: %j', (differs, words) => {
    expect(linesOf({ ...differing, differs })).toContain(words);
  });

  it('says what to type, where it has a reference', () => {
    expect(linesOf(differing)).toContain('Look it up before acting on either: /pay SUB-1');
    expect(linesOf({ ...differing, orderReference: undefined })).toContain('Look the order up');
  });
});

describe('the notice of a refused channel', () => {
  it('names the channel, Slack’s word, the fix, and where the messages are', () => {
    const notice = { kind: 'refused', ...refusal, giveUpHours: 24 } as const;
    const { text, blocks } = noticeMessage({ notice, key: 'k', mayBeRepeat: false });
    expect(text).toBe(`⚠️ Slack refuses the messages for a channel · ${channel} · not_in_channel`);
    expect(JSON.stringify(blocks)).toMatch(/\/invite @pay.*Nothing is lost.*24 hours.*\/pay undelivered/);
    expect(findBlockProblems('message', blocks)).toEqual([]);
  });

  it('shows the channel by its name too, and names no person: that would ping them', () => {
    const [inChannel, toPerson] = [channel, 'U0ADA00001'].map((place) => {
      const notice = { kind: 'refused', ...refusal, channel: place, giveUpHours: 24 } as const;
      return JSON.stringify(noticeMessage({ notice, key: 'k', mayBeRepeat: false }).blocks);
    });
    expect(inChannel).toContain('Slack refuses the messages for a channel"');
    expect(inChannel).toContain('"timestamp":');
    expect(toPerson).toContain('Slack refuses the messages for a person');
    expect(inChannel).toContain(`{"type":"channel","channel_id":"${channel}"}`);
    expect(toPerson).not.toMatch(/"type":"(user|channel)"/);
  });

  it('says how much a storm’s digest counts there that nobody sees', () => {
    const [shown, plain] = [4_812, 0].map((gathered) => {
      const notice = { kind: 'refused', ...refusal, giveUpHours: 24, gathered } as const;
      return JSON.stringify(noticeMessage({ notice, key: 'k', mayBeRepeat: false }).blocks);
    });
    expect(shown).toContain('it counted 4812 when this was told');
    expect(plain).not.toContain('storm');
  });
});
