import type { AlertCardActions } from '../../src/commands/alert-card/alert-card-parts.ts';
import type { StormActions } from '../../src/commands/alert-card/storm-parts.ts';
import { createVerbs } from '../../src/commands/registry.ts';
import type { Command } from '../../src/slack/command.ts';
import { createFakeDesk } from './charge-stage.ts';
import { quietVerbs } from './quiet-verbs.ts';

function nobody(): never {
  throw new Error('nothing is done here');
}

const cards: AlertCardActions & StormActions = {
  alertCards: { find: nobody, move: nobody, lookUpNow: nobody },
  chargeAgain: nobody,
  declines: { threeDSecureWords: [], waitMs: 0 },
  standingOf: nobody,
  storms: { see: nobody, place: nobody },
  takeStorm: { acknowledge: nobody, rows: nobody },
  uploadFile: nobody,
};

/** Every verb of the real registry, with all its presses and forms, for tests that run none of them. */
export function everyVerb(): Command[] {
  return createVerbs(
    {
      ...quietVerbs({ environment: 'sandbox', account: 'main account' }),
      desk: createFakeDesk(),
      approvals: {
        request: nobody,
        find: nobody,
        approve: nobody,
        refuse: nobody,
        withdraw: nobody,
        waiting: nobody,
        askedBy: nobody,
      },
    },
    cards,
  );
}
