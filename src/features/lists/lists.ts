import type { Account as MerchantAccount, Feature } from '../../account.ts';
import type { CsvColumn } from '../../csv.ts';
import type { Account } from '../../payments/accounts.ts';
import { terminalMatches, type Terminal } from '../../payments/terminals.ts';
import { code, words } from '../../slack/kit/blocks.ts';
import { listCommand } from './list-command.ts';
import type { ListSubject } from './list-message.ts';
import { createServiceList } from './service-list.ts';

/**
 * `/pay terminals` and `/pay accounts`: the service's lists, page by page, with an optional filter, and as a CSV file.
 * Pages are cached for half an hour (`service-list.ts`).
 */
export function createLists(merchant: MerchantAccount): Feature {
  const { payments, now } = merchant;
  return {
    verbs: [
      listCommand(merchant, {
        subject: terminalSubject,
        summary: 'Terminals',
        examples: ['terminals', 'terminals lekki', 'terminals 20700042'],
        menu: { actionId: 'menu.terminals', text: 'Terminals' },
        list: createServiceList(payments.listTerminals, terminalMatches, now),
        columns: terminalColumns,
      }),
      listCommand(merchant, {
        subject: accountSubject,
        summary: 'Sub accounts',
        examples: ['accounts', 'accounts ikeja'],
        menu: { actionId: 'menu.accounts', text: 'Accounts' },
        list: createServiceList(payments.listAccounts, accountMatches, now),
        columns: accountColumns,
      }),
    ],
  };
}

const longestName = 40;
const longestId = 24;

export const terminalSubject: ListSubject<Terminal> = {
  verb: 'terminals',
  one: 'terminal',
  many: 'terminals',
  columns: [
    { cell: ({ terminalLabel, merchantName }) => terminalLabel ?? merchantName, longest: longestName },
    { cell: otherMerchant, longest: longestName },
    { cell: ({ terminalId }) => terminalId, longest: longestId },
    { cell: ({ serialNumber }) => serialNumber, longest: longestId },
    { cell: ({ createdAt }) => dayOf(createdAt), longest: longestId },
  ],
};

export const accountSubject: ListSubject<Account> = {
  verb: 'accounts',
  one: 'account',
  many: 'accounts',
  columns: [
    { cell: ({ accountName }) => accountName, longest: longestName },
    { cell: ({ status }) => status, longest: longestId },
    { cell: ({ accountRef }) => accountRef, longest: longestId },
    { cell: ({ createdAt }) => dayOf(createdAt), longest: longestId },
  ],
  next: [words('One of them: '), code('/pay account <reference>')],
};

/** The merchant's name, unless the first cell has it already. */
function otherMerchant({ terminalLabel, merchantName = '' }: Terminal): string | undefined {
  return terminalLabel === undefined || terminalLabel.includes(merchantName) ? undefined : merchantName;
}

/** "2026-11-21". An unreadable time is shown as the service wrote it. */
function dayOf(time: string | undefined): string | undefined {
  if (time === undefined) return undefined;
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? time : new Date(ms).toISOString().slice(0, 10);
}

/** Every field of the record, under the specification's own names. Spec: Terminal record. */
export const terminalColumns: readonly CsvColumn<Terminal>[] = (
  [
    'terminalId',
    'terminalLabel',
    'merchantName',
    'serialNumber',
    'accountId',
    'parentAccountId',
    'createdAt',
    'updatedAt',
  ] as const
).map((head) => ({ head, cell: (terminal) => terminal[head] }));

/** No e-mail and no telephone number, because people pass files on. Spec: Account. */
export const accountColumns: readonly CsvColumn<Account>[] = (
  [
    'accountId',
    'accountRef',
    'accountName',
    'status',
    'type',
    'currency',
    'description',
    'createdAt',
    'updatedAt',
  ] as const
).map((head) => ({ head, cell: (account) => account[head] }));

/** Whether each of the lower-case words is in one of the account's fields. */
export function accountMatches(account: Account, words: readonly string[]): boolean {
  const { accountId, accountRef, accountName, status, type, email, description, banks = [] } = account;
  const named = [accountId, accountRef, accountName, status, type, email, description];
  const numbers = banks.map(({ bankAccountNumber }) => bankAccountNumber);
  const text = [...named, ...numbers].join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}
