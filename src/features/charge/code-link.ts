import type { Account } from '../../account.ts';
import type { ChargeSeen } from '../../domain/charge.ts';
import { codeEntry, otpLimits } from '../../domain/otp.ts';
import type { Notice } from '../../messages/notices.ts';
import { notMineNotice } from './charge-messages.ts';
import type { ChargeBook, ChargeRecord } from './charge-record.ts';
import { otpStanding } from './machine.ts';
import type { ChargeRunner } from './run-charge.ts';

/** A request about a code. `link`: the customer's, by the hash of their link; absent: a person's in Slack. */
export type CodeRequest = { reference: string } & (
  | { by: string; link?: never }
  | { link: string; by?: never }
);

/** The customer's name in history and audit, as the person who types the code. */
export const customer = 'customer';

/** Functions from other features. */
export type ForCodeLinks = { tellOperators: (name: string, notice: Notice) => Promise<void> };

/** The link to the customer's code page: made and revoked by the agent, ended by the customer. */
export function createCodeLinks(
  account: Account,
  { charges, runner, around }: { charges: ChargeBook; runner: ChargeRunner; around: ForCodeLinks },
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
     * The customer now types the code, through the link with this hash; an earlier link ends. Only the charge's agent makes
     * one, and only while a code can still reach the bank: `isMade`.
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

    /** Ends the customer's link: the agent types the code. Not during a check: the customer reads its result. */
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
     * The customer, by this link, did not ask for the charge, which may be paid by now; the link ends. Messages to agent and
     * operators are stored first, so a crash loses none.
     */
    async refuseByCustomer({ reference, link }: { reference: string; link: string }): Promise<void> {
      const record = await charges.read(reference);
      if (record?.customer?.link !== link) return;
      const { agent, terms, customer: made } = record;
      const at = account.now();
      const name = `not_mine:${made.at}`;
      await runner.posts.note(reference, name, { kind: 'not_mine' });
      await runner.posts.tellAgent(agent, reference, name, { kind: 'not_mine' });
      await around.tellOperators(`${name}:${reference}`, notMineNotice(reference, agent, terms.money));
      const ended = await charges.amend(reference, ({ customer: current, ...rest }) =>
        current?.link === link ? { ...rest, notMineAt: at } : undefined,
      );
      if (!ended) return;
      note(reference, customer, 'customer_did_not_ask', at);
      await runner.showProgress(ended);
    },
  };
}

/** One holder at a time, so tries aren't wasted: the customer while they have a link, else the agent. */
export function holdsCode(
  { customer: made, agent }: ChargeRecord,
  wish: CodeRequest,
  entry: ReturnType<typeof codeEntry>,
): boolean {
  const link = entry === 'agent' ? undefined : made?.link;
  if (wish.link !== undefined) return link === wish.link;
  return entry !== 'customer' && link === undefined && agent === wish.by;
}

/** Until when a code may leave; undefined if none is asked for. */
export function openUntil({ intent }: ChargeRecord, nowMs: number): number | undefined {
  const standing = intent.state.kind === 'otp' && intent.otp && otpStanding(intent.otp, nowMs);
  return standing && standing.kind === 'open' ? standing.leaveBy : undefined;
}
