import type { ContextBlock } from '@slack/types';
import type { Environment } from '../../domain/alert.ts';
import { listed } from '../../domain/wording.ts';
import { context, mrkdwn, plainText } from '../kit/blocks.ts';
import { slackTime, utcTime } from '../kit/text.ts';
import { environmentWords, word } from './payment-words.ts';
import type { SlackMessage } from '../kit/message.ts';

/** The account that a screen is about, as people read it. */
export type ShownAccount = {
  environment: Environment;
  /** The account's name. */
  account: string;
  /** The bot also has accounts of the other environment: people could confuse them. */
  isMixed?: boolean;
  /** The other accounts, as typed after `--account`. */
  otherAccounts?: readonly string[];
  /** `/pay cards` works here. */
  canListCards?: boolean;
};

/** "LIVE · Lagos store". */
export function accountWords(environment: Environment, account: string): string {
  const name = word(account) ?? '';
  return [environmentWords[environment], name].filter((part) => part !== '').join(' · ');
}

/** The last line of a message or modal: environment and account. */
export function accountFoot(of: Pick<ShownAccount, 'environment' | 'account'>): ContextBlock {
  return context(plainText(accountWords(of.environment, of.account)));
}

/**
 * The last line of a message about a payment: the account, the proof, the time (`verb` stands before it, and may be empty),
 * and ids for questions to the payments service.
 */
export function proofFoot(parts: {
  environment: Environment;
  account: string;
  verb: string;
  proven?: string | undefined;
  /** UTC ms; each reader sees their local time. */
  atMs?: number | undefined;
  customerId?: string | undefined;
  orderId?: string | undefined;
}): ContextBlock {
  const { environment, account, verb, proven, atMs } = parts;
  const time = atMs === undefined ? [] : [mrkdwn(`${verb} ${slackTime(atMs, utcTime(atMs))}`.trim())];
  const [customerId, orderId] = [word(parts.customerId), word(parts.orderId)];
  return context(
    plainText(accountWords(environment, account)),
    ...(proven === undefined ? [] : [plainText(proven)]),
    ...time,
    ...(customerId ? [plainText(`customer ${customerId}`)] : []),
    ...(orderId ? [plainText(`order id ${orderId}`)] : []),
  );
}

/** The last line of a look-up's answer or a list: the account, and when the bot asked (UTC ms). */
export function checkedFoot(
  { environment, account }: ShownAccount,
  atMs: number,
  proven?: string,
): ContextBlock {
  return proofFoot({ environment, account, verb: 'checked', proven, atMs });
}

/** For a part of the App Home: only a sandbox account is named. */
export function homeFoot(account: ShownAccount): ContextBlock[] {
  return account.environment === 'live' ? [] : [accountFoot(account)];
}

/** Adds to a *not found* answer which of several accounts was asked, and how to ask another. */
export function withOtherAccounts(message: SlackMessage, shown: ShownAccount): SlackMessage {
  const { environment, account, otherAccounts = [] } = shown;
  if (otherAccounts.length === 0) return message;
  const others = listed(otherAccounts, 'or');
  const sentence = `Only ${word(account) || environmentWords[environment]} was asked. For another account, add --account ${others}.`;
  return { ...message, blocks: [...message.blocks, context(plainText(sentence))] };
}
