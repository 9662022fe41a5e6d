import { answeredWithin } from '../deadline.ts';
import { StoreUnavailable } from '../domain/failure.ts';

/**
 * Resolves as the promise does, or throws StoreUnavailable at the deadline. The call is not cancelled, so it may still
 * be carried out.
 */
export function withinDeadline<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  const late = () => new StoreUnavailable(`The store did not answer within ${timeoutMs} ms.`);
  return answeredWithin(timeoutMs, answer, late);
}
