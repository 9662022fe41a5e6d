/** A time zone where it is about noon, so that no midnight comes during a test. */
export function noonZone(): string {
  const ahead = 12 - new Date().getUTCHours();
  // In these names plus means west.
  return ahead === 0 ? 'Etc/GMT' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}
