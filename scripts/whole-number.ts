/** The option's number; ends the process with 2 and says why when it is none. */
export function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  console.error(`--${name} must be a whole number.`);
  process.exit(2);
}
