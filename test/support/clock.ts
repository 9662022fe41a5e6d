import { vi } from 'vitest';

export type Clock = {
  /** So much later it is. What the bots and the simulators do by the minute, they do once. */
  pass: (ms: number) => void;
  close: () => void;
};

/** No pause between two rounds of what is done by the minute is longer. */
const roundMs = 60_000;

/**
 * Time of this process, for all that runs in it: dates and intervals, which go on with real time and are moved by
 * `pass`. Timeouts stay real, as connections are. Between two ticks, of 20 ms, it stands still.
 */
export function openClock(): Clock {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'], shouldAdvanceTime: true });
  return {
    pass(ms) {
      if (ms > roundMs) vi.setSystemTime(Date.now() + ms - roundMs);
      vi.advanceTimersByTime(Math.min(ms, roundMs));
    },
    close: () => void vi.useRealTimers(),
  };
}
