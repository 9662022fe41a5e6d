import type { VerbDeps } from '../../src/commands/registry.ts';

function nobody(): never {
  throw new Error('no list is read and no account or link is asked for here');
}

const noList = { begin: nobody, latest: nobody, show: nobody, everyPage: nobody };

/** For verbs that have nothing to do with the service's lists and links. */
export const noDeskLists: Pick<
  VerbDeps,
  'terminals' | 'accounts' | 'accountDesk' | 'accountFields' | 'findAccount' | 'links'
> = {
  terminals: noList,
  accounts: noList,
  accountDesk: { begin: nobody },
  accountFields: [],
  findAccount: nobody,
  links: { begin: nobody, find: nobody, openOf: async () => [], lookNow: nobody, share: nobody },
};
