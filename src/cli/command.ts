import { randomUUID } from 'node:crypto';
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import type { Config, Runtime } from '../config/config.ts';
import { parsed, problem, type Parsed } from '../domain/wording.ts';
import { exitCodeOf, exitCodes, type ExitCode } from './exit-codes.ts';
import { errorCode, StoreUnavailable } from '../domain/failure.ts';
import { createAuditTrail } from '../audit/audit-trail.ts';
import { reasonOf } from '../store/explain-error.ts';
import { hasStore, openStorage, type Storage } from '../store/storage.ts';
import { hasBegun, whyNotWrite } from '../store/store-mark.ts';
import { storagePart } from '../store/scoped-store.ts';

/**
 * A command's words and exit code. `isReport`: the words are the requested data, so they go to standard output even
 * with a code other than 0.
 */
export type CommandEnd = { exitCode: ExitCode; words: string; isReport?: true };

/** Data for standard output; resolves when written. */
export type Out = (text: string) => Promise<void>;

export type WithoutSettings = { variables: Variables; now: () => number; out: Out };
type Variables = Readonly<Record<string, string | undefined>>;

export type Prepared =
  | { run: (runtime: Runtime, out: Out) => Promise<CommandEnd> }
  | { runWithoutSettings: (given: WithoutSettings) => Promise<CommandEnd> };

/**
 * One command: its help, its options and its work. Failures of the store, the service or Slack are returned, not
 * thrown.
 */
export type CliCommand = {
  summary: string;
  usage: readonly string[];
  /** What the help says below the usage. */
  more: string;
  /**
   * What the command does without --account if there are several accounts. `each`: works on one after the other.
   * `first`: works on the first. `one`: fails, and asks for --account. `shared`: it is about the whole bot, or reads
   * --account itself.
   */
  scope: 'each' | 'first' | 'one' | 'shared';
  /** With --json: the text for problems with the typed words or the settings. */
  problemsJson?: (problems: readonly string[]) => string;
  /** Options. All but the shared commands also have --account. */
  options?: ParseArgsOptionsConfig;
  /** The most words besides options; default 0. */
  mostWords?: number;
  /** Reads the typed words. A problem never repeats them: they may hold a token or a card number. */
  prepare(typed: { values: object; positionals: string[] }): Parsed<Prepared>;
};

/** Defines a command; `prepare` gets the values with their options’ types. */
export function command<const Options extends ParseArgsOptionsConfig = ParseArgsOptionsConfig>(
  given: Omit<CliCommand, 'options' | 'prepare'> & {
    options?: Options;
    prepare(typed: {
      values: ReturnType<typeof parseArgs<{ options: Options }>>['values'];
      positionals: string[];
    }): Parsed<Prepared>;
  },
): CliCommand {
  return given;
}

/** Why an empty store is refused: a command would find nothing in it, as if all were well. */
function noBotWords({ redisUrl, redisPrefix, dataDir }: Config): string {
  return redisUrl === undefined
    ? `No bot has its store in DATA_DIR, ${dataDir}. Run this with the bot’s own settings, from the folder it is started in.`
    : `No bot has its store under REDIS_PREFIX, ${redisPrefix}. Run this with the bot’s own settings.`;
}

/**
 * Runs an operator's command on the account's part of the store, then closes the store. `wordsOf` says what an error
 * means for the command. `verb`: the command's name for the audit; absent: it changes nothing, and has no audit entry. Does
 * nothing on a store that doesn't exist, nor on a Redis that the bot refuses; unless `mayBeNew` nor on a store on which
 * no bot has started; with `needsKeys` (default: with a `verb`) nor with other sealing keys than the bot's. Never throws.
 */
export async function withStorage(
  runtime: Runtime,
  work: (storage: Storage) => Promise<CommandEnd>,
  wordsOf: (error: unknown) => string,
  {
    verb,
    mayBeNew = false,
    needsKeys = verb !== undefined,
  }: { verb?: string; mayBeNew?: boolean; needsKeys?: boolean } = {},
): Promise<CommandEnd> {
  const { config } = runtime;
  if (!hasStore(config)) return refused(noBotWords(config));
  let storage: Storage | undefined;
  let end: CommandEnd;
  try {
    storage = await openStorage(runtime);
    const refusal =
      (await refusalOf(storage, needsKeys)) ??
      (mayBeNew || (await hasBegun(storage.store)) ? undefined : noBotWords(config));
    if (refusal !== undefined) {
      await storage.close();
      return refused(`Nothing was done. ${refusal}`);
    }
    end = await work(storagePart(storage, config.merchant).storage);
  } catch (error) {
    // Without the store, all but its own failures are of DATA_DIR and its key.
    if (!storage && !(error instanceof StoreUnavailable))
      return refused(`Nothing was done. ${reasonOf(error)}`);
    end = { exitCode: exitCodeOf(error), words: wordsOf(error) };
  }
  if (storage && verb !== undefined) await noteCommand(runtime, storage, { verb, end });
  await storage?.close();
  return end;
}

