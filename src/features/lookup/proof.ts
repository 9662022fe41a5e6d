import type { Account } from '../../account.ts';
import { ServiceFailure } from '../../domain/failure.ts';
import { formatMoney, type Money } from '../../domain/money.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import { codeLines, rich } from '../../slack/kit/blocks.ts';
import { messageModal } from '../../slack/kit/modals.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import type { Press, Pressed } from '../../slack/command.ts';
import { lookUpWords, proofActionId, referenceWord, word } from '../../slack/words/payment-words.ts';
import { serviceFailureNote } from '../../slack/words/error-message.ts';
import { lookingUpNote } from '../../slack/words/transaction-message.ts';
import { answerMessage } from './answer-message.ts';
import { parseQuestion, type Lookups, type Question } from './question.ts';

/**
 * *Copy proof* on *Paid (confirmed)*: three lines for the customer, which the agent copies. Looks up again first, since the
 * payment may have been returned.
 */
export function createProof(
  account: Pick<Account, 'slack' | 'settings' | 'shownAccount' | 'now'>,
  ask: Lookups['ask'],
  /** When the bot's own charge or payment link of this reference was proven, UTC ms; undefined without one. */
  provenAt: (reference: OrderReference) => Promise<number | undefined>,
): Press {
  const { settings, shownAccount, slack } = account;

  async function answer(question: Question): Promise<SlackMessage> {
    try {
      const [view, atMs] = await Promise.all([ask(question), provenAt(question.reference)]);
      const { confirmation, reference, checkedAtMs } = view;
      if (confirmation.kind !== 'confirmed') return answerMessage(view, { share: false, reveal: false });
      return proofMessage({
        reference,
        money: confirmation.money,
        atMs: atMs ?? checkedAtMs,
        timeZone: settings.policy.timezone,
        merchant: settings.merchantName ?? shownAccount.account,
      });
    } catch (error) {
      if (!(error instanceof ServiceFailure)) throw error;
      const about = { reference: question.reference, moneyMayHaveMoved: false };
      return noteMessage(serviceFailureNote(error, about));
    }
  }

  return {
    actionId: proofActionId,
    about: (value) => lookUpWords(value)[0],
    async press({ value, caller, openModal }: Pressed) {
      const question = parseQuestion(lookUpWords(value));
      if (!question.ok) return;
      const { reference } = question.value;
      const viewId = await openModal(proofModal(noteMessage(lookingUpNote(reference))));
      const message = await answer(question.value);
      await slack.showResult({ viewId, userId: caller.userId }, { modal: proofModal(message), message });
    },
  };
}

function proofModal(message: SlackMessage): Modal {
  return messageModal('Proof of payment', message);
}

type Proof = { reference: string; money: Money; atMs: number; timeZone: string; merchant: string };

/** Only what the customer knows of the payment: no service id, no card, no e-mail. */
function proofMessage(proof: Proof): SlackMessage {
  return noteMessage({
    state: '✅ Paid (confirmed)',
    body: [codeLines(proofLines(proof)), rich`Copy these lines to the customer.`],
  });
}

/** Three lines: reference; amount; time of the confirmation, and the merchant. */
export function proofLines({ reference, money, atMs, timeZone, merchant }: Proof): string[] {
  const time = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(atMs);
  return [
    `Payment ${referenceWord(reference)}`,
    word(formatMoney(money)) ?? '',
    `${time}, confirmed by ${word(merchant) ?? ''}`,
  ];
}
