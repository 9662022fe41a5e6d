import { describe, expect, it } from 'vitest';
import {
  type Storm,
  type StormEvent,
  dueInMs,
  emptySummary,
  newStorm,
  settleMs,
  stepStorm,
  summarise,
} from '../../../../src/features/alerts/storm/storm.ts';

const windowMs = 300_000;
const paceMs = 5_000;

/** So many alerts, one a second from that time on; `above` of them stand above the digest. */
function counted(count: number, fromMs = 0, more: { above?: number; recovered?: number } = {}): StormEvent {
  const { above = 0, recovered = 0 } = more;
  const items = Array.from({ length: count }, (_, index) => {
    const atMs = fromMs + index * 1_000;
    const isAbove = index < above ? ({ isAbove: true } as const) : {};
    return { id: `alert-${index}`, receivedAtMs: atMs, addedAtMs: atMs, ...isAbove };
  });
  const summary = items.reduce(summarise, emptySummary);
  return { kind: 'counted', counted: { count, recovered, summary }, paceMs, windowMs };
}

/** What becomes of it, one event after the other; what changes nothing leaves it as it is. */
function after(events: readonly (readonly [StormEvent, number])[]): Storm {
  const joined = { kind: 'joined', group: '', above: ['a', 'b'] } as const;
  return events.reduce<Storm>(
    (storm, [event, nowMs]) => stepStorm(storm, event, nowMs) ?? storm,
    stepStorm(newStorm(0), joined, 0) ?? newStorm(0),
  );
}

const told: StormEvent = { kind: 'told' };
const stirred: StormEvent = { kind: 'stirred' };
const taken: StormEvent = { kind: 'taken', by: 'U1' };

describe('a storm', () => {
  it('tells its digest once the first alert is on its list, and again when there are more', () => {
    expect(after([[counted(2, 0, { above: 2 }), 1_000]]).untold).toEqual(['alerts']);
    const begun = after([[counted(3, 0, { above: 2 }), 1_000]]);
    expect([begun.untold, dueInMs(begun, 1_000)]).toEqual([['digest', 'alerts'], 0]);
    const more = after([
      [counted(3), 1_000],
      [told, 1_000],
      [counted(4), 6_000],
    ]);
    expect(more.untold).toEqual(['digest']);
  });

  it('is counted twice more after the last news, then at its end, and sooner if something stirs', () => {
    const once = after([
      [counted(3), 1_000],
      [told, 1_000],
    ]);
    expect([dueInMs(once, 1_000), stepStorm(once, stirred, 1_001)]).toEqual([paceMs, undefined]);
    const twice = stepStorm(once, counted(3), 6_000) ?? once;
    expect([twice.untold, dueInMs(twice, 6_000)]).toEqual([[], paceMs]);
    const quiet = stepStorm(twice, counted(3), 11_000) ?? twice;
    expect(dueInMs(quiet, 11_000)).toBe(windowMs - 11_000);
    const awake = stepStorm(quiet, stirred, 20_000);
    expect(awake && dueInMs(awake, 20_000)).toBe(1_000);
  });

  it('ends when fewer than three have come for a window, and takes in no more groups then', () => {
    expect(after([[counted(3), 299_999]])).not.toHaveProperty('endedMs');
    expect(after([[counted(3), 300_000]])).toMatchObject({ endedMs: 300_000, untold: ['digest'] });
    expect(after([[counted(5, 100_000), 300_000]])).not.toHaveProperty('endedMs');
    const over = after([[counted(3), 300_000]]);
    expect(stepStorm(over, { kind: 'joined', group: 'vip', above: [] }, 300_001)).toBeUndefined();
  });

  it('is counted two minutes after its end, and then rests until a payment resolves one of it', () => {
    const over = after([
      [counted(3), 300_000],
      [told, 300_000],
      [counted(3), 305_000],
      [counted(3), 310_000],
    ]);
    expect(dueInMs(over, 310_000)).toBe(settleMs - 10_000);
    const later = 300_000 + settleMs;
    const late = stepStorm(over, counted(4), later);
    expect(late?.untold).toEqual(['digest']);
    const settled = stepStorm(over, counted(3), later) ?? over;
    expect(dueInMs(settled, later)).toBeUndefined();
    const paid = stepStorm(settled, stirred, later + 9);
    expect(paid && dueInMs(paid, later + 9)).toBe(1_000);
  });

  it('is taken once, which its alerts and its digest show; the taker is told of what payments resolve', () => {
    const mine = after([
      [counted(3), 1_000],
      [told, 1_000],
      [taken, 2_000],
    ]);
    expect(mine).toMatchObject({ taken: { by: 'U1', at: 2_000 }, untold: ['digest', 'alerts'] });
    expect(stepStorm(mine, { kind: 'taken', by: 'U2' }, 2_001)).toBeUndefined();
    const paid = stepStorm({ ...mine, untold: [] }, counted(3, 0, { recovered: 1 }), 6_000);
    expect(paid?.untold).toEqual(['digest', 'taker']);
  });
});
