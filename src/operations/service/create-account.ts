import { createHash } from 'node:crypto';
import { z } from 'zod';
import type {
  AccountAnswer,
  AccountEnd,
  AccountKey,
  NewAccount,
  NewAccountAnswer,
} from '../../domain/account.ts';
import type { NoteAudit } from '../../domain/audit-note.ts';
import { mintAccountRef, refLength, takesRef, type AccountField } from '../../domain/account-field.ts';
import { ServiceFailure } from '../../domain/failure.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { newErrorId, type Log } from '../../log.ts';
import { createChangeRecord, type ChangeRecord, type RecordStore } from '../work/change-record.ts';
import type { Sealer } from '../../domain/sealer.ts';

/** What was asked for, without what nobody may see again. */
export type ShownAccount = NewAccount;

export type AccountBeginning =
  /** `carryOn` asks the service, once, and resolves with what became of it. Throws for a bug alone. */
  | { kind: 'begun'; wanted: ShownAccount; carryOn: () => Promise<AccountEnd> }
  /** Asked for before, by `askedBy`; nothing is asked for again. `carryOn` looks up what became of it. */
  | { kind: 'known'; wanted: ShownAccount; askedBy: string; carryOn: () => Promise<AccountEnd> };

export type AccountDesk = {
  /**
   * Begins a new account: written down before anything is sent, and asked for at most once under its reference,
   * which is the view's own when none is given. Throws StoreUnavailable, and then nothing was sent.
   */
  begin(request: { viewId: string; wanted: NewAccount; by: string }): Promise<AccountBeginning>;
};

export type AccountDeskDeps = {
  store: RecordStore;
  sealer: Sealer;
  createAccount: (wanted: NewAccount) => Promise<NewAccountAnswer>;
  /** Throws ServiceFailure. */
  findAccount: (key: AccountKey) => Promise<AccountAnswer>;
  /** What the request has: with one for the reference, the bot gives one; what is secret is not kept. */
  fields: readonly AccountField[];
  log: Log;
  wait: (ms: number) => Promise<unknown>;
  /** Writes into the audit, in the background; absent: nothing is written down. */
  note?: NoteAudit;
};

const refField = 'accountRef';
const rememberMs = 30 * 86_400_000;
/** The service may still be at work when the answer was lost. */
const lookUpAfterMs = 2_000;

/** `refused`: surely not made, so the same reference may be asked for again. */
const record = z.object({
  state: z.enum(['asking', 'created', 'refused', 'doubt']),
  by: z.string(),
  wanted: z.record(z.string(), z.string()),
});

type Kept = z.infer<typeof record>;

/**
 * New accounts, each at most once. The specification gives an account one thing to be known by, its reference, which
 * is unique: so every account is asked for with one, and a lost answer is followed by a look-up and never by another
 * request.
 *
 * Spec: POST {base_url}/v1/accounts; Account (accountRef).
 */
export function createAccountDesk(deps: AccountDeskDeps): AccountDesk {
  const { sealer } = deps;
  const changeRecord = createChangeRecord(deps.store);
  const open = (key: string, value: string): Kept => record.parse(JSON.parse(sealer.open(key, value)));
  return {
    async begin({ viewId, wanted: given, by }) {
      const wanted = withRef(deps.fields, given, viewId);
      const key = `account-new:${wanted[refField] ?? viewId}`;
      const fresh: Kept = { state: 'asking', by, wanted: shownAccount(deps.fields, wanted) };
      const before = await changeRecord(key, (value) => {
        const kept = value === undefined ? undefined : open(key, value);
        if (kept && kept.state !== 'refused') return { kind: 'keep', result: kept };
        const sealed = sealer.seal(key, JSON.stringify(fresh));
        return { kind: 'write', value: sealed, ttlMs: rememberMs, result: undefined };
      });
      if (before) {
        const isCreated = async (): Promise<boolean> => {
          const entry = await deps.store.read(key);
          return entry !== undefined && open(key, entry.value).state === 'created';
        };
        const carryOn = (): Promise<AccountEnd> => lookUpKnown(deps, before.wanted, isCreated);
        return { kind: 'known', wanted: before.wanted, askedBy: before.by, carryOn };
      }
      return {
        kind: 'begun',
        wanted: fresh.wanted,
        async carryOn() {
          const end = await ask(deps, wanted, by);
          await remember(deps, { changeRecord, key, kept: { ...fresh, state: stateOf(end) } });
          return end;
        },
      };
    },
  };
}

