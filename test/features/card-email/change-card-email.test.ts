import { expect, it } from 'vitest';
import type { CardEmailEnd } from '../../../src/domain/approval.ts';
import type { EmailChange } from '../../../src/domain/card.ts';
import { type RejectionReason, ServiceFailure } from '../../../src/domain/failure.ts';
import {
  createEmailChanges,
  type EmailChanges,
  endOfChange,
} from '../../../src/features/card-email/change-card-email.ts';
import type { EmailChangeAnswer } from '../../../src/payments/saved-cards.ts';
import { driveWorlds, type Driven, type Process, type World } from '../../records/two-processes.ts';
import { accountOf } from '../../support/account.ts';
import { noApprovals, sealer } from '../house.ts';
import { memoryStore } from '../memory-store.ts';

it.each<[RejectionReason, CardEmailEnd['kind']]>([
  ['email_mismatch', 'not_linked'],
  ['invalid_token', 'no_such_card'],
  ['email_invalid', 'email_invalid'],
  ['card_not_supported', 'refused'],
])('a change that is rejected with %s ends with %s', (reason, kind) => {
  expect(endOfChange({ kind: 'rejected', reason, message: 'No' })).toEqual({ kind, message: 'No' });
});

it('a change whose answer the specification lacks is in doubt, in the service’s own words', () => {
  const cause = new ServiceFailure('malformed', 'code 99', { said: 'Card is blocked' });
  expect(endOfChange({ kind: 'unknown', cause })).toEqual({ kind: 'unknown', message: 'Card is blocked' });
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

const change = { tokenKey: 'token', card: {}, currentEmail: 'a@example.com', newEmail: 'b@example.com' };
const minuteMs = 60_000;

/**
 * A change of a card's e-mail. Each draft is sent once, even if it is submitted often, and has its own id. People are
 * told the service's answer, or that it is unknown. Nobody is told to wait for longer than a minute.
 */
function cardEmail(world: World): Driven {
  const { clock, sealer } = world;
  const service = { linked: change.currentEmail, asked: 0 };
  const begun = new Map<string, { atMs: number; end?: string }>();
  const wrong = new Set<string>();
  const all: EmailChanges[] = [];
  let draftId = '';

  function open({ store: through, call, wait }: Pick<Process, 'store' | 'call' | 'wait'>): EmailChanges {
    const changeCardEmail = ({ currentEmail, newEmail }: EmailChange): Promise<EmailChangeAnswer> =>
      call<EmailChangeAnswer>(
        () => {
          service.asked += 1;
          if (service.asked > begun.size)
            wrong.add('the service is called more often than drafts were submitted');
          if (service.linked !== currentEmail) return { kind: 'not_linked', message: undefined };
          service.linked = newEmail;
          return { kind: 'changed' };
        },
        () => ({ kind: 'unknown', cause: new ServiceFailure('timeout', 'no answer') }),
      );
    const account = accountOf({
      store: through,
      sealer,
      now: () => clock.nowMs,
      wait,
      payments: { changeCardEmail },
    });
    return createEmailChanges(account, undefined, noApprovals);
  }
  async function submit(emails: EmailChanges, draft: string): Promise<void> {
    const result = await emails.begin(draft, 'U0ADA00001');
    if (JSON.stringify(result).includes(change.tokenKey)) wrong.add('the token key is shown');
    const before = begun.get(draft);
    if (result.kind === 'begun') {
      if (before) wrong.add('a draft is sent again');
      const mine: { atMs: number; end?: string } = { atMs: clock.nowMs };
      begun.set(draft, mine);
      mine.end = (await result.carryOn()).kind;
    } else if (result.kind === 'known') {
      const told = result.end?.kind;
      if (told && told !== 'unknown' && before?.end && told !== before.end)
        wrong.add(`${before.end} is told as ${told}`);
      if (!told && before && clock.nowMs > before.atMs + minuteMs) wrong.add('a person waits for ever');
    }
  }
  return {
    start(process, index) {
      all[index] = open(process);
      return { prefix: 'none:', work: async () => undefined };
    },
    act(at, index) {
      const one = all[index] as EmailChanges;
      const old = at.pick([draftId, ...begun.keys()]);
      return at.pick([
        async () => {
          const before = new Set(begun.keys());
          const next = await one.keepDraft(change);
          if (before.has(next)) wrong.add('a draft has the id of one that was sent');
          draftId = next;
        },
        () => submit(one, draftId),
        () => submit(one, old),
      ]);
    },
    async wrongs() {
      clock.nowMs += 2 * minuteMs;
      const emails = open({ ...world, call: async (run) => await run(), wait: async () => undefined });
      await submit(emails, draftId);
      const fresh = await emails.keepDraft(change);
      await submit(emails, fresh);
      if (!begun.has(fresh)) wrong.add('a new draft is not sent');
      return [...wrong];
    },
  };
}

it('a change of a card’s e-mail breaks no rule through crashes, lost answers, repeats, suspended processes and clock changes', async () => {
  expect(await driveWorlds(cardEmail)).toEqual([]);
});
