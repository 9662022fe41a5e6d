import type { Config, Runtime } from '../config/config.ts';
import { ServiceFailure, StoreUnavailable } from '../domain/failure.ts';
import { adviceOn } from '../features/doctor/account-checks.ts';
import { newErrorId } from '../log.ts';
import { createPayments, type Payments } from '../payments/payments.ts';
import { failureWords } from '../slack/words/error-message.ts';
import { type CommandEnd, withStorage } from './command.ts';
import { storeTrouble } from '../store/explain-error.ts';
import { exitCodeOf } from './exit-codes.ts';
import { hasStore, type Storage } from '../store/storage.ts';
import { whyNotWrite } from '../store/store-mark.ts';
import { type AskedAccount, askedAccountOf, quotedText } from './lines.ts';

/**
 * Runs one question to the payments service with the bot's own settings and, if it has a store, its token. Returns
 * failures as `failedQuestion` does. Always releases the token lock.
 */
export async function askService(
  runtime: Runtime,
  question: (payments: Payments, askedAccount: AskedAccount) => Promise<CommandEnd>,
): Promise<CommandEnd> {
  const { config } = runtime;
  const wordsOf = (error: unknown): string => failedQuestion(runtime, error);
  async function ask(storage?: Storage): Promise<CommandEnd> {
    const payments = createPayments(runtime, storage && (await mayShareToken(storage)) ? storage : undefined);
    try {
      return await question(payments, askedAccountOf(config));
    } finally {
      // A call that timed out may still hold the lock while it requests a token.
      await payments.releaseLock();
    }
  }
  // Without a store it gets a token for itself: an empty store that it made would look like the bot's.
  if (hasStore(config)) return await withStorage(runtime, ask, wordsOf, { mayBeNew: true });
  try {
    return await ask();
  } catch (error) {
    return { exitCode: exitCodeOf(error), words: wordsOf(error) };
  }
}

/**
 * Whether to use the bots' shared token. With other sealing keys the command would replace it by one that the bots can't
 * open. While the store is away the command gets a token for itself.
 */
export async function mayShareToken({ whole, ...own }: Storage): Promise<boolean> {
  try {
    return (await whyNotWrite(whole ?? own)) === undefined;
  } catch (error) {
    if (error instanceof StoreUnavailable) return false;
    throw error;
  }
}

/** Runs one question to the bot's own store, without any call to the service or Slack. */
export async function askStore(
  runtime: Runtime,
  question: (storage: Storage, askedAccount: AskedAccount) => Promise<CommandEnd>,
): Promise<CommandEnd> {
  const askedAccount = askedAccountOf(runtime.config);
  const ask = (storage: Storage): Promise<CommandEnd> => question(storage, askedAccount);
  return await withStorage(runtime, ask, (error) => failedQuestion(runtime, error));
}

/**
 * The failure and its fix, for people who can change settings. A bug is logged under an error id, which the words name.
 */
export function failedQuestion({ config, log }: Runtime, error: unknown): string {
  if (error instanceof ServiceFailure) return serviceProblem(config, error);
  if (error instanceof StoreUnavailable) {
    const { says, fix } = storeTrouble(error);
    // What is said of a store file has its fix.
    const next =
      fix ??
      (config.redisUrl && 'check that Redis runs and can be reached from here (REDIS_URL), then try again.');
    return next === undefined ? says : `${says}\nNext: ${next}`;
  }
  const errorId = newErrorId();
  log('error', 'the command broke off', { errorId }, error);
  const words = error instanceof Error ? error.message : 'Unknown error';
  return `Nothing was changed. ${words} (error ${errorId})`;
}

export function serviceProblem(config: Config, failure: ServiceFailure): string {
  const { kind, retryAfterMs, said } = failure;
  const { says, fix } = adviceOn(failure, config);
  // For a refused question the fix is about the question, not about the settings.
  const next = kind === 'refused' ? failureWords.refused.next : fix;
  const wait =
    retryAfterMs === undefined
      ? next
      : `wait ${Math.max(1, Math.ceil(retryAfterMs / 1_000))} s, as the service asks, then try again.`;
  const quoted = quotedText(said);
  const quote = quoted === undefined ? '' : `\nThe service says: ${quoted}`;
  return `${says}.${quote}\nNext: ${wait}`;
}
