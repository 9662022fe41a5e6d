import type { PaymentLink } from '../../domain/payment-link.ts';
import { channelName, type Run } from '../../slack/blocks.ts';
import { labelled } from '../../slack/charge/charge-facts.ts';
import type { Submission, ViewAnswer } from '../../slack/command.ts';
import { linkFields, readLinkForm, takenProblem } from '../../slack/link/link-form.ts';
import { linkModal, shownLink } from '../../slack/link/link-message.ts';
import type { LinkDeps } from './link-deps.ts';

/** Asked for once, whoever submits it how often: what is known already is shown instead. */
export async function askForLink(deps: LinkDeps, submission: Submission): Promise<ViewAnswer> {
  const { caller, viewId, values, privateMetadata } = submission;
  const read = readLinkForm(values);
  if (read.kind === 'errors') return read;
  const { terms, reference, isForAll } = read;
  const beginning = await deps.links.begin({
    viewId,
    terms,
    by: caller.userId,
    ...(reference === undefined ? {} : { reference }),
    ...(isForAll && privateMetadata !== '' ? { channel: privateMetadata } : {}),
  });
  switch (beginning.kind) {
    case 'taken':
      return { kind: 'errors', errors: { [linkFields.reference]: takenProblem } };
    case 'known':
      return { kind: 'update', modal: linkModal(beginning.link, deps, whereOf(beginning.link)) };
    case 'begun':
      return {
        kind: 'update',
        modal: linkModal(beginning.link, deps),
        async carryOn() {
          const link = await beginning.carryOn();
          const where = whereOf(link);
          const modal = linkModal(link, deps, where);
          // A link that is made has its card, which outlives the modal; what was refused has none.
          const alone = link.state.kind === 'refused' ? { message: shownLink(link, deps, where) } : {};
          await deps.showEnd({ viewId, userId: caller.userId }, { modal, ...alone });
        },
      };
  }
}

function whereOf({ places: [place], by, state }: PaymentLink): Run[] {
  if (place === undefined || state.kind === 'refused') return [];
  return place === by
    ? labelled('Its card', 'is a direct message to you.')
    : labelled(
        'Its card',
        'stands in ',
        channelName(place),
        ', or with you alone if the bot may not post there.',
      );
}
