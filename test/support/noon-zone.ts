/** A time zone where it is about noon now, so that no midnight comes while a test runs. */
export function noonZone(): string {
  const ahead = 12 - new Date().getUTCHours();
  // In these names plus is west.
  return ahead === 0 ? 'Etc/GMT' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}
