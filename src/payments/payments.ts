import { hash } from 'node:crypto';
import type { Config, Outside } from '../config/config.ts';
import { type AccountKey, type NewAccount, createAccount, findAccount, listAccounts } from './accounts.ts';
import { type CheckoutOrder, createCheckoutOrder } from './orders.ts';
import type { EmailChange } from '../domain/card.ts';
import { type Leave, createPaymentsClient, type Called, type PaymentsClient } from './client.ts';
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
import type { Kept } from '../store/kept.ts';
import { createAccessToken, shareToken, type TokenMemory } from './access-token.ts';
import { findTransaction, findTransactionById } from './lookups.ts';
import { changeCardEmail, createSavedCardCalls } from './saved-cards.ts';
import { listTerminals } from './terminals.ts';
import { issueToken, parentAccountOf, refreshToken } from './tokens.ts';

export type Payments = ReturnType<typeof createPayments>;

/**
 * The payments service as functions in domain words. `pauses` are shared by all accounts. `heardToken` gets each answer
 * with a new token.
 */
export function createPayments(
  outside: Outside,
  kept: Kept,
  more: { pauses?: Map<string, Span>; called?: Called; heardToken?: (answer: unknown) => void } = {},
) {
  const { config, now } = outside;
  const accountId = config.paymentsAccountId ?? '';
  const parentId = parentAccountOf(config);
  const accessToken = openAccessToken(outside, tokenMemory(config, kept), {
    client: () => client,
    heard: more.heardToken,
  });
  const client: PaymentsClient = createPaymentsClient({
    ...clientSettings(config),
    accessToken,
    ...more,
    now,
  });
  let failure: ServiceFailure | undefined;
  const byId = config.paymentsTransactionIdParameter;
  async function remembered<T>(look: () => Promise<T>): Promise<T> {
    try {
      const found = await look();
      failure = undefined;
      return found;
    } catch (error) {
      if (error instanceof ServiceFailure) failure = error;
      throw error;
    }
  }
  return {
    /** Makes a read that only one feature needs. Throws ServiceFailure. */
    ask: <Answer>(read: (client: PaymentsClient, accountId: string) => Promise<Answer>) =>
      read(client, accountId),
    /** Gets a new access token for all replicas. Throws ServiceFailure. */
    checkToken: () => accessToken.renew(),
    /** The last look-up's failure; undefined if it was answered. */
    failure: () => failure,
    /** Whether another system seems to have taken the session lately. */
    isContended: () => accessToken.isContended(),
    /** Releases the token lock when the process ends, so no replica waits for it. Never throws. */
    letGo: () => accessToken.letGo(),
    chargeSavedCard: (charge: SavedCardCharge, leave: Leave) =>
      chargeSavedCard(client, accountId, charge, leave),
    submitOtp: (submission: OtpSubmission, leave: Leave) => submitOtp(client, submission, leave),
    resendOtp: (transactionId: string, leave: Leave) => resendOtp(client, transactionId, leave),
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
      remembered(() => findTransaction(client, accountId, reference, config)),
    /** Undefined if the settings name no parameter for it. */
    findTransactionById:
      byId === undefined
        ? undefined
        : (id: string) =>
            remembered(() => findTransactionById(client, accountId, { id, parameter: byId }, config)),
  };
}

/** In the whole store: accounts with the same credentials share one token, in one session. */
export function tokenMemory(config: Config, { whole, ...own }: Kept): TokenMemory {
  const { store, sealer } = whole ?? own;
  const credentials = JSON.stringify([
    clientSettings(config).baseUrl,
    parentAccountOf(config).toLowerCase(),
    config.paymentsClientId ?? '',
  ]);
  return shareToken(store, sealer, hash('sha256', credentials, 'hex').slice(0, 32));
}

function openAccessToken(
  { config, log, now }: Outside,
  memory: TokenMemory,
  { client, heard }: { client: () => PaymentsClient; heard: ((answer: unknown) => void) | undefined },
): ReturnType<typeof createAccessToken> {
  const { paymentsStaticToken: ready } = config;
  if (ready !== undefined) {
    const same = (): Promise<string> => Promise.resolve(ready);
    return { current: same, replace: same, renew: same, isContended: () => false, letGo: async () => {} };
  }
  return createAccessToken({
    memory,
    issue: () => issueToken(client(), config, now(), heard),
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
