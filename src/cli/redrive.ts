import { redrive } from '../messages/undelivered.ts';
import { parsed, problem } from '../domain/wording.ts';
import { command, type CommandEnd, withStorage } from './command.ts';
import { reasonOf } from '../store/explain-error.ts';
import type { Runtime } from '../config/config.ts';

export const redriveCommand = command({
  summary: 'Retry the messages that Slack refused for too long',
  usage: ['npm run redrive -- [--channel C0123ABCD] [--account NAME]'],
  more: 'Without --channel: all of them. Nothing is delivered twice. /pay undelivered lists them.',
  scope: 'each',
  options: { channel: { type: 'string' } },
  prepare: ({ values: { channel } }) =>
    channel === undefined || /^[A-Z][A-Z0-9]{6,}$/.test(channel)
      ? parsed({ run: (runtime) => redriveOn(runtime, channel) })
      : problem('--channel needs an id, like C0123ABCD.'),
});

async function redriveOn(runtime: Runtime, channel: string | undefined): Promise<CommandEnd> {
  return await withStorage(
    runtime,
    async ({ store }) => ({ exitCode: 0, words: resultWords(await redrive(store, channel), channel) }),
    (error) =>
      `Some of it may not be on its way. ${reasonOf(error)} Run this again once that is fixed: nothing is delivered twice.`,
    { verb: 'redrive' },
  );
}

function resultWords(
  redriven: readonly { channel: string; messages: number }[],
  asked: string | undefined,
): string {
  if (redriven.length === 0) {
    return asked === undefined
      ? 'Everything was delivered.'
      : `Nothing is undelivered in ${asked}. Without --channel this retries all.`;
  }
  const total = redriven.reduce((sum, { messages }) => sum + messages, 0);
  const lines = redriven.map(({ channel, messages }) => `  ${channel}: ${messages}`);
  const first = total === 1 ? 'One message is' : `${total} messages are`;
  return [
    `${first} on the way again, about one a second in each channel, as long as a bot runs:`,
    ...lines,
  ].join('\n');
}
