import { doubtMessage, homeCharges } from './charge-list.ts';
import { askedHereAlone } from '../../slack/words/charge-place.ts';
import { openDoubts } from './open-items.ts';
import { defineCommand, type Command } from '../../slack/command.ts';
import type { ShowDeps } from './charge-views.ts';
import { nothingAfter } from '../../slack/nothing-after.ts';

/** `/pay doubt`: every charge whose outcome nobody knows yet, and what is being done about it. */
export function doubtCommand(deps: ShowDeps): Command {
  return defineCommand<undefined>({
    verb: 'doubt',
    usage: '',
    summary: 'Unknown outcomes',
    examples: ['doubt'],
    permission: 'doubt',
    menu: { text: 'Doubts', opens: 'message' },
    open: async ({ userId }) =>
      openDoubts((await deps.desk.inDoubt()).charges.filter(({ agent }) => agent === userId)),
    effect: 'none',
    parse: nothingAfter('Nothing follows “doubt”: it lists every charge in doubt.'),
    async run() {
      const found = await deps.desk.inDoubt();
      const message = doubtMessage(found, deps, deps.now());
      return found.charges.length === 0 ? askedHereAlone(message, deps) : message;
    },
    home: async () => homeCharges('In doubt', (await deps.desk.inDoubt()).charges, deps, deps.now()),
  });
}
