import { describe, expect, it } from 'vitest';
import type { Account, AccountEnd } from '../../../src/domain/account.ts';
import { knownAccountFields, parseAccountFields } from '../../../src/domain/account-field.ts';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import { accountEndMessage, accountEndModal, creatingModal } from '../../../src/slack/account/account-end.ts';
import {
  accountMessage,
  noAccountMessage,
  refusedKeyMessage,
} from '../../../src/slack/account/account-message.ts';
import { accountFieldId, accountModal, readAccountModal } from '../../../src/slack/account/account-modal.ts';
import { assertBlocks, findViewProblems } from '../../../src/slack/assert-blocks.ts';
import { firstLine, unescaped } from '../shown-text.ts';

const place = { environment: 'live', account: 'Main shop' } as const;
const shown = { place, nowMs: 1_700_000_000_000 };
const fields = parseAccountFields(knownAccountFields.split(',')) ?? [];
const ref = 'SUB00000000000000001';
const extremes = ['x', 'W'.repeat(3_000), '😀'.repeat(700), '\u202Eمتجر '.repeat(200), '<!here> *a* &'];

function full(text: string): Account {
  return {
    accountId: text,
    accountRef: text,
    accountName: text,
    status: text,
    type: text,
    currency: text,
    email: `${text}@example.com`,
    phoneNumber: '+234 803 123 4567',
    address: text,
    description: text,
    createdAt: text,
    banks: Array.from({ length: 9 }, () => ({
      bankAccountNumber: text,
      bankName: text,
      bankAccountName: text,
    })),
  };
}

const refusals = ['unauthorized', 'forbidden', 'rate_limited'] as const;
const ends: AccountEnd[] = [
  { kind: 'created', account: undefined, by: 'answer' },
  { kind: 'created', account: full('x'), by: 'look_up' },
  ...refusals.map((failure) => ({
    kind: 'not_made' as const,
    failure,
    cause: new ServiceFailure(failure, 'x'),
  })),
  { kind: 'not_made', failure: 'invalid_request', message: 'W'.repeat(5_000) },
  ...(['not_found', 'another', 'failed', 'impossible'] as const).map((lookUp) => ({
    kind: 'doubt' as const,
    lookUp,
  })),
];

