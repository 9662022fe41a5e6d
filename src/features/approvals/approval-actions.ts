/** The buttons of a request. Each carries its id; `approve` and `refuse` carry the hash of the terms that were shown too. */
export const approvalActions = {
  approve: 'approval_approve',
  refuse: 'approval_refuse',
  withdraw: 'approval_withdraw',
  /** The form once more, filled in as it was, after nobody decided. */
  askAgain: 'approval_ask_again',
  show: 'approval_show',
} as const;

/** Which request, and what was to be seen of it: what is approved is what stood above the button. */
export type SeenRequest = { id: string; termsHash: string };

export function requestValue({ id, termsHash }: SeenRequest): string {
  return JSON.stringify([id, termsHash]);
}

/** Undefined for a value that is not ours. */
export function readRequestValue(value: string): SeenRequest | undefined {
  try {
    const read: unknown = JSON.parse(value);
    if (!Array.isArray(read)) return undefined;
    const [id, termsHash]: unknown[] = read;
    return typeof id === 'string' && typeof termsHash === 'string' ? { id, termsHash } : undefined;
  } catch {
    return undefined;
  }
}
