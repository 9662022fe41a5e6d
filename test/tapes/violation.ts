/** An invariant does not hold. Everything else that is thrown is a bug of the model. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

export function demand(holds: unknown, invariant: string): void {
  if (!holds) throw new Violation(invariant);
}
