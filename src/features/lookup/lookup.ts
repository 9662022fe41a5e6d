import type { OrderReference } from '../../domain/order-reference.ts';
import { richText, words as say } from '../../slack/kit/blocks.ts';
import { askedHereAlone } from '../../slack/words/charge-place.ts';
import { defineCommand, type Command, type Conversation } from '../../slack/command.ts';
import { lookUpActionId, lookUpWords } from '../../slack/words/evidence.ts';
import { answerMessage } from './answer-message.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { lookingUpMessage } from '../../slack/words/transaction-message.ts';
import { answerPresses, chooseModalOf } from './answer-modal.ts';
import { isChannel, lookUp, parseQuestion, type LookupDeps, type Question } from './look-up.ts';
import { prepareHere } from './look-up-here.ts';
import { mayReveal, revealPress } from './reveal.ts';
import { sharePresses } from './share.ts';

export type { LookupDeps };

/** `/pay lookup <reference> [amount]`, and what is typed without a verb: the verdict on one reference, with its proof. */
export function lookupCommand(deps: LookupDeps): Command {
  async function run(question: Question, { caller, whileWaiting }: Conversation): Promise<SlackMessage> {
    const may = mayReveal(deps, caller);
    const view = await whileWaiting(lookUp(deps, question), stillLooking(question.reference));
    const message = answerMessage(view, { share: isChannel(caller.channelId), reveal: await may });
    return view.confirmation.kind === 'not_found' ? askedHereAlone(message, deps) : message;
  }
  return defineCommand<Question>({
    verb: 'lookup',
    usage: '<reference> [amount]',
    summary: 'Is it paid?',
    examples: ['lookup INV-2041', 'lookup INV-2041 12,500.00', 'lookup "ORDER 17 B"', 'INV-2041'],
    permission: 'lookup',
    effect: 'none',
    takesBareWords: true,
    buttons: [{ actionId: lookUpActionId, words: lookUpWords }],
    presses: [...answerPresses(deps), ...sharePresses(deps), revealPress(deps)],
    modals: [chooseModalOf(deps)],
    shortcuts: [
      {
        callbackId: 'lookup_here',
        kind: 'message',
        name: 'Look up reference here',
        prepare: (texts) => prepareHere(deps, texts, run),
      },
    ],
    parse: parseQuestion,
    reference: (question) => question.reference,
    run,
  });
}

function stillLooking(reference: OrderReference): SlackMessage {
  const { text, blocks } = lookingUpMessage(reference);
  const waiting = say('The payments service has not answered yet. The answer follows here.');
  return { text, blocks: [...blocks, richText([waiting])] };
}
