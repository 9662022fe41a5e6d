/** Secret values by name, and texts by the place they come from. */
export type Canaries = Readonly<Record<string, string>>;
export type Places = Readonly<Record<string, string>>;

/**
 * Every place that contains a secret, as `name in place`, plain or in an encoding that a program may have made. Throws
 * for a secret so short that it would be found by chance, and for an empty place: with these a test could not fail.
 */
export function findCanaries(canaries: Canaries, places: Places): string[] {
  for (const [place, text] of Object.entries(places)) {
    if (text === '') throw new Error(`There is nothing to be searched in ${place}.`);
  }
  return Object.entries(canaries).flatMap(([name, value]) => {
    if (value.length < 8) throw new Error(`${name} is too short for a canary.`);
    return Object.entries(places)
      .filter(([, text]) => disguises(value).some((disguise) => text.includes(disguise)))
      .map(([place]) => `${name} in ${place}`);
  });
}

function disguises(value: string): string[] {
  const bytes = Buffer.from(value);
  const escaped = JSON.stringify(value).slice(1, -1);
  return [value, escaped, encodeURIComponent(value), bytes.toString('hex'), ...insideBase64(bytes)];
}

/** Within base64 the letters depend on the value's offset: one form for each of three offsets. */
function insideBase64(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const whole = Math.floor((bytes.length - ((3 - offset) % 3)) / 3) * 3;
    const from = (3 - offset) % 3;
    const part = bytes.subarray(from, from + whole);
    return [part.toString('base64'), part.toString('base64url')];
  });
}
