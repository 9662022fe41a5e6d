/** How often a fault affects the calls that it is for. */
export type Often = {
  /** The share of calls: 0.01 is one in a hundred. Default all. */
  share?: number;
  /** After so many calls it ends. Default no end. */
  times?: number;
};

export type Faults<Fault> = {
  /** Replaces all faults; none: everything works. */
  set: (faults: readonly Fault[]) => void;
  all: () => readonly Fault[];
  /** The first fault that is for this call, if chance lets it happen; counts it. */
  pick: (isFor: (fault: Fault) => boolean) => Fault | undefined;
  /** Faulted calls by kind, since the start. */
  counts: () => Record<string, number>;
};

/** A simulator's faults, tried in order. `dice` draws from 0 up to 1, like Math.random. */
export function createFaults<Fault extends Often & { kind: string }>(dice: () => number): Faults<Fault> {
  const counts: Record<string, number> = {};
  let open: { fault: Fault; left: number }[] = [];

  return {
    set(faults) {
      open = faults.map((fault) => ({ fault, left: fault.times ?? Infinity }));
    },
    all: () => open.filter(({ left }) => left > 0).map(({ fault }) => fault),
    pick(isFor) {
      const found = open.find(
        ({ fault, left }) => left > 0 && isFor(fault) && (fault.share === undefined || dice() < fault.share),
      );
      if (found === undefined) return undefined;
      found.left -= 1;
      counts[found.fault.kind] = (counts[found.fault.kind] ?? 0) + 1;
      return found.fault;
    },
    counts: () => ({ ...counts }),
  };
}
