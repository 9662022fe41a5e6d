import { afterEach, describe, expect, it, vi } from 'vitest';
import { startWorker } from '../../src/records/worker.ts';

/** Resolves once the count is reached; no test waits for a time. */
function counter(target: number): { hit: () => void; reached: Promise<void> } {
  let count = 0;
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  return {
    hit() {
      count += 1;
      if (count === target) resolve();
    },
    reached,
  };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('startWorker', () => {
  it('continues after an error and logs an outage once', async () => {
    const { hit, reached } = counter(4);
    const logged: string[] = [];
    let calls = 0;
    const worker = startWorker({
      concurrency: 1,
      idleMs: 1,
      failureDelayMs: 1,
      log: (level, message) => logged.push(`${level}: ${message}`),
      workOnce() {
        calls += 1;
        hit();
        return calls <= 2 ? Promise.reject(new Error('store away')) : Promise.resolve(false);
      },
    });
    await reached;
    await worker.stop();
    expect(logged).toEqual(['error: work failed; trying again until it succeeds', 'info: work goes on']);
  });

  it('looks for work at once when it is woken', async () => {
    const { hit, reached } = counter(2);
    const idleMs = 100_000;
    const worker = startWorker({
      concurrency: 1,
      idleMs,
      failureDelayMs: 1,
      log: () => undefined,
      workOnce() {
        hit();
        setImmediate(() => worker.wake());
        return Promise.resolve(false);
      },
    });
    const startedMs = performance.now();
    await reached;
    await worker.stop();
    expect(performance.now() - startedMs).toBeLessThan(idleMs);
  });

  it('finishes work in progress before stop resolves', async () => {
    const started = Promise.withResolvers<void>();
    const mayFinish = Promise.withResolvers<void>();
    let finished = false;
    const worker = startWorker({
      concurrency: 1,
      idleMs: 1,
      failureDelayMs: 1,
      log: () => undefined,
      async workOnce() {
        started.resolve();
        await mayFinish.promise;
        finished = true;
        return true;
      },
    });
    await started.promise;
    const stopped = worker.stop();
    mayFinish.resolve();
    await stopped;
    expect(finished).toBe(true);
  });

  it('pauses between pieces while requests wait, and not otherwise', async () => {
    vi.useFakeTimers();
    let isBusy = true;
    let calls = 0;
    const worker = startWorker({
      concurrency: 1,
      idleMs: 60_000,
      failureDelayMs: 1,
      isBusy: () => isBusy,
      log: () => undefined,
      workOnce() {
        calls += 1;
        return Promise.resolve(calls < 10);
      },
    });
    await vi.advanceTimersByTimeAsync(250);
    expect(calls).toBe(3);
    isBusy = false;
    await vi.advanceTimersByTimeAsync(50);
    expect(calls).toBe(10);
    const stopped = worker.stop();
    await vi.advanceTimersByTimeAsync(0);
    await stopped;
  });
});
