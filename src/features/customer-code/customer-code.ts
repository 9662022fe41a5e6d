import type { Account } from '../../account.ts';
import type { ChargeSeen } from '../../domain/charge.ts';
import { formatMoney } from '../../domain/money.ts';
import { codeEntry } from '../../domain/otp.ts';
import { codeLines, moment } from '../../slack/kit/blocks.ts';
import type { Modal } from '../../slack/kit/message.ts';
import { noteModal } from '../../slack/kit/note.ts';
import { plain } from '../../slack/words/charge-facts.ts';
import { accountFoot } from '../../slack/words/account-foot.ts';
import { codePagePath, createCodePages, makeCodeLink, type PageCharges } from './code-pages.ts';

/** Lets the customer type the bank’s code: makes the link, which the agent sees once, and answers its page. */
export function createCustomerCode(account: Account, charges: PageCharges) {
  const { shownAccount, settings } = account;
  const merchant = settings.merchantName ?? settings.paymentsAccountName;
  const { timezone } = settings.policy;

  /** Shows the agent a text to send with the link: Payops itself writes to no customer. */
  function modal({ terms, otp }: ChargeSeen, secret: string): Modal {
    const ask = `To approve ${formatMoney(terms.money)} to ${merchant}, enter your bank’s code here:`;
    const address = `${settings.publicUrl}${codePagePath}${secret}`;
    const until = otp ? ['It works until ', moment(otp.until, '{time}'), '. '] : [];
    return noteModal(
      {
        state: '🔗 Send this to the customer',
        body: [
          codeLines([`${ask} ${address} Tell the code to nobody.`]),
          plain(...until, 'Copy it now: it’s shown once.'),
        ],
        foot: accountFoot(shownAccount),
      },
      { callbackId: 'customer_link', title: 'Customer link' },
    );
  }

  return {
    customerLink: { make: (reference: string) => makeCodeLink(account, reference), modal },
    /** Undefined if only agents may type codes. */
    answerCodePage:
      codeEntry(settings) === 'agent' ? undefined : createCodePages(account, merchant, timezone, charges),
  };
}
