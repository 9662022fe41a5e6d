import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { accountMatches, type Account } from '../domain/account.ts';
import type { NoteAudit } from '../domain/audit-entry.ts';
import { terminalMatches, type Terminal } from '../domain/terminal.ts';
import { createBeginAccount, type BeginAccount } from '../features/new-account/create-account.ts';
import { createListExporter, type ListExporter } from '../features/lists/export-list.ts';
import { createServiceList, type ServiceList } from '../features/lists/service-list.ts';
import type { Kept } from './kept.ts';
import type { Outside } from './outside.ts';
import type { Payments } from './payments.ts';

export type DeskLists = {
  terminals: ServiceList<Terminal>;
  accounts: ServiceList<Account>;
  exports: { terminals: ListExporter<Terminal>; accounts: ListExporter<Account> };
  beginAccount: BeginAccount;
};

const text = z.string().exactOptional();

const terminal: z.ZodType<Terminal> = z.object({
  terminalId: text,
  serialNumber: text,
  accountId: text,
  parentAccountId: text,
  merchantName: text,
  terminalLabel: text,
  createdAt: text,
  updatedAt: text,
});

const account: z.ZodType<Account> = z.object({
  accountId: text,
  accountRef: text,
  accountName: text,
  status: text,
  type: text,
  currency: text,
  email: text,
  phoneNumber: text,
  address: text,
  description: text,
  createdAt: text,
  updatedAt: text,
  banks: z
    .array(z.object({ bankAccountNumber: text, bankName: text, bankAccountName: text }))
    .exactOptional(),
});

/** The service's lists and its sub accounts, put together with the memory of what was read and asked for. */
export function createDeskLists(
  { config, log, now }: Outside,
  { kept, payments, note }: { kept: Kept; payments: Payments; note?: NoteAudit },
): DeskLists {
  const { store, sealer } = kept;
  const terminals = createServiceList({
    store,
    sealer,
    name: 'terminals',
    item: terminal,
    readPage: payments.listTerminals,
    matches: terminalMatches,
    now,
  });
  const accounts = createServiceList({
    store,
    sealer,
    name: 'accounts',
    item: account,
    readPage: payments.listAccounts,
    matches: accountMatches,
    now,
  });
  return {
    terminals,
    accounts,
    exports: {
      terminals: createListExporter({ store, name: 'terminals', list: terminals, now }),
      accounts: createListExporter({ store, name: 'accounts', list: accounts, now }),
    },
    beginAccount: createBeginAccount({
      ...kept,
      ...payments,
      fields: config.accountNewFields,
      log,
      wait: sleep,
      ...(note ? { note } : {}),
    }),
  };
}
