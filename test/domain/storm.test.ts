import { describe, expect, it } from 'vitest';
import {
  afterStorm,
  arrive,
  calm,
  endsAtMs,
  tellSingly,
  type Arrival,
  type ChannelStorm,
} from '../../src/domain/storm.ts';

const windowMs = 300_000;

function arrival(number: number, more: Partial<Arrival> = {}): Arrival {
  return { id: `alert-${number}`, group: '', threshold: 3, ...more };
}

/** What each of the arrivals got, one a second, and the state they left. */
function run(arrivals: readonly Arrival[], from: ChannelStorm = calm, startMs = 0, everyMs = 1_000) {
  let state = from;
  const storms = arrivals.map((one, index) => {
    const nowMs = startMs + index * everyMs;
    const verdict = arrive(state, one, { nowMs, windowMs, newStorm: `storm-${nowMs}` });
    state = verdict.next ?? state;
    return verdict.storm;
  });
  return { storms, state };
}

describe('the storm of a channel', () => {
  it('counts nothing that a clock an hour ahead let through, so that an hour of calm is no storm', () => {
    const { state } = run([arrival(1), arrival(2), arrival(3)], calm, 3_600_000);
    expect(run([arrival(4), arrival(5), arrival(6)], state, 0).storms).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('begins with the first alert past the threshold, and takes all that follow', () => {
    const { storms, state } = run([1, 2, 3, 4, 5].map((number) => arrival(number)));
    expect(storms).toEqual([undefined, undefined, undefined, 'storm-3000', 'storm-3000']);
    expect(state.storm).toEqual({ id: 'storm-3000', sinceMs: 3_000, groups: [''], above: [] });
  });

  it('takes in what came before it and was not told yet, and knows what was', () => {
    const { state: calmYet } = run([1, 2, 3].map((number) => arrival(number)));
    const { state } = run([arrival(4)], tellSingly(calmYet, 'alert-1'), 3_000);
    expect(state.storm?.above).toEqual(['alert-1']);
    expect(run([arrival(2)], state, 4_000).storms).toEqual(['storm-3000']);
  });

  it('gives the same alert the same answer, and counts it once', () => {
    const { storms } = run([1, 1, 1, 1, 2, 3].map((number) => arrival(number)));
    expect(storms).toEqual(Array.from({ length: 6 }));
  });

  it('does not begin while the alerts of a window stay below the threshold, however many come', () => {
    const many = Array.from({ length: 500 }, (_, index) => arrival(index));
    const { storms, state } = run(many, calm, 0, windowMs / 3);
    expect(new Set(storms)).toEqual(new Set([undefined]));
    expect(state.singles.length).toBeLessThanOrEqual(3);
  });

  it('never begins with a threshold of 0, and such alerts pass through one that is on', () => {
    const { state } = run([1, 2, 3, 4].map((number) => arrival(number)));
    expect(run([arrival(9, { threshold: 0 })], state).storms).toEqual([undefined]);
  });

  it('counts a rule’s own threshold for itself; past it its alerts join the one storm of the channel', () => {
    const { state } = run([1, 2, 3, 4].map((number) => arrival(number)));
    const vip = [5, 6].map((number) => arrival(number, { group: 'vip', threshold: 1 }));
    const { storms, state: after } = run(vip, state, 4_000);
    expect(storms).toEqual([undefined, 'storm-3000']);
    expect(after.storm?.groups).toEqual(['', 'vip']);
  });

  it('is over when nothing was added for a window, and what comes then is told singly', () => {
    const { state } = run([1, 2, 3, 4].map((number) => arrival(number)));
    expect(state.storm && endsAtMs(state.storm, 10_000, windowMs)).toBe(310_000);
    expect(state.storm && endsAtMs(state.storm, undefined, windowMs)).toBe(303_000);
    const over = afterStorm(state, 310_000);
    expect(over.ended).toEqual({ id: 'storm-3000', sinceMs: 3_000, endedMs: 310_000, isTold: false });
    expect(run([arrival(8)], over, 310_000).storms).toEqual([undefined]);
  });
});
