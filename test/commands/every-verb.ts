import type { AlertCardActions } from '../../src/commands/alert-card/alert-card-parts.ts';
import type { StormActions } from '../../src/commands/alert-card/storm-parts.ts';
import { createVerbs } from '../../src/commands/registry.ts';
import type { Command } from '../../src/slack/command.ts';
import { createFakeDesk } from './charge-stage.ts';
import { noDeskLists } from './no-desk-lists.ts';
import { noSharing } from './no-sharing.ts';

function nobody(): never {
  throw new Error('nothing is done here');
}

const cards: AlertCardActions & StormActions = {
  alertCards: { find: nobody, move: nobody, lookUpNow: nobody },
  chargeAgain: nobody,
  storms: { see: nobody, place: nobody },
  takeStorm: { acknowledge: nobody, rows: nobody },
  uploadFile: nobody,
};

/** Every verb of the real registry, with all its presses and forms, for tests that run none of them. */
export function everyVerb(): Command[] {
  return createVerbs(
    {
      findTransaction: () => Promise.resolve(undefined),
      environment: 'sandbox',
      account: 'main account',
      now: () => 0,
      desk: createFakeDesk(),
      ledger: undefined,
      currencies: ['NGN'],
      cardEmails: {
        keepDraft: () => Promise.reject(new Error('no card e-mail is changed here')),
        readDraft: () => Promise.resolve(undefined),
        begin: () => Promise.resolve({ kind: 'stale' }),
      },
      routes: {
        rules: [],
        environment: 'sandbox',
        account: 'main account',
        failures: 'C0ALERTS01',
        successes: undefined,
      },
      rehearse: () => Promise.resolve({ events: 0, lines: [], unsure: 0 }),
      storms: { channel: () => Promise.resolve({ singles: [] }), threshold: 20, windowMs: 300_000 },
      sendTestAlert: () => Promise.resolve(),
      alertsInHand: { of: () => Promise.resolve([]) },
      undelivered: { all: async () => [], deliverAgain: async () => ({ kind: 'again', messages: 0 }) },
      approvals: {
        request: nobody,
        find: nobody,
        approve: nobody,
        refuse: nobody,
        withdraw: nobody,
        waiting: nobody,
        askedBy: nobody,
      },
      ...noDeskLists,
      ...noSharing,
    },
    cards,
  );
}
