import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { codeLines, headline, modal, richText } from '../../slack/kit/blocks.ts';
import { quoted, referenceWord } from '../../slack/words/evidence.ts';
import type { HomeBlock, Modal, SlackMessage } from '../../slack/kit/message.ts';
import { amountWord, labelled, plain } from '../../slack/words/charge-facts.ts';
import { type ChargePlace, placeFoot, placeTitle } from '../../slack/words/charge-place.ts';
import type { ChargeTerms } from '../../domain/charge-terms.ts';
import type { PaymentLink } from '../../domain/payment-link.ts';
import type { ChargeRecord } from './charge-record.ts';
import { type ChargeDeps, amendCharge, see, showProgress } from './run-charge.ts';

/** What asking for a card-saving link gave. */
export type SavingLink =
  | { kind: 'asking' }
  | { kind: 'made'; charge: ChargeSeen; link: string }
  | { kind: 'not_made'; why: string };

/** In the place of the modal whose button was pressed. */
export function savingLinkModal(what: SavingLink, place: ChargePlace): Modal {
  const { blocks } = parts(what, place);
  return modal({ callbackId: 'charge_saving_link', title: placeTitle('Payment link', place), blocks });
}

/** The same for the one person who pressed the button of a message. */
export function savingLinkMessage(what: SavingLink, place: ChargePlace): SlackMessage {
  return parts(what, place);
}

function parts(what: SavingLink, place: ChargePlace): { text: string; blocks: HomeBlock[] } {
  const { text, block } = head(what);
  return { text, blocks: [block, ...details(what), placeFoot(place)] };
}

function head(what: SavingLink): ReturnType<typeof headline> {
  switch (what.kind) {
    case 'asking':
      return headline('⏳ Asking for a payment link', []);
    case 'made':
      return headline('🔗 Payment link', [
        amountWord(what.charge.terms.money),
        referenceWord(what.charge.reference),
      ]);
    case 'not_made':
      return headline('⚠️ No payment link', []);
  }
}

function details(what: SavingLink): HomeBlock[] {
  switch (what.kind) {
    case 'asking':
      return [richText(plain('Nobody is charged by this.'))];
    case 'made':
      return [
        codeLines([what.link]),
        richText(
          labelled(
            'Tell the customer',
            `Open it, pay ${amountWord(what.charge.terms.money)} and complete 3-D Secure. That saves the card again.`,
          ),
          labelled('Next', 'don’t charge the card for this again. A message says when it’s paid.'),
        ),
      ];
    case 'not_made':
      return [...quoted('Why:', what.why), richText(plain('Nobody was charged.'))];
  }
}

type LinkResult =
  | { kind: 'created'; charge: ChargeSeen; link: string }
  /** The service refused it, or its outcome is unknown; nothing was charged either way. */
  | { kind: 'not_created'; why: string }
  | { kind: 'unknown_charge' };

/**
 * A checkout page on which the customer pays the same amount and saves the card anew; the same one when asked again: a
 * payment link like any other, followed until it is paid. Its dialogue is made of the
 * charge's reference, so that asking twice is one link, unless the answer that held it was lost: nobody has that one, and
 * an order charges nobody.
 *
 * Spec: Checkout order; 3D Secure on a saved-card charge ("a new card-saving payment is needed").
 */
export async function makeSavingLink(
  deps: ChargeDeps,
  { reference, by }: { reference: string; by: string },
): Promise<LinkResult> {
  const record = await deps.charges.read(reference);
  if (!record) return { kind: 'unknown_charge' };
  if (record.intent.state.kind !== 'declined') return { kind: 'not_created', why: overWords };
  if (record.savingLink !== undefined) return await created(deps, record, record.savingLink);
  const link = await linkOf(deps, record.terms, { name: `saving:${reference}`, by });
  if (!link?.order) return { kind: 'not_created', why: whyNot(link) };
  const { checkoutLink } = link.order;
  deps.note?.({ what: 'step', who: by, reference, result: 'saving_link_made' });
  const kept = await amendCharge(deps, reference, (current) => ({
    ...current,
    savingLink: current.savingLink ?? checkoutLink,
  }));
  if (kept) await showProgress(deps, kept);
  return await created(deps, kept ?? record, kept?.savingLink ?? checkoutLink);
}

async function linkOf(
  { links }: ChargeDeps,
  { money, customerEmail, customerId }: ChargeTerms,
  { name, by }: { name: string; by: string },
): Promise<PaymentLink | undefined> {
  const terms = {
    money,
    customerEmail,
    savesCard: true,
    ...(customerId === undefined ? {} : { customerId }),
  };
  for (let attempt = 1; attempt <= mostLinks; attempt += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one reference after the other
    const beginning = await links.begin({ viewId: `${name}:${attempt}`, terms, by });
    // oxlint-disable-next-line no-await-in-loop
    const link = beginning.kind === 'begun' ? await beginning.carryOn() : undefined;
    const known = beginning.kind === 'known' ? beginning.link : link;
    if (known && known.state.kind !== 'lost' && known.state.kind !== 'unanswered') return known;
  }
  return undefined;
}

function whyNot(link: PaymentLink | undefined): string {
  if (!link) return allLostWords;
  return link.state.kind === 'refused' ? link.state.why : waitingWords;
}

async function created(deps: ChargeDeps, record: ChargeRecord, link: string): Promise<LinkResult> {
  return { kind: 'created', charge: await see(deps, record), link };
}

const mostLinks = 3;

const waitingWords =
  'The payments service hasn’t answered yet. It is asked again, and the link comes to you in a message.';

const allLostWords = `${mostLinks} links for this charge were made before, and every answer was lost. Tell the people who run this bot.`;

const overWords =
  'This charge is no longer declined. Look at what became of it before anything else is asked of the customer.';
