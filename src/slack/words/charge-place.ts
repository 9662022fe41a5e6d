import type { ContextBlock } from '@slack/types';
import type { Environment } from '../../domain/alert.ts';
import { listed } from '../../domain/wording.ts';
import { context, plainText } from '../kit/blocks.ts';
import { environmentWords, placeAlone, placeLine, word } from './evidence.ts';
import type { SlackMessage } from '../kit/message.ts';

/** Environment and account; shown with everything about a charge. */
export type ChargePlace = {
  environment: Environment;
  account: string;
  /** The bot also has accounts of the other environment: they could be confused. */
  isMixed?: boolean;
  /** The other accounts, as typed after `--account`. */
  otherAccounts?: readonly string[];
};

/** A window's last line, above its buttons. */
export function placeFoot({ environment, account }: ChargePlace): ContextBlock {
  return placeAlone(environment, account);
}

/** For the App Home: leaves out a sole live account, never a test. */
export function homeFoot({ environment, account }: ChargePlace): ContextBlock[] {
  return environment === 'live' ? [] : [placeAlone(environment, account)];
}

/** The last line of a look-up, with its time (UTC ms). */
export function messageFoot(
  { environment, account }: ChargePlace,
  atMs: number,
  proven?: string,
): ContextBlock {
  return placeLine({ environment, account, verb: 'checked', proven, atMs });
}

/** A *not found* answer; with several accounts it says which one was asked, and how to ask another. */
export function askedHereAlone(message: SlackMessage, place: ChargePlace): SlackMessage {
  const { environment, account, otherAccounts = [] } = place;
  if (otherAccounts.length === 0) return message;
  const others = listed(otherAccounts, 'or');
  const sentence = `Only ${word(account) || environmentWords[environment]} was asked. For another account, add --account ${others}.`;
  return { ...message, blocks: [...message.blocks, context(plainText(sentence))] };
}
