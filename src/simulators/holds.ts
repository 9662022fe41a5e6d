/** `before`: nothing of it has been done. `after`: it has been carried out, and the answer is kept back. */
export type HoldPoint = 'before' | 'after';

export type Held = {
  /** Lets it go on. */
  release: () => void;
};

/** One request that was answered, whole and unmasked. */
export type Passed = { path: string; request: string; answer: string };

/** Keeps requests waiting at an exact point between two parties, instead of after some milliseconds. */
export type Holds = {
  /** Resolves when the next request whose path ends with `path` stands at that point. */
  hold: (path: string, point: HoldPoint) => Promise<Held>;
  /** Undefined: nobody wants this one held. */
  stand: (path: string, point: HoldPoint) => Promise<void> | undefined;
};

type Order = { path: string; point: HoldPoint; held: PromiseWithResolvers<Held> };

export function createHolds(): Holds {
  const orders: Order[] = [];

  return {
    hold(path, point) {
      const held = Promise.withResolvers<Held>();
      orders.push({ path, point, held });
      return held.promise;
    },
    stand(path, point) {
      const index = orders.findIndex((order) => order.point === point && path.endsWith(order.path));
      const [order] = index < 0 ? [] : orders.splice(index, 1);
      if (!order) return undefined;
      const released = Promise.withResolvers<void>();
      order.held.resolve({ release: released.resolve });
      return released.promise;
    },
  };
}
