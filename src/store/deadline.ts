import { answeredWithin } from '../deadline.ts';
import { StoreUnavailable } from '../domain/failure.ts';

/**
 * The promise's own outcome if it comes in time, else StoreUnavailable. What was asked goes on unheard:
 * it may still be carried out.
 */
export function withinDeadline<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  const late = () => new StoreUnavailable(`The store did not answer within ${timeoutMs} ms.`);
  return answeredWithin(timeoutMs, answer, late);
}
