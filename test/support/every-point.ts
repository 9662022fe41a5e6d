/** The points at which a process can be killed: before and after each thing that it awaits. */
export type Points = {
  pass: <T>(name: string, effect: () => T | Promise<T>) => Promise<T>;
  /** The names of the points passed so far. */
  passed: string[];
  /** Resolves once the process was killed. */
  killed: Promise<void>;
};

/**
 * Kills at this point, counted from 0. Every await has two points: before it happens, and after. A dead process hangs
 * for ever.
 */
export function everyPoint(killAt = Infinity): Points {
  const passed: string[] = [];
  const dead = Promise.withResolvers<void>();
  let isDead = false;
  function point(name: string): Promise<void> | undefined {
    if (!isDead && passed.length === killAt) {
      isDead = true;
      dead.resolve();
    }
    if (isDead) return new Promise(() => undefined);
    passed.push(name);
    return undefined;
  }
  return {
    passed,
    killed: dead.promise,
    async pass(name, effect) {
      await point(`before ${name}`);
      const result = await effect();
      await point(`after ${name}`);
      return result;
    },
  };
}

/**
 * The points at which a kill differs from one at the point before. If one await ends and the next begins at once, only
 * the process's memory changes between them, and a kill loses that in either case.
 */
export function momentsOf(passed: readonly string[]): { killAt: number; name: string }[] {
  return passed
    .map((name, killAt) => ({ killAt, name }))
    .filter(({ killAt, name }) => !(name.startsWith('before') && passed[killAt - 1]?.startsWith('after')));
}
