import { describe, expect, it } from 'vitest';
import type { Alarm } from '../../../src/domain/notice.ts';
import { assertBlocks } from '../../../src/slack/assert-blocks.ts';
import { noticeMessage } from '../../../src/slack/notice-message.ts';
import { firstLine, shownLines, unescaped } from '../shown-text.ts';

const sinceMs = Date.UTC(2026, 10, 21, 9, 30);

function shown(notice: Alarm): string {
  const message = noticeMessage({ notice, key: 'outbox:notice:alarm:x', mayBeRepeat: false });
  assertBlocks('message', message.blocks);
  expect(unescaped(message.text)).toBe(firstLine(message));
  expect(JSON.stringify(message.blocks)).toContain(
    notice.kind === 'events_missing' ? '' : `"timestamp":${sinceMs / 1_000}`,
  );
  return shownLines(message).join('\n');
}

describe('the words of an alarm', () => {
  it('say that no webhook comes, for how long, and what that means for charges', () => {
    const lines = shown({ kind: 'webhooks_silent', minutes: 60, approvals: 1, sinceMs });
    expect(lines).toContain('⚠️ No webhook comes though charges ran · none for 1 hour · 1 charge processed');
    expect(lines).toContain('Charges are confirmed by look-up all the same');
    expect(shown({ kind: 'webhooks_silent', minutes: 90, approvals: 7, sinceMs })).toContain(
      'none for 90 minutes · 7 charges processed',
    );
  });

  it('say that deliveries are refused, with what was seen of the last and the command that explains one', () => {
    const cause = 'It is made with sha512, not sha256. Set WEBHOOK_SIGNATURE_ALGORITHM=sha512.';
    const lines = shown({ kind: 'deliveries_refused', refusals: 5, sinceMs, cause });
    expect(lines).toContain('⚠️ Webhook deliveries are refused · 5 in a row within 10 minutes');
    expect(lines).toContain(`The last one: ${cause}`);
    expect(lines).toContain('npm run explain-delivery');
    expect(shown({ kind: 'deliveries_refused', refusals: 50, accepted: 200, sinceMs, cause })).toContain(
      '⚠️ Webhook deliveries are refused · 50 of 250 within 10 minutes',
    );
  });

  it('name the charges whose events never came, and count the rest', () => {
    const lines = shown({ kind: 'events_missing', references: ['pay-1', 'pay-2'], more: 3, minutes: 30 });
    expect(lines).toContain('⚠️ Charges are paid, but their events never came · 5 charges');
    expect(lines).toContain('They are: pay-1, pay-2 and 3 more.');
    expect(lines).toContain('approved by look-up more than 30 minutes ago');
    const one = shown({ kind: 'events_missing', references: ['pay-1'], more: 0, minutes: 60 });
    expect(one).toContain('⚠️ A charge is paid, but its event never came · pay-1\n');
    expect(one).toContain('It was approved by look-up more than 1 hour ago');
    expect(one).toContain('The charge stands.');
  });

  it('fit Slack’s limits at their longest', () => {
    const references = Array.from({ length: 10 }, (_, index) => `${index}${'<&>'.repeat(80)}`);
    expect(shown({ kind: 'events_missing', references, more: 190, minutes: 1_440 })).toContain(
      ' and 190 more.',
    );
    expect(shown({ kind: 'deliveries_refused', refusals: 100, sinceMs, cause: 'x'.repeat(9_000) })).toContain(
      'xx…',
    );
  });
});