describe('an account as it is shown', () => {
  it.each(['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '-1'])(
    'says of %s, of which Slack takes no date, what the service wrote',
    (createdAt) => {
      const message = accountMessage({ accountName: 'Shop', createdAt }, shown);
      assertBlocks('message', message.blocks);
      expect(JSON.stringify(message.blocks)).toContain(createdAt);
    },
  );

  it.each(extremes)('stands with any text in it', (text) => {
    for (const account of [full(text), {}, { accountName: text }]) {
      const message = accountMessage(account, shown);
      assertBlocks('message', message.blocks);
      expect(unescaped(message.text)).toBe(firstLine(message));
    }
    for (const by of ['accountId', 'accountRef'] as const) {
      const key = { by, value: text };
      for (const message of [noAccountMessage(key, shown), refusedKeyMessage(key, text, shown)]) {
        assertBlocks('message', message.blocks);
        expect(unescaped(message.text)).toBe(firstLine(message));
      }
    }
  });

  it('masks the e-mail and the telephone number', () => {
    const told = JSON.stringify(accountMessage({ ...full('x'), email: 'ada.obi@example.com' }, shown));
    expect(told).toContain('a***@example.com, ***4567');
    expect(told).not.toMatch(/ada\.obi|803/);
  });
});

describe('the form of a new account', () => {
  it('has the Account’s fields with the specification’s constraints', () => {
    const modal = accountModal({ place, fields });
    expect(findViewProblems(modal)).toEqual([]);
    expect(modal.title.text).toContain('LIVE');
    const told = JSON.stringify(modal);
    for (const words of [
      '2 to 255 characters',
      'Exactly 20 characters',
      'Exactly 11 characters',
      'At most 255',
      'virtual',
      'NGN',
    ]) {
      expect(told).toContain(words);
    }
  });

  it('fills in no secret, whatever it is given', () => {
    const secret = parseAccountFields(['accountName', 'pin', 'answer*', 'kind*:one']) ?? [];
    const prefill = { accountName: 'Yaba', pin: '4711', answer: 'blue', kind: 'one' };
    const told = JSON.stringify(accountModal({ place, fields: secret, prefill }));
    expect(told).toContain('Yaba');
    expect(told).not.toMatch(/4711|blue|initial_option/);
    expect(told.match(/not kept/g)).toHaveLength(2);
  });

  it.each(extremes)('takes any text back into its fields', (text) => {
    const prefill = Object.fromEntries(fields.map(({ name }) => [name, text]));
    expect(findViewProblems(accountModal({ place, fields, prefill, problem: text }))).toEqual([]);
  });

  it('tells all that is wrong, each at its field, and repeats nothing', () => {
    const typed = {
      accountName: 'q',
      accountRef: 'qq',
      bvn: 'qqq',
      email: 'qqqq',
      type: 'qqqqq',
      address: 'q'.repeat(256),
    };
    const values = Object.fromEntries(
      Object.entries(typed).map(([name, text]) => [accountFieldId(name), text]),
    );
    const read = readAccountModal(values, fields);
    if (read.kind !== 'errors') throw new Error('errors were expected');
    expect(Object.keys(read.errors).toSorted()).toEqual(Object.keys(values).toSorted());
    expect(JSON.stringify(Object.values(read.errors))).not.toContain('q');
    expect(readAccountModal({}, fields)).toMatchObject({
      errors: { [accountFieldId('accountName')]: 'This is needed.' },
    });
  });

  it('counts characters as people see them, drops unseen ones, and leaves out what is empty', () => {
    const values = {
      [accountFieldId('accountName')]: ' 😀\u200B😀 ',
      [accountFieldId('accountRef')]: '😀'.repeat(20),
    };
    expect(readAccountModal(values, fields)).toEqual({
      kind: 'read',
      wanted: { accountName: '😀😀', accountRef: '😀'.repeat(20) },
    });
  });

  it('asks for extra fields by settings alone', () => {
    const extra = parseAccountFields(['branchCode!:3-10', 'tier:one|two', 'note']) ?? [];
    const modal = accountModal({ place, fields: extra });
    expect(findViewProblems(modal)).toEqual([]);
    expect(JSON.stringify(modal)).toMatch(/Branch code.*Tier.*Note/);
    const values = { [accountFieldId('branchCode')]: 'IKJ', [accountFieldId('tier')]: 'two' };
    expect(readAccountModal(values, extra)).toEqual({
      kind: 'read',
      wanted: { branchCode: 'IKJ', tier: 'two' },
    });
  });
});

describe('what became of a new account', () => {
  it.each(ends)('is told in a modal and in a message: $kind', (end) => {
    for (const accountName of extremes) {
      for (const wanted of [{ accountName, accountRef: ref, description: accountName }, { accountName }]) {
        for (const asked of [{ wanted }, { wanted, askedBy: 'U0AGENT' }]) {
          expect(findViewProblems(accountEndModal(end, asked, place))).toEqual([]);
          expect(findViewProblems(creatingModal(asked, place))).toEqual([]);
          const message = accountEndMessage(end, asked, shown);
          assertBlocks('message', message.blocks);
          expect(unescaped(message.text)).toBe(firstLine(message));
        }
      }
    }
  });

  it('never calls doubt a failure, and says how to look it up', () => {
    const told = JSON.stringify(
      accountEndMessage({ kind: 'doubt', lookUp: 'not_found' }, { wanted: { accountRef: ref } }, shown),
    );
    expect(told).toContain('may have been created');
    expect(told).toContain(`/pay account ${ref}`);
    expect(told).not.toMatch(/fail/i);
  });
});
