import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../src/domain/audit-entry.ts';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import {
  linesOnAPage,
  noStoryMessage,
  pagesOf,
  storyActions,
  storyFileMessage,
  storyMessage,
} from '../../src/slack/story/story-message.ts';

const view = {
  place: { environment: 'sandbox', account: 'main account' },
  nowMs: 1_700_000_000_000,
} as const;
const step: AuditEntry = {
  id: 'one',
  atMs: 1_700_000_000_000,
  who: 'U0AGENT01',
  what: 'step',
  reference: 'INV-1',
  before: 'confirming',
  after: 'approved',
  result: 'look_up_paid',
};

function many(count: number, of: AuditEntry = step): AuditEntry[] {
  return Array.from({ length: count }, (_, index) => ({ ...of, id: String(index), atMs: of.atMs + index }));
}

describe('the message of a story', () => {
  it('fits Slack with the longest, widest and least readable words there can be', () => {
    const wide = '🧑🏽‍💻؏שלום <!channel> *b* '.repeat(40);
    const worst: AuditEntry = {
      ...step,
      who: wide,
      where: 'C0123456789',
      verb: wide,
      account: wide,
      reference: wide,
      before: wide,
      after: wide,
      result: wide,
      reason: wide,
    };
    const fitting: string[] = [];
    for (const what of [
      'command',
      'press',
      'form',
      'decision',
      'step',
      'answer',
      'reveal',
      'retention',
    ] as const) {
      const message = storyMessage({ reference: wide, entries: many(60, { ...worst, what }) }, 2, view);
      assertBlocks('message', message.blocks);
      fitting.push(message.text);
    }
    assertBlocks('message', storyMessage({ reference: 'INV-1', entries: [] }, 1, view).blocks);
    assertBlocks('message', noStoryMessage(wide).blocks);
    assertBlocks('message', storyFileMessage(wide, { kind: 'failed', why: wide, fix: wide }).blocks);
    expect(fitting).toHaveLength(8);
  });

  it('begins with the words that a notification shows, and tells an entry with its people as people', () => {
    const story = { reference: 'INV-1', entries: [{ ...step, where: 'C0DESK0001', reason: 'SUCCESS' }] };
    const { text, blocks } = storyMessage(story, 1, view);
    expect(text).toBe('📄 Story · INV-1');
    const shown = JSON.stringify(blocks);
    expect(shown).toContain('"user_id":"U0AGENT01"');
    expect(shown).toContain('"channel_id":"C0DESK0001"');
    expect(shown).toContain('In doubt, checking');
    expect(shown).toContain('Paid (confirmed)');
    expect(shown).toContain('“SUCCESS”');
    expect(shown).toContain('1 entry, oldest first');
  });

  it('has no buttons on one page, and on more of them those that lead somewhere and the file', () => {
    const ids = (count: number, page: number): string[] =>
      [
        ...JSON.stringify(
          storyMessage({ reference: 'INV-1', entries: many(count) }, page, view).blocks,
        ).matchAll(/"action_id":"(\w+)"/g),
      ].flatMap(([, id]) => id ?? []);
    const { earlier, later, file } = storyActions;
    expect(ids(linesOnAPage, 1)).toEqual([]);
    expect(ids(3 * linesOnAPage, 1)).toEqual([later, file]);
    expect(ids(3 * linesOnAPage, 2)).toEqual([earlier, later, file]);
    expect(ids(3 * linesOnAPage, 99)).toEqual([earlier, file]);
    expect(pagesOf({ entries: many(3 * linesOnAPage + 1) })).toBe(4);
  });

  it('shows what it does not know, of a newer version, as it stands', () => {
    const entries = [{ ...step, result: 'sent_to_the_moon', before: 'orbiting', after: 'alert_landed' }];
    const shown = JSON.stringify(storyMessage({ reference: 'INV-1', entries }, 1, view).blocks);
    expect(shown).toContain('step: sent_to_the_moon');
    expect(shown).toContain('orbiting');
    expect(shown).toContain('landed');
  });
});
