const tickMs = 10;
/** Later than this a tick was kept waiting; a calm machine is never so late for long. */
const lateMs = 5;

/**
 * How long that took, in milliseconds, without those in which this process did not get its turn: to hold a promise
 * about time by, where a machine that does other things would break it and the code does not. A tick that comes late
 * tells of them. Where nothing else is done, all of the time counts.
 */
export async function calmMs(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  let stalledMs = 0;
  let dueAt = startedAt + tickMs;
  function look(): void {
    const late = performance.now() - dueAt;
    if (late > lateMs) stalledMs += late;
    dueAt = performance.now() + tickMs;
  }
  const ticks = setInterval(look, tickMs);
  try {
    await work();
  } finally {
    clearInterval(ticks);
  }
  look();
  return performance.now() - startedAt - stalledMs;
}
