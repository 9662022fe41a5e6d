import { describe, expect, it } from 'vitest';
import {
  decide,
  executeWithinMs,
  nextLookAtMs,
  whyNotExecute,
  type ApprovalEvent,
} from '../../../src/features/approvals/approval-case.ts';
import type { Approval } from '../../../src/domain/approval.ts';
import { createRandom } from '../../chaos/random.ts';

const hourMs = 3_600_000;
const [ada, bola, chidi] = ['U0ADA0001', 'U0BOLA001', 'U0CHIDI01'];
const fresh: Approval = {
  id: 'apr-1',
  shown: {
    kind: 'card_email',
    card: 'card',
    terms: { card: {}, currentEmail: 'a@example.com', newEmail: 'b@example.com' },
  },
  termsHash: 'hash',
  rule: 'Changing a saved card’s e-mail needs one approver',
  by: ada,
  askedAtMs: 0,
  expiresAtMs: 4 * hourMs,
  needed: 1,
  approvals: [],
  isWarned: false,
  state: { kind: 'waiting' },
};
const approve = (by: string, termsHash = 'hash'): ApprovalEvent => ({ kind: 'approve', by, termsHash });

/** The one given after these events, each at its time. */
function after(approval: Approval, ...events: readonly (readonly [number, ApprovalEvent])[]): Approval {
  return events.reduce((before, [atMs, event]) => decide(before, event, atMs).approval, approval);
}

describe('a decision of a second person', () => {
  it('is the first that comes; whoever is later is told that it is over, and nothing changes', () => {
    const approved = decide(fresh, approve(bola), hourMs);
    expect(approved).toMatchObject({
      kind: 'decided',
      approval: { state: { kind: 'approved', atMs: hourMs }, approvals: [{ by: bola, atMs: hourMs }] },
    });
    const late: ApprovalEvent[] = [
      approve(chidi),
      { kind: 'refuse', by: chidi, reason: 'no' },
      { kind: 'withdraw', by: ada },
    ];
    for (const event of late) {
      const judged = decide(approved.approval, event, hourMs + 1);
      expect(judged).toEqual({ kind: 'over', approval: approved.approval });
    }
  });

  const half = after({ ...fresh, needed: 2 }, [1, approve(bola)]);
  const [own, last] = [{ kind: 'refuse', by: ada, reason: 'x' } as const, fresh.expiresAtMs];
  it.each<[string, Approval, ApprovalEvent, number, string, string]>([
    ['is never the requester’s approval', fresh, approve(ada), 1, 'own_request', 'waiting'],
    ['is never the requester’s refusal', fresh, own, 1, 'own_request', 'waiting'],
    ['is taken back by the requester', fresh, { kind: 'withdraw', by: ada }, 1, 'decided', 'withdrawn'],
    ['is taken back by nobody else', fresh, { kind: 'withdraw', by: bola }, 1, 'not_theirs', 'waiting'],
    ['is not the same person’s twice', half, approve(bola), 2, 'approved_before', 'waiting'],
    ['is enough by another person', half, approve(chidi), 2, 'decided', 'approved'],
    ['is no by one who said yes', half, { kind: 'refuse', by: bola, reason: 'x' }, 2, 'decided', 'refused'],
    ['is none about other terms', fresh, approve(bola, 'another'), 1, 'other_terms', 'waiting'],
    ['is in time until its end', fresh, approve(bola), last - 1, 'decided', 'approved'],
    ['is over at its end, and that is no refusal', fresh, approve(bola), last, 'over', 'expired'],
  ])('%s', (...[, before, event, atMs, kind, state]) => {
    const judged = decide(before, event, atMs);
    expect(judged).toMatchObject({ kind, approval: { state: { kind: state } } });
    expect(judged.approval === before).toBe(state === 'waiting');
  });

  it('is warned of once when three quarters of its time are over, and expires by its clock alone', () => {
    expect(nextLookAtMs(fresh)).toBe(3 * hourMs);
    expect(decide(fresh, { kind: 'due' }, 3 * hourMs - 1).kind).toBe('nothing_due');
    const warned = after(fresh, [3 * hourMs, { kind: 'due' }]);
    expect(warned).toEqual({ ...fresh, isWarned: true });
    expect(decide(warned, { kind: 'due' }, 3 * hourMs + 1).kind).toBe('nothing_due');
    expect(nextLookAtMs(warned)).toBe(4 * hourMs);
    const expired = after(warned, [4 * hourMs, { kind: 'due' }]);
    expect(expired.state).toEqual({ kind: 'expired', atMs: 4 * hourMs });
    expect(nextLookAtMs(expired)).toBeUndefined();
  });

  it('is executed or stopped once, and only what was approved', () => {
    const done: ApprovalEvent = { kind: 'executed', result: 'done' };
    expect(decide(fresh, done, 1)).toEqual({ kind: 'over', approval: fresh });
    const executed = after(fresh, [1, approve(bola)], [2, done]);
    expect(executed.state).toEqual({ kind: 'executed', atMs: 2, result: 'done' });
    expect(decide(executed, { kind: 'stopped', why: 'late' }, 3)).toEqual({
      kind: 'over',
      approval: executed,
    });
  });
});

