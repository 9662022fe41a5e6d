import {
  actions,
  button,
  context,
  fields,
  headline,
  person,
  plainText,
  richText,
  words,
} from '../../slack/kit/blocks.ts';
import { word } from '../../slack/words/evidence.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { isMasked, transactionParts, type TransactionView } from '../../slack/words/transaction-message.ts';
import { lookupActions, shareValue, wordsOfView } from './answer-message.ts';

/** What a channel sees of a look-up, its e-mail masked. *Refresh* puts the record as it is then in its place, for everybody. */
export function sharedMessage(view: TransactionView, by: string): SlackMessage {
  const { text, blocks } = transactionParts(view);
  const refresh = button({
    actionId: lookupActions.refreshShared,
    text: 'Refresh',
    value: shareValue({ words: wordsOfView(view), about: by }),
  });
  return {
    text,
    blocks: [
      ...blocks.slice(0, -1),
      // Above the line that says where and when.
      ...fields({ 'Shared by': [person(by)] }),
      ...blocks.slice(-1),
      ...(isMasked(view) ? [] : [actions(refresh)]),
    ],
  };
}

/** What became of sharing, to the person alone. */
export type NotShared =
  /** It stands in the channel already, or may: Slack did not say. */
  | { kind: 'shared_before' }
  | { kind: 'unsure' }
  | { kind: 'busy' }
  | { kind: 'refused'; slackError: string; fix: string }
  | { kind: 'no_channel' };

export function notSharedMessage(why: NotShared): SlackMessage {
  const { state, next } = notSharedWords(why);
  const { text, block } = headline(state, []);
  const said = why.kind === 'refused' ? [context(plainText(`Slack says: ${word(why.slackError)}`))] : [];
  return { text, blocks: [block, richText([words(next)]), ...said] };
}

function notSharedWords(why: NotShared): { state: string; next: string } {
  switch (why.kind) {
    case 'shared_before':
      return {
        state: 'Already shared',
        next: 'Press Refresh first to share a newer answer.',
      };
    case 'unsure':
      return {
        state: '⚠️ Slack didn’t say whether it was shared',
        next: 'If it isn’t in the channel, press Refresh, then Share to channel.',
      };
    case 'busy':
      return {
        state: '⚠️ Not shared',
        next: 'Slack is busy. Press again in a moment.',
      };
    case 'refused':
      return { state: '⚠️ Not shared: Slack refuses the bot here', next: why.fix };
    case 'no_channel':
      return {
        state: 'Not shared',
        next: 'Type the look-up in the channel it’s for.',
      };
  }
}
