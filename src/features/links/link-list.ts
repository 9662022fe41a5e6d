import type { Lookup } from '../../domain/alert.ts';
import type { PaymentLink } from '../../domain/payment-link.ts';
import {
  actions,
  button,
  context,
  divider,
  header,
  headline,
  plainText,
  richText,
  type Run,
} from '../../slack/kit/blocks.ts';
import { plain } from '../../slack/words/charge-facts.ts';
import { homeFoot, messageFoot, type ChargePlace } from '../../slack/words/charge-place.ts';
import { referenceWord } from '../../slack/words/evidence.ts';
import type { HomeBlock, SlackMessage } from '../../slack/kit/message.ts';
import { linkActions } from './link-actions.ts';
import { linkHeadline } from './link-message.ts';

const mostShown = 5;

/** A part of the App Home: the person's links that nobody has paid yet; nothing without any. */
export function homeLinks(links: readonly PaymentLink[], place: ChargePlace): HomeBlock[] {
  if (links.length === 0) return [];
  const more = links.length - mostShown;
  return [
    header('Your open payment links'),
    ...links
      .slice(0, mostShown)
      .flatMap((link) => [
        linkHeadline(link).block,
        actions(button({ actionId: linkActions.show, text: 'Show it', value: link.reference })),
      ]),
    ...(more > 0 ? [context(plainText(`… and ${more} more.`))] : []),
    ...homeFoot(place),
    divider(),
  ];
}

/** What a look by a person found, for them alone; the card itself is edited. */
export function lookedMessage(
  link: PaymentLink,
  lookup: Lookup,
  { place, nowMs }: { place: ChargePlace; nowMs: number },
): SlackMessage {
  const { text, block } = linkHeadline(link);
  const line = lookedLine(link, lookup);
  const lines = line.length === 0 ? [] : [richText(line)];
  return { text, blocks: [block, ...lines, messageFoot(place, 'looked at', nowMs)] };
}

/** What a look found, in words; nothing where the link itself says it. */
export function lookedLine({ state }: PaymentLink, lookup: Lookup): Run[] {
  return state.kind === 'paid' ? [] : plain(lookUpWords(lookup));
}

function lookUpWords(lookup: Lookup): string {
  switch (lookup.kind) {
    case 'unchecked':
      return 'The payments service couldn’t be asked. Try again in a minute.';
    case 'not_found':
      return 'No payment so far.';
    case 'not_paid':
      return `The payments service says ${lookup.transaction.status}: not paid, and final.`;
    case 'no_reference':
    case 'not_confirmed':
    case 'confirmed':
      return 'No payment of this amount is proven so far. Give no value.';
  }
}

/** There is no such link, or it was forgotten. */
export function unknownLinkMessage(reference: string): SlackMessage {
  const { text, block } = headline('⚠️ No such link here', [referenceWord(reference)]);
  const line = plain('It wasn’t made here, or too long ago. /pay lookup asks the payments service.');
  return { text, blocks: [block, richText(line)] };
}
