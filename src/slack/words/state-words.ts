import type { Lookup } from '../../domain/alert.ts';
import type { FailedHow } from '../../domain/decline-reason.ts';
import type { ChargeSeen, Refusal, AgentNews } from '../../domain/charge.ts';

/** The words for an outcome, the same everywhere. Doubt is never called failed. */
export const outcomeWords = {
  paid: 'Paid (confirmed)',
  approved: 'Approved, confirming',
  otp: 'Needs a code',
  declined: 'Declined by the bank',
  rejected: 'Not charged',
  doubt: 'In doubt, checking',
  wrongCodes: 'Code wrong three times',
  codesClosed: 'No more codes accepted',
  expired: 'Expired',
  abandoned: 'Not sent',
  review: 'Needs review',
  notPaid: 'Not paid',
  givenBack: 'Paid and given back',
  notConfirmed: 'Not confirmed',
  notFound: 'Not found',
} as const;

/** Why a request was refused before the bank was asked, for the first line. */
const refusalWords: Record<Refusal['reason'], string> = {
  invalid_token: 'card not known',
  email_mismatch: 'wrong e-mail',
  email_invalid: 'e-mail not valid',
  card_not_supported: 'card payments are off',
  unauthorized: 'access refused',
  forbidden: 'not permitted',
  rate_limited: 'too many calls',
  invalid_request: 'request refused',
  other: 'request refused',
  alert_ended: 'alert resolved',
};

/** An event says given back, and its look-up disagrees or was not made. */
export function saidGivenBack(found: Lookup['kind']): string {
  const says = foundWords[found];
  return `Event says given back, ${says === undefined ? 'not checked' : `look-up says ${says}`}`;
}

const foundWords: Partial<Record<Lookup['kind'], string>> = {
  confirmed: outcomeWords.paid,
  given_back: outcomeWords.givenBack,
  not_paid: outcomeWords.notPaid,
  not_confirmed: outcomeWords.notConfirmed,
  not_found: outcomeWords.notFound,
};

/** A charge's state as agents read it, with its symbol. */
const marked: Record<AgentNews, string> = {
  approved: `✅ ${outcomeWords.paid}`,
  otp: `🔑 ${outcomeWords.otp}`,
  declined: `❌ ${outcomeWords.declined}`,
  rejected: `⛔ ${outcomeWords.rejected}`,
  abandoned: `📭 ${outcomeWords.abandoned}`,
  wrong_codes: `🚫 ${outcomeWords.wrongCodes}`,
  expired: `⌛ ${outcomeWords.expired}`,
  given_back: `↩️ ${outcomeWords.givenBack}`,
  review: `🚨 ${outcomeWords.review}`,
};

/** The same without the symbols. */
export const agentNewsWords = Object.fromEntries(
  Object.entries(marked).map(([what, words]) => [what, words.replace(/^\S+ /u, '')]),
) as Record<AgentNews, string>;

/** The word for a charge's state. Only a proven payment is called paid. */
export function stateWord(charge: ChargeSeen): string {
  const { state, heard, otp } = charge;
  switch (state.kind) {
    case 'rejected':
      return `${marked.rejected}: ${refusalWords[state.reason ?? 'other']}`;
    case 'charging':
      return '⏳ Charging …';
    case 'otp_checking':
      return '⏳ Checking the code …';
    case 'confirming':
      if (heard.includes('paid')) return `🕓 ${outcomeWords.approved}`;
      if (isInDoubt(charge)) return `❔ ${outcomeWords.doubt}`;
      return otp?.triesLeft === 0 ? codesOver(charge) : '⌛ Code expired';
    case 'wrong_codes':
      return codesOver(charge);
    default:
      return marked[state.kind];
  }
}

/** Whether money may have moved. False while every entered code is known to be refused. */
export function isInDoubt({ state, heard, otp }: ChargeSeen): boolean {
  return (
    state.kind === 'confirming' && !heard.includes('paid') && (otp === undefined || otp.answerLost === true)
  );
}

/** The words for an earlier message: the charge's present state if that message was about it, else the state it told. */
export function earlierStateWord(what: AgentNews, charge: ChargeSeen): string {
  if (what === 'wrong_codes') return codesOver(charge);
  return what === 'approved' || what === charge.state.kind ? stateWord(charge) : marked[what];
}

/** The service may end code entry before three codes were entered: then don't say three. */
function codesOver({ otp }: ChargeSeen): string {
  return failedState(otp?.isClosed ? 'codes_closed' : 'wrong_codes');
}

/** The first line of a charge that took no money, also for charges by others. */
export function failedState(how: FailedHow): string {
  return how === 'codes_closed' ? `🚫 ${outcomeWords.codesClosed}` : marked[how];
}
