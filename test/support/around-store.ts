import type { Store } from '../../src/store/store.ts';

/** The store, each of its calls that touch a record made inside `around`. */
export function aroundStore(
  store: Store,
  around: <Result>(call: () => Promise<Result>) => Promise<Result>,
): Store {
  return {
    ...store,
    create: (...args) => around(() => store.create(...args)),
    read: (...args) => around(() => store.read(...args)),
    write: (...args) => around(() => store.write(...args)),
    list: (...args) => around(() => store.list(...args)),
    take: (...args) => around(() => store.take(...args)),
  };
}
