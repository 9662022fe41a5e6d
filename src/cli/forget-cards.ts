import { setTimeout as sleep } from 'node:timers/promises';
import { createCardLedger } from '../features/cards/card-ledger.ts';
import { forgetFound } from '../features/find/find-records.ts';
import { openFingerprint } from '../records/fingerprint.ts';
import { parsed, problem } from '../domain/wording.ts';
import { command, type CommandEnd, withStorage } from './command.ts';
import { reasonOf } from '../store/explain-error.ts';
import type { Runtime } from '../config/config.ts';
import { emailFormProblem } from '../slack/kit/form.ts';
import { dayMs } from '../domain/span.ts';

/**
 * Erases the saved cards of an e-mail address from the bot's ledger, and hides the customer's records from `find`. Bots
 * may run meanwhile: a form that still shows such a card says that it is gone.
 */
export const forgetCardsCommand = command({
  summary: 'Forget all saved cards of a customer, and hide the customer’s records from /pay find',
  usage: ['npm run forget-cards -- <e-mail> [--account NAME]'],
  more: 'At the payments service nothing changes. Several accounts: all of them, unless one is named.',
  scope: 'each',
  mostWords: 1,
  // A loose check, against typing errors: the address is only compared.
  prepare({ positionals: [email = ''] }) {
    const wrong = emailFormProblem(email);
    return wrong === undefined
      ? parsed({ run: (runtime) => forget(runtime, email) })
      : problem(`Give the customer’s e-mail. ${wrong}`);
  },
});

async function forget(runtime: Runtime, email: string): Promise<CommandEnd> {
  return await withStorage(
    runtime,
    async ({ store, sealer }) => {
      const { log, now } = runtime;
      const fingerprint = openFingerprint(store, sealer, log);
      const keepMs = runtime.config.savedCardDays * dayMs;
      const ledger = createCardLedger({ store, sealer, fingerprint, log, now, wait: sleep }, keepMs);
      await forgetFound({ store, fingerprint, now }, email);
      return { exitCode: 0, words: `${resultWords(await ledger.forget(email))}\n${notFound}` };
    },
    (error) =>
      `Some of this customer’s cards may still be remembered. ${reasonOf(error)} Run this again once that is fixed.`,
    { verb: 'forget-cards' },
  );
}

const notFound =
  '/pay find no longer finds the customer’s records. The records themselves stay until they expire: docs/policy.md, Privacy.';

function resultWords(cards: number): string {
  if (cards === 0) {
    return 'The store holds no saved card of this address.';
  }
  const forgotten =
    cards === 1 ? 'One saved card of this address is' : `${cards} saved cards of this address are`;
  return `${forgotten} forgotten here. At the payments service nothing has changed.`;
}
