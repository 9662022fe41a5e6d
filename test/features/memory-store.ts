import { StoreUnavailable } from '../../src/domain/failure.ts';
import { checkTake, readBirth, readFate, wholeMs } from '../../src/store/fate.ts';
import type { Store } from '../../src/store/store.ts';
import { openModelStore } from '../store/model-store.ts';

/**
 * The port in memory, with a clock the test moves, for operations, which know only the port: the model that the
 * adapters are compared with, and all that the contract asks besides.
 */
export function memoryStore(clock: { nowMs: number }): Store & { keys(): string[] } {
  const model = openModelStore(() => clock.nowMs);
  let isClosed = false;
  async function open<T>(call: () => Promise<T>): Promise<T> {
    if (isClosed) throw new StoreUnavailable('The store is closed.');
    return await call();
  }
  return {
    keys: () => model.keys(),
    keysAfter: (after) => open(() => model.keysAfter(after)),
    list: (name, options) => open(() => model.list(name, options)),
    replace: (entry, value) => open(() => model.replace(entry, value)),
    create: (key, value, options = {}) =>
      open(() => {
        readBirth(options);
        return model.create(key, value, options);
      }),
    read: (key) => open(() => model.read(key)),
    write: (entry, value, options = {}) =>
      open(() => {
        readFate(options);
        wholeMs('pauseMs', options.pauseMs ?? 0);
        return model.write(entry, value, options);
      }),
    take: (leaseMs, max = 1, lanes = '') =>
      open(() => {
        checkTake(leaseMs, max);
        return model.take(leaseMs, max, lanes);
      }),
    backlog: () => open(() => model.backlog()),
    ping: () => open(() => model.ping()),
    close() {
      isClosed = true;
      return Promise.resolve();
    },
  };
}
