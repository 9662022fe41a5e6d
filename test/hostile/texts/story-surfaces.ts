// The story of a reference: outside words come from the bank, from events and from what people give as a reason, and a
// reference is the merchant's own.

import type { AuditEntry } from '../../../src/domain/audit-entry.ts';
import { noStoryMessage, storyFileMessage, storyMessage } from '../../../src/features/story/story-message.ts';
import { placeOf } from './alert-surfaces.ts';
import { messageOf, type Outside, type Surface } from './surface.ts';

const at = Date.UTC(2026, 8, 14, 13, 37);
const ada = 'U0OWN00001';

export const storySurfaces: readonly Surface[] = [
  messageOf('a story', (outside) =>
    storyMessage(
      {
        reference: outside.text(),
        event: {
          kind: 'payment_failed',
          amountMinor: 500,
          currency: outside.text(),
          customerEmail: outside.text(),
        },
        entries: kinds.map((what, index) => entryOf(outside, what, index)),
      },
      1,
      { place: placeOf(outside), nowMs: at },
    ),
  ),
  messageOf('a story that nobody knows', ({ text }) => noStoryMessage(text())),
  messageOf('what became of a story’s file', ({ text }) => storyFileMessage(text(), { kind: 'uploaded' })),
];

const kinds = ['command', 'press', 'form', 'decision', 'step', 'answer', 'reveal'] as const;

function entryOf({ random, text }: Outside, what: AuditEntry['what'], index: number): AuditEntry {
  return {
    id: String(index),
    atMs: at + index,
    who: random.pick([ada, 'payops', 'payments', 'operator']),
    what,
    verb: text(),
    reference: text(),
    before: text(),
    after: text(),
    result: text(),
    reason: text(),
  };
}
