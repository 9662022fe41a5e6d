import type { VerbDeps } from '../../src/commands/registry.ts';

function nobody(): never {
  throw new Error('no list is read and no account or link is asked for here');
}

const noList = { begin: nobody, latest: nobody, show: nobody, matchingPages: nobody };

/** For verbs that have nothing to do with the service's lists and links. */
export const noDeskLists: Pick<
  VerbDeps,
  | 'terminals'
  | 'accounts'
  | 'exports'
  | 'shareFile'
  | 'accountDesk'
  | 'accountFields'
  | 'findAccount'
  | 'savedCards'
  | 'mayRun'
  | 'links'
  | 'story'
> = {
  terminals: noList,
  accounts: noList,
  exports: { terminals: nobody, accounts: nobody },
  shareFile: nobody,
  accountDesk: { begin: nobody },
  accountFields: [],
  findAccount: nobody,
  savedCards: {
    kind: 'ready',
    desk: { list: nobody, listed: nobody, card: nobody, remember: nobody, remove: nobody },
  },
  mayRun: async () => ({ kind: 'allowed' }),
  story: async () => undefined,
  links: { begin: nobody, find: nobody, openOf: async () => [], lookNow: nobody, share: nobody },
};