describe('whyNotExecute', () => {
  const approved = after(fresh, [hourMs, approve(bola)]);

  it('lets through what was approved in time, for as long as the request would have lasted', () => {
    expect(whyNotExecute(approved, 'hash', hourMs)).toBeUndefined();
    expect(whyNotExecute(approved, 'hash', fresh.expiresAtMs - 1)).toBeUndefined();
    expect(whyNotExecute(approved, 'hash', fresh.expiresAtMs)).toContain('its time was over');
    const lastMoment = after(fresh, [fresh.expiresAtMs - 1, approve(bola)]);
    expect(whyNotExecute(lastMoment, 'hash', fresh.expiresAtMs)).toBeUndefined();
    expect(whyNotExecute(lastMoment, 'hash', fresh.expiresAtMs - 1 + executeWithinMs)).toBeDefined();
  });

  it.each<[string, Approval, string]>([
    ['other terms', approved, 'another'],
    ['too few people', { ...approved, needed: 2 }, 'hash'],
    [
      'one person twice',
      { ...approved, needed: 2, approvals: [...approved.approvals, ...approved.approvals] },
      'hash',
    ],
    ['the requester', { ...approved, approvals: [{ by: ada, atMs: 1 }] }, 'hash'],
    ['an approval after the end', { ...approved, approvals: [{ by: bola, atMs: 4 * hourMs }] }, 'hash'],
    ['a refusal', { ...approved, state: { kind: 'refused', atMs: 1, by: bola, reason: '' } }, 'hash'],
  ])('stops %s, however it came to be kept', (_, kept, hash) => {
    expect(whyNotExecute(kept, hash, hourMs)).toEqual(expect.any(String));
  });
});

type Played = { approval: Approval; decisions: number; executions: number; problems: string[] };

/** Whatever happens in whatever order: five people, some of them twice, two replicas' clocks and a worker. */
function play(seed: number): string[] {
  const random = createRandom(seed);
  const people = [ada, bola, chidi, 'U0DAYO001', 'U0EFE0001'];
  const approval: Approval = { ...fresh, needed: 1 + random.below(3) };
  let played: Played = { approval, decisions: 0, executions: 0, problems: [] };
  let nowMs = 0;
  for (let turn = 0; turn < 40; turn += 1) {
    nowMs += random.below(hourMs / 2);
    const event = pick(random.below(8), random.pick(people), random.chance(0.1) ? 'another' : 'hash');
    // Replicas' clocks differ a little.
    played = step(played, event, nowMs + random.below(2_000));
  }
  return endProblems(played, nowMs).map((problem) => `seed ${seed}: ${problem}`);
}

function step(played: Played, event: ApprovalEvent, nowMs: number): Played {
  const { approval: before, problems } = played;
  const { kind, approval } = decide(before, event, nowMs);
  const isEnd = before.state.kind === 'waiting' && approval.state.kind !== 'waiting';
  const isExecuted = event.kind === 'executed' && kind === 'decided';
  const isChangedWrongly = kind !== 'decided' && kind !== 'over' && approval !== before;
  return {
    approval,
    decisions: played.decisions + (isEnd && approval.state.kind !== 'expired' ? 1 : 0),
    executions: played.executions + (isExecuted ? 1 : 0),
    problems: [
      ...problems,
      ...(isExecuted && othersOf(approval) < approval.needed ? ['executed without enough others'] : []),
      ...(isChangedWrongly ? [`changed by what was ${kind}`] : []),
    ],
  };
}

/** So many different people other than whoever asked have approved it in time. */
function othersOf({ approvals, by, expiresAtMs }: Approval): number {
  const inTime = approvals.filter((one) => one.atMs < expiresAtMs && one.by !== by);
  return new Set(inTime.map((one) => one.by)).size;
}

function endProblems({ approval, decisions, executions, problems }: Played, nowMs: number): string[] {
  const last = decide(approval, { kind: 'due' }, fresh.expiresAtMs + nowMs).approval;
  const stop: ApprovalEvent = { kind: 'stopped', why: 'late' };
  const end = last.state.kind === 'approved' ? decide(last, stop, nowMs).approval : last;
  const isOpen = end.state.kind === 'waiting' || end.state.kind === 'approved';
  return [
    ...problems,
    ...(isOpen ? ['never ends'] : []),
    ...(decisions > 1 ? [`${decisions} decisions`] : []),
    ...(executions > 1 ? [`${executions} executions`] : []),
  ];
}

function pick(which: number, by: string, termsHash: string): ApprovalEvent {
  if (which < 4) return { kind: 'approve', by, termsHash };
  const others: ApprovalEvent[] = [
    { kind: 'due' },
    { kind: 'refuse', by, reason: 'no' },
    { kind: 'withdraw', by },
    { kind: 'executed', result: 'done' },
  ];
  return others[which - 4] ?? { kind: 'due' };
}

it('has one decision and one execution at most, by enough others in time, and an end, in 20,000 histories', () => {
  expect(Array.from({ length: 20_000 }, (_, seed) => play(seed)).flat()).toEqual([]);
});