/** The view's own reference when the person gave none: without one a lost answer could not be asked after. */
function withRef(fields: readonly AccountField[], given: NewAccount, viewId: string): NewAccount {
  if (given[refField] !== undefined || !takesRef(fields)) return given;
  const ref = mintAccountRef(viewId, sha256, refLength(fields));
  return { ...given, [refField]: ref };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function shownAccount(fields: readonly AccountField[], wanted: NewAccount): ShownAccount {
  const secret = new Set(fields.flatMap((field) => (field.secret ? [field.name] : [])));
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => !secret.has(name)));
}

async function ask(deps: AccountDeskDeps, wanted: NewAccount, by: string): Promise<AccountEnd> {
  const answer = await deps.createAccount(wanted);
  const end = await endOf(deps, wanted, answer);
  deps.log('info', 'Asked for a new account', {
    verb: 'account',
    userId: by,
    result: end.kind,
    ...('failure' in end ? { failure: end.failure } : {}),
    ...(answer.kind === 'unknown' ? { failure: answer.cause.kind } : {}),
  });
  const ref = wanted[refField];
  deps.note?.({
    what: 'step',
    who: by,
    verb: 'account',
    result: `account_${end.kind}`,
    ...(ref === undefined ? {} : { reference: ref }),
  });
  return end;
}

async function endOf(
  deps: AccountDeskDeps,
  wanted: NewAccount,
  answer: NewAccountAnswer,
): Promise<AccountEnd> {
  switch (answer.kind) {
    case 'created':
      return { kind: 'created', account: answer.account, by: 'answer' };
    case 'not_made':
      return answer;
    case 'unknown': {
      await deps.wait(lookUpAfterMs);
      const end = await lookUp(deps, wanted);
      const { said } = answer.cause;
      return end.kind === 'doubt' && said !== undefined ? { ...end, said } : end;
    }
  }
}

/** What the service has answered stands, whatever its look-up says after that. */
async function lookUpKnown(
  deps: AccountDeskDeps,
  wanted: NewAccount,
  isCreated: () => Promise<boolean>,
): Promise<AccountEnd> {
  const end = await lookUp(deps, wanted);
  if (end.kind !== 'doubt') return end;
  try {
    return (await isCreated()) ? { kind: 'created', account: undefined, by: 'answer' } : end;
  } catch (error) {
    if (error instanceof StoreUnavailable) return end;
    throw error;
  }
}

/** Not found proves nothing: what the service is still at work on is not there yet. */
async function lookUp({ findAccount }: AccountDeskDeps, wanted: NewAccount): Promise<AccountEnd> {
  const ref = wanted[refField];
  if (ref === undefined) return { kind: 'doubt', lookUp: 'impossible' };
  try {
    const answer = await findAccount({ by: 'accountRef', value: ref });
    if (answer.kind !== 'found') {
      return { kind: 'doubt', lookUp: answer.kind === 'not_found' ? 'not_found' : 'failed' };
    }
    const { account } = answer;
    if (account.accountName === undefined && account.accountRef === undefined) {
      return { kind: 'doubt', lookUp: 'failed' };
    }
    const isOurs = account.accountName === undefined || account.accountName === wanted['accountName'];
    return isOurs ? { kind: 'created', account, by: 'look_up' } : { kind: 'doubt', lookUp: 'another' };
  } catch (error) {
    if (error instanceof ServiceFailure) return { kind: 'doubt', lookUp: 'failed' };
    throw error;
  }
}

function stateOf(end: AccountEnd): Kept['state'] {
  if (end.kind === 'created' || end.kind === 'doubt') return end.kind;
  return 'refused';
}

/** What became of it stands whatever becomes of the note: kept as asked for, it is not asked for again. */
async function remember(
  { sealer, log }: AccountDeskDeps,
  { changeRecord, key, kept }: { changeRecord: ChangeRecord; key: string; kept: Kept },
): Promise<void> {
  try {
    const value = sealer.seal(key, JSON.stringify(kept));
    await changeRecord(key, () => ({ kind: 'write', value, ttlMs: rememberMs, result: undefined }));
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    log('warn', 'What became of a new account could not be noted', { errorId: newErrorId() }, error);
  }
}
