import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  type AccountAnswer,
  type AccountEnd,
  type AccountKey,
  type NewAccount,
  type NewAccountAnswer,
  refField,
  refLength,
  type AccountField,
  type Length,
} from '../../domain/account.ts';
import type { NoteAudit } from '../../domain/audit-entry.ts';
import { ServiceFailure, StoreUnavailable } from '../../domain/failure.ts';
import { newErrorId, type Log } from '../../log.ts';
import { createRecords, type RecordsDeps } from '../../records/records.ts';

/** A new account that was asked for, under its reference. */
const accountCase = z.object({
  /** Written before the request leaves; `refused`: surely not made, so its reference may be asked for again. */
  state: z.enum(['asking', 'created', 'refused', 'doubt']),
  /** How often it was asked for: each answer is one of those. */
  asks: z.int(),
  by: z.string(),
  /** Without what nobody may see again. */
  wanted: z.record(z.string(), z.string()),
});

type AccountCase = z.infer<typeof accountCase>;

/** `failed`: no usable answer; `impossible`: it was asked for without a reference. */
type LookedUp = AccountAnswer | { kind: 'failed' | 'impossible' };

type AccountEvent =
  | { kind: 'submitted'; by: string; wanted: NewAccount }
  | { kind: 'answered'; ask: number; answer: NewAccountAnswer }
  | { kind: 'looked_up'; found: LookedUp };

/** `next` is stored before its effect runs. Only `ask` creates anything. */
type AccountStep = { next: AccountCase } & (
  | { effect: 'ask' | 'look_up' }
  | { effect: 'tell'; end: AccountEnd }
);

/**
 * All that can become of a new account. The specification gives it one thing to be known by, its reference, which is
 * unique: so what may have been asked for, by a request whose answer was lost or by a process that died, is looked up
 * and asked for no second time. Not found proves nothing: what the service is still at work on is not there yet.
 *
 * Spec: POST {base_url}/v1/accounts; GET {base_url}/v1/accounts/sub-account-details; Account (accountRef).
 */
export function stepAccount(state: AccountCase | undefined, event: AccountEvent): AccountStep {
  if (event.kind === 'submitted') {
    const { by, wanted } = event;
    if (state && state.state !== 'refused') return { next: state, effect: 'look_up' };
    return { next: { state: 'asking', by, wanted, asks: (state?.asks ?? 0) + 1 }, effect: 'ask' };
  }
  if (!state) throw new Error('An account that nobody asked for was answered or looked up.');
  const created = { ...state, state: 'created' } as const;
  // What the service has settled stays so, whatever is looked up after that.
  const isOpen = state.state === 'asking' || state.state === 'doubt';
  if (event.kind === 'looked_up') {
    const own = ownAccount(state.wanted, event.found);
    if (typeof own === 'object') {
      return { next: created, effect: 'tell', end: { kind: 'created', account: own } };
    }
    if (state.state === 'created') {
      return { next: state, effect: 'tell', end: { kind: 'created', account: undefined } };
    }
    const next: AccountCase = isOpen ? { ...state, state: 'doubt' } : state;
    return { next, effect: 'tell', end: { kind: 'doubt', lookUp: own } };
  }
  const { answer } = event;
  // Or a process that stood still would call refused what has been asked for again since.
  const isAbout = isOpen && event.ask === state.asks;
  switch (answer.kind) {
    case 'created':
      return { next: created, effect: 'tell', end: answer };
    case 'not_made':
      return { next: isAbout ? { ...state, state: 'refused' } : state, effect: 'tell', end: answer };
    case 'unknown':
      return { next: isAbout ? { ...state, state: 'doubt' } : state, effect: 'look_up' };
  }
}

/** The account, if it is the one that was asked for; else why that is not known. */
function ownAccount(wanted: NewAccount, found: LookedUp) {
  if (found.kind !== 'found') return found.kind === 'refused' ? 'failed' : found.kind;
  const { accountName, accountRef } = found.account;
  if (accountName === undefined && accountRef === undefined) return 'failed';
  return accountName === undefined || accountName === wanted['accountName'] ? found.account : 'another';
}

export type BeginAccount = ReturnType<typeof createBeginAccount>;

const rememberMs = 30 * 86_400_000;
/** The service may still be at work when the answer was lost. */
const lookUpAfterMs = 2_000;

