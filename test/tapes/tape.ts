/** The true time in UTC ms, which no replica can see. */
export type Clock = { time: number };

/** One choice out of `count`; 0, the harmless one, when the tape has run out. */
export type Draw = (count: number) => number;

export function readTape(tape: readonly number[]): { draw: Draw; isOver: () => boolean } {
  let position = 0;
  return {
    draw(count) {
      const value = tape[position];
      if (value === undefined) return 0;
      position += 1;
      return value % count;
    },
    isOver: () => position >= tape.length,
  };
}
