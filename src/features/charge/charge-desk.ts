import { isDeepStrictEqual } from 'node:util';
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
  type CodeLinkNeeds,
  holdsCode,
  openUntil,
} from './code-link.ts';
import type { ChargeRunner } from './run-charge.ts';
import { createSubmits } from './submit-charge.ts';

export type ChargeDesk = ReturnType<typeof createChargeDesk>;

/** Older views are probably closed; don't update them. */
const mostViews = 10;

type Request = { reference: string; by: string };

/** The charge as it is now, and the work still to do. Without `carryOn` the request had no effect. */
type Answered = { charge: ChargeSeen; carryOn?: () => Promise<void> };

/** Banks need a moment to send a code, and people press twice. */
const resendAgainMs = 30_000;
/** As long as a charge may take to be sent. */
const leaveMs = 25_000;

/**
 * Everything that people can do with a charge. Only `carryOn` and `lookUpNow` wait for the payments service. Methods
 * throw StoreUnavailable; nothing was sent then. (`submit` returns that as a value.) Undefined: there is no such
 * charge.
 */
export function createChargeDesk(
  account: Account,
  own: Parameters<typeof createSubmits>[1] & { runner: ChargeRunner; needs: CodeLinkNeeds },
) {
  const { charges, limits, runner, needs } = own;
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

  /**
   * Asks the service to send another code. Not an event of the machine, because time and tries stay. Spec: resend-otp.
   */
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
    /** The person's limits, and how much of today's is used. */
    limitsOf: (userId: string) => limits.of(userId),
    /**
     * Why no charge can be begun from that alert now, in this dialogue or a new one; undefined: it can. `submit` checks
     * again.
     */
    alertTaken: (alert: string, viewId?: string) => needs.alerts.taken(alert, viewId && referenceOf(viewId)),
    inDoubt: () => chargesInDoubt(account, charges),

    /** Charges that wait for this person's code, oldest first. */
    async waitingFor(userId: string): Promise<ChargeSeen[]> {
      return await Promise.all((await charges.all(chargeLists.codesOf(userId))).map(runner.see));
    },

    /** Charges that wait for others' codes, oldest first. */
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
     * Registers a modal that shows the charge: from now on it is updated. It is updated at once if the charge has
     * changed since `at`, the step that the modal shows.
     */
    async watch(reference: string, { id, userId, at }: ChargeView & { at: number }): Promise<void> {
      const watched = await charges.amend(reference, (record) => {
        const others = record.views.filter((other) => other.id !== id);
        return { ...record, views: [...others, { id, userId }].slice(-mostViews) };
      });
      if (watched && watched.intent.at > at) await runner.show(reference);
    },

    /**
     * Another payment or a person has ended the charge's alert; message and modals then show that. Ignored for a charge
     * that ended without money, or doesn't exist. Idempotent.
     */
    async hearOfAlert(reference: string, news: AlertNews): Promise<void> {
      const told = await charges.amend(reference, (record) => {
        const isKnown = isDeepStrictEqual(record.alertNews, news);
        return isKnown || hasMovedNothing(record) ? undefined : { ...record, alertNews: news };
      });
      if (told) await runner.showProgress(told);
    },

    /** Looks up a charge now; resolves when the answer is stored. */
    async lookUpNow({ reference, by }: Request): Promise<ChargeSeen | undefined> {
      const advanced = await charges.advance(reference, { kind: 'look_up_asked', by });
      if (advanced) await runner.run(advanced);
      return await find(reference);
    },

    /**
     * Submits a typed code. `carryOn` sends it, from memory: the code is never stored. The try is counted before that,
     * by compare-and-swap. `triesLeft`: as the modal showed it, so that a repeated delivery costs only one try. Only
     * the agent may submit codes, or the customer through their link.
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
        // Fail here, before the try is counted, if its sealing key is gone.
        sealer.open(chargeKey(reference), otp.sealedTransactionId);
        return true;
      });
      if (!advanced) return await asItIs(reference);
      return { charge: await runner.see(advanced.record), carryOn: () => runner.run(advanced, code) };
    },

    /**
     * Asks the bank to send another code; time and tries stay. The request is stored before it is sent, so a double
     * click is one request.
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

    /**
     * Makes this person the charge's agent, who enters the code and gets the messages; everybody can see that. Settled
     * charges keep their agent.
     */
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
