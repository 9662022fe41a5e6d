/** One terminal as the list told it; times are the service's own text. Spec: Terminal record. */
export type Terminal = {
  terminalId?: string;
  serialNumber?: string;
  accountId?: string;
  parentAccountId?: string;
  merchantName?: string;
  terminalLabel?: string;
  createdAt?: string;
  updatedAt?: string;
};
