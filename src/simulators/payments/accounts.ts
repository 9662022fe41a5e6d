import { randomInt, randomUUID } from 'node:crypto';

/** Spec: Account. */
export type Account = {
  accountId: string;
  accountHolderId: string;
  accountRef: string;
  phoneNumber: string;
  email: string;
  bvn: string;
  type: 'virtual' | 'physical';
  accountName: string;
  banks: { bankAccountNumber: string; bankName: string; bankAccountName: string }[];
  address: string;
  status: 'active' | 'pnd' | 'fraudulent' | 'suspend';
  currency: 'NGN';
  description: string;
  createdAt: string;
  updatedAt: string;
};

export type Accounts = {
  /** Undefined when the reference is already used. */
  create: (fields: Partial<Account> & Pick<Account, 'accountName'>) => Account | undefined;
  byId: (accountId: string) => Account | undefined;
  byRef: (accountRef: string) => Account | undefined;
  newestFirst: () => Account[];
};

export function createAccounts(parentAccountId: string, now: () => number): Accounts {
  const accounts: Account[] = [];

  function create(fields: Partial<Account> & Pick<Account, 'accountName'>): Account | undefined {
    const accountRef = fields.accountRef ?? digits(20);
    if (accounts.some((account) => account.accountRef === accountRef)) return undefined;
    const createdAt = fields.createdAt ?? utcSeconds(now());
    const account: Account = {
      accountId: randomUUID(),
      accountHolderId: parentAccountId,
      phoneNumber: `+234${digits(10)}`,
      email: `${accountRef.toLowerCase()}@example.com`,
      bvn: digits(11),
      type: 'virtual',
      banks: [
        { bankAccountNumber: digits(10), bankName: 'Playground Bank', bankAccountName: fields.accountName },
      ],
      address: '12 Marina, Lagos',
      status: 'active',
      currency: 'NGN',
      description: 'Made in the playground',
      updatedAt: createdAt,
      ...fields,
      accountRef,
      createdAt,
    };
    accounts.push(account);
    return account;
  }

  return {
    create,
    byId: (accountId) => accounts.find((account) => account.accountId === accountId),
    byRef: (accountRef) => accounts.find((account) => account.accountRef === accountRef),
    newestFirst: () =>
      accounts.toReversed().toSorted((one, other) => other.createdAt.localeCompare(one.createdAt)),
  };
}

/** Spec: Account (createdAt: UTC, YYYY-MM-DDThh:mm:ssZ). */
export function utcSeconds(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

function digits(count: number): string {
  return Array.from({ length: count }, () => randomInt(10)).join('');
}
