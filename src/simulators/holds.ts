/** Where a request is held. `before`: nothing was done. `after`: it was carried out, and only the answer waits. */
export type HoldPoint = 'before' | 'after';

export type Held = {
  /** Lets the request continue. */
  release: () => void;
};

/** One answered request, whole and unmasked. */
export type Passed = { path: string; request: string; answer: string };

/** Holds requests at an exact point, so that a test needs no timing. */
export type Holds = {
  /** Resolves when the next request whose path ends with `path` is at that point. */
  hold: (path: string, point: HoldPoint) => Promise<Held>;
  /** Called when a request reaches the point: resolves once it is released. Undefined: no test holds it. */
  reached: (path: string, point: HoldPoint) => Promise<void> | undefined;
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
    reached(path, point) {
      const index = orders.findIndex((order) => order.point === point && path.endsWith(order.path));
      const [order] = index < 0 ? [] : orders.splice(index, 1);
      if (!order) return undefined;
      const released = Promise.withResolvers<void>();
      order.held.resolve({ release: released.resolve });
      return released.promise;
    },
  };
}
