import { randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { components } from '../../payments/schema.d.ts';
import {
  answered,
  email,
  enveloped,
  readBody,
  refusal,
  type Answer,
  type Call,
  type Route,
  merchant,
  parent,
} from './route.ts';
import type { World } from './world.ts';
import { hourMs } from '../../domain/span.ts';

/** Spec: Account, Terminal record. */
type Account = Required<components['schemas']['Account']>;
export type Terminal = Required<components['schemas']['Terminal']>;

export type Accounts = ReturnType<typeof createAccounts>;

export function createAccounts(parentAccountId: string, now: () => number) {
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
    byId: (accountId: string) => accounts.find((account) => account.accountId === accountId),
    byRef: (accountRef: string) => accounts.find((account) => account.accountRef === accountRef),
    newestFirst: () =>
      accounts.toReversed().toSorted((one, other) => other.createdAt.localeCompare(one.createdAt)),
  };
}

/** Spec: Account (createdAt: UTC, YYYY-MM-DDThh:mm:ssZ). */
function utcSeconds(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

function digits(count: number): string {
  return Array.from({ length: count }, () => randomInt(10)).join('');
}

const branches = ['Ikeja', 'Lekki', 'Surulere', 'Yaba', 'Apapa', 'Wuse', 'Garki', 'Bodija', 'Enugu', 'Kano'];
const kinds = ['Branch', 'Outlet', 'Warehouse', 'Kiosk', 'Market Stand', 'Online Shop'];

/** An accountRef; this account saved a card, which the parent may not charge. */
export const accountWithOwnCard = 'OWN-CARD-ACCOUNT-001';

/** Sixty sub accounts, one every seven hours. */
export function seedAccounts(accounts: Accounts, now: number): void {
  for (const [index, { branch, kind }] of names().entries()) {
    const number = String(index + 1).padStart(3, '0');
    const ref = index === 0 ? accountWithOwnCard : `PLAYGROUND-SUB-00${number}`;
    accounts.create({
      accountName: `${branch} ${kind}`,
      accountRef: ref,
      status: index % 20 === 7 ? 'pnd' : 'active',
      description: `Collections of ${branch} ${kind}`,
      createdAt: utcSeconds(now - (60 - index) * 7 * hourMs),
    });
  }
}

const places = ['Front desk', 'Counter'];

/** Two terminals a branch, a hundred and twenty in all; or the given number, branch by branch. */
export function seedTerminals(
  parentAccountId: string,
  accounts: Accounts,
  now: number,
  count?: number,
): Terminal[] {
  const branchAccounts = accounts.newestFirst();
  const wanted = count ?? branchAccounts.length * places.length;
  return Array.from({ length: wanted }, (_, index) => {
    const account = branchAccounts[Math.floor(index / places.length) % branchAccounts.length];
    const number = index + 1;
    const createdAt = new Date(now - number * 5 * hourMs).toISOString();
    return {
      terminalId: `2070${String(number).padStart(4, '0')}`,
      serialNumber: `PX${randomUUID().slice(0, 8).toUpperCase()}`,
      accountId: account?.accountId ?? '',
      parentAccountId,
      merchantName: account?.accountName ?? '',
      terminalLabel: `${account?.accountName}, ${places[index % places.length]}`,
      createdAt,
      updatedAt: createdAt,
    };
  });
}

function names(): { branch: string; kind: string }[] {
  return kinds.flatMap((kind) => branches.map((branch) => ({ branch, kind })));
}

/** Spec: Account (constraints). The creation's fields are not shown; here only the name is required. */
const createBody = z.object({
  accountName: z.string().min(2).max(255),
  accountRef: z.string().length(20).optional(),
  phoneNumber: z.string().min(1).optional(),
  email: email.optional(),
  bvn: z.string().length(11).optional(),
  address: z.string().max(255).optional(),
  currency: z.literal('NGN').optional(),
  type: z.enum(['virtual', 'physical']).optional(),
  description: z.string().optional(),
});

/** Spec: Accounts. */
export const accountRoutes: readonly Route[] = [
  { ...parent, method: 'GET', path: '/v1/accounts', label: 'List sub accounts', answer: listAccounts },
  { ...parent, method: 'POST', path: '/v1/accounts', label: 'Create a sub account', answer: create },
  {
    ...parent,
    method: 'GET',
    path: '/v1/accounts/sub-account-details',
    label: 'Fetch a sub account',
    answer: details,
  },
  {
    ...merchant,
    method: 'GET',
    path: '/v1/accounts/terminals',
    label: 'List terminals',
    answer: listTerminals,
  },
];

/** Bare: no envelope around results and cursor. */
function listAccounts(world: World, call: Call): Answer {
  const page = pageOf(world.accounts.newestFirst(), ({ accountId }) => accountId, call.query);
  if (typeof page === 'string') return refusal(400, page);
  return answered(page, `${page.results.length} accounts${page.cursor === '' ? ', the last page' : ''}`);
}

function create(world: World, call: Call): Answer {
  const read = readBody(createBody, call);
  if (!read.ok) return read.answer;
  const given = Object.entries(read.value).filter(([, value]) => value !== undefined);
  const account = world.accounts.create({
    accountName: read.value.accountName,
    ...(Object.fromEntries(given) as Partial<Account>),
  });
  if (!account) return refusal(400, 'accountRef is already used');
  return enveloped(account, `${account.accountName} created`);
}

function details(world: World, call: Call): Answer {
  const accountId = call.query.get('accountId');
  const accountRef = call.query.get('accountRef');
  if (accountId === null && accountRef === null) return refusal(400, 'accountId or accountRef is required');
  const byId = accountId === null ? undefined : world.accounts.byId(accountId);
  const byRef = accountRef === null ? undefined : world.accounts.byRef(accountRef);
  const account = byId ?? byRef;
  const contradiction = byId !== undefined && accountRef !== null && byId !== byRef;
  if (!account || contradiction) return refusal(404, 'The sub account does not exist');
  return enveloped(account, account.accountName);
}

/** Unlike the account list, this one is wrapped in the envelope. */
function listTerminals(world: World, call: Call): Answer {
  const page = pageOf(world.terminals, ({ terminalId }) => terminalId, call.query);
  if (typeof page === 'string') return refusal(400, page);
  return enveloped(page, `${page.results.length} terminals${page.cursor === '' ? ', the last page' : ''}`);
}

const largestPage = 50;
const usualPage = 20;

type Page<T> = { results: T[]; cursor: string };

/**
 * The requested page, or words for a limit above the spec's maximum or a cursor that this list did not return. Pages by
 * "after this element": a new element neither repeats nor hides another.
 *
 * Spec: Limits (page size, pagination).
 */
function pageOf<T>(items: readonly T[], idOf: (item: T) => string, query: URLSearchParams): Page<T> | string {
  const limit = Number(query.get('limit') ?? usualPage);
  if (!Number.isInteger(limit) || limit < 1 || limit > largestPage)
    return 'limit must be an integer from 1 to 50';
  const cursor = query.get('cursor') ?? '';
  const after = Buffer.from(cursor, 'base64url').toString();
  const start = cursor === '' ? 0 : items.findIndex((item) => idOf(item) === after) + 1;
  if (cursor !== '' && start === 0) return 'cursor is not one that was returned by this list';
  const results = items.slice(start, start + limit);
  const last = results.at(-1);
  const hasMore = start + limit < items.length && last !== undefined;
  return { results, cursor: hasMore ? Buffer.from(idOf(last)).toString('base64url') : '' };
}
