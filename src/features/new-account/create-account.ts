import { parsed, problem, type Parsed } from '../../domain/wording.ts';
import { limits } from '../../slack/kit/limits.ts';
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Account } from '../../account.ts';
import type {
  AccountKey,
  Account as SubAccount,
  AccountAnswer,
  NewAccount,
  NewAccountAnswer,
} from '../../payments/accounts.ts';
import { type NotMade, ServiceFailure } from '../../domain/failure.ts';
import { updateOwnRecords } from '../../records/retry.ts';
import { createRecords } from '../../records/records.ts';
import { dayMs } from '../../domain/span.ts';
import { withoutUndefined } from '../../domain/json.ts';

export type AccountField = Account['settings']['accountNewFields'][number];

/** The field by which an account can be looked up. */
const refField = 'accountRef';

/** The result of a request for a new account. */
export type AccountEnd =
  /** The service's answer says so, or a look-up after a lost answer. */
  | { kind: 'created'; account: SubAccount | undefined }
  | NotMade
  /**
   * The account may have been created. `lookUp`: the result of a look-up by its reference. `another`: the reference
   * belongs to an account with another name. `impossible`: the request had no reference.
   */
  | { kind: 'doubt'; lookUp: 'not_found' | 'another' | 'failed' | 'impossible' };

/** A request for a new account. Stored before it is sent. */
const requestShape = z.object({
  /** How often the account was requested. A late answer counts only for its own request. */
  asks: z.int(),
  by: z.string(),
  /** Without secret fields, which are never stored. */
  wanted: z.record(z.string(), z.string()),
  /** The service's answer. `refused`: certainly not created, so a new request may use the reference. */
  settled: z.enum(['created', 'refused']).exactOptional(),
});

type StoredRequest = z.infer<typeof requestShape>;

/** `failed`: no usable answer. `impossible`: the request had no reference. */
type LookedUp = AccountAnswer | { kind: 'failed' | 'impossible' };

/** The result after a look-up. A `not_found` leaves a doubt: the service may still be creating the account. */
export function endOfLookUp(
  { wanted, settled }: Pick<StoredRequest, 'wanted' | 'settled'>,
  found: LookedUp,
): AccountEnd {
  const account: SubAccount = found.kind === 'found' ? found.account : {};
  const { accountName, accountRef } = account;
  const isNamed = (accountName ?? accountRef) !== undefined;
  const isOwn = isNamed && (accountName ?? wanted['accountName']) === wanted['accountName'];
  if (isOwn || settled === 'created') return { kind: 'created', account: isOwn ? account : undefined };
  if (isNamed) return { kind: 'doubt', lookUp: 'another' };
  const { kind } = found;
  return { kind: 'doubt', lookUp: kind === 'not_found' || kind === 'impossible' ? kind : 'failed' };
}

export type AccountRequests = ReturnType<typeof createAccountRequests>;

const rememberMs = 30 * dayMs;
/** Wait this long after a lost answer: the service may still be creating the account. */
const lookUpAfterMs = 2_000;

/**
 * Requests new accounts, each at most once under its reference. If the person gives none, it is generated from the
 * view's id. The request is stored before it is sent; after a lost answer or a crash the account is looked up by its
 * reference, never requested again. `begin` throws StoreUnavailable; then nothing was sent.
 *
 * Spec: POST {base_url}/v1/accounts; GET {base_url}/v1/accounts/sub-account-details; Account (accountRef).
 */
