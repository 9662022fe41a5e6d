import { isDeepStrictEqual } from 'node:util';
import type { Account } from '../../account.ts';
import type { AlertNews } from '../../domain/alert.ts';
import { type ChargeSeen, type Resend, chargeLimits, isConcluded } from '../../domain/charge.ts';
import { codeEntry, otpLimits } from '../../domain/otp.ts';
import type { Notice } from '../../messages/notices.ts';
import { derivedReference } from '../../records/derived-reference.ts';
import { untilStored } from '../../records/retry.ts';
import { notMineNotice } from './charge-messages.ts';
import {
  type ChargeBook,
  type ChargeRecord,
  type ChargeView,
  chargeKey,
  chargeLists,
  chargesInDoubt,
  hasMovedNothing,
  seenOf,
} from './charge-record.ts';
import { otpStanding } from './machine.ts';
import type { ChargeRunner } from './run-charge.ts';
import { createSubmits, type SubmitParts } from './submit-charge.ts';

export type ChargeOperations = ReturnType<typeof createChargeOperations>;

/** Older views are probably closed; don't update them. */
const mostViews = 10;

/** `by`: the person who asks, by their Slack user id. */
type Request = { reference: string; by: string };

/** A request about a code: from a person in Slack (`by`), or from the customer, by the hash of their link (`link`). */
type CodeRequest = { reference: string } & ({ by: string; link?: never } | { link: string; by?: never });

/** The name of the customer in history and audit. */
const byCustomer = 'customer';

/** The charge as it is now, and the work still to do. Without `carryOn` the request had no effect. */
type Answered = { charge: ChargeSeen; carryOn?: () => Promise<void> };

/**
 * How soon another code can be requested: banks need a moment to send one, and people press twice. At once after a
 * request that never reached the bank.
 */
const resendAgainMs = 30_000;

export type CodeLinkNeeds = { tellOperators: (name: string, notice: Notice) => Promise<void> };

/**
 * Everything that people can do with a charge. Only `carryOn` and `lookUpNow` wait for the payments service. A charge
 * in a result is undefined if there is no such charge. Methods throw StoreUnavailable if nothing was sent; `submit`
 * returns `unsure` instead.
 */
