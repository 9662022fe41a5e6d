import { candidateReferences } from './candidate-references.ts';
import { holdsCardNumber } from '../../domain/card-number.ts';
import type { Conversation, Prepared } from '../../slack/command.ts';
import { cardNumberMessage } from '../../slack/words/error-message.ts';
import { chooseModal, noReferenceMessage } from './choose-modal.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { isChannel, type LookupDeps, type Question } from './look-up.ts';

/**
 * What *Look up the reference here* does with a message: the one reference is looked up and answered in the place,
 * of several the person chooses, and without one the answer says how to go on.
 */
export function prepareHere(
  deps: LookupDeps,
  texts: readonly string[],
  run: (question: Question, conversation: Conversation) => Promise<SlackMessage>,
): Prepared {
  const [first, ...others] = candidateReferences(texts);
  if (first === undefined) {
    const message = texts.some(holdsCardNumber) ? cardNumberMessage() : noReferenceMessage();
    return { run: () => Promise.resolve(message) };
  }
  const all = [first, ...others] as const;
  if (others.length === 0) {
    return { reference: first, run: (conversation) => run({ reference: first }, conversation) };
  }
  return {
    async run({ caller, openModal }) {
      const channelId = isChannel(caller.channelId) ? caller.channelId : undefined;
      await openModal(chooseModal(all, { ...deps, channelId }));
      return undefined;
    },
  };
}
