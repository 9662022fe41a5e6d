import type { Account } from '../../account.ts';
import type { AlertNews } from '../../domain/alert.ts';
import type { ChargeSeen, Resend } from '../../domain/charge.ts';
import { codeEntry, otpLimits } from '../../domain/otp.ts';
import { referenceOf } from '../../records/reference-of.ts';
import {
  type ChargeRecord,
  type ChargeView,
  chargeKey,
  chargeLists,
  chargesInDoubt,
  hasMovedNothing,
} from './charge-record.ts';
import {
  type CodeRequest,
  createCodeLinks,
  customer,
  type ForCodeLinks,
  holdsCode,
  openUntil,
} from './code-link.ts';
import type { ChargeRunner } from './run-charge.ts';
import { createSubmits } from './submit-charge.ts';

export type ChargeDesk = ReturnType<typeof createChargeDesk>;

/** A modal that is long closed is not worth a call. */
const mostViews = 10;

type Request = { reference: string; by: string };

/** The charge as it is now, and what is still to be done about what was asked; without `carryOn` nothing came of it. */
type Answered = { charge: ChargeSeen; carryOn?: () => Promise<void> };

/** A bank needs a moment to send a code, and people press twice. */
const resendAgainMs = 30_000;
/** As long as a charge may take to leave. */
const leaveMs = 25_000;

/**
 * Everything a person can do with a charge. Nothing here waits for the payments service except what `carryOn`
 * does, and `lookUpNow`; all of it throws StoreUnavailable when the store is away, and then nothing was sent. Only
 * `submit` tells of that by what it gives. Undefined: there is no such charge.
 */
