import type { Account } from '../../account.ts';
import type { ChargeSeen } from '../../domain/charge.ts';
import { codeEntry, otpLimits } from '../../domain/otp.ts';
import type { Notice } from '../../messages/notices.ts';
import { notMineNotice } from './charge-messages.ts';
import { type ChargeBook, type ChargeRecord, seenOf } from './charge-record.ts';
import { otpStanding } from './machine.ts';
import type { ChargeRunner } from './run-charge.ts';

/** A request about a code: from a person in Slack (`by`), or from the customer, by the hash of their link (`link`). */
export type CodeRequest = { reference: string } & (
  | { by: string; link?: never }
  | { link: string; by?: never }
);

/** The name of the customer in history and audit. */
export const byCustomer = 'customer';

/** What code links need of other features. */
export type CodeLinkNeeds = { tellOperators: (name: string, notice: Notice) => Promise<void> };

/** The link to the customer's code page. The agent makes and revokes it, and the customer can end it. */
export function createCodeLinks(
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
    async letCustomerType({ reference, by, link }: { reference: string; by: string; link: string }) {
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
     * Ends the customer's link, so that the agent types the code. Not while a code is being checked: the customer waits
     * for its result.
     */
    async takeBack({ reference, by }: { reference: string; by: string }): Promise<ChargeSeen | undefined> {
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
export function mayEnterCode(
  { customer: codeLink, agent }: ChargeRecord,
  request: CodeRequest,
  entry: ReturnType<typeof codeEntry>,
): boolean {
  const link = entry === 'agent' ? undefined : codeLink?.link;
  if (request.link !== undefined) return link === request.link;
  return entry !== 'customer' && link === undefined && agent === request.by;
}

/** Until when a code may be sent, UTC ms; undefined if the charge can't take one now. */
export function codeOpenUntil({ intent }: ChargeRecord, nowMs: number): number | undefined {
  const standing = intent.state.kind === 'otp' && intent.otp && otpStanding(intent.otp, nowMs);
  return standing && standing.kind === 'open' ? standing.leaveBy : undefined;
}
