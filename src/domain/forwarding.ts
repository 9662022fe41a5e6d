/** A delivery on its way to the merchant's own backend: the bytes as they came, and the headers that go with them. */
export type ForwardedDelivery = {
  body: Buffer;
  headers: readonly (readonly [name: string, value: string])[];
  /** What is forwarded in order: the order reference, or the event where it names none. */
  orderOf: string;
  /** For the log. */
  about: { eventKind?: string; eventKey?: string; orderReference?: string };
};

/** On every request that a bot forwards, so that two bots that point at each other send nothing round. */
export const forwardedHeader = 'payops-forwarded';
