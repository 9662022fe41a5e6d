import { describe, expect, it } from 'vitest';
import type { Conversation, Question } from '../../../src/cli/connect/conversation.ts';
import { askSetting, offer, openDraft } from '../../../src/cli/connect/draft.ts';

/** A step with a person who gives these answers in turn. */
function stepWith(answers: readonly (string | undefined)[], variables: Record<string, string> = {}) {
  const asked: Question[] = [];
  const talk: Conversation = {
    isPerson: true,
    ask: (question) => Promise.resolve(answers[asked.push(question) - 1]),
    tell: () => undefined,
    waitFor: () => Promise.resolve(undefined),
  };
  return { talk, draft: openDraft(variables), asked };
}

const found = { PAYMENTS_PAID_STATUSES: 'SETTLED', PAYMENTS_FEE_POINTER: '/fee' };

describe('settings that were found', () => {
  it.each<[string[], boolean, object]>([
    [['yes'], true, found],
    [['no'], false, {}],
    [
      ['change', 'SETTLED,PAID', '/charges'],
      true,
      { PAYMENTS_PAID_STATUSES: 'SETTLED,PAID', PAYMENTS_FEE_POINTER: '/charges' },
    ],
  ])('are applied as the person decides: %j', async (answers, taken, changes) => {
    const step = stepWith(answers);
    expect(await offer(step, 'payment_settings', found)).toBe(taken);
    expect(step.draft.changes()).toEqual(changes);
  });

  it('can be corrected by checked answers, and left out in part', async () => {
    const step = stepWith(['change', undefined, '/fee']);
    await offer(step, 'payment_settings', found);
    expect(step.draft.changes()).toEqual({ PAYMENTS_FEE_POINTER: '/fee' });
    expect(step.asked.map(({ asks }) => asks)).toEqual([
      undefined,
      'PAYMENTS_PAID_STATUSES',
      'PAYMENTS_FEE_POINTER',
    ]);
    expect(step.asked[2]?.check?.('fee')).toContain('must be a JSON pointer');
  });
});

describe('a setting', () => {
  it('is proposed with its present value, and not asked for if it is a secret in a file', async () => {
    const step = stepWith(['8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38'], {
      PAYMENTS_ACCOUNT_ID: '1c6f6a0e-5d0b-4c3e-9d55-0a7c1f0b7e21',
      WEBHOOK_SECRETS_FILE: '/run/secrets/webhook',
    });
    await askSetting(step, 'account', 'PAYMENTS_ACCOUNT_ID');
    await askSetting(step, 'webhook_secret', 'WEBHOOK_SECRETS', { isSecret: true });
    expect(step.asked).toMatchObject([{ name: 'account', proposal: '1c6f6a0e-5d0b-4c3e-9d55-0a7c1f0b7e21' }]);
    expect(step.draft.changes()).toEqual({ PAYMENTS_ACCOUNT_ID: '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38' });
  });
});