export function createChargeOperations(
  account: Account,
  parts: SubmitParts & { runner: ChargeRunner; needs: CodeLinkNeeds },
) {
  const { charges, limits, runner, needs } = parts;
  const { payments, sealer, log } = account;
  const entry = codeEntry(account.settings);

  async function unchanged(reference: string): Promise<Answered | undefined> {
    const charge = await runner.findCharge(reference);
    return charge && { charge };
  }

  /**
   * Asks the service to send another code. The machine isn't told, because time and tries stay. Spec: resend-otp.
   */
  async function requestResend(record: ChargeRecord, at: number): Promise<void> {
    const { reference, otp } = record.intent;
    if (!otp) return;
    const transactionId = sealer.open(chargeKey(reference), otp.sealedTransactionId);
    const leaveBy = Math.min(at + chargeLimits.leaveMs, codeOpenUntil(record, at) ?? at);
    const { kind: answer } = await payments.resendOtp(transactionId, { leaveBy, now: account.now });
    log('info', 'another code asked for', { orderReference: reference, result: answer });
    const answered = await untilStored(account, () =>
      charges.amend(reference, (current) => ({
        ...current,
        resends: current.resends.map((resend): Resend => (resend.at === at ? { ...resend, answer } : resend)),
      })),
    );
    if (answered) await runner.showProgress(answered);
  }

  return {
    ...createSubmits(account, parts),
    ...createCodeLinks(account, parts),
    find: runner.findCharge,
    /** The person's limits, and how much of today's is used. */
    limitsOf: (userId: string) => limits.of(userId),
    /**
     * Why no charge can be begun from that alert now; undefined: one can. `viewId`: the dialogue that asks; a charge that
     * it has begun itself doesn't count. `submit` checks again.
     */
    alertTaken: (alert: string, viewId?: string) =>
      needs.alerts.taken(alert, viewId && derivedReference(viewId)),
    inDoubt: () => chargesInDoubt(account),

    /** Charges that wait for this person's code, oldest first. */
    async waitingFor(userId: string): Promise<ChargeSeen[]> {
      return await Promise.all((await charges.all(chargeLists.codesOf(userId))).map(runner.toSeen));
    },

    /** Charges that wait for others' codes, oldest first. */
    async waitingForOthers(userId: string): Promise<ChargeSeen[]> {
      const open = await charges.all(chargeLists.open);
      const seen = await Promise.all(open.map(runner.toSeen));
      return seen.filter(({ state, agent }) => state.kind === 'otp' && agent !== userId);
    },

    /** This person's last charges, newest first. */
    async recent(userId: string, max: number): Promise<ChargeSeen[]> {
      const records = await charges.list(chargeLists.of(userId), { max, newestFirst: true });
      return await Promise.all(records.map(runner.toSeen));
    },

    /**
     * Registers a modal, so that changes of the charge update the modal. If the charge differs by now from the `shown`
     * one, updates the modal at once; `shown` is absent if the modal shows something else.
     */
    async watch(
      reference: string,
      { id, userId, shown }: ChargeView & { shown?: ChargeSeen },
    ): Promise<void> {
      const watched = await charges.amend(reference, (record) => {
        const others = record.views.filter((other) => other.id !== id);
        return { ...record, views: [...others, { id, userId }].slice(-mostViews) };
      });
      if (watched && !isDeepStrictEqual(await runner.toSeen(watched), shown)) await runner.show(reference);
    },

    /**
     * Another payment or a person has ended the charge's alert, which message and modals then show. Does nothing if the
     * charge doesn't exist. Idempotent.
     */
    async onAlertEnded(reference: string, news: AlertNews): Promise<void> {
      const told = await charges.amend(reference, (record) => {
        const isKnown = isDeepStrictEqual(record.alertNews, news);
        return isKnown || hasMovedNothing(record.intent) ? undefined : { ...record, alertNews: news };
      });
      const record = told ?? (await charges.read(reference));
      if (record) await runner.showProgress(record);
    },

    /** Looks up a charge now; resolves when the answer is stored. */
    async lookUpNow({ reference, by }: Request): Promise<ChargeSeen | undefined> {
      const advanced = await charges.advance(reference, { kind: 'look_up_asked', by });
      if (advanced) await runner.run(advanced);
      return await runner.findCharge(reference);
    },

    /**
     * Submits a typed code. First counts the try, by compare-and-swap; then `carryOn` sends the code, which is never
     * stored. `triesLeft`: as the modal showed it, so that a repeated delivery costs only one try. Does nothing for a
     * person who may not enter the code (`mayEnterCode`).
     */
    async submitCode(
      typed: CodeRequest & { code: string; triesLeft: number },
    ): Promise<Answered | undefined> {
      const { reference, by = byCustomer, code, triesLeft } = typed;
      const event = { kind: 'otp_submitted', by } as const;
      const advanced = await charges.advance(reference, event, (record) => {
        const { otp } = record.intent;
        if (!mayEnterCode(record, typed, entry) || !otp || otpLimits.submissions - otp.tries !== triesLeft)
          return false;
        // If the sealing key is gone, fail here, before the try is counted.
        sealer.open(chargeKey(reference), otp.sealedTransactionId);
        return true;
      });
      if (!advanced) return await unchanged(reference);
      return { charge: await runner.toSeen(advanced.record), carryOn: () => runner.run(advanced, code) };
    },

    /**
     * Asks the bank to send another code; time and tries stay. The request is stored before it is sent, so that a
     * double click is one request.
     */
    async resendCode(request: CodeRequest): Promise<Answered | undefined> {
      const { reference, by = byCustomer } = request;
      const at = account.now();
      const asked = await charges.amend(reference, (record) => {
        const last = record.resends.at(-1);
        const againAt = last && last.answer !== 'not_made' ? last.at + resendAgainMs : -Infinity;
        const mayAsk =
          mayEnterCode(record, request, entry) && codeOpenUntil(record, at) !== undefined && againAt <= at;
        return mayAsk ? { ...record, resends: [...record.resends, { at, by }] } : undefined;
      });
      if (!asked) return await unchanged(reference);
      const id = `${reference}:resend:${at}`;
      account.audit.note({ id, atMs: at, who: by, what: 'step', reference, result: 'code_asked_again' });
      return { charge: await runner.toSeen(asked), carryOn: () => requestResend(asked, at) };
    },

    /**
     * Makes this person the charge's agent, who enters the code and gets the messages. Colleagues see the change.
     * Settled charges keep their agent.
     */
    async takeOver({ reference, by }: Request): Promise<ChargeSeen | undefined> {
      const at = account.now();
      const taken = await charges.amend(reference, (record) => {
        if (record.agent === by || isConcluded(record.intent.state)) return undefined;
        return { ...record, agent: by, handOvers: [...record.handOvers, { at, from: record.agent, to: by }] };
      });
      const from = taken?.handOvers.at(-1)?.from;
      if (!taken || from === undefined) return await runner.findCharge(reference);
      log('info', 'charge taken over', { orderReference: reference, userId: by });
      const change = { before: from, after: by, result: 'taken_over' };
      const id = `${reference}:taken_over:${at}`;
      account.audit.note({ id, atMs: at, who: by, what: 'step', reference, ...change });
      await runner.posts.note(reference, `handed_over:${at}`, { kind: 'handed_over', from, to: by });
      await runner.showProgress(taken);
      return await runner.toSeen(taken);
    },
  };
}

