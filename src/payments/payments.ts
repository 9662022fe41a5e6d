import { hash } from 'node:crypto';
import type { Config, Runtime } from '../config/config.ts';
import { type AccountKey, type NewAccount, createAccount, findAccount, listAccounts } from './accounts.ts';
import { type CheckoutOrder, createCheckoutOrder } from './orders.ts';
import type { EmailChange } from '../domain/card.ts';
import { type SendDeadline, createPaymentsClient, type Called, type PaymentsClient } from './client.ts';
import {
  type OtpSubmission,
  type SavedCardCharge,
  chargeSavedCard,
  resendOtp,
  submitOtp,
} from './charges.ts';
import { ServiceFailure } from '../domain/failure.ts';
import type { OrderReference } from '../domain/order-reference.ts';
import type { Span } from '../domain/span.ts';
import type { Storage } from '../store/storage.ts';
import { createAccessToken, shareToken, type TokenMemory } from './access-token.ts';
import { findTransaction, findTransactionById } from './lookups.ts';
import { changeCardEmail, createSavedCardCalls } from './saved-cards.ts';
import { listTerminals } from './terminals.ts';
import { issueToken, parentAccountOf, refreshToken } from './tokens.ts';

export type Payments = ReturnType<typeof createPayments>;

/**
 * The payments service as functions in domain words. `pauses`: shared by all accounts. `onTokenAnswer`: called with
 * each answer to a request for a token, unless it is a refusal. Without `storage` the token is for this process alone.
 */
export function createPayments(
  runtime: Runtime,
  storage: Storage | undefined,
  options: { pauses?: Map<string, Span>; called?: Called; onTokenAnswer?: (answer: unknown) => void } = {},
) {
  const { config, now } = runtime;
  const accountId = config.paymentsAccountId ?? '';
  const parentId = parentAccountOf(config);
  const accessToken = openAccessToken(runtime, storage ? tokenMemory(config, storage) : noTokenMemory, {
    client: () => client,
    onAnswer: options.onTokenAnswer,
  });
  const client: PaymentsClient = createPaymentsClient({
    ...clientSettings(config),
    accessToken,
    ...options,
    now,
  });
  let lookUpFailure: ServiceFailure | undefined;
  const idParameter = config.paymentsTransactionIdParameter;
  async function notingFailure<T>(look: () => Promise<T>): Promise<T> {
    try {
      const found = await look();
      lookUpFailure = undefined;
      return found;
    } catch (error) {
      if (error instanceof ServiceFailure) lookUpFailure = error;
      throw error;
    }
  }
  return {
    /** For a read that only one feature makes. Throws ServiceFailure. */
    ask: <Answer>(read: (client: PaymentsClient, accountId: string) => Promise<Answer>) =>
      read(client, accountId),
    /** Gets a new access token for all replicas. Throws ServiceFailure. */
    checkToken: () => accessToken.renew(),
    /** The last look-up's failure; undefined if it was answered. */
    lookUpFailure: () => lookUpFailure,
    /** Whether another system seems to have taken the session lately. */
    isContended: () => accessToken.isContended(),
    /** Releases the token lock at the end of the process, so that no replica waits for it. Never throws. */
    releaseLock: () => accessToken.releaseLock(),
    chargeSavedCard: (charge: SavedCardCharge, deadline: SendDeadline) =>
      chargeSavedCard(client, accountId, charge, deadline),
    submitOtp: (submission: OtpSubmission, deadline: SendDeadline) => submitOtp(client, submission, deadline),
    resendOtp: (transactionId: string, deadline: SendDeadline) => resendOtp(client, transactionId, deadline),
    changeCardEmail: (change: EmailChange) => changeCardEmail(client, accountId, change),
    savedCards: createSavedCardCalls(config, client, accountId),
    createCheckoutOrder: (order: CheckoutOrder) => createCheckoutOrder(client, accountId, order),
    listTerminals: (cursor?: string) => listTerminals(client, accountId, cursor),
    listAccounts: (cursor?: string) => listAccounts(client, parentId, cursor),
    findAccount: (key: AccountKey) => findAccount(client, parentId, key),
    createAccount: (wanted: NewAccount) => {
      const secrets = config.accountNewFields.flatMap(({ name, secret }) => (secret && wanted[name]) || []);
      return createAccount(client, parentId, wanted, secrets);
    },
    findTransaction: (reference: OrderReference) =>
      notingFailure(() => findTransaction(client, accountId, reference, config)),
    /** Undefined if no setting names the query parameter for the id. */
    findTransactionById:
      idParameter === undefined
        ? undefined
        : (id: string) =>
            notingFailure(() =>
              findTransactionById(client, accountId, { id, parameter: idParameter }, config),
            ),
  };
}

/**
 * Accounts with the same credentials share one token, so it is kept in the part of the store common to all accounts.
 */
export function tokenMemory(config: Config, { whole, ...own }: Storage): TokenMemory {
  const { store, sealer } = whole ?? own;
  const credentials = JSON.stringify([
    clientSettings(config).baseUrl,
    parentAccountOf(config).toLowerCase(),
    config.paymentsClientId ?? '',
  ]);
  return shareToken(store, sealer, hash('sha256', credentials, 'hex').slice(0, 32));
}

type SharedMemory = Pick<TokenMemory, 'read' | 'write' | 'lock'>;

const noTokenMemory: SharedMemory = {
  read: () => Promise.resolve(undefined),
  write: () => Promise.resolve(),
  lock: () => Promise.resolve(() => Promise.resolve()),
};

function openAccessToken(
  { config, log, now }: Runtime,
  memory: SharedMemory,
  { client, onAnswer }: { client: () => PaymentsClient; onAnswer: ((answer: unknown) => void) | undefined },
): ReturnType<typeof createAccessToken> {
  const { paymentsStaticToken: token } = config;
  if (token !== undefined) {
    const fixed = (): Promise<string> => Promise.resolve(token);
    return {
      current: fixed,
      replace: fixed,
      renew: fixed,
      isContended: () => false,
      releaseLock: async () => {},
    };
  }
  return createAccessToken({
    memory,
    issue: () => issueToken(client(), config, now(), onAnswer),
    refresh: config.paymentsTokenRefreshBody && ((last) => refreshToken(client(), config, last, now())),
    timeoutMs: config.paymentsTimeoutSeconds * 1_000,
    now,
    log,
  });
}

export function clientSettings(config: Config): { baseUrl: string; sandbox: boolean; timeoutMs: number } {
  const sandbox = config.paymentsEnvironment === 'sandbox';
  const baseUrl = (sandbox ? config.paymentsSandboxUrl : config.paymentsBaseUrl) ?? '';
  return { baseUrl, sandbox, timeoutMs: config.paymentsTimeoutSeconds * 1_000 };
}
