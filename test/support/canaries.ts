/** Secret values by their names, and texts by the places they were found in. */
export type Canaries = Readonly<Record<string, string>>;
export type Places = Readonly<Record<string, string>>;

/**
 * Every place in which a secret stands, as `name in place`; plain or as anything a program may have made of
 * it. Throws for a secret so short that it would be found by chance, or for a place that is empty: both
 * would make a test that cannot fail.
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

/** Where a value begins within base64 decides how its letters look: one form for each of three beginnings. */
function insideBase64(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const whole = Math.floor((bytes.length - ((3 - offset) % 3)) / 3) * 3;
    const from = (3 - offset) % 3;
    const part = bytes.subarray(from, from + whole);
    return [part.toString('base64'), part.toString('base64url')];
  });
}
