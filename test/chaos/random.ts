export type Random = {
  /** From 0 up to, but not including, 1. */
  next: () => number;
  /** A whole number from 0, below `end`. */
  below: (end: number) => number;
  chance: (share: number) => boolean;
  pick: <T>(from: readonly T[]) => T;
  /** An independent generator: its draws do not depend on how many were drawn here. */
  fork: (name: string) => Random;
};

/** Deterministic (mulberry32): the same seed plans the same run. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  const below = (end: number): number => Math.floor(next() * end);
  return {
    next,
    below,
    chance: (share) => next() < share,
    pick(from) {
      const picked = from[below(from.length)];
      if (picked === undefined) throw new Error('There is nothing to pick from.');
      return picked;
    },
    fork(name) {
      let mixed = seed | 0;
      for (const letter of name) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x5bd1e995);
      return createRandom(mixed);
    },
  };
}
