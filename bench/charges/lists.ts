import type { ChargeIntent } from '../../src/features/charge/machine.ts';
import { restOfCharge } from '../../src/features/charge/charge-record.ts';
import {
  check,
  clocked,
  counted,
  inParallel,
  median,
  roundsEndAt,
  timed,
  type Figure,
  type Size,
} from './figures.ts';
import { approvedIntent, codeIntent, doubtfulIntent, recordOf } from './plans.ts';
import { openStage, type Stage } from './stage.ts';
import { callsInAll, counting, type Calls, type StoreKind } from './stores.ts';

const part = 'lists';
const chargesEach = 60;
/** Of each agent's sixty: these wait for a code, as many are in doubt, the others are paid. */
const codesEach = 5;
const doubtsEach = 5;

type House = {
  agents: number;
  stage: Stage;
  calls: Calls;
  codeMs: number[];
  doubtMs: number[];
  used: number[];
};

/** `/pay otp` and `/pay doubt`, of few agents and of many. */
export async function measureLists(kind: StoreKind, size: Size): Promise<Figure[]> {
  const { quick } = size;
  const houses: House[] = [];
  for (const agents of quick ? [2] : [5, 20, 100]) {
    // oxlint-disable-next-line no-await-in-loop -- one filling after the other
    houses.push(await fill(kind, agents));
  }
  const rounds = quick ? 3 : 40;
  const endsAt = roundsEndAt(size, quick ? 2_000 : 8_000);
  for (let round = 0; round < rounds && (round < 3 || performance.now() < endsAt); round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- they take turns
    for (const house of houses) await askBoth(house);
  }
  return houses.flatMap((house) => figuresOf(kind, house, houses[0] ?? house));
}

async function fill(kind: StoreKind, agents: number): Promise<House> {
  const opened = await kind.open();
  const { store, calls } = counting(opened.store);
  const stage = openStage(store);
  const { charges } = stage.deps;
  await inParallel(agents, agents, async (agent) => {
    for (let index = 0; index < chargesEach; index += 1) {
      const nowMs = Date.now();
      const intent = intentOf(index, `${agent}-${index}`, nowMs);
      const value = recordOf(intent, agentName(agent));
      const rest = restOfCharge(value, nowMs, 86_400_000);
      // oxlint-disable-next-line no-await-in-loop -- an agent makes one charge after the other
      const isNew = await charges.change(intent.reference, (before) =>
        before ? { kind: 'keep', result: false } : { kind: 'write', value, rest, result: true },
      );
      check(isNew, 'a charge was there already');
    }
  });
  return { agents, stage, calls, codeMs: [], doubtMs: [], used: [] };
}

function intentOf(index: number, name: string, nowMs: number): ChargeIntent {
  if (index < codesEach) return codeIntent(name, nowMs);
  return index < codesEach + doubtsEach ? doubtfulIntent(name, nowMs) : approvedIntent(name, nowMs);
}

function agentName(agent: number): string {
  return `U0AGENT${String(agent).padStart(3, '0')}`;
}

async function askBoth({ agents, stage, calls, codeMs, doubtMs, used }: House): Promise<void> {
  const agent = agentName(codeMs.length % agents);
  const [waiting, ms] = await clocked(() => stage.desk.waitingFor(agent));
  codeMs.push(ms);
  const before = callsInAll(calls);
  const [{ charges: inDoubt }, allMs] = await clocked(() => stage.desk.inDoubt());
  used.push(callsInAll(calls) - before);
  doubtMs.push(allMs);
  check(inDoubt.length === agents * doubtsEach, `${inDoubt.length} charges in doubt`);
  check(
    inDoubt.every(({ state }) => state.kind === 'confirming'),
    'a charge is listed that is not in doubt',
  );
  const oldestFirst = inDoubt.every((one, at) => one.submittedAt >= (inDoubt[at - 1]?.submittedAt ?? 0));
  check(oldestFirst, 'charges in doubt are not listed oldest first');
  check(waiting.length === codesEach, `${waiting.length} charges wait for a code`);
  check(
    waiting.every((charge) => charge.agent === agent && charge.state.kind === 'otp'),
    'somebody else’s charge is listed, or one that waits for no code',
  );
}

function figuresOf(kind: StoreKind, house: House, smallest: House): Figure[] {
  const about = { part, store: kind.name };
  const where = `${house.agents} agents × ${chargesEach}`;
  const than = `with ${smallest.agents} agents`;
  return [
    timed({ ...about, name: `${where}: /pay otp` }, house.codeMs, { ms: median(smallest.codeMs), to: than }),
    timed({ ...about, name: `${where}: /pay doubt` }, house.doubtMs, {
      ms: median(smallest.doubtMs),
      to: than,
    }),
    counted({ ...about, name: `${where}: store calls of /pay doubt` }, 'calls', median(house.used)),
  ];
}
