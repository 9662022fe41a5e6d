/** A key that seals secrets at rest. */
export type SealingKey = {
  /** Stands in front of everything sealed with the key, in the clear: letters, digits, `-` and `_`. */
  id: string;
  /** 32 bytes. */
  key: Uint8Array;
};
