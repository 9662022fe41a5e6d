import type { Account } from '../../account.ts';
import type { ChargeSeen } from '../../domain/charge.ts';
import { codeEntry, otpLimits } from '../../domain/otp.ts';
import type { Notice } from '../../messages/notices.ts';
import { notMineNotice } from './charge-messages.ts';
import { type ChargeBook, type ChargeRecord, seenOf } from './charge-record.ts';
import { otpStanding } from './machine.ts';
import type { ChargeRunner } from './run-charge.ts';

/** A request about a code. `link`: from the customer, by the hash of their link; without it, from a person in Slack. */
export type CodeRequest = { reference: string } & (
  | { by: string; link?: never }
  | { link: string; by?: never }
);

/** How history and audit name the customer who types a code. */
export const customer = 'customer';

/** What code links need of other features. */
export type CodeLinkNeeds = { tellOperators: (name: string, notice: Notice) => Promise<void> };

/** The link to the customer's code page. The agent makes and revokes it, and the customer can end it. */
export function createCodeLinks(
  account: Account,
  { charges, runner, needs }: { charges: ChargeBook; runner: ChargeRunner; needs: CodeLinkNeeds },
) {
  const entry = codeEntry(account.settings);
  const find = async (reference: string): Promise<ChargeSeen | undefined> => {
    const record = await charges.read(reference);
    return record && runner.see(record);
  };
  function note(reference: string, who: string, result: string, atMs: number): void {
    account.audit.note({ id: `${reference}:${result}:${atMs}`, atMs, who, what: 'step', reference, result });
  }

  return {
    /**
     * Lets the customer type the code, through the link with this hash; an earlier link ends. `isMade`: only for the
     * charge's agent, and only while a code can still reach the bank.
     */
    async letCustomerType({ reference, by, link }: { reference: string; by: string; link: string }) {
      const at = account.now();
      const made = await charges.amend(reference, (record) => {
        if (entry === 'agent' || record.agent !== by || openUntil(record, at) === undefined) return undefined;
        const triesLeft = otpLimits.submissions - (record.intent.otp?.tries ?? 0);
        return { ...record, customer: { link, by, at, triesLeft } };
      });
      if (!made) return { isMade: false, charge: await find(reference) };
      note(reference, by, 'code_link_made', at);
      await runner.showProgress(made);
      return { isMade: true, charge: await runner.see(made) };
    },

    /**
     * Ends the customer's link, so that the agent types the code. Not while a code is being checked: the customer waits
     * for its result.
     */
    async takeBack({ reference, by }: { reference: string; by: string }): Promise<ChargeSeen | undefined> {
      const at = account.now();
      const ended = await charges.amend(reference, (record) => {
        const { customer: link, ...rest } = record;
        return link && record.agent === by && record.intent.state.kind === 'otp' ? rest : undefined;
      });
      if (!ended) return await find(reference);
      note(reference, by, 'code_link_taken_back', at);
      await runner.showProgress(ended);
      return await runner.see(ended);
    },

    /**
     * The customer says, through this link, that they did not ask for the charge, which may be paid by now. The link
     * ends. Messages to agent and operators are stored first, so that a crash loses none.
     */
    async refuseByCustomer({ reference, link }: { reference: string; link: string }): Promise<void> {
      const record = await charges.read(reference);
      if (record?.customer?.link !== link) return;
      const { agent, customer: made } = record;
      const at = account.now();
      const name = `not_mine:${made.at}`;
      await runner.posts.note(reference, name, { kind: 'not_mine' });
      await runner.posts.tellAgent(agent, reference, name, { kind: 'not_mine' });
      await needs.tellOperators(`${name}:${reference}`, notMineNotice(seenOf(record)));
      const ended = await charges.amend(reference, ({ customer: current, ...rest }) =>
        current?.link === link ? { ...rest, notMineAt: at } : undefined,
      );
      if (!ended) return;
      note(reference, customer, 'customer_did_not_ask', at);
      await runner.showProgress(ended);
    },
  };
}

/**
 * Whether this request may enter the code. One holder at a time, so that tries aren't wasted: the customer while they
 * have a link, else the agent.
 */
export function holdsCode(
  { customer: made, agent }: ChargeRecord,
  wish: CodeRequest,
  entry: ReturnType<typeof codeEntry>,
): boolean {
  const link = entry === 'agent' ? undefined : made?.link;
  if (wish.link !== undefined) return link === wish.link;
  return entry !== 'customer' && link === undefined && agent === wish.by;
}

/** Until when a code may be sent; undefined if the charge waits for none. */
export function openUntil({ intent }: ChargeRecord, nowMs: number): number | undefined {
  const standing = intent.state.kind === 'otp' && intent.otp && otpStanding(intent.otp, nowMs);
  return standing && standing.kind === 'open' ? standing.leaveBy : undefined;
}
