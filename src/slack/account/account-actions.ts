export const accountActions = {
  /** Looks the account up by its reference. */
  lookUp: 'account.look_up',
  /** Back to the form, in the same dialogue. */
  again: 'account.again',
} as const;

export const accountModalId = 'account_new';
