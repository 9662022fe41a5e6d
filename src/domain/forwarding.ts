/** A delivery to forward to the merchant's own backend: the original bytes and headers. */
export type ForwardedDelivery = {
  body: Buffer;
  headers: readonly (readonly [name: string, value: string])[];
  /** Deliveries with the same value are forwarded in the order they came: the order reference, else the event's key. */
  orderedBy: string;
  /** Fields for the log. */
  about: { eventKind?: string; eventKey?: string; orderReference?: string };
};

/** A header of every forwarded request. A webhook with it is refused, so two bots can't forward in a circle. */
export const forwardedHeader = 'payops-forwarded';
