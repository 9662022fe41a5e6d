import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Approval, ApprovalTerms } from '../../../src/domain/approval.ts';
import { openRedisStore } from '../../../src/store/redis-store.ts';
import { openSqliteStore } from '../../../src/store/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { countOf } from '../../support/counts.ts';
import { findProgram } from '../../support/programs.ts';
import { redisForTests } from '../../support/redis-for-tests.ts';
import {
  openApprovalWorld,
  startApprovals,
  type ApprovalProcess,
  type ApprovalWorld,
} from '../approval-house.ts';
import { ada, bola, everyPoint, minuteMs, reference, submit, viewId, type Points } from '../charge-house.ts';

type What = ApprovalTerms['kind'];
const whats: What[] = ['charge', 'card_email', 'redrive'];
const change = {
  tokenKey: 'canary-token',
  card: {},
  currentEmail: 'a@example.com',
  newEmail: 'b@example.com',
};

/** What somebody asks for; before anything can be killed. */
async function ask(process: ApprovalProcess, what: What): Promise<Approval> {
  const result = await askFor(process, what);
  if (result.kind !== 'awaiting_approval') throw new Error(result.kind);
  return result.approval;
}

async function askFor(process: ApprovalProcess, what: What) {
  switch (what) {
    case 'charge':
      return await submit(process);
    case 'card_email': {
      const draft = await process.cardEmails.keepDraft(viewId, change);
      return await process.cardEmails.begin({ viewId, draft, by: ada });
    }
    case 'redrive': {
      const terms = { kind: 'redrive', channel: 'C0ALERTS1' } as const;
      const approval = await process.approvals.request({ id: 'apr-1', terms, by: ada, rule: '', needed: 1 });
      return { kind: 'awaiting_approval' as const, approval };
    }
  }
}

async function decide(process: ApprovalProcess, { id, termsHash }: Approval): Promise<void> {
  await process.approvals.approve({ id, by: bola, termsHash });
  await process.drained();
}

/** Gives a store its work when its time has come, or goes on to when it has. */
type Recover = (world: ApprovalWorld, process: ApprovalProcess, id: string) => Promise<void>;

/** The click, killed; then another replica, which may be killed too; then one that lives. */
async function playKilled(
  world: ApprovalWorld,
  {
    what,
    killAt,
    killAgainAt = Infinity,
    recover,
  }: { what: What; killAt: Points; killAgainAt?: number; recover: Recover },
): Promise<Approval | undefined> {
  const approval = await ask(startApprovals(world), what);
  await Promise.race([decide(startApprovals(world, killAt), approval), killAt.killed]);
  const secondPoints = everyPoint(killAgainAt);
  const second = startApprovals(world, secondPoints);
  await Promise.race([recover(world, second, approval.id), secondPoints.killed]);
  // A redelivered click, or the approver's second try after “something went wrong”.
  const last = startApprovals(world);
  await decide(last, approval);
  await recover(world, last, approval.id);
  expect(last.failures).toEqual([]);
  return await last.approvals.find(approval.id);
}

function judge(world: ApprovalWorld, what: What, end: Approval | undefined): string[] {
  const decisions = [...world.audited.values()].filter((entry) => entry.what === 'decision').length;
  const wrongs: [boolean, string][] = [
    [end?.state.kind !== 'executed', `ends ${end?.state.kind}`],
    [end?.approvals.length !== 1, `${end?.approvals.length} approvals`],
    [!world.told.has('executed'), 'its end is not told'],
    [decisions !== 1, `${decisions} decisions audited`],
  ];
  const result = end?.state.kind === 'executed' ? end.state.result : '';
  return [
    ...wrongs.filter(([isWrong]) => isWrong).map(([, words]) => words),
    ...doneWrongly(world, what, result),
  ];
}

