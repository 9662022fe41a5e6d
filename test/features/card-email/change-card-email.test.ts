import { expect, it } from 'vitest';
import { endOfChange } from '../../../src/features/card-email/change-card-email.ts';
import type { CardEmailEnd } from '../../../src/domain/approval.ts';
import type { RejectionReason } from '../../../src/domain/failure.ts';

// How often it is asked for, and what is told: test/records/cases.test.ts.
it.each<[RejectionReason, CardEmailEnd['kind']]>([
  ['email_mismatch', 'not_linked'],
  ['invalid_token', 'no_such_card'],
  ['email_invalid', 'email_invalid'],
  ['card_not_supported', 'refused'],
])('a change that is rejected with %s ends as %s', (reason, kind) => {
  expect(endOfChange({ kind: 'rejected', reason, message: 'No' })).toEqual({ kind, message: 'No' });
});