/**
 * Begins a new account: written down before anything is sent, and asked for at most once under its reference,
 * which is the view's own when none is given. Throws StoreUnavailable, and then nothing was sent.
 */
export function createBeginAccount(
  deps: RecordsDeps & {
    createAccount: (wanted: NewAccount) => Promise<NewAccountAnswer>;
    /** Throws ServiceFailure. */
    findAccount: (key: AccountKey) => Promise<AccountAnswer>;
    /** What the request has: with one for the reference, the bot gives one; what is secret is not kept. */
    fields: readonly AccountField[];
    log: Log;
    /** Writes into the audit, in the background. */
    note: NoteAudit;
  },
) {
  const { fields, log } = deps;
  const records = createRecords<AccountCase>(deps, { prefix: 'account-new:', schema: accountCase });
  const secret = new Set(fields.flatMap((field) => (field.secret ? [field.name] : [])));

  return async function begin(request: { viewId: string; wanted: NewAccount; by: string }) {
    const { viewId, wanted: given, by } = request;
    const minted = given[refField] === undefined && takesRef(fields);
    const wanted = minted ? { ...given, [refField]: mintAccountRef(viewId, refLength(fields)) } : given;
    const ref = wanted[refField];

    async function move(event: AccountEvent, known?: AccountCase): Promise<AccountStep> {
      return await records.change(ref ?? viewId, (state = known) => {
        const result = stepAccount(state, event);
        return result.next === state
          ? { kind: 'keep', result }
          : { kind: 'write', value: result.next, rest: { ttlMs: rememberMs }, result };
      });
    }

    /** What became of it stands whatever becomes of the record: kept as asked for, it is not asked for again. */
    async function moveOrTell(event: AccountEvent, known: AccountCase): Promise<AccountStep> {
      try {
        return await move(event, known);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        log('warn', 'What became of a new account could not be noted', { errorId: newErrorId() }, error);
        return stepAccount(known, event);
      }
    }

    async function carryOn(step: AccountStep): Promise<AccountEnd> {
      switch (step.effect) {
        case 'ask': {
          const answer = await deps.createAccount(wanted);
          const answered = { kind: 'answered', ask: step.next.asks, answer } as const;
          const end = await carryOn(await moveOrTell(answered, step.next));
          const failure =
            answer.kind === 'unknown' ? answer.cause.kind : 'failure' in answer && answer.failure;
          const result = end.kind;
          log('info', 'Asked for a new account', {
            verb: 'account',
            userId: by,
            result,
            ...(failure && { failure }),
          });
          const about = ref === undefined ? {} : { reference: ref };
          deps.note({ what: 'step', who: by, verb: 'account', result: `account_${result}`, ...about });
          return end;
        }
        case 'look_up': {
          await deps.wait(lookUpAfterMs);
          const found = await lookUp(deps.findAccount, ref);
          return await carryOn(await moveOrTell({ kind: 'looked_up', found }, step.next));
        }
        case 'tell':
          return step.end;
      }
    }

    const shown = Object.fromEntries(Object.entries(wanted).filter(([name]) => !secret.has(name)));
    const first = await move({ kind: 'submitted', by, wanted: shown });
    return {
      /** What was asked for, without what nobody may see again. */
      wanted: first.next.wanted,
      /** Who asked for it before; nothing is asked for again. */
      ...(first.effect === 'ask' ? {} : { askedBy: first.next.by }),
      /** Asks the service, once, or looks up what became of it. Throws for a bug alone. */
      carryOn: () => carryOn(first),
    };
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

async function lookUp(
  findAccount: (key: AccountKey) => Promise<AccountAnswer>,
  ref: string | undefined,
): Promise<LookedUp> {
  if (ref === undefined) return { kind: 'impossible' };
  try {
    return await findAccount({ by: 'accountRef', value: ref });
  } catch (error) {
    if (error instanceof ServiceFailure) return { kind: 'failed' };
    throw error;
  }
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
  const digest = sha256(`account:${viewId}`);
  let ref = refPrefix;
  for (let index = 0; ref.length < length; index += 1) {
    ref += alphabet.charAt((digest[index] ?? 0) & 31);
  }
  return ref.slice(0, length);
}
