import { redrive } from '../messages/undelivered.ts';
import { reasonOf, type CommandEnd } from './command-end.ts';
import type { Outside } from '../app/outside.ts';
import { withKept } from './with-kept.ts';

/**
 * `npm run redrive -- [--channel C…]`: has everything that Slack refused for too long, or what is for one channel or
 * person, delivered again by the running bots, and tells how much that is. Running it twice, or beside somebody who
 * presses the button, delivers nothing twice. Never throws.
 */
export async function runRedrive(outside: Outside, words: readonly string[]): Promise<CommandEnd> {
  const asked = readChannel(words);
  if (asked.kind === 'unclear') return unclear;
  return await withKept(
    outside,
    async ({ store }) => ({ exitCode: 0, words: told(await redrive(store, asked.channel)) }),
    (error) => ({
      exitCode: 1,
      words: `Not everything is surely on its way. ${reasonOf(error)} Run this again once that is mended: nothing is delivered twice.`,
    }),
    'redrive',
  );
}

/** The end of words that are not understood. */
export function misreadRedrive(words: readonly string[]): CommandEnd | undefined {
  return readChannel(words).kind === 'unclear' ? unclear : undefined;
}

const unclear: CommandEnd = {
  exitCode: 2,
  words:
    'Nothing was done. Type nothing more, for all channels, or the id of one: npm run redrive -- --channel C0123ABCD',
};

type Asked = { kind: 'channel'; channel: string | undefined } | { kind: 'unclear' };

function readChannel(words: readonly string[]): Asked {
  const [option, channel, ...more] = words;
  if (option === undefined) return { kind: 'channel', channel: undefined };
  const isClear = option === '--channel' && /^[A-Z][A-Z0-9]{6,}$/.test(channel ?? '') && more.length === 0;
  return isClear ? { kind: 'channel', channel } : { kind: 'unclear' };
}

function told(redriven: readonly { channel: string; messages: number }[]): string {
  if (redriven.length === 0) {
    return 'Nothing is undelivered. Run this with the very settings of the bot.';
  }
  const total = redriven.reduce((sum, { messages }) => sum + messages, 0);
  const lines = redriven.map(({ channel, messages }) => `  ${channel}: ${messages}`);
  const first = total === 1 ? 'One message is' : `${total} messages are`;
  return [
    `${first} on the way again, about one a second in each channel, as long as a bot runs:`,
    ...lines,
  ].join('\n');
}
