import { enveloped, refusal, type Answer } from './answer.ts';
import { pageRequest } from './page-request.ts';
import type { Call, Route } from './route.ts';
import type { World } from './world.ts';

/** Spec: Terminal record. */
export type Terminal = {
  terminalId: string;
  serialNumber: string;
  accountId: string;
  parentAccountId: string;
  merchantName: string;
  terminalLabel: string;
  createdAt: string;
  updatedAt: string;
};

/** Spec: Terminals. Unlike the account list, this one is wrapped in the envelope. */
export function terminalRoutes(world: World): Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/accounts/terminals',
      label: 'List terminals',
      access: 'merchant',
      from: 'bot',
      answer: (call) => list(world, call),
    },
  ];
}

function list(world: World, call: Call): Answer {
  const wanted = pageRequest(call.query);
  if (!wanted) return refusal(400, 'limit must be an integer from 1 to 50');
  const terminals = { name: 'terminals', items: world.terminals, idOf: (one: Terminal) => one.terminalId };
  const page = world.pager(terminals, wanted.limit, wanted.cursor);
  if (!page) return refusal(400, 'cursor is not one that was returned by this list');
  return enveloped(page, `${page.results.length} terminals${page.cursor === '' ? ', the last page' : ''}`);
}
