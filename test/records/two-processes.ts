import { StoreUnavailable } from '../../src/domain/failure.ts';
import type { StoredCase } from '../../src/records/cases.ts';
import type { AuditEntry } from '../../src/records/shapes.ts';
import { createSealer } from '../../src/store/sealed.ts';
import type { Entry, Store } from '../../src/store/store.ts';
import { createRandom, type Random } from '../chaos/random.ts';
import { memoryStore } from '../features/memory-store.ts';
import { aroundStore } from '../support/around-store.ts';
import { countOf } from '../support/counts.ts';

/**
 * A call of a process that waits to be carried out. `lose` gives its caller a lost answer, or an error if there is no
 * such answer.
 */
type Pending = { by: Process; run: () => Promise<void>; lose: () => void; fromMs: number };

/**
 * One process. Each call to the store or the outside waits until the test carries it out. A dead process gets no more
 * answers.
 */
export type Process = {
  readonly store: Store;
  isDead: boolean;
  call<T>(run: () => T | Promise<T>, lost?: () => T): Promise<T>;
  wait(ms: number): Promise<void>;
};

export type Act = () => Promise<unknown>;

/** The kind of case under test: its processes, and what people and senders do to it. */
export type Driven = {
  /** Starts a process, and returns its worker. */
  start: (process: Process, index: number) => { prefix: string; work: (entry: Entry) => Promise<unknown> };
  /**
   * Something that a person or sender may do now, through one of the processes. It may be done twice; its errors are
   * ignored.
   */
  act: (random: Random, index: number) => Act;
  /** What is wrong once nothing is left to do. */
  wrongs: () => Promise<string[]>;
};

export type World = {
  readonly random: Random;
  readonly clock: { nowMs: number };
  readonly store: Store & { keys(): string[] };
  readonly sealer: ReturnType<typeof createSealer>;
};

const leaseMs = 45_000;
const key = Buffer.alloc(32, 7);

/**
 * Drives many worlds, from a random seed on; `SEED=7 npx vitest run FILE` starts with that world. Returns what the first
 * bad one breaks. `isFull`: whether anything happened in a world; that less than `least` of them are full is wrong too.
 */
export async function driveWorlds(
  open: (world: World) => Driven,
  { share = 50, least = 1 / 2, isFull = ({ store }: World) => store.keys().length > 0 } = {},
): Promise<string[]> {
  const worlds = countOf({ full: 20_000, share });
  const firstSeed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1_000_000));
  let full = 0;
  for (let seed = firstSeed; seed < firstSeed + worlds; seed += 1) {
    const world = openWorld(seed);
    const wrongs = await drive(world, open(world));
    if (wrongs.length > 0) return [`SEED=${seed}`, ...wrongs];
    if (isFull(world)) full += 1;
  }
  return full > worlds * least ? [] : [`something happened in only ${full} of ${worlds} worlds`];
}

export function openWorld(seed: number): World {
  const clock = { nowMs: Date.UTC(2027, 0, 15, 8) };
  return {
    random: createRandom(seed),
    clock,
    store: memoryStore(clock),
    sealer: createSealer([{ id: 'k', key }]),
  };
}

/**
 * Drives a case through a random order of its calls in two processes, with lost answers, lost calls, killed processes,
 * processes that are suspended for hours, and clock changes. Then lets all work finish without failures.
 */
