import type { Store } from '../../src/store/store.ts';

/**
 * The store with each call that touches a record wrapped in `around`. `name`: the method and, if it is about one record,
 * the kind of its key: `write message:alert`.
 */
export function aroundStore(
  store: Store,
  around: <Result>(call: () => Promise<Result>, name: string) => Promise<Result>,
): Store {
  return {
    ...store,
    create: (...args) => around(() => store.create(...args), `create ${kindOf(args[0])}`),
    read: (key) => around(() => store.read(key), `read ${kindOf(key)}`),
    write: (...args) => around(() => store.write(...args), `write ${kindOf(args[0].key)}`),
    list: (...args) => around(() => store.list(...args), 'list'),
    take: (...args) => around(() => store.take(...args), 'take'),
  };
}

/** Of messages and tokens with their second part. */
export function kindOf(key: string): string {
  const [first = key, second = ''] = key.split(':');
  return ['message', 'token'].includes(first) ? `${first}:${second}` : first;
}
