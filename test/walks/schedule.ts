import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import type { Random } from '../chaos/random.ts';

/** One run of the bot: from its start until it is killed. `frozenUntilMs`: it is stopped as by SIGSTOP, and goes on later. */
export type Process = {
  readonly name: string;
  /** By how much its clock is ahead. */
  readonly skewMs: number;
  isDead: boolean;
  frozenUntilMs: number;
};

/** `isPrompt`: a call outside with a deadline, which is over before much time has passed. */
type Gate = { process: Process | undefined; isPrompt: boolean; sinceMs: number; open: () => void };

/** Longer than any call outside may take is never let pass while one is under way. */
const longestCallMs = 8_000;

/**
 * Decides who goes on: whatever calls the store or the world outside waits at a gate before and after it, and one gate
 * is opened at a time. So a seed gives the same run, with everything that two replicas may do at once.
 */
export type Schedule = {
  /** Waits for its turn; for ever when its process is killed before. */
  pass(process: Process, isPrompt?: boolean): Promise<void>;
  /** A real call, which ends by itself and is waited for before anybody is given a turn. */
  call<T>(work: () => Promise<T>): Promise<T>;
  /** Until everything stands at a gate or has ended. */
  settle(): Promise<void>;
  /** Lets one of those who may go on; false when nobody waits. */
  openOne(): boolean;
  /** Whether somebody waits for an answer from outside that cannot come as late as in so long. */
  openPrompt(aheadMs: number): boolean;
  isOutside(process: Process): boolean;
  kill(process: Process): void;
};

export function createSchedule(random: Random, clock: { nowMs: number }): Schedule {
  let gates: Gate[] = [];
  const under = { way: 0 };

  function mayGoOn({ process }: Gate): boolean {
    return !process || process.frozenUntilMs <= clock.nowMs;
  }

  function openFrom(some: readonly Gate[]): boolean {
    if (some.length === 0) return false;
    const gate = random.pick(some);
    gates = gates.filter((one) => one !== gate);
    gate.open();
    return true;
  }

  const schedule: Schedule = {
    pass: (process, isPrompt = false) =>
      new Promise((resolve) => {
        if (process.isDead) return;
        gates.push({ process, isPrompt, sinceMs: clock.nowMs, open: resolve });
      }),
    async call(work) {
      under.way += 1;
      try {
        return await work();
      } finally {
        under.way -= 1;
      }
    },
    async settle() {
      do {
        // oxlint-disable-next-line no-await-in-loop -- what was let go on goes as far as it can
        await turn();
        // oxlint-disable-next-line no-await-in-loop
        await turn();
      } while (under.way > 0);
    },
    openOne: () => openFrom(gates.filter(mayGoOn)),
    openPrompt: (aheadMs) =>
      openFrom(
        gates.filter(({ isPrompt, sinceMs }) => isPrompt && clock.nowMs + aheadMs - sinceMs > longestCallMs),
      ),
    isOutside: (process) => gates.some((gate) => gate.process === process && gate.isPrompt),
    kill(process) {
      process.isDead = true;
      gates = gates.filter((gate) => gate.process !== process);
    },
  };
  rests.push = (open) => gates.push({ process: undefined, isPrompt: false, sinceMs: clock.nowMs, open });
  return schedule;
}

/** Where those rest who lost a swap to somebody faster. */
const rests = { push: (open: () => void): unknown => open() };

function atGate<Value>(_ms?: number, value?: Value): Promise<Value> {
  return new Promise((resolve) => rests.push(() => resolve(value as Value)));
}

/**
 * Whoever loses a swap rests for a random moment of real time; while this lasts, it waits for its turn like everybody
 * else. Nothing else in these operations waits for a real clock.
 */
export async function withoutRealRests<T>(work: () => Promise<T>): Promise<T> {
  const real = timers.setTimeout;
  Object.assign(timers, { setTimeout: atGate });
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    Object.assign(timers, { setTimeout: real });
    syncBuiltinESMExports();
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