async function drive(world: World, driven: Driven): Promise<string[]> {
  const { random, clock, store } = world;
  const pending: Pending[] = [];
  const processes = [0, 1].map((index) => begin(index));

  function begin(index: number) {
    const process: Process = {
      store: aroundStore(store, (call) => process.call(call)),
      isDead: false,
      call: (run, lost) =>
        new Promise((resolve, reject) => {
          if (process.isDead) return;
          const answered = async (): Promise<void> => {
            const end = await Promise.resolve()
              .then(run)
              .then(
                (value) => () => resolve(value),
                (error: Error) => () => reject(error),
              );
            if (!process.isDead) end();
          };
          const lose = (): void => (lost ? resolve(lost()) : reject(new StoreUnavailable('lost')));
          pending.push({ by: process, run: answered, lose, fromMs: 0 });
        }),
      wait: (ms) =>
        new Promise((resolve) => {
          const fromMs = clock.nowMs + ms;
          pending.push({ by: process, run: async () => resolve(), lose: resolve, fromMs });
        }),
    };
    const { prefix, work } = driven.start(process, index);
    return {
      process,
      async round(): Promise<void> {
        const [entry] = await process.store.take(leaseMs);
        if (entry?.key.startsWith(prefix)) await work(entry);
        // A record of another kind, like a message: counts as done.
        else if (entry) await process.store.write(entry, entry.value);
      },
    };
  }
  function kill(index: number): void {
    const one = processes[index];
    if (!one) return;
    one.process.isDead = true;
    for (const call of pending.filter(({ by }) => by === one.process))
      pending.splice(pending.indexOf(call), 1);
    processes[index] = begin(index);
  }
  function next(): Pending | undefined {
    const ready = pending.filter(({ fromMs }) => fromMs <= clock.nowMs);
    const picked = ready.length === 0 ? undefined : random.pick(ready);
    if (picked) pending.splice(pending.indexOf(picked), 1);
    return picked;
  }
  async function letThrough(call: Pending, fate: number): Promise<void> {
    // Either the call never arrives, or it is carried out and its answer is lost.
    if (fate < 0.04) call.lose();
    else if (fate < 0.1) {
      const { isDead } = call.by;
      call.by.isDead = true;
      await call.run();
      call.by.isDead = isDead;
      call.lose();
    } else await call.run();
  }
  /** Differs after every change of a record. */
  async function versions(): Promise<string> {
    const entries = await Promise.all(store.keys().map((one) => store.read(one)));
    return entries.map((entry) => `${entry?.key} ${entry?.version}`).join();
  }
  for (let turn = 0; turn < 60 + random.below(120); turn += 1) {
    const what = random.next();
    const index = random.below(processes.length);
    if (what < 0.12) ignored(driven.act(random, index)());
    else if (what < 0.24) ignored(processes[index]?.round() ?? Promise.resolve());
    else if (what < 0.26) kill(index);
    else if (what < 0.36) clock.nowMs += random.pick([1, 500, 3_000, 20_000, 60_000, 900_000, 4 * 3_600_000]);
    else {
      const call = next();
      if (call) await letThrough(call, random.next());
    }
    await settled();
  }
  // From here on nothing fails: both processes are restarted, and people do nothing more.
  for (const index of processes.keys()) kill(index);
  let before = await versions();
  for (let quiet = 0, rounds = 0; quiet < 40 && rounds < 4_000; rounds += 1) {
    const round = processes[rounds % 2]?.round() ?? Promise.resolve();
    const end = { isOver: false };
    const over = (): void => void (end.isOver = true);
    round.then(over, over);
    while (!end.isOver || pending.some(({ fromMs }) => fromMs <= clock.nowMs)) {
      const call = next();
      if (call) await call.run();
      else if (!end.isOver) clock.nowMs += 100;
      await settled();
    }
    const after = await versions();
    quiet = after === before ? quiet + 1 : 0;
    before = after;
    clock.nowMs += Math.min(4 * 3_600_000, 1_000 * 2 ** Math.min(quiet, 14));
  }
  return await driven.wrongs();
}

/** Resolves once every process waits for a call. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function ignored(work: Promise<unknown>): void {
  work.catch(() => undefined);
}

export async function readCase<State>(
  { store, sealer }: Pick<World, 'store' | 'sealer'>,
  key: string,
): Promise<StoredCase<State> | undefined> {
  const entry = await store.read(key);
  return entry && (JSON.parse(sealer.open(key, entry.value)) as StoredCase<State>);
}

/** Checks every kind of case once it is at rest: everything is told, and the audit has each step once and unchanged. */
export function wrongOfCase(
  kept: StoredCase<unknown>,
  audited: Map<string, string[]>,
  ids: string[],
): string[] {
  const twice = [...audited]
    .filter(([, texts]) => new Set(texts).size > 1)
    .map(([id, texts]) => `audit has two of ${id}: ${texts.join()}`);
  const missing = ids.filter((id) => !audited.has(id)).map((id) => `audit lacks ${id}`);
  const more = [...audited.keys()]
    .filter((id) => !ids.includes(id))
    .map((id) => `audit has ${id}, which never was`);
  const untold = kept.told === kept.turn && kept.unwritten.length === 0 ? [] : ['not all of it is told'];
  return [...twice, ...missing, ...more, ...untold];
}

export function auditOf(process: Process, audited: Map<string, string[]>) {
  return (entry: AuditEntry): Promise<boolean> =>
    process.call(
      () => {
        audited.set(entry.id, [
          ...(audited.get(entry.id) ?? []),
          JSON.stringify(Object.entries(entry).toSorted(([one], [other]) => (one < other ? -1 : 1))),
        ]);
        return true;
      },
      () => false,
    );
}