function refused(words: string): CommandEnd {
  return { exitCode: exitCodes.settings, words };
}

/** Why a command must not use the store; undefined if it may. */
async function refusalOf(storage: Storage, needsKeys: boolean): Promise<string | undefined> {
  await storage.checked();
  // An audit entry that is signed with another key would break the trail, and a reader would find nothing.
  return storage.refusal() ?? (needsKeys ? await whyNotWrite(storage) : undefined);
}

/**
 * Adds an audit entry to the store with which a command has replaced the old one. If that fails, the command's words
 * say so. Never throws.
 */
export async function noteInNewStore(runtime: Runtime, end: CommandEnd, verb: string): Promise<CommandEnd> {
  let storage: Storage | undefined;
  let why: string | undefined;
  try {
    storage = await openStorage(runtime);
    why = await refusalOf(storage, true);
    if (why === undefined && !(await noteCommand(runtime, storage, { verb, end })))
      why = 'The store did not take it.';
  } catch (error) {
    why = reasonOf(error);
  }
  await storage?.close();
  return why === undefined ? end : { ...end, words: `${end.words}\nThe audit has no entry of it: ${why}` };
}

/**
 * The bot doesn't know who is at the command line, so `who` is `operator`. False: the write failed, which is logged.
 */
async function noteCommand(
  runtime: Runtime,
  storage: Storage,
  { verb, end }: { verb: string; end: CommandEnd },
): Promise<boolean> {
  const trail = createAuditTrail(runtime, storage);
  const result = end.exitCode === 0 ? 'answered' : 'failed';
  const { write } = trail.notesOf(runtime.config.merchant?.name);
  const about = { id: randomUUID(), atMs: runtime.now(), who: 'operator', where: 'cli' };
  const isWritten = await write({ ...about, what: 'command', verb, result });
  await trail.stop();
  return isWritten;
}

/**
 * Parses a command's words; `--account NAME` chooses the account. Long output goes to `out` in pieces. Failures of the
 * store, the service or Slack are returned, not thrown.
 */
export function readCommand(given: CliCommand, words: readonly string[]): Parsed<Prepared> {
  const { scope, usage } = given;
  const typed = parseWords(given, words);
  const read = typed.ok ? given.prepare(typed.value) : typed;
  if (!read.ok) return problem([`Nothing was done. ${read.problem}`, ...usage].join('\n'));
  if ('runWithoutSettings' in read.value || scope === 'shared') return read;
  const { run } = read.value;
  const account = typed.ok ? typed.value.values['account'] : undefined;
  return parsed({
    async run(runtime, out) {
      const accounts =
        typeof account === 'string'
          ? accountNamed(account, runtime.config)
          : parsed(allAccounts(runtime.config));
      if (!accounts.ok) return { exitCode: exitCodes.usage, words: accounts.problem };
      const [config, ...more] = accounts.value;
      if (more.length === 0 || scope === 'first') return await run({ ...runtime, config }, out);
      if (scope === 'one') return { exitCode: exitCodes.usage, words: sayWhich(accounts.value) };
      return await runForEach(accounts.value, (each) => run({ ...runtime, config: each }, out));
    },
  });
}

/** A problem if the words don't fit the command's options. */
function parseWords({ scope, options, mostWords = 0 }: CliCommand, words: readonly string[]) {
  const account = scope === 'shared' ? {} : { account: { type: 'string' } as const };
  try {
    const typed = parseArgs({
      args: [...words],
      options: { ...options, ...account },
      allowPositionals: true,
    });
    return typed.positionals.length > mostWords ? problem('Too many words.') : parsed(typed);
  } catch (error) {
    return problem(
      errorCode(error) === 'ERR_PARSE_ARGS_UNKNOWN_OPTION'
        ? 'There is no such option.'
        : 'An option lacks its value, or takes none.',
    );
  }
}

async function runForEach(
  all: readonly Config[],
  run: (config: Config) => Promise<CommandEnd>,
): Promise<CommandEnd> {
  const ends: CommandEnd[] = [];
  // One after the other, because each opens the store.
  for (const config of all) {
    const end = await run(config);
    ends.push({ ...end, words: `${config.merchant?.name ?? ''}: ${end.words}` });
  }
  const worst = ends.reduce<ExitCode>((code, end) => (end.exitCode > code ? end.exitCode : code), 0);
  return { exitCode: worst, words: ends.map((end) => end.words).join('\n') };
}

type Accounts = readonly [Config, ...Config[]];

/** Each account's settings, beginning with the first account. */
export function allAccounts(config: Config): Accounts {
  return [config, ...(config.further ?? [])];
}

/** The settings of the named account, in upper or lower case. A bot with one account has no names. */
export function accountNamed(name: string, config: Config): Parsed<Accounts> {
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
