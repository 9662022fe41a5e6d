import { createCardLedger } from '../features/cards/card-ledger.ts';
import { openFingerprint } from '../records/fingerprint.ts';
import { reasonOf, type CommandEnd } from './command-end.ts';
import type { Outside } from '../app/outside.ts';
import { withKept } from './with-kept.ts';

/**
 * `npm run forget-cards -- <e-mail>`: erases every saved card linked to the address from the bot's ledger,
 * because the customer asked for it, and tells how many there were. At the payments service nothing changes.
 * Running bots need not stop, and never say more of a card than that it is gone. Never throws.
 */
export async function runForgetCards(outside: Outside, words: readonly string[]): Promise<CommandEnd> {
  const email = readEmail(words);
  if (email === undefined) return unclear;
  return await withKept(
    outside,
    async ({ store, sealer }) => {
      const fingerprint = openFingerprint({ store, sealer, log: outside.log });
      const keepMs = outside.config.savedCardDays * 86_400_000;
      const ledger = createCardLedger({ store, sealer, fingerprint, keepMs, now: outside.now });
      return { exitCode: 0, words: told(await ledger.forget(email)) };
    },
    (error) => ({
      exitCode: 1,
      words: `Not all saved cards of this address are surely forgotten. ${reasonOf(error)} Run this again once that is mended.`,
    }),
    'forget-cards',
  );
}

/** The end of words that are not understood. */
export function misreadForgetCards(words: readonly string[]): CommandEnd | undefined {
  return readEmail(words) === undefined ? unclear : undefined;
}

/** What was typed is not repeated: it may be a token or a card number. */
const unclear: CommandEnd = {
  exitCode: 2,
  words: 'Nothing was forgotten. Give one e-mail address, such as: npm run forget-cards -- ada@example.com',
};

function readEmail([email, ...more]: readonly string[]): string | undefined {
  return email !== undefined && more.length === 0 && isEmail(email) ? email : undefined;
}

function told(cards: number): string {
  if (cards === 0) {
    return 'The store holds no saved card of this address. Run this with the very settings of the bot.';
  }
  const forgotten =
    cards === 1 ? 'One saved card of this address is' : `${cards} saved cards of this address are`;
  return `${forgotten} forgotten here. At the payments service nothing has changed.`;
}

/** Loose on purpose: it keeps mistakes out, and what passes is only compared. */
function isEmail(text: string): boolean {
  return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text);
}
