import { maskNumbers } from '../domain/card.ts';
import { nearestWord } from '../domain/wording.ts';
import { version } from '../http/metrics.ts';
import { oneLine } from '../slack/kit/text.ts';
import { readCommand, type CliCommand, type CommandEnd } from './command.ts';
import { exitCodes, exitCodeWords, type ExitCode } from './exit-codes.ts';
import { openLog, readSettings } from './read-settings.ts';
import { auditCommand } from './audit.ts';
import { backupCommand, restoreCommand } from './backup.ts';
import { connectCommand } from './connect/connect.ts';
import { dayCommand } from './day.ts';
import { doctorCommand } from './doctor.ts';
import { doubtCommand } from './doubt.ts';
import { explainDeliveryCommand } from './explain-delivery.ts';
import { findCommand } from './find.ts';
import { forgetCardsCommand } from './forget-cards.ts';
import { forwardCommand } from './forward.ts';
import { accountsCommand, terminalsCommand } from './lists.ts';
import { lookupCommand } from './lookup.ts';
import { moveStoreCommand } from './move-store.ts';
import { redriveCommand } from './redrive.ts';
import { rehearseCommand } from './rehearse.ts';
import { resealCommand } from './reseal.ts';
import { revokeTokenCommand } from './revoke-token.ts';

export const commands: Readonly<Record<string, CliCommand>> = {
  lookup: lookupCommand,
  terminals: terminalsCommand,
  accounts: accountsCommand,
  doubt: doubtCommand,
  find: findCommand,
  day: dayCommand,
  audit: auditCommand,
  backup: backupCommand,
  connect: connectCommand,
  doctor: doctorCommand,
  'explain-delivery': explainDeliveryCommand,
  'forget-cards': forgetCardsCommand,
  forward: forwardCommand,
  'move-store': moveStoreCommand,
  redrive: redriveCommand,
  rehearse: rehearseCommand,
  reseal: resealCommand,
  restore: restoreCommand,
  'revoke-token': revokeTokenCommand,
};

/** Made from what the commands are, so that it cannot lag behind them. */
export function helpText(): string {
  const widest = Math.max(...Object.keys(commands).map((name) => name.length));
  return [
    'Usage: npm run payops --silent -- <command>',
    '',
    ...Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(widest)}  ${summary}`),
    '',
    'How each is typed: npm run payops -- <command> --help. --version says which release this is.',
    'Data goes to standard output, all else to standard error. The settings are the bot’s own (docs/settings.md).',
    '',
    'Exit codes:',
    ...Object.entries(exitCodeWords).map(([code, words]) => `  ${code.padStart(3)}  ${words}`),
  ].join('\n');
}

/** Of one of them. */
function helpOf({ summary, usage, more }: CliCommand): string {
  const lines = usage.map((line) => `  ${line}`);
  return [`${summary}.`, '', ...lines, '', more, 'Exit codes: npm run payops -- --help'].join('\n');
}

/** A stream of the process, as far as it is needed. */
type Stream = { write: (text: string, written?: (error?: Error | null) => void) => boolean };

export type CommandLine = {
  /** What stands behind `src/main.ts`. */
  words: readonly string[];
  variables: Parameters<typeof readSettings>[0];
  stdout: Stream;
  stderr: Stream;
  now: () => number;
};

/** The word that `npm run payops` puts before a command, so that it asks for none when none is typed. */
const groupWord = 'payops';

/**
 * Runs what was typed instead of starting the bot, and gives the exit code. Every command is read, given its settings
 * and ended here. Rejects only for a bug and when the output cannot be written.
 */
export async function runCommandLine(line: CommandLine): Promise<ExitCode> {
  let hasData = false;
  /** Resolves once it is written, so that a slow reader slows the reading and nothing piles up. */
  async function out(text: string): Promise<void> {
    hasData = true;
    // What cannot be written ends the process, by the stream's own event: nothing goes on here.
    await new Promise<void>((resolve) => line.stdout.write(text, (error) => error || resolve()));
  }
  const aside: string[] = [];
  try {
    const { exitCode, words, isReport } = await run(line, out, (text) => void aside.push(text));
    if (words === '') return exitCode;
    // What a command did is its data, where it has no other.
    if (!hasData && (exitCode === exitCodes.ok || isReport)) await out(`${words}\n`);
    else line.stderr.write(`${words}\n`);
    return exitCode;
  } finally {
    if (aside.length > 0) line.stderr.write(aside.join(''));
  }
}

/** `aside`: takes what the log and the settings say beside the command's own words, which come first. */
async function run(
  line: CommandLine,
  out: (text: string) => Promise<void>,
  aside: (text: string) => void,
): Promise<CommandEnd> {
  const [name = '--help', ...words] = line.words[0] === groupWord ? line.words.slice(1) : line.words;
  if (name === '--version' && words.length === 0) return { exitCode: exitCodes.ok, words: version() };
  if (/^(?:help|--help|-h)$/.test(name)) return helped(helpText(), words);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) return misread(`${unknown(name)}\nAll of it: npm run payops -- --help`);
  const at = words.findIndex((word) => /^(?:--help|-h|--)$/.test(word));
  if (at >= 0 && words[at] !== '--') {
    // A reference may read like it, and a look-up that was not made must not end as one that found it paid.
    return helped(helpOf(command), name === 'lookup' ? words : words.toSpliced(at, 1));
  }
  /** A program that asks for JSON reads its standard output as that, whatever went wrong. */
  function unread(exitCode: ExitCode, problems: readonly string[], otherwise: CommandEnd): CommandEnd {
    return command?.unread && words.includes('--json')
      ? { exitCode, words: command.unread(problems), isReport: true }
      : otherwise;
  }
  const asked = readCommand(command, words);
  if (!asked.ok) return unread(exitCodes.usage, [asked.problem], misread(asked.problem));
  const { variables, now } = line;
  if ('alone' in asked.value) return await asked.value.alone({ variables, now, out });
  const settings = readSettings(variables, 'Nothing was done.');
  if (settings.kind === 'refused') {
    const { problems, words: told } = settings;
    return unread(exitCodes.settings, problems, { exitCode: exitCodes.settings, words: told });
  }
  const { config } = settings;
  // Standard output is for data; and what a server tells of its day is no news to who runs one command.
  const level = config.logLevel === 'info' ? 'warn' : config.logLevel;
  // Who asks for all of it wants it as it comes.
  const write = level === 'debug' ? (text: string) => void line.stderr.write(text) : aside;
  const log = openLog(config, level, write);
  for (const warning of settings.warnings) aside(`Warning: ${warning}\n`);
  return await asked.value.run({ config, log, now }, out);
}

/** Beside other words it is told instead of what they ask for, which must not end as if that were done. */
function helped(text: string, others: readonly string[]): CommandEnd {
  return others.length > 0 ? misread(text) : { exitCode: exitCodes.ok, words: text };
}

function misread(words: string): CommandEnd {
  return { exitCode: exitCodes.usage, words };
}

function unknown(name: string): string {
  const known = Object.keys(commands);
  const nearest = known.find((word) => word.startsWith(`${name}-`)) ?? nearestWord(name, known);
  return `Payops has no command “${maskNumbers(oneLine(name))}”.${nearest === undefined ? '' : ` Did you mean ${nearest}?`}`;
}
