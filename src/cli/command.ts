import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import type { Config, Outside } from '../config/config.ts';
import { parsed, problem, type Parsed } from '../domain/wording.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { StoreUnavailable } from '../domain/failure.ts';
import { createAuditTrail } from '../audit/audit-trail.ts';
import { hasStore, openKept, type Kept } from '../store/kept.ts';
import { keptPart } from '../store/scoped-store.ts';

/**
 * What a command did, for the screen, and the process's exit code. `isReport`: the words are what was asked for, and go
 * where data goes, whatever the code says of them.
 */
export type CommandEnd = { exitCode: ExitCode; words: string; isReport?: true };

/** Data for standard output; resolves when it is written. */
type Out = (text: string) => Promise<void>;

export function reasonOf(error: unknown): string {
  if (error instanceof StoreUnavailable) return `The store does not answer: ${error.message}`;
  return error instanceof Error ? error.message : 'Unknown error';
}

/** Where a command is that reads no settings, or reads them itself. */
export type Bare = { variables: Variables; now: () => number; out: Out };
type Variables = Readonly<Record<string, string | undefined>>;

/** What was typed, understood. `alone`: it needs no settings. */
type Prepared =
  | { run: (outside: Outside, out: Out) => Promise<CommandEnd> }
  | { alone: (bare: Bare) => Promise<CommandEnd> };

/** What help says of a command, how it is read, what it does. It never throws for what is outside. */
export type CliCommand = {
  summary: string;
  usage: readonly string[];
  more: string;
  /** Without --account it is done for each account, or for the first, or wants one named; or it is about what all have together, and reads that option itself. */
  scope: 'each' | 'first' | 'one' | 'shared';
  /** What it prints instead with --json, where it was not understood or its settings cannot be read. */
  unread?: (problems: readonly string[]) => string;
  /** Besides --account, which is read of every command that is not about what all accounts share. */
  options: ParseArgsOptionsConfig;
  /** How many words may stand behind it that are no options. */
  mostWords: number;
  /** The problem repeats nothing of what was typed: that may be a token or a card number. */
  prepare(typed: { values: object; positionals: string[] }): Parsed<Prepared>;
};

/** The values are of the options’ own types. */
export function command<const Options extends ParseArgsOptionsConfig>(
  given: Omit<CliCommand, 'options' | 'prepare'> & {
    options: Options;
    prepare(typed: {
      values: ReturnType<typeof parseArgs<{ options: Options }>>['values'];
      positionals: string[];
    }): Parsed<Prepared>;
  },
): CliCommand {
  return given;
}

/** Ends a command that asks what the bot knows where there is no store: one that was made just now would seem to know nothing. */
export function noStoreEnd({ config }: Outside): CommandEnd | undefined {
  if (hasStore(config)) return undefined;
  const words = `No bot has its store in DATA_DIR, ${config.dataDir}. Run this with the very settings of the bot, from the folder it is started in.`;
  return { exitCode: exitCodes.settings, words };
}

/**
 * An operator's command on the part of the bot's own store that is the account's, closed again whatever happens; `failed`
 * says what any throw means. `verb`: what the audit calls it; absent for what changes nothing. Never throws.
 */
export async function withKept(
  outside: Outside,
  work: (kept: Kept) => Promise<CommandEnd>,
  failed: (error: unknown) => CommandEnd,
  verb?: string,
): Promise<CommandEnd> {
  let kept: Kept | undefined;
  let end: CommandEnd;
  try {
    kept = await openKept(outside);
    await kept.checked();
    end = await work(keptPart(kept, outside.config.merchant).kept);
  } catch (error) {
    end = failed(error);
  }
  if (kept && verb !== undefined) await noteCommand(outside, kept, { verb, end });
  await kept?.close();
  return end;
}

/**
 * Writes a command that ended well into the audit of the store it left behind. An entry that cannot be written is told with
 * the command's own words, for what was done stays done. Never throws.
 */
