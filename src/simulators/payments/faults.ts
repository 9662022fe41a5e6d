import type { Often } from '../faults.ts';
import { refusal, type Answer, type Call } from './route.ts';

/**
 * What goes wrong between the bot and the service. Without `operation` and `reference` it is for every call, except
 * those of the customer's checkout page. `setFaults({ kind: 'answer_lost', operation: chargeOperation, times: 1 })`.
 */
export type PaymentsFault = Often & {
  /** As the stats count them: `GET /v1/transactions/accounts/single`. */
  operation?: string;
  /** The order reference that the call names, in its query or its body. */
  reference?: string;
} & (
    | /** The connection is cut and nothing carried out. */ { kind: 'down' }
    | /** Carried out, and the connection cut instead of an answer. */ {
        kind: 'answer_lost';
      } /** No answer until the faults are set again, which cuts the connection. */
    | { kind: 'hang'; carriedOut?: boolean }
    | { kind: 'error_500'; carriedOut?: boolean }
    | /** 429, with the headers that tell the limit. */ { kind: 'rate_limited' }
    | /** Every token is refused with 401. */ { kind: 'unauthorized' }
    | /** Carried out, and answered with what is no JSON. */ { kind: 'unreadable' }
    | /** Carried out at once and answered so much later, in real time. */ { kind: 'slow'; ms: number }
  );

export const chargeOperation = 'POST /v1/checkout/tokenized-card-payment';
export const lookUpOperation = 'GET /v1/transactions/accounts/single';

export function isFaultFor(fault: PaymentsFault, operation: string, call: Call): boolean {
  if (fault.operation !== undefined && fault.operation !== operation) return false;
  return fault.reference === undefined || fault.reference === referenceOf(call);
}

/** The order reference that a call names. */
export function referenceOf({ query, body }: Pick<Call, 'query' | 'body'>): string | undefined {
  const inOrder = fieldOf(fieldOf(body, 'order'), 'orderReference');
  const named = query.get('orderReference') ?? inOrder ?? fieldOf(body, 'orderReference');
  return typeof named === 'string' ? named : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** `carryOut` is what the service would answer, once it has done what it was asked. */
export function underFault(fault: PaymentsFault, carryOut: () => Answer, tooMany: () => Answer): Answer {
  switch (fault.kind) {
    case 'down':
      return { kind: 'reset', note: 'the connection breaks' };
    case 'answer_lost':
      return { kind: 'reset', note: `${carryOut().note}, but the answer is lost` };
    case 'hang':
      return {
        kind: 'silence',
        note:
          fault.carriedOut === true ? `${carryOut().note}, but no answer` : 'no answer, as the faults want',
      };
    case 'error_500':
      if (fault.carriedOut === true) carryOut();
      return refusal(500, 'A downstream system failed');
    case 'rate_limited':
      return tooMany();
    case 'unauthorized':
      return refusal(401, 'The access token is missing, invalid or expired');
    case 'unreadable':
      return { kind: 'unreadable', note: `${carryOut().note}, but nobody can read it` };
    case 'slow': {
      const answer = carryOut();
      return answer.kind === 'json' ? { ...answer, afterMs: fault.ms } : answer;
    }
  }
}
