// One entry of the audit as a sentence of a story. What the audit writes for itself is told here in words; what is not
// known here, because a newer version wrote it, is shown as it stands.

import type { AuditEntry } from '../../records/shapes.ts';
import { outcomeWords, wordsOfTold } from '../../slack/words/state-words.ts';
import { bold, channelName, code, person, words, type Run } from '../../slack/kit/blocks.ts';
import { outsideText } from '../../slack/kit/text.ts';

const longestWord = 100;
const longestReason = 300;

/** Who did it: a person by name, the bot, the service. */
export function actorOf({ who }: Pick<AuditEntry, 'who'>): Run {
  if (/^[UW][A-Z0-9]{2,}$/.test(who)) return person(who);
  const known = {
    payops: 'Payops',
    payments: 'The payments service',
    customer: 'The customer',
    operator: 'An operator',
  }[who];
  return bold(known ?? outsideText(who, longestWord));
}

/** What was done, where, from which state to which, and why. Outside words stand in quotation marks. */
export function sentenceOf(entry: AuditEntry): Run[] {
  return [...deedOf(entry), ...whereOf(entry), ...movedOf(entry), ...reasonOf(entry)];
}

function deedOf({ what, verb, result, where }: AuditEntry): Run[] {
  switch (what) {
    case 'command':
      return [
        words(where === 'cli' ? 'ran ' : 'asked for '),
        code(commandOf(shown(verb), where)),
        ...endOf(result),
      ];
    case 'press':
      return [words('pressed '), code(shown(verb)), ...endOf(result)];
    case 'form':
      return [words('sent the form '), code(shown(verb)), ...endOf(result)];
    case 'reveal':
      return [words('saw the address in full'), ...endOf(result)];
    case 'decision':
    case 'step':
    case 'answer':
    case 'retention':
      return [words(deeds[result ?? ''] ?? `${what}: ${shown(result)}`)];
  }
}

function commandOf(verb: string, where: string | undefined): string {
  return `${where === 'cli' ? 'npm run' : '/pay'} ${verb}`.trim();
}

/** That it was answered goes without saying. */
function endOf(result: string | undefined): Run[] {
  if (result === undefined || result === 'answered') return [];
  return [words(': '), bold(shown(result))];
}

function whereOf({ what, where }: AuditEntry): Run[] {
  if (where === undefined || !/^[CGD][A-Z0-9]{2,}$/.test(where)) return [];
  return [words(what === 'step' ? ' in ' : ', in '), channelName(where)];
}

function movedOf({ before, after, result }: AuditEntry): Run[] {
  if (after === undefined) return [];
  const isHandedOn = result !== undefined && handsOn.has(result);
  const shownAs = (text: string): Run => (isHandedOn ? actorOf({ who: text }) : words(stateWord(text)));
  const to = isHandedOn ? shownAs(after) : bold(stateWord(after));
  return [...(before === undefined ? [] : [words(': '), shownAs(before)]), words(' → '), to];
}

/** Here it is a person who had it and one who has it now. */
const handsOn: ReadonlySet<string> = new Set(['taken_over', 'alert_assigned']);

function reasonOf({ reason }: AuditEntry): Run[] {
  return reason === undefined ? [] : [words(` · “${outsideText(reason, longestReason)}”`)];
}

function shown(text: string | undefined): string {
  return outsideText(text ?? '', longestWord);
}

/** The state in the words that its messages have; `link_`, `alert_` and `approval_` stand before those that are no charge's. */
export function stateWord(state: string): string {
  const known = Object.hasOwn(states, state) ? states[state] : undefined;
  return known ?? shown(state.replace(/^(?:link|alert|approval)_/, '').replaceAll('_', ' '));
}

