const tickMs = 10;
/** A later tick means that the process had to wait; an idle machine is rarely this late. */
const lateMs = 5;

/**
 * The duration of `work` in milliseconds, without the time in which this process did not get the processor, as late ticks
 * show it. For asserting time limits that a busy machine would break although the code does not.
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
