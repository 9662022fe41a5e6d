import type { ApprovalNeeded } from '../../domain/approval-rules.ts';
import type { CardRefusal, Twin } from '../../domain/card-refusal.ts';
import type { SeenLimits } from '../../domain/charge-limits.ts';
import type { ShownTerms } from '../../domain/charge-terms.ts';
import { isJsonObject } from '../../domain/json-pointer.ts';
import { parsed, problem, type Parsed } from '../../domain/parsed.ts';
import { outcomeWords } from '../../domain/outcome.ts';
import {
  actions,
  noticeLine,
  bold,
  button,
  code,
  context,
  fields,
  header,
  headline,
  modal,
  person,
  plainText,
  richText,
  textInput,
  type Run,
} from '../../slack/kit/blocks.ts';
import type { ViewValues } from '../../slack/command.ts';
import { referenceRun, word } from '../../slack/words/evidence.ts';
import { limits } from '../../slack/kit/limits.ts';
import type { Modal, ModalBlock } from '../../slack/kit/message.ts';
import { oneLine, outsideText } from '../../slack/kit/text.ts';
import { holdLines } from '../../slack/words/retry-lines.ts';
import { cardWords } from '../../slack/words/card-words.ts';
import { chargeActions, showButton } from './charge-buttons.ts';
import { counted } from '../../domain/counted.ts';
import { amountWord, emailWord, labelled, plain, termFields } from '../../slack/words/charge-facts.ts';
import { leftWords, refusalModalId } from './limit-words.ts';
import { moneyTitle, placeFoot, placeTitle, type ChargePlace } from '../../slack/words/charge-place.ts';

export const termsModalId = 'charge_terms';
/** The review of a card on hold: submitting it asks a second person. */
export const overrideModalId = 'approval_override';
export const overrideField = 'approval_override_reason';

const longestReason = 300;
const longestRule = 300;

const whyNowInput = textInput({
  id: overrideField,
  label: 'Why now',
  hint: 'The approver reads it.',
  maxLength: longestReason,
});

export function readOverrideModal(values: ViewValues): Parsed<string> {
  const reason = oneLine(values[overrideField] ?? '');
  return reason === '' ? problem('Say in a few words why the card should be charged now.') : parsed(reason);
}

type TermsModalOptions = {
  place: ChargePlace;
  terms: ShownTerms;
  /** Stands for exactly these terms. */
  draft: string;
  /** Charged shortly before: the person is asked whether they mean it. */
  twin?: Twin;
  /** What the person's limits leave before this charge. */
  limits?: SeenLimits | undefined;
  /** The card can't be charged now; with `approval` a second person may decide that it is. */
  hold?: CardRefusal;
  /** Submitting asks a second person. */
  approval?: ApprovalNeeded;
  nowMs: number;
};

/** The exact terms with every restriction on them; its submit button says what it does: charge, or ask. */
export function termsModal(options: TermsModalOptions): Modal {
  const { place, terms, draft, twin, hold, approval, nowMs } = options;
  const left = options.limits && leftWords(options.limits);
  // With a restriction on it there is enough to read.
  const isPlain = !hold && !approval && !twin;
  const amount = amountWord(terms.money);
  const email = emailWord(terms.customerEmail, 'whole');
  const { Reason: reason, 'Customer id': customerId } = termFields(terms);
  const blocks: ModalBlock[] = [
    ...(isLiveAmongOthers(place) ? [header(`🔴 Real money: ${word(place.account)}`)] : []),
    ...(twin ? twinBlocks(twin, nowMs) : []),
    richText(plain('Charge ', bold(amount), ' to ', bold(cardWords(terms.card)), ' of ', bold(email), '.')),
    ...restrictions(options),
    ...fields({ 'Customer id': customerId, Reason: reason }),
    actions(
      button({ actionId: chargeActions.change, text: 'Change' }),
      ...(hold?.kind === 'under_way' ? [showButton(hold.reference)] : []),
    ),
    context(
      plainText(word(place.account) ?? ''),
      plainText(isPlain ? 'Nothing sent yet. Expires in 30 minutes.' : 'Nothing sent yet.'),
      ...(isPlain && left !== undefined ? [plainText(left)] : []),
    ),
  ];
  return modal({
    callbackId: hold ? overrideModalId : termsModalId,
    title: moneyTitle('Review', place),
    blocks,
    ...(hold && !approval
      ? {}
      : { submit: approval ? 'Ask for approval' : submitWords(terms, twin !== undefined) }),
    close: 'Cancel',
    privateMetadata: termsMetadata({ draft, ...(twin ? { despite: twin.reference } : {}) }),
  });
}

