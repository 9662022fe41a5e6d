import { askDesk, readCommandWords, type Asked } from './desk-commands.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { helpText, operatorHelpText } from './help.ts';
import { createScreen, type Screen, type Stream } from './screen.ts';
import type { Config, Outside } from '../config/config.ts';
import { errorCode } from '../domain/failure.ts';
import { parsed, problem, type Parsed } from '../domain/parsed.ts';
import { type CommandEnd, accountNamed, allAccounts, sayWhich } from './command.ts';
import { version } from '../http/metrics.ts';
import { openLog, readSettings } from './read-settings.ts';
import { endWithoutSettings, operatorCommands, runCommand } from './run-command.ts';

type Question = Extract<Asked, { kind: 'question' }>;
type Variables = Parameters<typeof readSettings>[0];

export type CommandLine = {
  /** What stands behind `src/main.ts`. */
  words: readonly string[];
  variables: Variables;
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
  const words = line.words[0] === groupWord ? line.words.slice(1) : line.words;
  const [name, ...rest] = words;
  if (name !== undefined && Object.hasOwn(operatorCommands, name)) {
    const screen = openScreen(line, false);
    if (rest.some((word) => word === '--help' || word === '-h')) return await help(name, rest, screen);
    return await runOperator(line, name, rest, screen);
  }
  const asked = readCommandWords(words, Object.keys(operatorCommands));
  if (asked.ok) return await runAsked(line, asked.value);
  openScreen(line, false).problem(`${asked.problem}\nAll of it: npm run payops -- --help`);
  return exitCodes.usage;
}

async function runOperator(
  line: CommandLine,
  name: string,
  words: readonly string[],
  screen: Screen,
): Promise<ExitCode> {
  const early = await endWithoutSettings(name, words);
  if (early) return tell(screen, await printed(screen, early));
  return await runWith(line, screen, line.variables, async (outside) => {
    let hasData = false;
    const end = await runCommand(name, words, outside, async (text) => {
      hasData = true;
      await screen.out(text);
    });
    return hasData ? end : await printed(screen, end);
  });
}

/** What a command did is its data, where it has no other. */
async function printed(screen: Screen, end: CommandEnd): Promise<CommandEnd> {
  if (end.exitCode !== exitCodes.ok && end.isReport !== true) return end;
  await screen.out(`${end.words}\n`);
  return { exitCode: end.exitCode, words: '' };
}

function tell(screen: Screen, { exitCode, words }: CommandEnd): ExitCode {
  if (words === '') return exitCode;
  if (exitCode === exitCodes.ok) screen.note(words);
  else screen.problem(words);
  return exitCode;
}

/** Beside other words it is told instead of what they ask for, which must not end as if that were done. */
async function help(name: string, words: readonly string[], screen: Screen): Promise<ExitCode> {
  if (words.length > 1) {
    screen.problem(operatorHelpText(name).trimEnd());
    return exitCodes.usage;
  }
  await screen.out(operatorHelpText(name));
  return exitCodes.ok;
}

async function runAsked(line: CommandLine, asked: Asked): Promise<ExitCode> {
  switch (asked.kind) {
    case 'help':
      if (asked.instead) {
        openScreen(line, false).problem(helpText().trimEnd());
        return exitCodes.usage;
      }
      await openScreen(line, false).out(helpText());
      return exitCodes.ok;
    case 'version':
      await openScreen(line, false).out(`${version()}\n`);
      return exitCodes.ok;
    case 'question': {
      const screen = openScreen(line, asked.quiet);
      const { playgroundPort } = asked;
      const variables =
        playgroundPort === undefined ? line.variables : await playgroundSettings(playgroundPort);
      if (variables === undefined) {
        screen.problem(
          `No playground answers on port ${playgroundPort}. Start it in another terminal: npm run playground. It prints its port; give another than the usual one with --playground-port.`,
        );
        return exitCodes.settings;
      }
      return await runWith(line, screen, variables, async (outside) => {
        const meant = accountAsked(outside.config, asked);
        return meant.ok
          ? await askDesk({ ...outside, config: meant.value }, asked, screen)
          : { exitCode: exitCodes.usage, words: meant.problem };
      });
    }
  }
}

/** The first without a name, as in Slack; but whoever asks what is in doubt must not take one account’s answer for all. */
function accountAsked(config: Config, { account, command }: Question): Parsed<Config> {
  const all = allAccounts(config);
  if (account !== undefined) return accountNamed(account, all);
  return command.ofStore && all.length > 1 ? problem(sayWhich(all)) : parsed(config);
}

/** Settings read, log opened, command run, its end told: the same for each of them. */
async function runWith(
  { stderr, now }: CommandLine,
  screen: Screen,
  variables: Variables,
  run: (outside: Outside) => Promise<CommandEnd>,
): Promise<ExitCode> {
  const settings = readSettings(variables, 'Nothing was done.');
  if (settings.kind === 'refused') {
    screen.problem(settings.words);
    return exitCodes.settings;
  }
  const { config } = settings;
  // Standard output is for data; and what a server tells of its day is no news to who runs one command.
  const level = config.logLevel === 'info' ? 'warn' : config.logLevel;
  const log = openLog(config, level, (text) => void stderr.write(text));
  for (const warning of settings.warnings) log('warn', warning);
  return tell(screen, await run({ config, log, now }));
}

function openScreen({ stdout, stderr, now }: CommandLine, quiet: boolean): Screen {
  return createScreen({ stdout, stderr, quiet, now });
}

/** Undefined where none runs, or where this installation holds none, as the image does not. */
async function playgroundSettings(port: number): Promise<Variables | undefined> {
  try {
    const { readPlaygroundSettings } = await import('../playground/running-playground.ts');
    return await readPlaygroundSettings(port);
  } catch (error) {
    if (errorCode(error) === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
