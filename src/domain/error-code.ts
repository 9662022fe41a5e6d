/** The word Node gives a failure of the system (ENOENT, EADDRINUSE); undefined for an error without one. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
