import type { BlockElementAction } from '@slack/bolt';
import { expect, it } from 'vitest';
import { labelOf, threadOf } from '../../../src/slack/router/payload.ts';

function pressed(text: string): BlockElementAction {
  const label = { type: 'plain_text', text } as const;
  return { type: 'button', action_id: 'a', block_id: 'b', action_ts: '1.1', text: label };
}

it.each([
  ['Refund &amp; close', 'Refund & close'],
  ['&lt;5 &gt;3…', '<5 >3'],
  ['&amp;lt;', '&lt;'],
  ['…', 'This'],
])('reads the label %s as %s, as the person saw it', (sent, shown) => {
  expect(labelOf(pressed(sent))).toBe(shown);
});

it.each([
  ['a button pressed in a thread', { container: { thread_ts: '1.1' } }, '1.1'],
  ['a message chosen in a thread', { message: { ts: '1.2', thread_ts: '1.1' } }, '1.1'],
  ['the first message of a thread', { message: { ts: '1.1', thread_ts: '1.1' } }, undefined],
  ['a message of the channel', { container: {}, message: { ts: '1.1' } }, undefined],
])('finds the thread of %s', (_, body, thread) => {
  expect(threadOf(body)).toBe(thread);
});
