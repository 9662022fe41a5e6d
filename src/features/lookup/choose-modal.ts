import { parseOrderReference, type OrderReference } from '../../domain/order-reference.ts';
import { code, headline, modal, radios, richText, words } from '../../slack/kit/blocks.ts';
import { placeTitle } from '../../slack/words/charge-place.ts';
import { typedReference } from '../../slack/words/evidence.ts';
import type { Submission } from '../../slack/command.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import type { AnswerPlace } from './answer-message.ts';

export const chooseModalId = 'lookup_choose';
const field = 'lookup_reference';

/** A message may be about more than one reference: which one is meant. */
export function chooseModal(
  candidates: readonly [OrderReference, ...OrderReference[]],
  place: AnswerPlace,
): Modal {
  const [first, ...rest] = candidates;
  return modal({
    callbackId: chooseModalId,
    title: placeTitle('Look-up', place),
    submit: 'Look it up',
    privateMetadata: place.channelId ?? '',
    blocks: [
      radios({
        id: field,
        label: 'Which reference of the message?',
        choices: [choiceOf(first), ...rest.map(choiceOf)],
      }),
    ],
  });
}

function choiceOf(reference: OrderReference): { text: string; value: string } {
  return { text: typedReference(reference), value: reference };
}

/** Undefined: nothing that can be looked up was chosen, which Slack does not let happen. */
export function readChooseModal({
  values,
  privateMetadata,
}: Submission): { reference: OrderReference; channelId: string | undefined } | undefined {
  const reference = parseOrderReference(values[field] ?? '');
  return reference.ok
    ? { reference: reference.value, channelId: privateMetadata === '' ? undefined : privateMetadata }
    : undefined;
}

/** How to look one up all the same. */
export function noReferenceMessage(): SlackMessage {
  const { text, block } = headline('No reference found in that message', []);
  return {
    text,
    blocks: [block, richText([words('Type '), code('/pay lookup <reference>'), words(' instead.')])],
  };
}
