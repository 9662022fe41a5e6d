import { parsed, problem, type Parsed } from '../../domain/wording.ts';
import { limits } from '../../slack/kit/limits.ts';
import { createHash } from 'node:crypto';
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
import { catchUp } from '../../records/insist.ts';
import { createRecords } from '../../records/records.ts';
import { dayMs } from '../../domain/span.ts';

/** A field of the request, as the settings name it. */
export type AccountField = Account['settings']['accountNewFields'][number];

/** What an account is looked up by. */
const refField = 'accountRef';

/** What became of a new account, as people are told it. */
export type AccountEnd =
  /** As the service answered, or a look-up by its reference found after a lost answer. */
  | { kind: 'created'; account: SubAccount | undefined }
  | NotMade
  /**
   * It may have been created. What a look-up by its reference found since: nothing, another account, no answer; or
   * none could be made, because it has no reference.
   */
  | { kind: 'doubt'; lookUp: 'not_found' | 'another' | 'failed' | 'impossible' };

/** A new account that was asked for, under its reference: written before the request leaves. */
const askedAccount = z.object({
  /** How often it was asked for: each answer is one of those. */
  asks: z.int(),
  by: z.string(),
  /** Without what nobody may see again. */
  wanted: z.record(z.string(), z.string()),
  /** As the service settled it. `refused`: surely not made, so its reference may be asked for again. */
  settled: z.enum(['created', 'refused']).exactOptional(),
});

type AskedAccount = z.infer<typeof askedAccount>;

/** `failed`: no usable answer; `impossible`: it was asked for without a reference. */
type LookedUp = AccountAnswer | { kind: 'failed' | 'impossible' };

/**
 * What a look-up says of one that may have been made. Not found proves nothing: what the service is still at work on is not
 * there yet.
 */
export function endOfLookUp(
  { wanted, settled }: Pick<AskedAccount, 'wanted' | 'settled'>,
  found: LookedUp,
): AccountEnd {
  const account: SubAccount = found.kind === 'found' ? found.account : {};
  const { accountName, accountRef } = account;
  const isTold = (accountName ?? accountRef) !== undefined;
  const isOwn = isTold && (accountName ?? wanted['accountName']) === wanted['accountName'];
  if (isOwn || settled === 'created') return { kind: 'created', account: isOwn ? account : undefined };
  if (isTold) return { kind: 'doubt', lookUp: 'another' };
  const { kind } = found;
  return { kind: 'doubt', lookUp: kind === 'not_found' || kind === 'impossible' ? kind : 'failed' };
}

export type NewAccounts = ReturnType<typeof createNewAccounts>;

const rememberMs = 30 * dayMs;
/** The service may still be at work when the answer was lost. */
const lookUpAfterMs = 2_000;

/**
 * Begins a new account: written down before anything is sent, and asked for at most once under its reference,
 * which is the view's own when none is given. The specification gives it one thing to be known by, that reference: so what
 * may have been asked for, by a request whose answer was lost or by a process that died, is looked up and asked for no
 * second time. Throws StoreUnavailable, and then nothing was sent.
 *
 * Spec: POST {base_url}/v1/accounts; GET {base_url}/v1/accounts/sub-account-details; Account (accountRef).
 */
