import { ServiceFailure, type FailureKind } from '../domain/failure.ts';
import type { TokenMemory } from '../payments/access-token.ts';
import { createPaymentsClient } from '../payments/client.ts';
import { parentAccountOf, revokeToken } from '../payments/tokens.ts';
import { parsed } from '../domain/wording.ts';
import { command, type CommandEnd, withStorage } from './command.ts';
import { reasonOf } from '../store/explain-error.ts';
import { exitCodeOf, exitCodes } from './exit-codes.ts';
import type { Storage } from '../store/storage.ts';
import type { Runtime } from '../config/config.ts';
import { clientSettings, tokenMemory } from '../payments/payments.ts';

/**
 * Revokes and forgets the access token that all replicas share, if it leaked or the bot is retired. Running bots
 * request a new one.
 *
 * Spec: POST {base_url}/v1/auth/token/revoke.
 */
export const revokeTokenCommand = command({
  summary: 'End the access token that all replicas share',
  usage: ['npm run revoke-token -- [--account NAME]'],
  more: 'Needs PAYMENTS_TOKEN_REVOKE_BODY. Running bots get a new token.',
  scope: 'one',
  prepare: () => parsed({ run: revoke }),
});

async function revoke(runtime: Runtime): Promise<CommandEnd> {
  if (runtime.config.paymentsTokenRevokeBody === undefined) {
    const why =
      'PAYMENTS_TOKEN_REVOKE_BODY is not set. Set the JSON body that your payments service wants, such as {"accessToken":"{{ACCESS_TOKEN}}"}.';
    return { exitCode: exitCodes.settings, words: notRevoked(why) };
  }
  return await withStorage(runtime, (storage) => revokeShared(runtime, storage), wordsOf, {
    verb: 'revoke-token',
  });
}

function wordsOf(error: unknown): string {
  if (!(error instanceof ServiceFailure && mayHaveArrived.has(error.kind)))
    return notRevoked(reasonOf(error));
  const doubt = 'Whether the access token was revoked is not known';
  return `${doubt}: ${error.message} It is still in the store: run this again.`;
}

async function revokeShared({ config }: Runtime, storage: Storage): Promise<CommandEnd> {
  const memory = tokenMemory(config, storage);
  const client = clientSettings(config);
  // Hold the token lock: otherwise a token that a replica gets meanwhile would be forgotten too.
  const unlock = await memory.lock(2 * client.timeoutMs);
  if (!unlock)
    return refused('A running bot is asking for a new token right now. Try again in a few seconds.');
  try {
    const token = await memory.read();
    if (!token) {
      return refused(`The store holds no access token of the account ${parentAccountOf(config)}.`);
    }
    const accessToken = { current: noAccessToken, replace: noAccessToken };
    await revokeToken(createPaymentsClient({ ...client, accessToken }), config, token);
    return await forget(memory);
  } finally {
    await unlock().catch(() => undefined);
  }
}

async function forget(memory: TokenMemory): Promise<CommandEnd> {
  const done = 'The shared access token is revoked at the payments service';
  try {
    await memory.forget();
    return {
      exitCode: 0,
      words: `${done} and forgotten here. A running bot asks for a new one with its next call, half a minute after its last at the soonest.`,
    };
  } catch (error) {
    return {
      exitCode: exitCodeOf(error),
      words: `${done}, but still in the store. ${reasonOf(error)}`,
    };
  }
}

const mayHaveArrived: ReadonlySet<FailureKind> = new Set(['timeout', 'network', 'server', 'malformed']);

function refused(why: string): CommandEnd {
  return { exitCode: exitCodes.failed, words: notRevoked(why) };
}

function notRevoked(why: string): string {
  return `Nothing was revoked. ${why}`;
}

function noAccessToken(): Promise<never> {
  return Promise.reject(new Error('a revocation sends no access token'));
}
