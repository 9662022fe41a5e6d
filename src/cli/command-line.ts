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

export function helpText(): string {
  const widest = Math.max(...Object.keys(commands).map((name) => name.length));
  return [
    'Usage: npm run payops --silent -- <command>',
    '',
    ...Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(widest)}  ${summary}`),
    '',
    'For one command: npm run payops -- <command> --help. --version says which release this is.',
    'Data goes to standard output, all else to standard error. The settings are the bot’s own (docs/settings.md).',
    '',
    'Exit codes:',
    ...Object.entries(exitCodeWords).map(([code, words]) => `  ${code.padStart(3)}  ${words}`),
  ].join('\n');
}

function helpOf({ summary, usage, more }: CliCommand): string {
  const lines = usage.map((line) => `  ${line}`);
  return [`${summary}.`, '', ...lines, '', more, 'Exit codes: npm run payops -- --help'].join('\n');
}

/** The one method of a stream that is used here. */
type Stream = { write: (text: string, written?: (error?: Error | null) => void) => boolean };

export type CommandLine = {
  /** The words after `src/main.ts`. */
  words: readonly string[];
  variables: Parameters<typeof readSettings>[0];
  stdout: Stream;
  stderr: Stream;
  now: () => number;
};

/** `npm run payops` puts this word before the command. Alone it asks for help. */
const groupWord = 'payops';

/**
 * Runs the typed command instead of the bot, and returns the exit code. Reads the words, gives the command its
 * settings, and prints its result. Rejects only for a bug.
 */
export async function runCommandLine(line: CommandLine): Promise<ExitCode> {
  let hasData = false;
  /** Resolves once written, so that a slow reader slows the command instead of filling the memory. */
  async function out(text: string): Promise<void> {
    hasData = true;
    // Never rejects: a failed write ends the process through the stream's `error` event.
    await new Promise<void>((resolve) => line.stdout.write(text, (error) => error || resolve()));
  }
  // Log lines and warnings, which are printed after the command's own words.
  const asides: string[] = [];
  try {
    const { exitCode, words, isReport } = await run(line, out, (text) => void asides.push(text));
    if (words === '') return exitCode;
    // If the command printed no data, its result is the data and goes to standard output.
    if (!hasData && (exitCode === exitCodes.ok || isReport)) await out(`${words}\n`);
    else line.stderr.write(`${words}\n`);
    return exitCode;
  } finally {
    if (asides.length > 0) line.stderr.write(asides.join(''));
  }
}

async function run(
  line: CommandLine,
  out: (text: string) => Promise<void>,
  aside: (text: string) => void,
): Promise<CommandEnd> {
  const [name = '--help', ...words] = line.words[0] === groupWord ? line.words.slice(1) : line.words;
  if (name === '--version' && words.length === 0) return { exitCode: exitCodes.ok, words: version() };
  if (/^(?:help|--help|-h)$/.test(name)) return helpEnd(helpText(), words);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) return usageEnd(`${unknownWords(name)}\nAll commands: npm run payops -- --help`);
  const at = words.findIndex((word) => /^(?:--help|-h|--)$/.test(word));
  if (at >= 0 && words[at] !== '--') {
    // After `lookup`, help ends as an error: the word may be a reference, and a look-up that was not made must not end
    // with the code for *paid*.
    return helpEnd(helpOf(command), name === 'lookup' ? words : words.toSpliced(at, 1));
  }
  /** With --json, standard output stays JSON even for errors. */
  function problemEnd(exitCode: ExitCode, problems: readonly string[], otherwise: CommandEnd): CommandEnd {
    return command?.problemsJson && words.includes('--json')
      ? { exitCode, words: command.problemsJson(problems), isReport: true }
      : otherwise;
  }
  const prepared = readCommand(command, words);
  if (!prepared.ok) return problemEnd(exitCodes.usage, [prepared.problem], usageEnd(prepared.problem));
  const { variables, now } = line;
  if ('runWithoutSettings' in prepared.value) {
    return await prepared.value.runWithoutSettings({ variables, now, out });
  }
  const settings = readSettings(variables, 'Nothing was done.');
  if (settings.kind === 'refused') {
    const { kind: _refused, problems, ...end } = settings;
    return problemEnd(exitCodes.settings, problems, { exitCode: exitCodes.settings, ...end });
  }
  const { config } = settings;
  // A command reports by its own words, so it doesn't log at level info.
  const level = config.logLevel === 'info' ? 'warn' : config.logLevel;
  // At debug level log lines are written at once, not after the command's words.
  const write = level === 'debug' ? (text: string) => void line.stderr.write(text) : aside;
  const log = openLog(config, level, write);
  for (const warning of settings.warnings) aside(`Warning: ${warning}\n`);
  return await prepared.value.run({ config, log, now }, out);
}

/** The end that only prints help. With other words it is an error, or a script could take it for work that was done. */
function helpEnd(text: string, others: readonly string[]): CommandEnd {
  return others.length > 0 ? usageEnd(text) : { exitCode: exitCodes.ok, words: text };
}

function usageEnd(words: string): CommandEnd {
  return { exitCode: exitCodes.usage, words };
}

function unknownWords(name: string): string {
  const known = Object.keys(commands);
  const nearest = known.find((word) => word.startsWith(`${name}-`)) ?? nearestWord(name, known);
  return `Payops has no command “${maskNumbers(oneLine(name))}”.${nearest === undefined ? '' : ` Did you mean ${nearest}?`}`;
}