const states: Readonly<Record<string, string>> = {
  charging: 'Charging',
  // Approved or in doubt: which of them, the entry’s own words say.
  confirming: 'Not proven yet',
  otp_checking: 'Checking the code',
  ...wordsOfTold,
  approval_waiting: 'Needs approval',
  approval_approved: 'approved',
  approval_executed: 'done',
  approval_stopped: 'approved, but not done',
  link_asking: 'Asking for a payment link',
  link_open: 'Payment link, not paid yet',
  link_confirming: outcomeWords.approved,
  link_paid: outcomeWords.paid,
  link_review: outcomeWords.review,
  link_aged: 'No payment came so far',
  link_refused: outcomeWords.rejected,
};

/** By what the audit calls it. */
const deeds: Readonly<Record<string, string>> = {
  begun: 'started the charge',
  due: 'looked again, because no answer had come in time',
  look_up_asked: 'asked for a look-up',
  code_entered: 'entered a code',
  code_asked_again: 'asked for another code',
  code_link_made: 'made a link for the customer to type the code',
  code_link_taken_back: 'took the customer’s link back',
  customer_did_not_ask: 'said: I did not ask for this',
  taken_over: 'took it over',
  charge_approved: 'answered the charge: approved, which is no proof yet',
  charge_otp_required: 'answered the charge: the bank wants a code',
  charge_declined: 'answered the charge: declined',
  charge_already_exists: 'answered the charge: it has this reference already',
  charge_rejected: 'answered the charge: refused, nothing was sent to the bank',
  charge_unknown: 'gave no usable answer to the charge',
  code_accepted: 'answered the code: accepted, which is no proof yet',
  code_wrong: 'answered the code: wrong',
  code_too_many: 'answered the code: no tries are left',
  code_unknown: 'gave no usable answer to the code',
  look_up_paid: 'was asked, and proves the payment',
  look_up_pending: 'was asked, and shows no payment so far',
  look_up_final_not_paid: 'was asked, and says that it was not paid',
  look_up_mismatch: 'was asked, and shows another payment than this charge',
  look_up_not_found: 'was asked, and knows no such transaction',
  look_up_failed: 'was asked, and gave no usable answer',
  event_payment_success: 'sent a signed event: payment_success',
  event_payment_failed: 'sent a signed event: payment_failed',
  event_unsigned_reference: 'sent a signed event with this reference, which is not signed',
  told_otp: 'told the agent: a code is wanted',
  told_approved: 'told the agent: paid',
  told_declined: 'told the agent: declined',
  told_rejected: 'told the agent: not sent',
  told_abandoned: 'told the agent: not sent',
  told_wrong_codes: 'told the agent: code wrong three times',
  told_expired: 'told the agent: expired',
  told_review: 'told the agent: needs review',
  posted_charge: 'posted the charge’s message',
  posted_link: 'posted the link',
  posted_alert: 'posted the alert',
  link_asked: 'asked for a payment link',
  link_created: 'answered: here is the link',
  link_refused: 'answered: no order was made',
  link_unknown: 'gave no usable answer about the link',
  link_looked_up_confirmed: 'was asked, and proves the payment',
  link_looked_up_not_confirmed: 'was asked, and proves no payment of this amount',
  link_looked_up_not_paid: 'was asked: the payment is over and was not made',
  link_looked_up_not_found: 'was asked, and knows of no payment',
  link_looked_up_unchecked: 'was asked, and gave no usable answer',
  link_looked_up_no_reference: 'was asked, and gave a record without a reference',
  alert_acknowledged: 'acknowledged the alert',
  alert_assigned: 'assigned the alert',
  alert_snoozed: 'snoozed the alert',
  alert_awake: 'ended the snooze',
  alert_closed: 'closed the alert',
  alert_recovered: 'resolved the alert',
  alert_other_payment: 'told of another payment of the same customer',
  asked: 'asked for a second person’s decision',
  approved: 'approved it',
  refused: 'refused it',
  withdrawn: 'took the request back',
  expired: 'ended the request: nobody decided',
  stopped: 'stopped it: what it was approved for had changed',
  executed: 'did what was approved',
};
