import { describe, expect, it } from 'vitest';
import { DeadlinePassed, withDeadline } from '../src/deadline.ts';

function never(): Promise<never> {
  return new Promise(() => undefined);
}

describe('withDeadline', () => {
  it('gives what the work gives, or throws what it throws, at once or later', async () => {
    expect(await withDeadline(1_000, () => 'now')).toBe('now');
    expect(await withDeadline(1_000, async () => 'later')).toBe('later');
    const atOnce = withDeadline(1_000, () => {
      throw new RangeError('at once');
    });
    await expect(atOnce).rejects.toThrow(RangeError);
    await expect(withDeadline(1_000, () => Promise.reject(new RangeError('later')))).rejects.toThrow(
      RangeError,
    );
  });

  it('rejects when the time is over, with what it was told to', async () => {
    await expect(withDeadline(1, never)).rejects.toThrow(DeadlinePassed);
    await expect(withDeadline(1, never, () => new TypeError('late'))).rejects.toThrow(TypeError);
  });

  it('ends work that listens, and is not disturbed by how that ends', async () => {
    let reason: unknown;
    const work = withDeadline(1, async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      reason = signal.reason;
      throw new Error('the work’s own end');
    });
    await expect(work).rejects.toThrow(DeadlinePassed);
    expect(reason).toBeInstanceOf(DeadlinePassed);
  });
});
