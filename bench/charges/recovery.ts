import { chargeKey, restOfCharge, type ChargeRecord } from '../../src/features/charge/charge-record.ts';
import type { Store } from '../../src/store/store.ts';
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
import { declinedIntent, lostIntent, recordOf, referenceFor } from './plans.ts';
import { openStage, sealer, type Stage } from './stage.ts';
import { callsInAll, counting, type Calls, type Opened, type StoreKind } from './stores.ts';

const part = 'recovery';
const agent = 'U0ADA00001';
const hourMs = 3_600_000;
const dueAtOnce = 5;

type Backlog = {
  pending: number;
  opened: Opened;
  stage: Stage;
  calls: Calls;
  /** Every take, also of what is to be told. */
  takes: readonly number[];
  takeMs: number[];
  workMs: number[];
  settledMs: number[];
  writeMs: number[];
  /** Store calls of the charges settled so far. */
  settledCalls: number;
  charges: number;
};

/**
 * How long one due charge takes behind ever more that are pending: taken, stepped, looked up, proven, told.
 * The backlogs are of one process and take turns, so that what else the machine does falls on all alike.
 */
export async function measureRecovery(kind: StoreKind, size: Size): Promise<Figure[]> {
  const { quick } = size;
  const sizes = quick ? [100, 1_000] : [1_000, 10_000, 100_000];
  const backlogs: Backlog[] = [];
  const figures: Figure[] = [];
  for (const pending of sizes) {
    // oxlint-disable-next-line no-await-in-loop -- one filling after the other
    const { backlog, made } = await fill(kind, pending);
    backlogs.push(backlog);
    figures.push(...made);
  }
  const rounds = quick ? 2 : 60;
  const endsAt = roundsEndAt(size, quick ? 3_000 : 20_000);
  for (let round = 0; round < rounds && (round < 5 || performance.now() < endsAt); round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- they take turns
    for (const backlog of backlogs) await settleSome(backlog, round);
  }
  // oxlint-disable-next-line no-await-in-loop
  for (const backlog of backlogs) await checkLeft(backlog);
  return [...figures, ...backlogs.flatMap((backlog) => figuresOf(kind, backlog, backlogs[0] ?? backlog))];
}

async function fill(kind: StoreKind, pending: number): Promise<{ backlog: Backlog; made: Figure[] }> {
  const opened = await kind.open();
  const { store, calls, takeMs } = counting(opened.store);
  const before = await opened.bytes();
  const [, ms] = await clocked(() =>
    inParallel(pending, 500, async (index) => {
      const nowMs = Date.now();
      const intent = declinedIntent(nameOf(pending, index), nowMs, hourMs * (1 + (index % 12)));
      check(await createCharge(opened.store, intent, nowMs), 'a pending charge was there already');
    }),
  );
  const bytes = (await opened.bytes()) - before;
  check((await opened.waitingLanes()) === pending, `not all of ${pending} charges are pending`);
  const stage = openStage(store);
  const lists = { takes: takeMs, takeMs: [], workMs: [], settledMs: [], writeMs: [] };
  const about = { part, store: kind.name };
  const name = `${pending} pending`;
  const made = [
    counted({ ...about, name: `${name}: records made (500 at once)` }, 'per s', pending / (ms / 1_000)),
    counted({ ...about, name: `${name}: room for each` }, 'bytes', bytes / pending),
  ];
  return { backlog: { pending, opened, stage, calls, ...lists, settledCalls: 0, charges: 0 }, made };
}

function nameOf(pending: number, index: number): string {
  return `pending-${pending}-${index}`;
}

function createCharge(store: Store, intent: ReturnType<typeof lostIntent>, nowMs: number): Promise<boolean> {
  const record = recordOf(intent, agent);
  return store.create(chargeKey(intent.reference), seal(record), restOfCharge(record, nowMs, 0));
}

function seal(record: ChargeRecord): string {
  return sealer.seal(chargeKey(record.intent.reference), JSON.stringify(record));
}