export function createNewAccounts(account: Account) {
  const { payments, audit, log, wait } = account;
  const { accountNewFields: fields } = account.settings;
  const records = createRecords<AskedAccount>(account, { prefix: 'account-new:', schema: askedAccount });
  const secret = new Set(fields.flatMap((field) => (field.secret ? [field.name] : [])));

  async function begin({ viewId, wanted: given, by }: { viewId: string; wanted: NewAccount; by: string }) {
    const minted = given[refField] === undefined && takesRef(fields);
    const wanted = minted ? { ...given, [refField]: mintAccountRef(viewId, refLength(fields)) } : given;
    const ref = wanted[refField];
    const id = ref ?? viewId;
    const shown = Object.fromEntries(Object.entries(wanted).filter(([name]) => !secret.has(name)));
    const { isNew, asked } = await records.change<{ isNew: boolean; asked: AskedAccount }>(id, (before) => {
      if (before && before.settled !== 'refused')
        return { kind: 'keep', result: { isNew: false, asked: before } };
      const value = { asks: (before?.asks ?? 0) + 1, by, wanted: shown };
      return { kind: 'write', value, rest: { ttlMs: rememberMs }, result: { isNew: true, asked: value } };
    });

    /** What became of it stands whatever becomes of the record: kept as asked for, it is not asked for again. */
    async function settle(settled: 'created' | 'refused'): Promise<void> {
      await catchUp(account, 'What became of a new account could not be noted', () =>
        records.change<void>(id, (kept) =>
          // Of a process that stood still it may have been asked for again since.
          kept?.asks === asked.asks
            ? { kind: 'write', value: { ...kept, settled }, rest: { ttlMs: rememberMs }, result: undefined }
            : { kind: 'keep', result: undefined },
        ),
      );
    }

    async function ask(): Promise<AccountEnd> {
      const answer = await payments.createAccount(wanted);
      if (answer.kind !== 'unknown') await settle(answer.kind === 'created' ? 'created' : 'refused');
      const end = answer.kind === 'unknown' ? await lookUp() : answer;
      const failure = failureOf(answer);
      const about = { verb: 'account', result: end.kind, userId: by };
      log('info', 'Asked for a new account', { ...about, ...(failure && { failure }) });
      const result = `account_${end.kind}`;
      audit.note({
        what: 'step',
        who: by,
        verb: 'account',
        result,
        ...(ref === undefined ? {} : { reference: ref }),
      });
      return end;
    }

    async function lookUp(): Promise<AccountEnd> {
      await wait(lookUpAfterMs);
      const found = await findByRef();
      // The requester may have its answer by now.
      const kept = await records.read(id).catch(() => undefined);
      return endOfLookUp(kept ?? asked, found);
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
      /** What was asked for, without what nobody may see again. */
      wanted: asked.wanted,
      /** Who asked for it before; nothing is asked for again. */
      ...(isNew ? {} : { askedBy: asked.by }),
      /** Asks the service, once, or looks up what became of it. Throws for a bug alone. */
      carryOn: isNew ? ask : lookUp,
    };
  }

  /** What was asked for under this id, without what nobody may see again. */
  async function wantedOf(id: string): Promise<NewAccount | undefined> {
    return (await records.read(id))?.wanted;
  }

  return { begin, wantedOf };
}

function failureOf(answer: NewAccountAnswer): string | undefined {
  if (answer.kind === 'unknown') return answer.cause.kind;
  return 'failure' in answer ? answer.failure : undefined;
}

function takesRef(fields: readonly AccountField[]): boolean {
  return fields.some(({ name }) => name === refField);
}

/** Spec: Limits (accountRef). */
const specifiedRefLength = 20;

/** Neither 0 nor 1 nor O nor I, so that no character is taken for another when read aloud or copied by hand. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const refPrefix = 'PAY';

/**
 * The reference of an account that a Slack view asks for, when the person gave none: the same view gives the same
 * on every replica and after every crash, so that a lost answer can be asked after by it. Of a range of lengths it takes
 * the one nearest to the specified.
 *
 * Spec: Account (accountRef: exactly 20 characters, generated if not provided).
 */
export function mintAccountRef(viewId: string, { shortest, longest }: Length): string {
  const length = Math.min(Math.max(specifiedRefLength, shortest), longest);
  const digest = createHash('sha256').update(`account:${viewId}`).digest();
  let ref = refPrefix;
  for (let index = 0; ref.length < length; index += 1) {
    ref += alphabet.charAt((digest[index] ?? 0) & 31);
  }
  return ref.slice(0, length);
}

export type Length = { shortest: number; longest: number };

/** How long a reference is, for the form and the look-up alike; any length where the form has none or says none. */
export function refLength(fields: readonly AccountField[]): Length {
  return fields.find(({ name }) => name === refField) ?? { shortest: 0, longest: limits.inputLength };
}

/** "20 characters", "2 to 255 characters". */
export function lengthWords({ shortest, longest }: Length): string {
  if (shortest === longest) return `${longest} characters`;
  return shortest === 0 ? `at most ${longest} characters` : `${shortest} to ${longest} characters`;
}

/** The settings ask for no length: what is left is what a form can hold. */
export function isAnyLength({ shortest, longest }: Length): boolean {
  return shortest === 0 && longest === limits.inputLength;
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Reads what a person typed as an account's id (36 characters) or its reference. The reference's query parameter is
 * declared as a uuid, which 20 characters cannot be, so nothing but its length is asked, where one is given.
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
