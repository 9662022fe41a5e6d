import type { VerbDeps } from '../../src/commands/registry.ts';
import { noSharing } from './no-sharing.ts';

function nobody(): never {
  throw new Error('no list is read and no account or link is asked for here');
}

const noList = { begin: nobody, latest: nobody, show: nobody, matchingPages: nobody };

/** What all verbs of one account need but the charge desk, for tests that look at one thing of it: it knows nothing and does nothing. */
export function quietVerbs(place: Pick<VerbDeps, 'environment' | 'account'>): Omit<VerbDeps, 'desk'> {
  return {
    ...place,
    ...noSharing,
    findTransaction: () => Promise.resolve(undefined),
    now: () => 0,
    ledger: undefined,
    currencies: ['NGN', 'USD'],
    cardEmails: {
      keepDraft: () => Promise.reject(new Error('no card e-mail is changed here')),
      readDraft: () => Promise.resolve(undefined),
      begin: () => Promise.resolve({ kind: 'stale' }),
    },
    routes: { ...place, rules: [], failures: 'C0ALERTS01', successes: undefined },
    rehearse: () => Promise.resolve({ events: 0, lines: [], unsure: 0 }),
    storms: { channel: () => Promise.resolve({ singles: [] }), threshold: 20, windowMs: 300_000 },
    sendTestAlert: () => Promise.resolve(),
    usesOf: () => [],
    alertsOf: () => Promise.resolve([]),
    undelivered: {
      all: async () => [],
      tried: () => [],
      deliverAgain: async () => ({ kind: 'again', messages: 0 }),
    },
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
}
