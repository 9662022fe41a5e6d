import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import type { Account, AccountAnswer, AccountKey, NewAccount, NewAccountAnswer } from '../domain/account.ts';
import type {
  ChargeAnswer,
  CheckoutOrder,
  CheckoutOrderAnswer,
  EmailChange,
  EmailChangeAnswer,
  Leave,
  OtpAnswer,
  OtpSubmission,
  ResendAnswer,
  SavedCardCharge,
} from '../domain/charge-answer.ts';
import { ServiceFailure } from '../domain/failure.ts';
import type { OrderReference } from '../domain/order-reference.ts';
import { type ReadPage, listTerminals, type Terminal } from './terminals.ts';
import type { Transaction } from '../domain/transaction.ts';
import { createAccessToken, shareToken } from './access-token.ts';
import { createAccount, findAccount, listAccounts } from './accounts.ts';
import { chargeSavedCard, resendOtp, submitOtp } from './charges.ts';
import { createPaymentsClient, type ClientDeps, type ClientSettings, type PaymentsClient } from './client.ts';
import { findTransaction, type TransactionReading } from './lookups.ts';
import { createCheckoutOrder } from './orders.ts';
import { issueToken, refreshToken, type TokenSettings } from './tokens.ts';
import type { Kept } from '../store/kept.ts';
import type { Log } from '../log.ts';
import {
  changeCardEmail,
  deleteSavedCard,
  listSavedCards,
  type CardDeletionAnswer,
  type CardToDelete,
  type SavedCardsAnswer,
} from './saved-cards.ts';
import { variableName } from '../config/settings.ts';
import { sandboxShape, specifiedPointers, type SavedCardShape } from '../config/saved-card-settings.ts';

type Outside = { config: Config; log: Log; now: () => number };

export type Payments = {
  findTransaction: (reference: OrderReference) => Promise<Transaction | undefined>;
  chargeSavedCard: (charge: SavedCardCharge, leave: Leave) => Promise<ChargeAnswer>;
  submitOtp: (submission: OtpSubmission, leave: Leave) => Promise<OtpAnswer>;
  resendOtp: (transactionId: string, leave: Leave) => Promise<ResendAnswer>;
  changeCardEmail: (change: EmailChange) => Promise<EmailChangeAnswer>;
  savedCards: SavedCardCalls;
  createCheckoutOrder: (order: CheckoutOrder) => Promise<CheckoutOrderAnswer>;
  listTerminals: ReadPage<Terminal>;
  listAccounts: ReadPage<Account>;
  findAccount: (key: AccountKey) => Promise<AccountAnswer>;
  createAccount: (wanted: NewAccount) => Promise<NewAccountAnswer>;
  /** Asks what one feature alone reads. Throws ServiceFailure. */
  ask: <Answer>(read: (client: PaymentsClient, accountId: string) => Promise<Answer>) => Promise<Answer>;
  /** Has a new access token issued, for all replicas. Throws ServiceFailure. */
  checkToken: () => Promise<unknown>;
  /** The last look-up's failure; undefined when it was answered. */
  failure: () => ServiceFailure | undefined;
  /** Whether another system seems to have taken the session lately. */
  isContended: () => boolean;
  /** For a process that ends while it asks for a token: no other replica waits for it any longer. Never throws. */
  letGo: () => Promise<void>;
};

/**
 * The payments service as the rest of the bot sees it: functions in domain words. `pauses` are what the service asked
 * for, of all accounts.
 */
export function createPayments(
  { config, log, now }: Outside,
  kept: Kept,
  { pauses, called }: Pick<ClientDeps, 'pauses'> & { called?: ClientDeps['called'] } = {},
): Payments {
  const accountId = config.paymentsAccountId ?? '';
  const { parentAccountId } = tokenSettings(config);
  const memory = lettingGo(tokenMemory(config, kept));
  const accessToken = createToken({ config, log, now }, memory, () => client);
  const client: PaymentsClient = createPaymentsClient(clientSettings(config), {
    accessToken,
    fetch: (request) => fetch(request),
    ...(pauses && { pauses }),
    ...(called && { called }),
    now,
  });
  const reading = transactionReading(config);
  let failure: ServiceFailure | undefined;
  return {
    ask: (read) => read(client, accountId),
    checkToken: () => accessToken.renew(),
    failure: () => failure,
    isContended: () => accessToken.isContended(),
    letGo: memory.letGo,
    chargeSavedCard: (charge, leave) => chargeSavedCard(client, accountId, charge, leave),
    submitOtp: (submission, leave) => submitOtp(client, submission, leave),
    resendOtp: (transactionId, leave) => resendOtp(client, transactionId, leave),
    changeCardEmail: (change) => changeCardEmail(client, accountId, change),
    savedCards: createSavedCardCalls(config, client, accountId),
    createCheckoutOrder: (order) => createCheckoutOrder(client, accountId, order),
    listTerminals: (cursor) => listTerminals(client, accountId, cursor),
    listAccounts: (cursor) => listAccounts(client, parentAccountId, cursor),
    findAccount: (key) => findAccount(client, parentAccountId, key),
    createAccount(wanted) {
      const secrets = config.accountNewFields.flatMap(({ name, secret }) => (secret && wanted[name]) || []);
      return createAccount(client, parentAccountId, wanted, secrets);
    },
    async findTransaction(reference) {
      try {
        const transaction = await findTransaction(client, accountId, reference, reading);
        failure = undefined;
        return transaction;
      } catch (error) {
        if (error instanceof ServiceFailure) failure = error;
        throw error;
      }
    },
  };
}