async function settleSome(backlog: Backlog, round: number): Promise<void> {
  const { opened, stage, pending } = backlog;
  const due = Array.from({ length: dueAtOnce }, (_, index) => `due-${pending}-${round}-${index}`);
  for (const name of due) {
    const nowMs = Date.now();
    const value = seal(recordOf(lostIntent(name, nowMs), agent));
    // The floor: one durable write of the same size.
    // oxlint-disable-next-line no-await-in-loop -- one after the other is how they are due
    const [, writeMs] = await clocked(() => opened.store.create(`floor:${name}`, value));
    backlog.writeMs.push(writeMs);
    // oxlint-disable-next-line no-await-in-loop
    check(await createCharge(opened.store, lostIntent(name, nowMs), nowMs), 'a due charge was there already');
  }
  // Those made due in one millisecond come in any order.
  const unsettled = new Set<string>(due.map(referenceFor));
  while (unsettled.size > 0) {
    // oxlint-disable-next-line no-await-in-loop
    const settled = await settleOne(backlog);
    check(unsettled.delete(settled), 'a charge was settled that was not due, or once more');
  }
  // oxlint-disable-next-line no-await-in-loop -- what is to be told goes, unmeasured, so that the next due is a charge
  while (await stage.workOnce());
  await stage.drained();
}

/** Which one it was. */
async function settleOne(backlog: Backlog): Promise<string> {
  const { opened, stage, calls } = backlog;
  const callsBefore = callsInAll(calls);
  const startedAt = performance.now();
  const worked = await stage.workOnce();
  const steppedAt = performance.now();
  await stage.drained();
  const settledAt = performance.now();
  backlog.takeMs.push(backlog.takes.at(-1) ?? Number.NaN);
  backlog.workMs.push(steppedAt - startedAt);
  backlog.settledMs.push(settledAt - startedAt);
  backlog.settledCalls += callsInAll(calls) - callsBefore;
  backlog.charges += 1;

  check(worked, 'nothing was due though a charge was');
  check(stage.failures.length === 0, `the story broke off: ${String(stage.failures[0])}`);
  const [reference, ...others] = stage.lookedUp.splice(0);
  check(reference !== undefined && others.length === 0, 'a due charge was not looked up once');
  const entry = await opened.store.read(chargeKey(reference));
  check(entry !== undefined, 'the charge is gone');
  const { intent } = stage.deps.charges.open(entry);
  check(intent.state.kind === 'approved' && intent.told.includes('approved'), 'not approved and told');
  check(intent.dueAt === undefined, 'the charge is due again though it is settled');
  return reference;
}

async function checkLeft({ opened, stage, pending }: Backlog): Promise<void> {
  check((await opened.waitingLanes()) === pending, 'charges that were not due are gone or were taken');
  for (let index = 0; index < pending; index += Math.ceil(pending / 50)) {
    // oxlint-disable-next-line no-await-in-loop -- a few
    const entry = await opened.store.read(chargeKey(referenceFor(nameOf(pending, index))));
    check(entry?.attempts === 0, 'a charge was taken before it was due');
    check(
      stage.deps.charges.open(entry).intent.state.kind === 'declined',
      'a charge was changed before its time',
    );
  }
}

function figuresOf(kind: StoreKind, backlog: Backlog, smallest: Backlog): Figure[] {
  const { pending, writeMs, takeMs, workMs, settledMs, settledCalls, charges } = backlog;
  const about = { part, store: kind.name };
  const growth = (least: number[]) => ({ ms: median(least), to: `with ${smallest.pending}` });
  const name = `${pending} pending`;
  return [
    timed({ ...about, name: `${name}: one bare write` }, writeMs, growth(smallest.writeMs)),
    timed({ ...about, name: `${name}: take` }, takeMs, growth(smallest.takeMs)),
    timed({ ...about, name: `${name}: take, step stored` }, workMs, growth(smallest.workMs)),
    timed({ ...about, name: `${name}: taken and settled` }, settledMs, growth(smallest.settledMs)),
    counted({ ...about, name: `${name}: store calls for it` }, 'calls', settledCalls / charges, [
      median(settledMs) / median(writeMs),
      'a bare write, in time',
    ]),
  ];
}
