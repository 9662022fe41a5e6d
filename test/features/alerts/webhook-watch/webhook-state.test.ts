import {
  array,
  assert,
  constantFrom,
  integer,
  nat,
  option,
  property,
  record,
  shuffledSubarray,
  tuple,
} from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  judgeWebhooks,
  nothingSeen,
  readBatch,
  readState,
  takeIn,
  type WebhookBatch,
  type WebhookState,
} from '../../../../src/features/alerts/webhook-watch/webhook-state.ts';

const startMs = 1_800_000_000_000;
const rules = { silenceMs: 3_600_000, refusals: 5, missingMs: 1_800_000 };
const atMs = integer({ min: startMs, max: startMs + 3_600_000 });

/** Ids are given once; the same charge may be seen twice, at the one time. */
const batches = array(
  record({
    accepted: option(atMs, { nil: undefined }),
    refused: array(atMs, { maxLength: 8 }),
    charges: array(integer({ min: 0, max: 20 })),
    tallies: array(record({ atMs, accepted: nat(20), refused: nat(20) }), { maxLength: 3 }),
  }),
  { maxLength: 8 },
).map((all) =>
  all.map(({ accepted, refused, charges, tallies }, batch): WebhookBatch => {
    const refusals = refused
      .filter((at) => accepted === undefined || at > accepted)
      .map((at, index) => ({ id: `${batch}:${index}`, atMs: at }));
    const approvals = charges.map((charge) => ({
      reference: `pay-${charge}`,
      atMs: startMs + charge * 150_000,
    }));
    return {
      refusals,
      approvals,
      tallies: tallies.map((tally, index) => ({ ...tally, id: `${batch}:${index}` })),
      ...(accepted === undefined ? {} : { acceptedAtMs: accepted }),
    };
  }),
);

function known(all: readonly WebhookBatch[]): WebhookState {
  const { refusals, tallies, ...rest } = all.reduce(takeIn, nothingSeen);
  return { ...rest, refusals: inOrder(refusals), tallies: inOrder(tallies) };
}

function inOrder<T extends { id: string; atMs: number }>(all: readonly T[]): T[] {
  return all.toSorted((a, b) => a.atMs - b.atMs || a.id.localeCompare(b.id));
}

describe('takeIn', () => {
  it('knows the same in whatever order batches come, and however often', () => {
    assert(
      property(
        batches.chain((all) =>
          tuple(constantFrom(all), shuffledSubarray(all, { minLength: all.length }), shuffledSubarray(all)),
        ),
        ([all, shuffled, again]) => {
          expect(known([...shuffled, ...again])).toEqual(known(all));
        },
      ),
    );
  });

  it('survives being written and read', () => {
    assert(
      property(batches, (all) => {
        const read = all.map((batch) => readBatch(JSON.stringify(batch)));
        const judged = judgeWebhooks(read.reduce(takeIn, nothingSeen), rules, startMs + 7_200_000);
        expect(readState(JSON.stringify(judged))).toEqual(judged);
      }),
    );
  });

  it('stays small, whatever comes', () => {
    const many = Array.from({ length: 5_000 }, (_, index) => ({ id: `r:${index}`, atMs: startMs + index }));
    const approvals = many.map(({ atMs }) => ({ reference: `pay-${atMs}`, atMs }));
    const tallies = many.map((one) => ({ ...one, accepted: 1_000, refused: 1_000 }));
    const state = takeIn(nothingSeen, { refusals: many, approvals, tallies });
    expect(JSON.stringify(state).length).toBeLessThan(20_000);
    expect(state.refusals.at(-1)?.id).toBe('r:4999');
    expect(state.approvals[0]?.atMs).toBe(startMs);
    expect(state.tallies.at(-1)?.id).toBe('r:4999');
  });

  it('reads what an older release left, which counted refusals in a row alone', () => {
    const batch = readBatch(JSON.stringify({ acceptedAtMs: startMs, refusals: [], approvals: [] }));
    const state = readState(JSON.stringify({ approvals: [], refusals: [], missing: [], toTell: [] }));
    expect(takeIn(state, batch)).toEqual({ ...nothingSeen, acceptedAtMs: startMs });
  });
});

describe('judgeWebhooks', () => {
  it('decides nothing twice on what it has decided', () => {
    assert(
      property(batches, integer({ min: 0, max: 7_200_000 }), (all, laterMs) => {
        const nowMs = startMs + laterMs;
        const once = judgeWebhooks(all.reduce(takeIn, nothingSeen), rules, nowMs);
        expect(judgeWebhooks(once, rules, nowMs)).toEqual(once);
      }),
    );
  });
});
