import { StoreUnavailable } from './store.ts';

/**
 * The promise's own outcome if it comes in time, else StoreUnavailable. What was asked goes on unheard:
 * it may still be carried out.
 */
export async function withinDeadline<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new StoreUnavailable(`The store did not answer within ${timeoutMs} ms.`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([answer, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
