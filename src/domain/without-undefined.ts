type MayBeUndefined<T> = { [Key in keyof T]: undefined extends T[Key] ? Key : never }[keyof T];

/** What surely stands there stays required; what may be undefined may be absent instead. */
export type WithoutUndefined<T> = Omit<T, MayBeUndefined<T>> & {
  [Key in MayBeUndefined<T>]?: Exclude<T[Key], undefined>;
};

/** Drops the members that are undefined, so that "absent" is written in one way only. */
export function withoutUndefined<T extends object>(value: T): WithoutUndefined<T> {
  // A loop: every event passes here several times, and the list of its entries would cost more than reading it.
  const present: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    if (member !== undefined) present[name] = member;
  }
  return present as WithoutUndefined<T>;
}
