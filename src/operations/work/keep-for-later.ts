import { growingDelayMs } from '../../domain/growing-delay.ts';
import { newErrorId, type Log } from '../../log.ts';
import type { Entry, Store } from '../../store/store.ts';

const shortestPutAsideMs = 60_000;
/** The longest rest of anything that cannot be done as it is: whoever mends it wants to see it done the same day. */
export const longestPutAsideMs = 3_600_000;

/** What mends a record that cannot be opened. */
export const sealingKeyFix = 'Put the sealing key it was sealed with back at the end of SEALING_KEYS.';

type KeepDeps = { store: Pick<Store, 'write'>; log: Log };

/** Keeps a record that nobody here can handle as it is, due again after a minute, and ever more rarely up to an hour. */
export async function keepForLater({ store }: Pick<KeepDeps, 'store'>, entry: Entry): Promise<void> {
  const delayMs = growingDelayMs(shortestPutAsideMs, entry.attempts - 1, longestPutAsideMs);
  await store.write(entry, entry.value, { delayMs });
}

/** The same for one that is sealed with a key that is not here; says so in the log, under the id it gives. */
export async function keepUnopened(
  deps: KeepDeps,
  entry: Entry,
  { what, error }: { what: string; error: unknown },
): Promise<string> {
  const errorId = newErrorId();
  deps.log(
    'error',
    `${what} cannot be opened; it is kept`,
    { errorId, key: entry.key, fix: sealingKeyFix },
    error,
  );
  await keepForLater(deps, entry);
  return errorId;
}