/** The link to the customer's code page. The agent makes and revokes it, and the customer can end it. */
function createCodeLinks(
  account: Account,
  { charges, runner, needs }: { charges: ChargeBook; runner: ChargeRunner; needs: CodeLinkNeeds },
) {
  const entry = codeEntry(account.settings);
  function note(reference: string, who: string, result: string, atMs: number): void {
    account.audit.note({ id: `${reference}:${result}:${atMs}`, atMs, who, what: 'step', reference, result });
  }

  return {
    /**
     * Lets the customer type the code, through the link with this hash; an earlier link ends. `isMade`: false unless
     * the charge's agent asks, and a code can still reach the bank.
     */
    async letCustomerType({ reference, by, link }: Request & { link: string }) {
      const at = account.now();
      const made = await charges.amend(reference, (record) => {
        if (entry === 'agent' || record.agent !== by || codeOpenUntil(record, at) === undefined)
          return undefined;
        const triesLeft = otpLimits.submissions - (record.intent.otp?.tries ?? 0);
        return { ...record, customer: { link, by, at, triesLeft } };
      });
      if (!made) return { isMade: false, charge: await runner.findCharge(reference) };
      note(reference, by, 'code_link_made', at);
      await runner.showProgress(made);
      return { isMade: true, charge: await runner.toSeen(made) };
    },

    /**
     * Ends the customer's link; then the agent types the code, or makes a new link. Not while a code is being checked:
     * the customer waits for its result.
     */
    async takeBack({ reference, by }: Request): Promise<ChargeSeen | undefined> {
      const at = account.now();
      const ended = await charges.amend(reference, (record) => {
        const { customer: codeLink, ...withoutLink } = record;
        return codeLink && record.agent === by && record.intent.state.kind === 'otp'
          ? withoutLink
          : undefined;
      });
      if (!ended) return await runner.findCharge(reference);
      note(reference, by, 'code_link_taken_back', at);
      await runner.showProgress(ended);
      return await runner.toSeen(ended);
    },

    /**
     * The customer says, through this link, that they did not ask for the charge. (It may be paid by now.) Messages to
     * agent and operators are stored first, so that a crash loses none; then the link ends.
     */
    async refuseByCustomer({ reference, link }: { reference: string; link: string }): Promise<void> {
      const record = await charges.read(reference);
      if (record?.customer?.link !== link) return;
      const { agent, customer: codeLink } = record;
      const at = account.now();
      const name = `not_mine:${codeLink.at}`;
      await runner.posts.note(reference, name, { kind: 'not_mine' });
      await runner.posts.tellAgent(agent, reference, name, { kind: 'not_mine' });
      await needs.tellOperators(`${name}:${reference}`, notMineNotice(seenOf(record)));
      const ended = await charges.amend(reference, ({ customer: current, ...withoutLink }) =>
        current?.link === link ? { ...withoutLink, notMineAt: at } : undefined,
      );
      if (!ended) return;
      note(reference, byCustomer, 'customer_did_not_ask', at);
      await runner.showProgress(ended);
    },
  };
}

/**
 * Whether this request may enter the code. Only one person may at a time, so that tries aren't wasted: the customer
 * while they have a link, else the agent.
 */
function mayEnterCode(
  { customer: codeLink, agent }: ChargeRecord,
  request: CodeRequest,
  entry: ReturnType<typeof codeEntry>,
): boolean {
  const link = entry === 'agent' ? undefined : codeLink?.link;
  if (request.link !== undefined) return link === request.link;
  return entry !== 'customer' && link === undefined && agent === request.by;
}

/** Until when a code may be sent, UTC ms; undefined if the charge can't take one now. */
function codeOpenUntil({ intent }: ChargeRecord, nowMs: number): number | undefined {
  const standing = intent.state.kind === 'otp' && intent.otp && otpStanding(intent.otp, nowMs);
  return standing && standing.kind === 'open' ? standing.leaveBy : undefined;
}
