/** How often a fault strikes the calls that it is for. */
export type Often = {
  /** Of these calls, by the simulator's dice: 0.01 is one in a hundred. Default all. */
  share?: number;
  /** So many calls, and then it is over. Default no end. */
  times?: number;
};

export type Faults<Fault> = {
  /** From now on these and no others; none: all is well. */
  set: (faults: readonly Fault[]) => void;
  all: () => readonly Fault[];
  /** The first that is for this call and strikes it. */
  strike: (isFor: (fault: Fault) => boolean) => Fault | undefined;
  /** How many calls each kind has struck since the start. */
  struck: () => Record<string, number>;
};

/** What goes wrong in a simulator, in the order in which it is tried. `dice` draws from 0 up to 1, as Math.random does. */
export function createFaults<Fault extends Often & { kind: string }>(dice: () => number): Faults<Fault> {
  const struck: Record<string, number> = {};
  let open: { fault: Fault; left: number }[] = [];

  return {
    set(faults) {
      open = faults.map((fault) => ({ fault, left: fault.times ?? Infinity }));
    },
    all: () => open.filter(({ left }) => left > 0).map(({ fault }) => fault),
    strike(isFor) {
      const found = open.find(
        ({ fault, left }) => left > 0 && isFor(fault) && (fault.share === undefined || dice() < fault.share),
      );
      if (found === undefined) return undefined;
      found.left -= 1;
      struck[found.fault.kind] = (struck[found.fault.kind] ?? 0) + 1;
      return found.fault;
    },
    struck: () => ({ ...struck }),
  };
}