export async function noteEnd(outside: Outside, end: CommandEnd, verb: string): Promise<CommandEnd> {
  return await withKept(
    outside,
    () => Promise.resolve(end),
    (error) => ({ ...end, words: `${end.words}\nThe audit has no entry of it: ${reasonOf(error)}` }),
    verb,
  );
}

/** Whoever ran it is known to the machine alone. An entry that cannot be written is told in the log. */
async function noteCommand(
  outside: Outside,
  kept: Kept,
  { verb, end }: { verb: string; end: CommandEnd },
): Promise<void> {
  const trail = createAuditTrail(outside, kept);
  const result = end.exitCode === 0 ? 'answered' : 'failed';
  const { note } = trail.notesOf(outside.config.merchant?.name);
  note({ what: 'command', who: 'operator', where: 'cli', verb, result });
  await trail.stop();
}

/**
 * What was typed behind a command, understood; `--account NAME` says for which of several merchant accounts. What is too
 * long to be held goes to `out` piece by piece. Nothing that is asked throws for what is outside.
 */
export function readCommand(asked: CliCommand, words: readonly string[]): Parsed<Prepared> {
  const { scope, usage } = asked;
  const typed = typedBehind(asked, words);
  const read = typed ? asked.prepare(typed) : problem('That was not understood.');
  if (!read.ok) return problem([`Nothing was done. ${read.problem}`, ...usage].join('\n'));
  if ('alone' in read.value || scope === 'shared') return read;
  const { run } = read.value;
  const account = typed?.values['account'];
  return parsed({
    async run(outside, out) {
      const meant =
        typeof account === 'string'
          ? accountNamed(account, outside.config)
          : parsed(allAccounts(outside.config));
      if (!meant.ok) return { exitCode: exitCodes.usage, words: meant.problem };
      const [config, ...more] = meant.value;
      if (more.length === 0 || scope === 'first') return await run({ ...outside, config }, out);
      if (scope === 'one') return { exitCode: exitCodes.usage, words: sayWhich(meant.value) };
      return await runForEach(meant.value, (one) => run({ ...outside, config: one }, out));
    },
  });
}

function typedBehind({ scope, options, mostWords }: CliCommand, words: readonly string[]) {
  const account = scope === 'shared' ? {} : { account: { type: 'string' } as const };
  try {
    const typed = parseArgs({
      args: [...words],
      options: { ...options, ...account },
      allowPositionals: true,
    });
    return typed.positionals.length > mostWords ? undefined : typed;
  } catch {
    return undefined;
  }
}

async function runForEach(
  all: readonly Config[],
  run: (config: Config) => Promise<CommandEnd>,
): Promise<CommandEnd> {
  const ends: CommandEnd[] = [];
  // One after the other: each opens the store for itself.
  for (const one of all) {
    const end = await run(one);
    ends.push({ ...end, words: `${one.merchant?.name ?? ''}: ${end.words}` });
  }
  const worst = ends.reduce<ExitCode>((code, end) => (end.exitCode > code ? end.exitCode : code), 0);
  return { exitCode: worst, words: ends.map((end) => end.words).join('\n') };
}

type Accounts = readonly [Config, ...Config[]];

/** The settings of each merchant account, the first one first. */
export function allAccounts(config: Config): Accounts {
  return [config, ...(config.further ?? [])];
}

/** The settings of the account of that name; a bot that knows one account alone has no names. */
function accountNamed(name: string, config: Config): Parsed<Accounts> {
  const all = allAccounts(config);
  const named = all.find(({ merchant }) => merchant !== undefined && merchant.name === name.toLowerCase());
  if (named) return parsed([named]);
  const names = namesOf(all);
  const known = names === '' ? 'The policy file has no accounts.' : `The accounts are ${names}.`;
  return problem(`Nothing was done. There is no account of that name. ${known}`);
}

function sayWhich(all: readonly Config[]): string {
  return `Nothing was done. Say for which account: --account with ${namesOf(all)}.`;
}

function namesOf(all: readonly Config[]): string {
  return all.flatMap(({ merchant }) => merchant?.name ?? []).join(', ');
}
