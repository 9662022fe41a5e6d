import type { Twin } from '../../domain/card-refusal.ts';
import type { SeenLimits } from '../../domain/charge-limits.ts';
import type { ShownTerms } from '../../domain/charge-terms.ts';
import { isJsonObject } from '../../domain/json-pointer.ts';
import { outcomeWords } from '../../domain/outcome.ts';
import {
  actions,
  noticeLine,
  bold,
  button,
  context,
  fields,
  header,
  modal,
  moment,
  person,
  plainText,
  richText,
} from '../blocks.ts';
import { placeWords, referenceWord, word } from '../evidence.ts';
import { limits } from '../limits.ts';
import type { Modal, ModalBlock } from '../message.ts';
import { cardWords } from './card-words.ts';
import { chargeActions } from './charge-actions.ts';
import { counted } from '../../domain/counted.ts';
import { amountWord, emailWord, labelled, plain, termFields } from './charge-facts.ts';
import { amountOnly } from './charge-modal.ts';
import { leftWords } from './limit-words.ts';
import { moneyWords, placeTitle, type ChargePlace } from './charge-place.ts';

export const termsModalId = 'charge_terms';

export type TermsModalOptions = {
  place: ChargePlace;
  terms: ShownTerms;
  /** Stands for exactly these terms. */
  draft: string;
  /** Charged shortly before: the person is asked whether they mean it. */
  twin?: Twin;
  /** What the person's limits leave before this charge. */
  limits?: SeenLimits | undefined;
  nowMs: number;
};

/** Reads the exact terms back; its submit button is what charges. */
export function termsModal(options: TermsModalOptions): Modal {
  const { place, terms, draft, twin, nowMs } = options;
  const left = options.limits && leftWords(options.limits);
  const amount = amountWord(terms.money);
  const email = emailWord(terms.customerEmail, 'whole');
  const { Reason: reason, 'Customer id': customerId } = termFields(terms);
  const blocks: ModalBlock[] = [
    ...(isLiveAmongOthers(place) ? [header(`🔴 ${placeWords('live', place.account)}: real money`)] : []),
    ...(twin ? twinBlocks(twin, nowMs) : []),
    header(amount),
    richText(
      plain(
        'You are about to charge ',
        bold(amount),
        ' to ',
        bold(cardWords(terms.card)),
        ' of ',
        bold(email),
        '.',
      ),
    ),
    noticeLine(place.environment === 'live' ? 'warning' : 'info', moneyWords[place.environment]),
    ...fields({ Account: word(place.account), 'Customer id': customerId, 'Reason (not sent)': reason }),
    actions(button({ actionId: chargeActions.change, text: 'Change the terms' })),
    context(
      plainText('Nothing has been sent yet. These terms can be agreed to for half an hour.'),
      ...(left === undefined ? [] : [plainText(left)]),
    ),
  ];
  return modal({
    callbackId: termsModalId,
    title: placeTitle('Read it back', place),
    blocks,
    submit: submitWords(terms, twin !== undefined),
    close: 'Do not charge',
    privateMetadata: termsMetadata({ draft, ...(twin ? { despite: twin.reference } : {}) }),
  });
}

/** In a bot with sandbox accounts too, an agent’s hands may be used to charges that cost nobody anything. */
function isLiveAmongOthers({ environment, isMixed }: ChargePlace): boolean {
  return environment === 'live' && isMixed === true;
}

/** "Charge NGN 12,500.00", or as much of it as a button of a modal holds; never a cut amount. */
function submitWords({ money }: ShownTerms, isAgain: boolean): string {
  const verb = isAgain ? 'Charge again' : 'Charge';
  const whole = [`${verb} ${amountWord(money)}`, `${verb} ${amountOnly(money.minor)}`];
  return whole.find((text) => text.length <= limits.viewButton) ?? verb;
}

function twinBlocks(twin: Twin, nowMs: number): ModalBlock[] {
  const minutes = Math.max(0, Math.floor((nowMs - twin.at) / 60_000));
  const ago = minutes === 0 ? 'less than a minute ago' : `${counted(minutes, 'minute')} ago`;
  return [
    noticeLine(
      'warning',
      `A charge of the same card and amount was begun ${ago}. Charge it again only if the customer owes it twice.`,
    ),
    richText(
      labelled(
        'The first',
        person(twin.by),
        ', ',
        moment(twin.at, '{time}'),
        `, ${referenceWord(twin.reference)}`,
      ),
      labelled('What became of it', twinWords[twin.outcome]),
    ),
  ];
}

const twinWords: Record<Twin['outcome'], string> = {
  approved: `${outcomeWords.paid}. Charging again takes the money a second time.`,
  declined: `${outcomeWords.declined}.`,
  three_d_secure: `${outcomeWords.declined}: the bank wants 3-D Secure.`,
  review: `${outcomeWords.review}: money may have moved, but not as agreed. Do not charge again before a person has looked.`,
  cleared: 'it was not sent, or ended without an answer of the bank: no money is known to have moved.',
};

/** Which terms a modal is about: no secret. */
export function termsMetadata(agreed: { draft: string; despite?: string }): string {
  return JSON.stringify(agreed);
}

/** What the submitted modal was about; undefined when it is none of ours. */
export function readTermsMetadata(privateMetadata: string): { draft: string; despite?: string } | undefined {
  try {
    const read: unknown = JSON.parse(privateMetadata);
    if (!isJsonObject(read)) return undefined;
    const { draft, despite } = read;
    if (typeof draft !== 'string' || draft === '') return undefined;
    return typeof despite === 'string' ? { draft, despite } : { draft };
  } catch {
    return undefined;
  }
}
