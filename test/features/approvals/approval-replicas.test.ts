import { expect, it, onTestFinished } from 'vitest';
import type { Approval, ApprovalTerms } from '../../../src/domain/approval.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import {
  createApprovalRequests,
  type ApprovalRequests,
} from '../../../src/features/approvals/approval-requests.ts';
import { approvalPrefix, type Judged } from '../../../src/features/approvals/approval-case.ts';
import { createSealer } from '../../../src/store/sealed.ts';
import type { Store } from '../../../src/store/store.ts';
import { accountOf } from '../../support/account.ts';
import { countOf } from '../../support/counts.ts';
import { ada, bola, terms } from '../charge-house.ts';
import { onBothStores } from '../two-stores.ts';

const chidi = 'U0CHIDI01';
const times = countOf({ full: 200, share: 50 });
const atOnce = 20;
/** A real sealer: the same record never gives the same text twice. */
const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 7) }]);

/** One replica. `begun`: the charges that all replicas began. */
function replica(store: Store, begun: string[]) {
  const approvals = { channel: 'C0APPROVE1', expire_minutes: 240, rules: [] };
  const account = accountOf({
    store,
    sealer,
    now: Date.now,
    settings: { policy: { channels: { alerts: 'C0ALERTS01' }, roles: {}, timezone: 'UTC', approvals } },
    people: {
      rolesOf: async () => ({ kind: 'known', roles: ['support-agent'] }),
      holdersOf: async () => [],
    },
  });
  return createApprovalRequests(account, {
    // No charge is ever found, so a second run would charge again.
    findCharge: async () => undefined,
    submitApproved: async ({ reference }) => {
      begun.push(reference);
      return { kind: 'begun' };
    },
    twinsOf: async () => [],
    isAlertPaid: async () => false,
    changeCardEmail: () => Promise.reject(new Error('not asked')),
  });
}

function termsOf(index: number): ApprovalTerms {
  return {
    kind: 'charge',
    reference: `pay-${index}` as OrderReference,
    terms,
    card: 'card',
    viewId: `V${index}`,
  };
}

type Click = (requests: ApprovalRequests['requests'], approval: Approval) => Promise<Judged | undefined>;
const approve =
  (by: string): Click =>
  (requests, { id, termsHash }) =>
    requests.approve({ id, by, termsHash });
const refuse: Click = (requests, { id }) => requests.refuse({ id, by: chidi, reason: 'Not this one' });

function who(approval: Approval): string | undefined {
  return approval.state.kind === 'refused' ? approval.state.by : approval.approvals[0]?.by;
}

function expectOneDecision(all: readonly [Judged, Judged][]): void {
  for (const results of all) {
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(['decided', 'over']);
    const [decided, over] = results.toSorted((first) => (first.kind === 'decided' ? -1 : 1));
    if (decided?.kind !== 'decided' || over?.kind !== 'over') throw new Error('neither decided nor over');
    // The second person reads who decided first.
    expect(who(over.approval)).toBe(who(decided.approval));
  }
}

onBothStores('two approvers who click at once', (open) => {
  /** Many requests, each clicked on both replicas at once while both workers run. */
  async function race(clicks: readonly [Click, Click], needed = 1) {
    const { one, two, close } = await open();
    onTestFinished(close);
    const begun: string[] = [];
    const replicas = [replica(one, begun), replica(two, begun)] as const;
    async function play(index: number) {
      const id = `pay-${index}`;
      const asked = await replicas[index % 2]!.requests.request({
        id,
        terms: termsOf(index),
        by: ada,
        rule: '',
        needed,
      });
      const results = await Promise.all([
        clicks[0](replicas[0].requests, asked),
        clicks[1](replicas[1].requests, asked),
        ...replicas.map(async (replica) => {
          const entry = await one.read(approvalPrefix + id);
          if (entry) await replica.cases[0]?.work(entry);
        }),
      ]);
      return results.slice(0, 2) as [Judged, Judged];
    }
    const all: [Judged, Judged][] = [];
    for (let from = 0; from < times; from += atOnce) {
      all.push(...(await Promise.all(Array.from({ length: atOnce }, (_, index) => play(from + index)))));
    }
    await Promise.all(replicas.map(({ drained }) => drained()));
    const ends = await Promise.all(all.map((_, index) => replicas[0].requests.find(`pay-${index}`)));
    return { all, begun, ends };
  }

  it('make one decision each time if both approve, and it is executed once', async () => {
    const { all, begun, ends } = await race([approve(bola), approve(chidi)]);
    expectOneDecision(all);
    expect(begun.toSorted()).toEqual(all.map((_, index) => `pay-${index}`).toSorted());
    expect(ends.every((end) => end?.state.kind === 'executed' && end.approvals.length === 1)).toBe(true);
  });

  it('make one decision each time if one approves and one refuses', async () => {
    const { all, begun, ends } = await race([approve(bola), refuse]);
    expectOneDecision(all);
    const executed = ends.flatMap((end) => (end?.state.kind === 'executed' ? [end.id] : []));
    expect(begun.toSorted()).toEqual(executed.toSorted());
    expect(ends.every((end) => end?.state.kind === 'executed' || end?.state.kind === 'refused')).toBe(true);
  });

  it('both count if two approvals are needed, and the request is executed once', async () => {
    const { all, begun, ends } = await race([approve(bola), approve(chidi)], 2);
    expect(all.flat().every(({ kind }) => kind === 'decided')).toBe(true);
    expect(begun.toSorted()).toEqual(all.map((_, index) => `pay-${index}`).toSorted());
    expect(ends.every((end) => end?.approvals.length === 2)).toBe(true);
  });

  it('count once if they are the same person on both replicas', async () => {
    const { all, begun } = await race([approve(bola), approve(bola)], 2);
    for (const results of all)
      expect(results.map(({ kind }) => kind).toSorted()).toEqual(['approved_before', 'decided']);
    expect(begun).toEqual([]);
  });
});
