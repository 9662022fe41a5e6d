/** Recipes of webhook signatures that settings start from. Spec: not shown (Events: signature scheme). */
export const signaturePresetNames = [
  'raw-body',
  'static-token',
  'timestamped-pairs',
  'standard-webhooks',
  'field-concatenation',
] as const;

/** What is off where a signature covers single fields, and not this one. */
export const unsignedMeans = {
  orderReference:
    'the order reference is only looked up, and counts once its record has the signed transaction id; missing events raise no alarm',
  transactionId: 'no unsigned order reference can be proven',
  amount: 'amounts come from look-ups alone',
  customerId: 'no rule can ask for a customer id',
  customerEmail: 'customers come from look-ups alone',
  reason: 'the bank’s words come from look-ups alone',
  isSavedCardCharge: 'no rule can ask for saved cards',
  savedCard: 'saved cards aren’t learnt from events',
} as const;

export type SignaturePreset = (typeof signaturePresetNames)[number];