export function createAccountRequests(account: Account) {
  const { payments, audit, log, wait } = account;
  const { accountNewFields: fields } = account.settings;
  const records = createRecords<StoredRequest>(account, { prefix: 'account-new:', schema: requestShape });
  const secret = new Set(fields.flatMap((field) => (field.secret ? [field.name] : [])));

  async function begin({ viewId, wanted: given, by }: { viewId: string; wanted: NewAccount; by: string }) {
    const needsRef = given[refField] === undefined && fields.some(({ name }) => name === refField);
    const wanted = needsRef ? { ...given, [refField]: generateAccountRef(viewId, refLength(fields)) } : given;
    const ref = wanted[refField];
    const id = ref ?? viewId;
    const shown = Object.fromEntries(Object.entries(wanted).filter(([name]) => !secret.has(name)));
    const { isNew, stored } = await records.change<{ isNew: boolean; stored: StoredRequest }>(id, (before) =>
      before && before.settled !== 'refused'
        ? { kind: 'keep', result: { isNew: false, stored: before } }
        : written({ asks: (before?.asks ?? 0) + 1, by, wanted: shown }, true),
    );

    /** Stores the answer if the store is there. Otherwise the request stays unsettled, which only prevents a repeat. */
    async function settle(settled: 'created' | 'refused'): Promise<void> {
      await updateOwnRecords(account, 'The result of a new account could not be stored', () =>
        records.change<unknown>(id, (kept) =>
          // Skip if this process was suspended and the account was requested again meanwhile.
          kept?.asks === stored.asks
            ? written({ ...kept, settled }, false)
            : { kind: 'keep', result: undefined },
        ),
      );
    }

    async function send(): Promise<AccountEnd> {
      const answer = await payments.createAccount(wanted);
      if (answer.kind !== 'unknown') await settle(answer.kind === 'created' ? 'created' : 'refused');
      const end = answer.kind === 'unknown' ? await lookUp() : answer;
      const failure = failureOf(answer);
      const about = { verb: 'account', result: end.kind, userId: by };
      log('info', 'Asked for a new account', { ...about, ...(failure && { failure }) });
      const step = { what: 'step', who: by, verb: 'account', result: `account_${end.kind}` } as const;
      audit.note({ ...step, ...withoutUndefined({ reference: ref }) });
      return end;
    }

    async function lookUp(): Promise<AccountEnd> {
      await wait(lookUpAfterMs);
      const found = await findByRef();
      // The request may have got its answer meanwhile.
      const latest = await records.read(id).catch(() => undefined);
      return endOfLookUp(latest ?? stored, found);
    }

    async function findByRef(): Promise<LookedUp> {
      if (ref === undefined) return { kind: 'impossible' };
      return await payments.findAccount({ by: 'accountRef', value: ref }).catch((error: unknown) => {
        if (error instanceof ServiceFailure) return { kind: 'failed' } as const;
        throw error;
      });
    }

    return {
      id,
      /** The requested fields, without secret ones. */
      wanted: stored.wanted,
      /** The person who requested it earlier; then no new request is made. */
      ...(isNew ? {} : { askedBy: stored.by }),
      /** Sends the request, or looks up an earlier one. Throws only for a bug. */
      carryOn: isNew ? send : lookUp,
    };
  }

  /** The fields of the request with this id, without secret ones. */
  async function wantedOf(id: string): Promise<NewAccount | undefined> {
    return (await records.read(id))?.wanted;
  }

  return { begin, wantedOf };
}

function written(stored: StoredRequest, isNew: boolean) {
  const schedule = { ttlMs: rememberMs };
  return { kind: 'write', value: stored, schedule, result: { isNew, stored } } as const;
}

function failureOf(answer: NewAccountAnswer): string | undefined {
  if (answer.kind === 'unknown') return answer.cause.kind;
  return 'failure' in answer ? answer.failure : undefined;
}

/** Spec: Limits (accountRef). */
const specifiedRefLength = 20;

/** No 0, 1, O and I: people mistake them for each other. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const refPrefix = 'PAY';

/**
 * Generates an account's reference from the view's id: the same on every replica and after a crash, so that a lost
 * answer can be looked up. Its length is the specified one, or the nearest that the settings allow.
 *
 * Spec: Account (accountRef: exactly 20 characters, generated if not provided).
 */
export function generateAccountRef(viewId: string, { shortest, longest }: Length): string {
  const length = Math.min(Math.max(specifiedRefLength, shortest), longest);
  const digest = hash('sha256', `account:${viewId}`, 'buffer');
  let ref = refPrefix;
  for (let index = 0; ref.length < length; index += 1) {
    ref += alphabet.charAt((digest[index] ?? 0) & 31);
  }
  return ref.slice(0, length);
}

export type Length = { shortest: number; longest: number };

/** The length of a reference by the settings; any length if they don't say. */
export function refLength(fields: readonly AccountField[]): Length {
  return fields.find(({ name }) => name === refField) ?? { shortest: 0, longest: limits.inputLength };
}

/** "20 characters", "2 to 255 characters". */
export function lengthWords({ shortest, longest }: Length): string {
  if (shortest === longest) return `${longest} characters`;
  return shortest === 0 ? `at most ${longest} characters` : `${shortest} to ${longest} characters`;
}

/** Whether the settings give no length. Then any text fits that Slack's input accepts. */
export function isAnyLength({ shortest, longest }: Length): boolean {
  return shortest === 0 && longest === limits.inputLength;
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Reads typed text as an account's id (36 characters) or its reference. Of a reference only the length is checked: the
 * specification declares its query parameter as a UUID, but its 20 characters can't be one.
 *
 * Spec: Account (accountRef); GET {base_url}/v1/accounts/sub-account-details.
 */
export function parseAccountKey(
  text: string,
  length: Length = { shortest: 1, longest: 255 },
): Parsed<AccountKey> {
  const trimmed = text.trim();
  if (uuid.test(trimmed)) return parsed({ by: 'accountId', value: trimmed.toLowerCase() });
  const count = [...trimmed].length;
  if (count > 0 && count >= length.shortest && count <= length.longest) {
    return parsed({ by: 'accountRef', value: trimmed });
  }
  const forms = `A reference has ${lengthWords(length)}, an account id 36.`;
  return problem(count === 0 ? `An account is missing. ${forms}` : `${forms} This has ${count}.`);
}
