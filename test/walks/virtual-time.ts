import { AsyncLocalStorage } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import type { Random } from '../chaos/random.ts';

/** One process of the bot. Its timers and calls belong to it: once it is dead, none of them continues. */
export type Run = { readonly name: string; isDead: boolean; heldUntilMs: number; underWay: number };

/** The current run; undefined outside of every bot. */
const running = new AsyncLocalStorage<Run | undefined>();

export function runOf(): Run | undefined {
  return running.getStore();
}

export function asRun<T>(run: Run | undefined, work: () => T): T {
  return running.run(run, work);
}

class Timer {
  isOn = true;
  dueMs: number;
  readonly order: number;
  readonly run: Run | undefined;
  readonly call: () => void;
  readonly everyMs: number | undefined;
  constructor(call: () => void, dueMs: number, order: number, everyMs?: number) {
    this.call = call;
    this.dueMs = dueMs;
    this.order = order;
    this.everyMs = everyMs;
    this.run = runOf();
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
  [Symbol.dispose](): void {
    this.isOn = false;
  }
}

/** Time passes only after this many turns of the event loop without activity. */
const quietTurns = 2;

/**
 * A clock that only moves when told to, with every timer and random source of this process, so that a run is repeatable.
 * Code may wait only for timers and what they trigger: no socket, no file. One at a time; `putBack` restores the real
 * ones.
 */
export class VirtualTime {
  nowMs: number;
  /** Counts signs of activity: timers, and what others add. */
  activity = 0;
  private timers: Timer[] = [];
  private orders = 0;

  constructor(startMs: number, random: Random) {
    this.nowMs = startMs;
    this.install(random);
  }

  /** Resolves after this time, unless its run is dead. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.add(resolve, ms));
  }

  /** Resolves when nothing continues without time passing. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < quietTurns;) {
      const before = this.activity;
      await new Promise((resolve) => setImmediate(resolve));
      quiet = this.activity === before ? quiet + 1 : 0;
    }
  }

  /** Lets time pass, timer by timer. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.nowMs + Math.round(ms);
    for (;;) {
      await this.settle();
      const next = this.next(untilMs);
      if (!next) break;
      this.nowMs = Math.max(this.nowMs, next.dueMs);
      this.fire(next);
    }
    this.nowMs = untilMs;
  }

  /** Moves the clock at once, like a machine that was suspended: timers that came due are called late, and once. */
  async leap(ms: number): Promise<void> {
    await this.settle();
    this.nowMs += Math.round(ms);
    await this.pass(0);
  }

  private next(untilMs: number): Timer | undefined {
    for (;;) {
      const first = this.timers[0];
      if (!first || first.dueMs > untilMs) return undefined;
      this.timers.shift();
      if (!first.isOn || first.run?.isDead) continue;
      if (first.run && first.run.heldUntilMs > Math.max(this.nowMs, first.dueMs)) {
        first.dueMs = first.run.heldUntilMs;
        this.insert(first);
      } else return first;
    }
  }

  private fire(timer: Timer): void {
    this.activity += 1;
    if (timer.everyMs === undefined) timer.isOn = false;
    else {
      timer.dueMs = this.nowMs + timer.everyMs;
      this.insert(timer);
    }
    asRun(timer.run, timer.call);
  }

  private add(call: () => void, ms = 0, everyMs?: number): Timer {
    this.activity += 1;
    this.orders += 1;
    const timer = new Timer(call, this.nowMs + Math.max(1, Math.round(ms)), this.orders, everyMs);
    if (!timer.run?.isDead) this.insert(timer);
    return timer;
  }

  private insert(timer: Timer): void {
    let [from, to] = [0, this.timers.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = this.timers[middle] as Timer;
      if (other.dueMs < timer.dueMs || (other.dueMs === timer.dueMs && other.order < timer.order))
        from = middle + 1;
      else to = middle;
    }
    this.timers.splice(from, 0, timer);
  }

  private install(random: Random): void {
    const add = (call: () => void, ms?: number, everyMs?: number): Timer => this.add(call, ms, everyMs);
    const now = (): number => this.nowMs;
    const RealDate = Date;
    class VirtualDate extends RealDate {
      constructor(...given: []) {
        super(...((given.length === 0 ? [now()] : given) as []));
      }
      static override now(): number {
        return now();
      }
    }
    const startMs = this.nowMs;
    const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => random.below(256)));
    const uuid = (): string =>
      bytes(16)
        .toString('hex')
        .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
    const clear = (timer: Timer | undefined): void => {
      if (timer instanceof Timer) timer.isOn = false;
      else realClear(timer);
    };
    const realClear = clearTimeout;
    const changes: [object, Record<string, unknown>][] = [
      [
        globalThis,
        {
          Date: VirtualDate,
          setTimeout: (call: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
            add(() => call(...args), ms),
          setInterval: (call: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) =>
            add(() => call(...args), ms, Math.max(1, ms)),
          clearTimeout: clear,
          clearInterval: clear,
        },
      ],
      [timersPromises, { setTimeout: sleepAs }],
      [
        AbortSignal,
        {
          timeout(ms: number): AbortSignal {
            const over = new AbortController();
            const late = 'The operation was aborted due to timeout';
            add(() => over.abort(new DOMException(late, 'TimeoutError')), ms);
            return over.signal;
          },
        },
      ],
      [performance, { now: () => now() - startMs }],
      [Math, { random: () => random.next() }],
      [
        crypto,
        {
          randomBytes: bytes,
          randomUUID: uuid,
          randomInt: (from: number, to?: number) =>
            to === undefined ? random.below(from) : from + random.below(to - from),
        },
      ],
    ];
    function sleepAs<T>(ms?: number, value?: T, { signal }: { signal?: AbortSignal } = {}): Promise<T> {
      return new Promise((resolve, reject) => {
        const stop = (): void => {
          clear(timer);
          reject(new DOMException('The operation was aborted', 'AbortError'));
        };
        const timer = add(() => {
          signal?.removeEventListener('abort', stop);
          resolve(value as T);
        }, ms);
        if (signal?.aborted) stop();
        else signal?.addEventListener('abort', stop, { once: true });
      });
    }
    replaceAll(changes);
  }
}

const replaced: [object, Record<string, unknown>][] = [];

/** Lasts until `putBack`. */
export function replaceAll(changes: readonly [object, Record<string, unknown>][]): void {
  for (const [of, to] of changes) {
    const before = Object.keys(to).map((name) => [name, (of as Record<string, unknown>)[name]]);
    replaced.push([of, Object.fromEntries(before) as Record<string, unknown>]);
    Object.assign(of, to);
  }
  syncBuiltinESMExports();
}

export function putBack(): void {
  for (const [of, before] of replaced.splice(0).toReversed()) Object.assign(of, before);
  syncBuiltinESMExports();
}
