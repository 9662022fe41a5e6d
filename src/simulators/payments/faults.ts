import type { Often } from '../faults.ts';
import { refusal, type Answer } from './route.ts';

/**
 * Faults between bot and service. Without `operation`, for every call except the customer's checkout page.
 * `setFaults({ kind: 'answer_lost', operation: 'POST /v1/accounts', times: 1 })`.
 */
export type PaymentsFault = Often & {
  /** As in the stats: `GET /v1/transactions/accounts/single`. */
  operation?: string;
  /**
   * `down`: the connection is cut and nothing carried out. `answer_lost`: carried out, but the connection is cut instead
   * of an answer. `hang`: not carried out, and no answer until the faults are next set, which cuts the connection.
   * `unauthorized`: every token is refused with 401. `unreadable`: carried out, but the answer is not JSON.
   */
  kind: 'down' | 'answer_lost' | 'hang' | 'error_500' | 'rate_limited' | 'unauthorized' | 'unreadable';
};

/** `carryOut` does the request and returns the service's answer. */
export function underFault(fault: PaymentsFault, carryOut: () => Answer, tooMany: () => Answer): Answer {
  switch (fault.kind) {
    case 'down':
      return { kind: 'cut', outcome: 'the connection breaks' };
    case 'answer_lost':
      return { kind: 'cut', outcome: `${carryOut().outcome}, but the answer is lost` };
    case 'hang':
      return { kind: 'silence', outcome: 'no answer, as the faults want' };
    case 'error_500':
      return refusal(500, 'A downstream system failed');
    case 'rate_limited':
      return tooMany();
    case 'unauthorized':
      return refusal(401, 'The access token is missing, invalid or expired');
    case 'unreadable':
      return unreadable(`${carryOut().outcome}, but nobody can read it`);
  }
}

/** Like a proxy's answer. */
export function unreadable(outcome: string): Answer {
  const headers = { 'content-type': 'text/html' };
  return { kind: 'answer', status: 200, headers, body: '<h1>502 Bad Gateway</h1>', outcome };
}
