import type { ContextBlock } from '@slack/types';
import type { Environment } from '../../domain/alert.ts';
import { listed } from '../../domain/wording.ts';
import { context, plainText } from '../kit/blocks.ts';
import { environmentWords, placeAlone, placeLine, word } from './evidence.ts';
import type { SlackMessage } from '../kit/message.ts';

/** Where money moves: it stands on everything that is said of a charge. */
export type ChargePlace = {
  environment: Environment;
  account: string;
  /** The bot has accounts of the other environment too: whoever charges must not take one for the other. */
  isMixed?: boolean;
  /** The bot's other accounts, as they are typed after `--account`. */
  otherAccounts?: readonly string[];
};

/** The last line of a window, right above its buttons. */
export function placeFoot({ environment, account }: ChargePlace): ContextBlock {
  return placeAlone(environment, account);
}

/** Below a part of the App Home, whose one account goes without saying; a test never does. */
export function homeFoot({ environment, account }: ChargePlace): ContextBlock[] {
  return environment === 'live' ? [] : [placeAlone(environment, account)];
}

/** The last line of what was asked of the service, and when (UTC ms). */
export function messageFoot(
  { environment, account }: ChargePlace,
  atMs: number,
  proven?: string,
): ContextBlock {
  return placeLine({ environment, account, verb: 'checked', proven, atMs });
}

/** The answer that found nothing, with which account was asked and how to ask another, where there are several. */
export function askedHereAlone(message: SlackMessage, place: ChargePlace): SlackMessage {
  const { environment, account, otherAccounts = [] } = place;
  if (otherAccounts.length === 0) return message;
  const others = listed(otherAccounts, 'or');
  const sentence = `Only ${word(account) || environmentWords[environment]} was asked. For another account, add --account ${others}.`;
  return { ...message, blocks: [...message.blocks, context(plainText(sentence))] };
}
