import type { AlertCardActions } from '../../src/features/alerts/alert-card-parts.ts';
import type { StormActions } from '../../src/features/alerts/storm/storm-parts.ts';
import { createVerbs, type VerbDeps } from '../../src/features/registry.ts';
import type { ChargeDesk } from '../../src/features/charge/charge-desk.ts';
import type { Command } from '../../src/slack/command.ts';
import { noSharing } from './no-sharing.ts';

function nobody(): never {
  throw new Error('nothing is done here');
}

const noList = { begin: nobody, latest: nobody, show: nobody, matchingPages: nobody };

/** What all verbs of one account need but the charge desk, for tests that look at one thing of it: it knows nothing and does nothing. */
function quietVerbs(place: Pick<VerbDeps, 'environment' | 'account'>): Omit<VerbDeps, 'desk'> {
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
      change: nobody,
    },
    routes: { ...place, rules: [], failures: 'C0ALERTS01', successes: undefined },
    rehearse: () => Promise.resolve({ events: 0, lines: [], unsure: 0 }),
    storms: { newest: nobody, threshold: 20, windowMs: 300_000 },
    sendTestAlert: () => Promise.resolve(),
    usesOf: () => [],
    alertsOf: () => Promise.resolve([]),
    undelivered: {
      all: async () => [],
      tried: () => [],
      deliverAgain: async () => ({ kind: 'again', messages: 0 }),
    },
    doctor: async () => [],
    terminals: noList,
    accounts: noList,
    exports: { terminals: nobody, accounts: nobody },
    shareFile: nobody,
    beginAccount: nobody,
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

const cards: AlertCardActions & StormActions = {
  alertCards: { read: nobody, find: nobody, move: nobody, lookUpNow: nobody },
  chargeAgain: nobody,
  declines: { threeDSecureWords: [], waitMs: 0 },
  standingOf: nobody,
  storms: { see: nobody, place: nobody, items: nobody, take: nobody },
  uploadFile: nobody,
};

const chargeDesk: ChargeDesk = {
  keepDraft: nobody,
  readDraft: nobody,
  review: nobody,
  holdOf: nobody,
  limitsOf: nobody,
  alertTaken: nobody,
  submit: nobody,
  find: nobody,
  submitCode: nobody,
  resendCode: nobody,
  takeOver: nobody,
  lookUpNow: nobody,
  watch: nobody,
  remind: nobody,
  waitingFor: nobody,
  inDoubt: nobody,
  recent: nobody,
  makeSavingLink: nobody,
};

/** Every verb of the real registry, with all its presses and forms, for tests that run none of them. */
export function everyVerb(): Command[] {
  return createVerbs(
    {
      ...quietVerbs({ environment: 'sandbox', account: 'main account' }),
      desk: chargeDesk,
      approvals: {
        request: nobody,
        find: nobody,
        approve: nobody,
        refuse: nobody,
        withdraw: nobody,
        waiting: nobody,
        askedBy: nobody,
        askedOf: nobody,
        watch: nobody,
      },
    },
    cards,
  );
}
