import { deskCommands, usualPlaygroundPort } from './desk-commands.ts';
import { exitCodeWords } from './exit-codes.ts';
import { operatorCommands } from './run-command.ts';

/** Made from what the commands are, so that it cannot lag behind them. */
export function helpText(): string {
  const commands = Object.values(deskCommands);
  const widest = Math.max(...commands.map(({ usage }) => usage.length));
  const others = Object.entries(operatorCommands);
  const widestOther = Math.max(...others.map(([name]) => name.length));
  return [
    'The desk’s read-only operations, for engineers and scripts.',
    '',
    'Usage: npm run payops --silent -- <command>',
    '',
    ...commands.map(({ usage, summary }) => `  ${usage.padEnd(widest)}  ${summary}`),
    '',
    'Options:',
    '  --account <name>        the merchant account, of several; the first, if none is named',
    '  --json                  one JSON document on standard output',
    '  --csv                   the whole list as CSV, written page by page',
    '  --all                   read the list to its end; a filter and --csv do so by themselves',
    '  -q, --quiet             no progress and no summary on standard error, errors alone',
    `  --playground            use the settings of the playground that runs here (port ${usualPlaygroundPort})`,
    '  --playground-port <n>   the same, where the playground has another port',
    '  -h, --help              this text',
    '  --version               the version',
    '',
    'Data goes to standard output, all else to standard error. The settings are the bot’s own (docs/settings.md).',
    '',
    'Other commands, each an npm script of its own (npm run redrive -- --help tells how it is typed):',
    ...others.map(([name, { summary }]) => `  ${name.padEnd(widestOther)}  ${summary}`),
    '',
    'Exit codes:',
    ...Object.entries(exitCodeWords).map(([code, words]) => `  ${code.padStart(3)}  ${words}`),
    '',
  ].join('\n');
}

/** Of one of the operator's commands. */
export function operatorHelpText(name: string): string {
  const { summary = '', usage = [], more = '' } = operatorCommands[name] ?? {};
  const lines = usage.map((line) => `  ${line}`);
  return [`${summary}.`, '', ...lines, '', more, 'Exit codes: npm run payops -- --help', ''].join('\n');
}
