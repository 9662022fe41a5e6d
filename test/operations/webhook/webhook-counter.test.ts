import { describe, expect, it } from 'vitest';
import { batchOf, createWebhookCounter } from '../../../src/operations/webhook/webhook-counter.ts';
import { readBatch } from '../../../src/operations/webhook/webhook-state.ts';

const startMs = 1_800_000_000_000;

function openCounter() {
  let count = 0;
  const counter = createWebhookCounter(() => `r:${(count += 1)}`);
  const refuse = (atMs: number) => counter.refused({ id: `refusal:${atMs}`, atMs, explain: () => 'a cause' });
  return { counter, refuse };
}

describe('what a process counts of webhooks', () => {
  it('is all deliveries since it was taken last, under an id of its own, with the cause of the last refusal', () => {
    const { counter, refuse } = openCounter();
    refuse(startMs);
    counter.accepted(startMs + 1);
    counter.accepted(startMs + 2);
    const taken = counter.takeAll();
    expect(taken && readBatch(batchOf(taken))).toEqual({
      acceptedAtMs: startMs + 2,
      refusals: [],
      approvals: [],
      tallies: [{ id: 'r:1', atMs: startMs, accepted: 2, refused: 1 }],
      cause: { words: 'a cause', atMs: startMs },
    });
    expect(counter.takeAll()).toBeUndefined();
    counter.accepted(startMs + 3);
    expect(counter.takeAll()?.tallies).toEqual([{ id: 'r:2', atMs: startMs + 3, accepted: 1, refused: 0 }]);
  });

  it('stays small, however many come, and however often it cannot be put on record', () => {
    const { counter, refuse } = openCounter();
    for (let round = 0; round < 500; round += 1) {
      for (let count = 0; count < 500; count += 1) {
        refuse(startMs + round);
        if (count % 3 === 0) counter.accepted(startMs + round);
      }
      const taken = counter.takeAll();
      if (taken) counter.putBack(taken);
    }
    const last = counter.takeAll();
    expect(last?.tallies).toHaveLength(100);
    expect(last?.tallies.at(-1)).toEqual({ id: 'r:500', atMs: startMs + 499, accepted: 167, refused: 500 });
    expect(last && batchOf(last).length).toBeLessThan(20_000);
  });

  it('keeps its tally of what was put back apart from what came meanwhile', () => {
    const { counter, refuse } = openCounter();
    counter.accepted(startMs);
    const taken = counter.takeAll();
    refuse(startMs + 60_000);
    if (taken) counter.putBack(taken);
    expect(counter.takeAll()?.tallies).toEqual([
      { id: 'r:1', atMs: startMs, accepted: 1, refused: 0 },
      { id: 'r:2', atMs: startMs + 60_000, accepted: 0, refused: 1 },
    ]);
  });
});
