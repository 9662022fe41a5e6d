import { expect, it } from 'vitest';
import { createEmailChanges, endOfChange } from '../../../src/features/card-email/change-card-email.ts';
import type { CardEmailEnd } from '../../../src/domain/approval.ts';
import type { RejectionReason } from '../../../src/domain/failure.ts';
import type { EmailChangeAnswer } from '../../../src/payments/saved-cards.ts';
import { accountOf } from '../../support/account.ts';
import { noApprovals, sealer } from '../house.ts';
import { memoryStore } from '../memory-store.ts';

// test/records/cases.test.ts tests how often the service is asked, and what people are told.
it.each<[RejectionReason, CardEmailEnd['kind']]>([
  ['email_mismatch', 'not_linked'],
  ['invalid_token', 'no_such_card'],
  ['email_invalid', 'email_invalid'],
  ['card_not_supported', 'refused'],
])('a change that is rejected with %s ends with %s', (reason, kind) => {
  expect(endOfChange({ kind: 'rejected', reason, message: 'No' })).toEqual({ kind, message: 'No' });
});

it.each<[string, EmailChangeAnswer, string[]]>([
  ['changes its e-mail if the service did', { kind: 'changed' }, ['change card-1 to new@example.com']],
  [
    'forgets the tried address if the service says that it is not the card’s',
    { kind: 'rejected', reason: 'email_mismatch', message: 'No' },
    // Only the tried address: the card may have another by now.
    ['forget old@example.com of card-1'],
  ],
  [
    'stays as it is if the service knows no such card',
    { kind: 'rejected', reason: 'invalid_token', message: 'No' },
    [],
  ],
])('a remembered card %s', async (_what, answer, told) => {
  const heard: string[] = [];
  const ledger = {
    idOf: async () => 'card-1',
    changeEmail: async (id: string, email: string) => void heard.push(`change ${id} to ${email}`),
    forgetEmail: async (id: string, email: string) => void heard.push(`forget ${email} of ${id}`),
  };
  const clock = { nowMs: 1_900_000_000_000 };
  const account = accountOf({
    store: memoryStore(clock),
    sealer,
    now: () => clock.nowMs,
    payments: { changeCardEmail: async () => answer },
  });
  const emails = { currentEmail: 'old@example.com', newEmail: 'new@example.com' };
  const terms = { tokenKey: 'canary-token', card: {}, ...emails };
  await createEmailChanges(account, ledger, noApprovals).change(terms, 'U0AGENT01');
  expect(heard).toEqual(told);
});