export function createChargeDesk(
  account: Account,
  own: Parameters<typeof createSubmits>[1] & { runner: ChargeRunner; around: ForCodeLinks },
) {
  const { charges, limits, runner, around } = own;
  const { payments, sealer, log } = account;
  const entry = codeEntry(account.settings);

  async function find(reference: string): Promise<ChargeSeen | undefined> {
    const record = await charges.read(reference);
    return record && runner.see(record);
  }

  async function asItIs(reference: string): Promise<Answered | undefined> {
    const charge = await find(reference);
    return charge && { charge };
  }

  /** Spec: resend-otp. It changes neither the time nor the tries, so the machine need not hear of it. */
  async function askForAnother(record: ChargeRecord, at: number): Promise<void> {
    const { reference, otp } = record.intent;
    if (!otp) return;
    const transactionId = sealer.open(chargeKey(reference), otp.sealedTransactionId);
    const leaveBy = Math.min(at + leaveMs, openUntil(record, at) ?? at);
    const { kind: answer } = await payments.resendOtp(transactionId, { leaveBy, now: account.now });
    log('info', 'another code asked for', { orderReference: reference, result: answer });
    const answered = await charges.amend(reference, (current) => ({
      ...current,
      resends: current.resends.map((resend): Resend => (resend.at === at ? { ...resend, answer } : resend)),
    }));
    if (answered) await runner.showProgress(answered);
  }

  return {
    ...createSubmits(account, own),
    ...createCodeLinks(account, own),
    find,
    /** The limits that hold for this person, and what is used of their day. */
    limitsOf: (userId: string) => limits.of(userId),
    /** Why this dialogue, or a new one, cannot charge from that alert now; undefined: it can. `submit` asks again. */
    alertTaken: (alert: string, viewId?: string) => around.alerts.taken(alert, viewId && referenceOf(viewId)),
    inDoubt: () => chargesInDoubt(account, charges),

    /** Charges that wait for a code this person is to enter, oldest first. */
    async waitingFor(userId: string): Promise<ChargeSeen[]> {
      return await Promise.all((await charges.all(chargeLists.codesOf(userId))).map(runner.see));
    },

    /** Charges that wait for a code from somebody else, oldest first. */
    async waitingForOthers(userId: string): Promise<ChargeSeen[]> {
      const open = await charges.all(chargeLists.open);
      const seen = await Promise.all(open.map(runner.see));
      return seen.filter(({ state, agent }) => state.kind === 'otp' && agent !== userId);
    },

    /** This person's last charges, newest first. */
    async recent(userId: string, max: number): Promise<ChargeSeen[]> {
      const records = await charges.list(chargeLists.of(userId), { max, newestFirst: true });
      return await Promise.all(records.map(runner.see));
    },

    /**
     * The modal shows the charge from now on: what becomes of it is shown there, at once when it has gone on
     * since `at`, the step that the modal shows.
     */
    async watch(reference: string, { id, userId, at }: ChargeView & { at: number }): Promise<void> {
      const watched = await charges.amend(reference, (record) => {
        const others = record.views.filter((other) => other.id !== id);
        return { ...record, views: [...others, { id, userId }].slice(-mostViews) };
      });
      if (watched && watched.intent.at > at) await runner.show(reference);
    },

    /**
     * Its alert was ended by something else, or it is paid for what was paid before: its message and the windows that show
     * it say so. Nothing for one that has ended without money, nor where there is none. Again is the same as once.
     */
    async hearOfAlert(reference: string, news: AlertNews): Promise<void> {
      const told = await charges.amend(reference, (record) => {
        const isKnown = JSON.stringify(record.alertNews) === JSON.stringify(news);
        return isKnown || hasMovedNothing(record) ? undefined : { ...record, alertNews: news };
      });
      if (told) await runner.showProgress(told);
    },

    /** Looks a charge in doubt up now instead of later; resolves when the answer is stored. */
    async lookUpNow({ reference, by }: Request): Promise<ChargeSeen | undefined> {
      const advanced = await charges.advance(reference, { kind: 'look_up_asked', by });
      if (advanced) await runner.run(advanced);
      return await find(reference);
    },

    /**
     * A code a person typed, held in memory for one call and kept nowhere else: `carryOn` sends it. The try is counted
     * before it leaves, by whoever wins the swap. `triesLeft`: as the modal showed it, so that a repeated delivery of one
     * submit costs one try. Only whose charge it is may enter one, or whoever takes it over.
     */
    async submitCode(
      typed: CodeRequest & { code: string; triesLeft: number },
    ): Promise<Answered | undefined> {
      const { reference, by = customer, code, triesLeft } = typed;
      const event = { kind: 'otp_submitted', by } as const;
      const advanced = await charges.advance(reference, event, (record) => {
        const { otp } = record.intent;
        if (!holdsCode(record, typed, entry) || !otp || otpLimits.submissions - otp.tries !== triesLeft)
          return false;
        // Throws when its key is gone: before the try is counted, not after.
        sealer.open(chargeKey(reference), otp.sealedTransactionId);
        return true;
      });
      if (!advanced) return await asItIs(reference);
      return { charge: await runner.see(advanced.record), carryOn: () => runner.run(advanced, code) };
    },

    /**
     * Asks the bank for another code, which gives neither time nor tries. The wish is on record before it leaves, so that
     * two clicks are one.
     */
    async resendCode(wish: CodeRequest): Promise<Answered | undefined> {
      const { reference, by = customer } = wish;
      const at = account.now();
      const asked = await charges.amend(reference, (record) => {
        const againAt = (record.resends.at(-1)?.at ?? -Infinity) + resendAgainMs;
        const mayAsk = holdsCode(record, wish, entry) && openUntil(record, at) !== undefined && againAt <= at;
        return mayAsk ? { ...record, resends: [...record.resends, { at, by }] } : undefined;
      });
      if (!asked) return await asItIs(reference);
      const id = `${reference}:resend:${at}`;
      account.audit.note({ id, atMs: at, who: by, what: 'step', reference, result: 'code_asked_again' });
      return { charge: await runner.see(asked), carryOn: () => askForAnother(asked, at) };
    },

    /** From now on this person enters the code and is told; everybody sees it. What is settled stays whose it was. */
    async takeOver({ reference, by }: Request): Promise<ChargeSeen | undefined> {
      const at = account.now();
      const taken = await charges.amend(reference, (record) => {
        if (record.agent === by || 'concludedAt' in record.intent.state) return undefined;
        return { ...record, agent: by, handOvers: [...record.handOvers, { at, from: record.agent, to: by }] };
      });
      const from = taken?.handOvers.at(-1)?.from;
      if (!taken || from === undefined) return await find(reference);
      log('info', 'charge taken over', { orderReference: reference, userId: by });
      const change = { before: from, after: by, result: 'taken_over' };
      const id = `${reference}:taken_over:${at}`;
      account.audit.note({ id, atMs: at, who: by, what: 'step', reference, ...change });
      await runner.posts.note(reference, `handed_over:${at}`, { kind: 'handed_over', from, to: by });
      await runner.showProgress(taken);
      return await runner.see(taken);
    },
  };
}