type SharedToken = ReturnType<typeof shareToken>;

/** Of the whole store: what several accounts with the same credentials ask for is one token, in one session. */
export function tokenMemory(config: Config, { whole, ...own }: Kept): SharedToken {
  const { store, sealer } = whole ?? own;
  const { parentAccountId, clientId = '' } = tokenSettings(config);
  const credentials = JSON.stringify([
    clientSettings(config).baseUrl,
    parentAccountId.toLowerCase(),
    clientId,
  ]);
  return shareToken(store, sealer, hash('sha256', credentials, 'hex').slice(0, 32));
}

function lettingGo(memory: SharedToken): SharedToken & Pick<Payments, 'letGo'> {
  let unlock: (() => Promise<void>) | undefined;
  return {
    ...memory,
    async lock(forMs) {
      unlock = await memory.lock(forMs);
      return unlock;
    },
    letGo: async () => await unlock?.().catch(() => undefined),
  };
}

function createToken(
  { config, log, now }: Outside,
  memory: SharedToken,
  client: () => PaymentsClient,
): ReturnType<typeof createAccessToken> {
  const { paymentsStaticToken: ready } = config;
  if (ready !== undefined) {
    const same = (): Promise<string> => Promise.resolve(ready);
    return { current: same, replace: same, renew: same, isContended: () => false };
  }
  const settings = tokenSettings(config);
  const { refreshBody } = settings;
  return createAccessToken({
    memory,
    issue: () => issueToken(client(), settings, now),
    refresh: refreshBody
      ? (last) => refreshToken(client(), { ...settings, refreshBody }, last, now)
      : undefined,
    refreshAheadMs: 60_000,
    timeoutMs: config.paymentsTimeoutSeconds * 1_000,
    wait: sleep,
    now,
    log,
  });
}

export function clientSettings(config: Config): ClientSettings {
  const sandbox = config.paymentsEnvironment === 'sandbox';
  const baseUrl = (sandbox ? config.paymentsSandboxUrl : config.paymentsBaseUrl) ?? '';
  return { baseUrl, sandbox, timeoutMs: config.paymentsTimeoutSeconds * 1_000 };
}

function transactionReading(config: Config): TransactionReading {
  return {
    paidStatuses: config.paymentsPaidStatuses,
    finalStatuses: config.paymentsFinalStatuses ?? [],
    amountPointer: config.paymentsAmountPointer,
    feePointer: config.paymentsFeePointer,
  };
}

export function tokenSettings(config: Config): TokenSettings {
  return {
    parentAccountId: config.paymentsParentAccountId ?? config.paymentsAccountId ?? '',
    clientId: config.paymentsClientId,
    clientSecret: config.paymentsClientSecret,
    issueBody: config.paymentsTokenIssueBody ?? {},
    refreshBody: config.paymentsTokenRefreshBody,
    pointers: {
      accessToken: config.paymentsAccessTokenPointers,
      refreshToken: config.paymentsRefreshTokenPointers,
      expiry: config.paymentsTokenExpiryPointers,
    },
    fallbackLifetimeMs: config.paymentsTokenLifetimeSeconds * 1_000,
  };
}

export type SavedCardCalls =
  | {
      kind: 'ready';
      list: (email: string) => Promise<SavedCardsAnswer>;
      remove: (card: CardToDelete) => Promise<CardDeletionAnswer>;
    }
  | { kind: 'missing'; settings: string[] };

/** What an environment's saved cards are asked for with; in live nothing of it has a default but the specified names. */
export function createSavedCardCalls(
  config: Config,
  client: PaymentsClient,
  accountId: string,
): SavedCardCalls {
  const read = readShape(config);
  if (read.kind === 'missing') return read;
  const of = { accountId, shape: read.shape };
  return {
    kind: 'ready',
    list: (email) => listSavedCards(client, of, email),
    remove: (card) => deleteSavedCard(client, of, card),
  };
}

const needed = [
  'savedCardsQuery',
  'savedCardsListPointers',
  'savedCardsHeaders',
  'savedCardsDeleteBody',
] as const satisfies (keyof Config)[];

type Shape = { kind: 'shape'; shape: SavedCardShape } | { kind: 'missing'; settings: string[] };

function readShape(config: Config): Shape {
  const missing = needed.filter((key) => config[key] === undefined);
  if (config.paymentsEnvironment === 'live' && missing.length > 0) {
    return { kind: 'missing', settings: missing.map(variableName) };
  }
  return {
    kind: 'shape',
    shape: {
      emailParameter: config.savedCardsQuery ?? sandboxShape.emailParameter,
      listPointers: config.savedCardsListPointers ?? sandboxShape.listPointers,
      cursorPointers: config.savedCardsCursorPointers,
      fieldPointers: config.savedCardsFieldPointers ?? specifiedPointers,
      headers: config.savedCardsHeaders ?? sandboxShape.headers,
      deleteBody: config.savedCardsDeleteBody ?? sandboxShape.deleteBody,
    },
  };
}
