import type { CheckoutOrder, CheckoutOrderAnswer } from '../../domain/charge-answer.ts';
import type { OrderEnd } from '../../domain/payment-link.ts';
import type { Log } from '../../log.ts';

export type AskForOrderDeps = {
  createCheckoutOrder: (order: CheckoutOrder) => Promise<CheckoutOrderAnswer>;
  log: Log;
};

/**
 * Asks for a checkout order, once, and says what came of it in words for a person where it has none. An order
 * charges nobody, so asking again under its reference is harmless; it then `exists`, and its link is not told again.
 *
 * Spec: create a checkout order; Errors (An order already exists with this order reference).
 */
export async function askForOrder(
  { createCheckoutOrder, log }: AskForOrderDeps,
  order: CheckoutOrder,
  by: string,
): Promise<OrderEnd> {
  const answer = await createCheckoutOrder(order);
  const { reference: orderReference } = order;
  log('info', 'checkout order answered', { orderReference, userId: by, result: answer.kind });
  switch (answer.kind) {
    case 'created':
      return answer;
    case 'rejected':
      if (answer.reason === 'reference_exists') return { kind: 'exists' };
      return { kind: 'refused', why: answer.message ?? 'The payments service rejected the order.' };
    case 'not_made':
      return { kind: 'refused', why: notMadeWords(answer) };
    case 'unknown':
      return {
        kind: 'unknown',
        why: 'The payments service has not answered. Nothing was charged; try again in a minute.',
      };
  }
}

function notMadeWords(answer: Extract<CheckoutOrderAnswer, { kind: 'not_made' }>): string {
  return answer.failure === 'invalid_request'
    ? (answer.message ?? 'The payments service found the order invalid.')
    : 'The payments service did not take the order. Try again in a few minutes.';
}
