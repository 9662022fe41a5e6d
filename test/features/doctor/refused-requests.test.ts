import { expect, it, vi } from 'vitest';
import { createRefusedRequests, readRefusedRequest } from '../../../src/features/doctor/refused-requests.ts';
import { openModelStore } from '../../store/model-store.ts';

it('reports refused requests within the hour, also after the clock was put back', async () => {
  let nowMs = Date.UTC(2026, 2, 2, 9);
  const store = openModelStore(() => nowMs);
  const tell = vi.fn<(name: string) => Promise<void>>(async () => undefined);
  const log = vi.fn<() => void>();
  const checked = createRefusedRequests({ store, count: () => undefined, tell, log, now: () => nowMs });
  const minuteMs = 60_000;
  async function asks(refused?: 'mismatch'): Promise<void> {
    checked(refused);
    // The record is written meanwhile.
    await new Promise(setImmediate);
  }
  await asks('mismatch');
  expect(tell).toHaveBeenCalledTimes(1);
  await asks();
  nowMs -= 120 * minuteMs;
  await asks('mismatch');
  nowMs += 59 * minuteMs;
  await asks('mismatch');
  expect(tell).toHaveBeenCalledTimes(1);
  nowMs += 2 * minuteMs;
  await asks('mismatch');
  expect(tell).toHaveBeenCalledTimes(2);
  expect((await readRefusedRequest(store))?.atMs).toBe(nowMs);
});
