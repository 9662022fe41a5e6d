import { describe, expect, it } from 'vitest';
import { DeadlinePassed, withDeadline } from '../src/deadline.ts';

function never(): Promise<never> {
  return new Promise(() => undefined);
}

describe('withDeadline', () => {
  it('resolves or rejects as the work does, at once or later', async () => {
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

  it('rejects at the deadline, with its own error or the given one', async () => {
    await expect(withDeadline(1, never)).rejects.toThrow(DeadlinePassed);
    await expect(withDeadline(1, never, () => new TypeError('late'))).rejects.toThrow(TypeError);
  });

  it('aborts work that listens to the signal, and ignores how that work ends', async () => {
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
