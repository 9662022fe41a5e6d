/** Recipes of webhook signatures that settings start from. Spec: not shown (Events: signature scheme). */
export const signaturePresetNames = [
  'raw-body',
  'static-token',
  'timestamped-pairs',
  'standard-webhooks',
  'field-concatenation',
] as const;

export type SignaturePreset = (typeof signaturePresetNames)[number];