/** What stands between the terms and the charge. */
function restrictions({ hold, approval, nowMs }: TermsModalOptions): ModalBlock[] {
  const mayAsk = approval !== undefined;
  const held = hold && (hold.kind === 'under_way' ? underWay(hold, nowMs) : holdLines(hold, { mayAsk }));
  return [
    ...(held ? [richText(...held)] : []),
    ...(approval && !hold
      ? [richText(labelled('Needs approval', `${outsideText(approval.rule, longestRule)}.`))]
      : []),
    ...(hold && approval ? [whyNowInput] : []),
  ];
}

/** What was reviewed is gone or different by now. */
export function staleTermsModal(place: ChargePlace): Modal {
  const blocks: ModalBlock[] = [
    headline('⌛ This review has expired', []).block,
    richText(plain('Nothing was charged.'), labelled('Next', 'start over with ', code('/pay charge'), '.')),
    placeFoot(place),
  ];
  return modal({ callbackId: refusalModalId, title: placeTitle('Not charged', place), blocks });
}

function underWay(
  { reference, by, at }: Extract<CardRefusal, { kind: 'under_way' }>,
  nowMs: number,
): Run[][] {
  return [
    labelled('Another charge of this card is still open', person(by), `, ${minutesAgo(at, nowMs)}.`),
    [referenceRun(reference)],
    plain('Wait for its result.'),
  ];
}

function minutesAgo(atMs: number, nowMs: number): string {
  const minutes = Math.floor((nowMs - atMs) / 60_000);
  return minutes < 1 ? 'just now' : `${counted(minutes, 'minute')} ago`;
}

/** In a bot with sandbox accounts too, an agent’s hands may be used to charges that cost nobody anything. */
function isLiveAmongOthers({ environment, isMixed }: ChargePlace): boolean {
  return environment === 'live' && isMixed === true;
}

/** "Charge NGN 12,500.00", or what of it a button of a modal holds; never an amount without its currency, or a cut one. */
function submitWords({ money }: ShownTerms, isAgain: boolean): string {
  const amount = amountWord(money);
  const whole = isAgain ? [`Charge again ${amount}`, `Again: ${amount}`] : [`Charge ${amount}`];
  const fits = whole.find((text) => text.length <= limits.viewButton);
  return fits ?? (isAgain ? 'Charge again' : 'Charge');
}

function twinBlocks(twin: Twin, nowMs: number): ModalBlock[] {
  return [
    noticeLine(
      'warning',
      `Charged ${minutesAgo(twin.at, nowMs)}: same card, same amount. Charge again only if it’s owed twice.`,
    ),
    richText(labelled('The first', person(twin.by), ', ', twinWords[twin.outcome]), [
      referenceRun(twin.reference),
    ]),
  ];
}

const twinWords: Record<Twin['outcome'], string> = {
  approved: `${outcomeWords.paid}.`,
  declined: `${outcomeWords.declined}.`,
  three_d_secure: `${outcomeWords.declined}: 3-D Secure.`,
  review: `${outcomeWords.review}: money may have moved. Don’t charge again before somebody has checked.`,
  cleared: 'no money known to have moved.',
};

/** Which terms a modal is about: no secret. */
function termsMetadata(agreed: { draft: string; despite?: string }): string {
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
