/** A delivery for the merchant's own backend: the original bytes, and their headers. */
export type ForwardedDelivery = {
  body: Buffer;
  headers: readonly (readonly [name: string, value: string])[];
  /** Deliveries with the same value stay in order: the order reference, else the event. */
  orderOf: string;
  /** For the log. */
  about: { eventKind?: string; eventKey?: string; orderReference?: string };
};

/** Sent with every forwarded request, so two bots can't forward to each other in a circle. */
export const forwardedHeader = 'payops-forwarded';
