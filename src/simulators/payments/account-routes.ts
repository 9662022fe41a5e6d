import { z } from 'zod';
import type { Account } from './accounts.ts';
import { answered, enveloped, refusal, type Answer } from './answer.ts';
import { pageRequest } from './page-request.ts';
import { email, readBody } from './read-body.ts';
import type { Call, Route } from './route.ts';
import type { World } from './world.ts';

/** Spec: Account (constraints). Which fields the creation takes is not shown; all but the name may be left out here. */
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
export function accountRoutes(world: World): Route[] {
  const shared = { access: 'parent', from: 'bot', tellsLimit: true } as const;
  return [
    {
      ...shared,
      method: 'GET',
      path: '/v1/accounts',
      label: 'List sub accounts',
      answer: (call) => list(world, call),
    },
    {
      ...shared,
      method: 'POST',
      path: '/v1/accounts',
      label: 'Create a sub account',
      answer: (call) => create(world, call),
    },
    {
      ...shared,
      method: 'GET',
      path: '/v1/accounts/sub-account-details',
      label: 'Fetch a sub account',
      answer: (call) => details(world, call),
    },
  ];
}

/** Bare: no envelope around results and cursor. */
function list(world: World, call: Call): Answer {
  const wanted = pageRequest(call.query);
  if (!wanted) return refusal(400, 'limit must be an integer from 1 to 50');
  const accounts = {
    name: 'accounts',
    items: world.accounts.newestFirst(),
    idOf: (one: Account) => one.accountId,
  };
  const page = world.pager(accounts, wanted.limit, wanted.cursor);
  if (!page) return refusal(400, 'cursor is not one that was returned by this list');
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
