/** The option's number. If it is none, too small or too large, says so and ends the process with 2. */
export function wholeNumber(
  name: string,
  text: string,
  { least = 0, most = Number.MAX_SAFE_INTEGER }: { least?: number; most?: number } = {},
): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  console.error(`--${name} must be a whole number from ${least} to ${most}.`);
  process.exit(2);
}
