import { array, assert, integer, nat, option, property, record, shuffledSubarray, tuple } from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  nothingSeen,
  stepWebhooks,
  webhookState,
  type Seen,
  type WebhookState,
} from '../../../../src/features/alerts/webhook-watch/webhook-state.ts';

const startMs = 1_800_000_000_000;
const rules = { silenceMs: 3_600_000, refusals: 5, missingMs: 1_800_000 };
const atMs = integer({ min: startMs, max: startMs + 3_600_000 });

/** The same charge may be seen twice, at the one time. */
const batches = array(
  record({
    accepted: option(atMs, { nil: undefined }),
    charges: array(integer({ min: 0, max: 20 })),
    tally: record({ atMs, accepted: nat(20), refused: nat(20) }),
  }),
  { maxLength: 8 },
).map((all) =>
  all.map(({ accepted, charges, tally }): Seen => ({
    tally,
    processed: charges.map((one) => ({ reference: `pay-${one}`, atMs: startMs + one * 150_000 })),
    ...(accepted === undefined ? {} : { acceptedAtMs: accepted }),
  })),
);

function after(all: readonly Seen[]): WebhookState {
  return all.reduce(
    (state, seen) => stepWebhooks(state, { kind: 'seen', seen }, startMs, rules),
    nothingSeen(startMs),
  );
}

function known(all: readonly Seen[]): unknown {
  const { tallies, ...rest } = after(all);
  return { ...rest, tallies: tallies.map((one) => JSON.stringify(one)).toSorted() };
}

function judged(state: WebhookState, nowMs: number): WebhookState {
  return stepWebhooks(state, { kind: 'judged', come: new Set() }, nowMs, rules);
}

describe('what is known of webhooks', () => {
  it('is the same in whatever order the replicas’ counts come', () => {
    assert(
      property(
        batches.chain((all) => tuple(array(integer()), shuffledSubarray(all, { minLength: all.length }))),
        ([, shuffled]) => {
          expect(known(shuffled)).toEqual(known(shuffled.toReversed()));
        },
      ),
    );
  });

  it('survives being written and read', () => {
    assert(
      property(batches, (all) => {
        const state = judged(after(all), startMs + 7_200_000);
        expect(webhookState.parse(JSON.parse(JSON.stringify(state)))).toEqual(state);
      }),
    );
  });

  it('stays small, whatever comes', () => {
    const many = Array.from({ length: 5_000 }, (_, index): Seen => ({
      tally: { atMs: startMs + index, accepted: 0, refused: 1_000 },
      processed: [{ reference: `pay-${index}`, atMs: startMs + index }],
    }));
    const state = after(many);
    expect(JSON.stringify(state).length).toBeLessThan(20_000);
    expect(state.processed[0]?.atMs).toBe(startMs);
    expect(state.tallies.at(-1)?.atMs).toBe(startMs + 4_999);
  });

  it('decides nothing twice', () => {
    assert(
      property(batches, integer({ min: 0, max: 7_200_000 }), (all, laterMs) => {
        const once = judged(after(all), startMs + laterMs);
        expect(judged(once, startMs + laterMs)).toEqual(once);
      }),
    );
  });
});
