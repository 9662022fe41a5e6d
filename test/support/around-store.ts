import type { Store } from '../../src/store/store.ts';

/** The store with each call that touches a record wrapped in `around`. */
export function aroundStore(
  store: Store,
  around: <Result>(call: () => Promise<Result>, method: string) => Promise<Result>,
): Store {
  return {
    ...store,
    create: (...args) => around(() => store.create(...args), 'create'),
    read: (...args) => around(() => store.read(...args), 'read'),
    write: (...args) => around(() => store.write(...args), 'write'),
    list: (...args) => around(() => store.list(...args), 'list'),
    take: (...args) => around(() => store.take(...args), 'take'),
  };
}
