/**
 * What a route answers, and how the exchange is told in one line. The three without a status are the
 * accidents a client has to survive: no answer at all, a cut connection, an answer nobody can read.
 */
export type Answer =
  | {
      kind: 'json';
      status: number;
      body: unknown;
      note: string;
      headers?: Record<string, string>;
      /** Sent so much later. */
      afterMs?: number;
    }
  | { kind: 'page'; status: number; html: string; note: string }
  | { kind: 'redirect'; location: string; note: string }
  | { kind: 'unreadable'; note: string }
  | { kind: 'silence'; note: string }
  | { kind: 'reset'; note: string };

export function answered(body: unknown, note: string): Answer {
  return { kind: 'json', status: 200, body, note };
}

/** The envelope of most responses. Spec: Response envelope. */
export function enveloped(data: unknown, note: string): Answer {
  return answered({ code: '00', description: 'Success', data }, note);
}

/** The checkout endpoints' envelope, which carries the request's status beside the code. */
export function checkoutEnveloped(data: unknown, note: string): Answer {
  return answered({ code: '00', description: 'Success', status: true, data }, note);
}

/** An HTTP error. Spec: Errors (body fields: not shown; the playground sends a code and a description). */
export function refusal(status: number, description: string): Answer {
  return { kind: 'json', status, body: { code: String(status), description }, note: description };
}
