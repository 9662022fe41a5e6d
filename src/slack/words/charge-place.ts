import type { ContextBlock } from '@slack/types';
import type { Environment } from '../../domain/alert.ts';
import { listed } from '../../domain/wording.ts';
import { context, plainText } from '../kit/blocks.ts';
import { environmentWords, placeAlone, placeLine, placeWords, word } from './evidence.ts';
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

/** "Charge a card · LIVE", of a window in which money moves: `what` has at most 14 characters, so that it is never cut. */
export function moneyTitle(what: string, place: ChargePlace): string {
  return `${what} · ${environmentWords[place.environment]}`;
}

/** Of every other window: only a test says what it is. */
export function placeTitle(what: string, place: ChargePlace): string {
  return place.environment === 'live' ? what : moneyTitle(what, place);
}

/** The last line of a modal: the account. Its title says LIVE or SANDBOX where that matters. */
export function placeFoot({ environment, account }: ChargePlace): ContextBlock {
  return context(plainText(word(account) || environmentWords[environment]));
}

/** Below a part of the App Home, whose one account goes without saying; a test never does. */
export function homeFoot({ environment, account }: ChargePlace): ContextBlock[] {
  return environment === 'live' ? [] : [placeAlone(environment, account)];
}

/** The last line of a message. `verb` says what happened at that time (UTC ms). */
export function messageFoot(place: ChargePlace, verb: string, atMs: number): ContextBlock {
  const { environment, account } = place;
  return placeLine({ environment, account, verb, atMs });
}

/** The answer that found nothing, with which account was asked and how to ask another, where there are several. */
export function askedHereAlone(message: SlackMessage, place: ChargePlace): SlackMessage {
  const { environment, account, otherAccounts = [] } = place;
  if (otherAccounts.length === 0) return message;
  const others = listed(otherAccounts, 'or');
  const sentence = `Only ${placeWords(environment, account)} was asked. For another account, add --account ${others}.`;
  return { ...message, blocks: [...message.blocks, context(plainText(sentence))] };
}
