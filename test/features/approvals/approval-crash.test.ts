import { describe, expect, it } from 'vitest';
import type { Approval, ApprovalTerms } from '../../../src/domain/approval.ts';
import {
  openApprovalWorld,
  startApprovals,
  type ApprovalProcess,
  type ApprovalWorld,
} from '../approval-house.ts';
import { ada, bola, everyPoint, minuteMs, reference, submit, type Points } from '../charge-house.ts';

type What = ApprovalTerms['kind'];
const whats: What[] = ['charge', 'card_email'];
const change = {
  tokenKey: 'canary-token',
  card: {},
  currentEmail: 'a@example.com',
  newEmail: 'b@example.com',
};

/** What somebody asks for; before anything can be killed. */
async function ask(process: ApprovalProcess, what: What): Promise<Approval> {
  const draft = what === 'charge' ? '' : await process.cardEmails.keepDraft(change);
  const result = await (what === 'charge' ? submit(process) : process.cardEmails.begin(draft, ada));
  if (result.kind !== 'awaiting_approval') throw new Error(result.kind);
  return result.approval;
}

async function decide(process: ApprovalProcess, { id, termsHash }: Approval): Promise<void> {
  await process.approvals.approve({ id, by: bola, termsHash });
  await process.drained();
}

/** The click, killed; then another replica, which may be killed too; then one that lives. */
async function playKilled(
  world: ApprovalWorld,
  { what, killAt, killAgainAt = Infinity }: { what: What; killAt: Points; killAgainAt?: number },
): Promise<Approval | undefined> {
  const approval = await ask(startApprovals(world), what);
  await Promise.race([decide(startApprovals(world, killAt), approval), killAt.killed]);
  const secondPoints = everyPoint(killAgainAt);
  const second = startApprovals(world, secondPoints);
  await Promise.race([second.workFor(5 * minuteMs), secondPoints.killed]);
  // A redelivered click, or the approver's second try after “something went wrong”.
  const last = startApprovals(world);
  await decide(last, approval);
  await last.workFor(5 * minuteMs);
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
  }
}

/** Killed at each point of the way from the click to the end. */
async function killEverywhere(what: What) {
  const whole = everyPoint();
  const undisturbed = openApprovalWorld();
  const wrong = judge(undisturbed, what, await playKilled(undisturbed, { what, killAt: whole }));
  for (let killAt = 0; killAt < whole.passed.length; killAt += 1) {
    for (const killAgainAt of [Infinity, (killAt * 7) % 40]) {
      const world = openApprovalWorld();
      const end = await playKilled(world, { what, killAt: everyPoint(killAt), killAgainAt });
      const at = `killed at ${killAt} (${whole.passed[killAt]}), then at ${killAgainAt}`;
      wrong.push(...judge(world, what, end).map((words) => `${at}: ${words}`));
    }
  }
  return { wrong, points: whole.passed.length };
}

describe.each(whats)('an approved %s killed at every await between the click and its end', (what) => {
  it('is executed once, by whoever carries on', async () => {
    const { wrong, points } = await killEverywhere(what);
    expect(wrong).toEqual([]);
    expect(points).toBeGreaterThan(20);
  });
});
