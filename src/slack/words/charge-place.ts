import type { ContextBlock } from '@slack/types';
import type { Environment } from '../../domain/alert.ts';
import { context, plainText } from '../kit/blocks.ts';
import { environmentWords, placeLine, placeWords, word } from './evidence.ts';
import type { SlackMessage } from '../kit/message.ts';

/** Where money moves: it stands on everything that is said of a charge. */
export type ChargePlace = {
  environment: Environment;
  account: string;
  /** The bot has accounts of the other environment too: whoever charges must not take one for the other. */
  isMixed?: boolean;
  /** The bot's other accounts, as they are typed after `--account`. */
  otherAccounts?: readonly string[];
  /** `/pay cards` lists a customer's saved cards here. */
  canListCards?: boolean;
};

export const moneyWords: Record<Environment, string> = {
  live: 'LIVE: real money moves.',
  sandbox: 'SANDBOX: a test, no real money moves.',
};

/** "Charge a card · SANDBOX": `what` has at most 14 characters, so that the environment is never cut off. */
export function placeTitle(what: string, place: ChargePlace): string {
  return `${what} · ${environmentWords[place.environment]}`;
}

/** The last line of a modal. */
export function placeFoot(place: ChargePlace): ContextBlock {
  const account = word(place.account);
  return context(plainText(`${moneyWords[place.environment]}${account ? ` Account: ${account}` : ''}`));
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
  const others = otherAccounts.join(', ');
  const sentence = `Only ${placeWords(environment, account)} was asked. Another: --account with ${others}.`;
  return { ...message, blocks: [...message.blocks, context(plainText(sentence))] };
}