function doneWrongly(world: ApprovalWorld, what: What, result: string): string[] {
  switch (what) {
    case 'charge': {
      const isOnce = world.bank.posts.join() === reference && world.bank.charges.has(reference);
      return isOnce ? [] : [`charged as [${world.bank.posts.join()}]`];
    }
    case 'card_email': {
      // A call that was marked and then lost may never have left.
      const least = result.startsWith('The service’s answer was lost') ? 0 : 1;
      const times = world.emailChanges.length;
      return times >= least && times <= 1 ? [] : [`changed ${times} times`];
    }
    case 'redrive':
      // Twice is the same as once.
      return world.redriven.length > 0 ? [] : ['not delivered again'];
  }
}

/** Killed at each point of the way from the click to the end; every so many on a store that is slow. */
async function killEverywhere(what: What, open: () => Promise<ApprovalWorld>, recover: Recover, every = 1) {
  const whole = everyPoint();
  const undisturbed = await open();
  const wrong = judge(undisturbed, what, await playKilled(undisturbed, { what, killAt: whole, recover }));
  let kills = 0;
  for (let killAt = 0; killAt < whole.passed.length; killAt += every) {
    for (const killAgainAt of [Infinity, (killAt * 7) % 40]) {
      const world = await open();
      const end = await playKilled(world, { what, killAt: everyPoint(killAt), killAgainAt, recover });
      kills += 1;
      const at = `killed at ${killAt} (${whole.passed[killAt]}), then at ${killAgainAt}`;
      wrong.push(...judge(world, what, end).map((words) => `${at}: ${words}`));
    }
  }
  return { wrong, kills, points: whole.passed.length };
}

/** On a store that is slow: at every so many awaits. */
const everySo = countOf({ full: 3, share: 15 });

/** A clock that is the store's too: what is due is taken as the worker takes it. */
const workOn: Recover = async (_world, process) => await process.workFor(5 * minuteMs);

describe.each(whats)('an approved %s killed at every await between the click and its end', (what) => {
  it('is executed once, by whoever carries on', async () => {
    const { wrong, points } = await killEverywhere(what, async () => openApprovalWorld(), workOn);
    expect(wrong).toEqual([]);
    expect(points).toBeGreaterThan(20);
  });

  it('is executed once on SQLite too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'payops-approvals-'));
    const stores: Store[] = [];
    const { wrong } = await killEverywhere(
      what,
      async () => {
        const world = openApprovalWorld();
        const path = join(folder, `${stores.length}.sqlite`);
        const store = openSqliteStore({ path, now: () => world.clock.nowMs });
        stores.push(store);
        return { ...world, store: { ...store, keys: () => [] } };
      },
      workOn,
      everySo,
    );
    await Promise.all(stores.map((store) => store.close()));
    rmSync(folder, { recursive: true });
    expect(wrong).toEqual([]);
  });
});

/** Its clock is its own: the records are handed over as they stand, ever later by ours. */
const handOver: Recover = async (world, process, id) => {
  for (let round = 0; round < 16; round += 1) {
    world.clock.nowMs += minuteMs / 3;
    for (const key of [`approval:${id}`, `charge:${id}`]) {
      // oxlint-disable-next-line no-await-in-loop -- as a worker does
      const entry = await world.store.read(key);
      // oxlint-disable-next-line no-await-in-loop
      if (entry) await process.workOn(entry);
    }
  }
};

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: approvals killed on Redis, because redis-server is not installed.');
describe.skipIf(missing)('an approval killed at some awaits on Redis', () => {
  const { connection } = redisForTests();

  it.each(whats)('is executed once: %s', async (what) => {
    let worlds = 0;
    const { wrong } = await killEverywhere(
      what,
      async () => {
        worlds += 1;
        const store = openRedisStore(connection().client, { prefix: `${what}-${worlds}` });
        return { ...openApprovalWorld(), store: { ...store, keys: () => [] } };
      },
      handOver,
      everySo,
    );
    expect(wrong).toEqual([]);
  });
});
