import type { Account } from '../../domain/account.ts';
import type { Terminal } from '../../domain/terminal.ts';
import { code, words } from '../../slack/kit/blocks.ts';
import type { ListSubject } from './list-message.ts';

const longestName = 40;
const longestId = 24;

export const terminalSubject: ListSubject<Terminal> = {
  verb: 'terminals',
  one: 'terminal',
  many: 'terminals',
  columns: [
    { head: 'Terminal', cell: ({ terminalId }) => terminalId, longest: longestId },
    { head: 'Label', cell: ({ terminalLabel }) => terminalLabel, longest: longestName },
    { head: 'Merchant', cell: ({ merchantName }) => merchantName, longest: longestName },
    { head: 'Serial number', cell: ({ serialNumber }) => serialNumber, longest: longestId },
    { head: 'Added (UTC)', cell: ({ createdAt }) => dayOf(createdAt), longest: longestId },
  ],
};

export const accountSubject: ListSubject<Account> = {
  verb: 'accounts',
  one: 'account',
  many: 'accounts',
  columns: [
    { head: 'Account', cell: ({ accountName }) => accountName, longest: longestName },
    { head: 'Reference', cell: ({ accountRef }) => accountRef, longest: longestId },
    { head: 'Status', cell: ({ status }) => status, longest: longestId },
    { head: 'Type', cell: ({ type }) => type, longest: longestId },
    { head: 'Created (UTC)', cell: ({ createdAt }) => dayOf(createdAt), longest: longestId },
  ],
  next: [words('One of them: '), code('/pay account <reference>')],
};

/** "2026-11-21"; what is no time the bot can read stays as the service wrote it. */
function dayOf(time: string | undefined): string | undefined {
  if (time === undefined) return undefined;
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? time : new Date(ms).toISOString().slice(0, 10);
}
