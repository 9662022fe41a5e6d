import {
  array,
  boolean,
  constant,
  constantFrom,
  integer,
  oneof,
  record,
  tuple,
  type Arbitrary,
} from 'fast-check';
import { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import type { Store } from '../../src/store/store.ts';

/** What a process meets at the `at`th point that it passes, before and after each call: its end, or a store that is away so long. */
export type Fault = { kind: 'none' } | { kind: 'dies' | 'store_away'; at: number; points: number };

const points = { at: integer({ min: 0, max: 16 }), points: integer({ min: 1, max: 12 }) };
export const faults: Arbitrary<Fault> = oneof(
  record({ kind: constant('none' as const) }),
  record({ kind: constantFrom('dies' as const, 'store_away' as const), ...points }),
);

/** Turns one after the other, of which two may be taken at once. */
export function turnsOf<Turn>(turn: Arbitrary<Turn>): Arbitrary<[Turn, ...Turn[]][]> {
  const one = tuple(turn, turn, boolean());
  return array(one, { minLength: 1, maxLength: 5 }).map((all) =>
    all.map(([first, second, isTwice]) => (isTwice ? [first, second] : [first])),
  );
}

/** One process on the store; once it is dead nothing of it goes on. */
export function faulty(store: Store, fault: Fault) {
  const dead = Promise.withResolvers<'died'>();
  let passed = -1;
  async function point(isStore: boolean): Promise<void> {
    passed += 1;
    if (fault.kind === 'none' || passed < fault.at) return;
    if (fault.kind === 'dies') {
      dead.resolve('died');
      await new Promise(() => undefined);
    }
    if (isStore && passed < fault.at + fault.points) throw new StoreUnavailable('away');
  }
  async function call<T>(work: () => T | Promise<T>, isStore = false): Promise<T> {
    await point(isStore);
    const result = await work();
    await point(isStore);
    return result;
  }
  /** What becomes of it for whoever waits. */
  async function live<T>(work: () => Promise<T>): Promise<T | 'died' | 'store_away'> {
    const done = work().catch((error: unknown) => {
      if (error instanceof StoreUnavailable) return 'store_away' as const;
      throw error;
    });
    return await Promise.race([done, dead.promise]);
  }
  const through: Store = {
    ...store,
    create: (...given) => call(() => store.create(...given), true),
    read: (key) => call(() => store.read(key), true),
    write: (...given) => call(() => store.write(...given), true),
  };
  return { call, live, store: through };
}
