/** The only words for an outcome, the same on every surface. Doubt is never called failed. */
export const outcomeWords = {
  paid: 'Paid (confirmed)',
  approved: 'Approved, confirming',
  otp: 'Needs OTP',
  declined: 'Declined by the bank',
  rejected: 'Not sent (fix the request)',
  doubt: 'In doubt, checking',
  wrongCodes: 'Code wrong three times',
  expired: 'Expired',
  abandoned: 'Not sent',
  review: 'Needs review',
  notPaid: 'Not paid',
  notConfirmed: 'Not confirmed',
  notFound: 'Not found',
} as const;
