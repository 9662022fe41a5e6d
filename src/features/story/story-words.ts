// One audit entry as a sentence of a story. Values that a newer version wrote are shown as they are.

import type { AuditEntry } from '../../records/shapes.ts';
import { outcomeWords, agentNewsWords } from '../../slack/words/state-words.ts';
import { bold, channelName, code, person, words, type Run } from '../../slack/kit/blocks.ts';
import { outsideText } from '../../slack/kit/text.ts';

const longestWord = 100;
const longestReason = 300;

/** Who did it: a person by name, the bot, the service. */
export function actorOf({ who }: Pick<AuditEntry, 'who'>): Run {
  if (/^[UW][A-Z0-9]{2,}$/.test(who)) return person(who);
  const known = {
    payops: 'Pay',
    payments: 'The payments service',
    customer: 'The customer',
    operator: 'An operator',
  }[who];
  return bold(known ?? outsideText(who, longestWord));
}

/** What was done, where, the new state and the reason. Outside words are in quotation marks. */
export function sentenceOf(entry: AuditEntry): Run[] {
  return [...deedOf(entry), ...whereOf(entry), ...movedOf(entry), ...reasonOf(entry)];
}

/** What a press did, by button id: the presses after which the audit has no entry of a step. */
const pressed: Readonly<Record<string, string>> = {
  look_up: 'looked it up',
  look_up_again: 'looked it up',
  look_up_open: 'looked it up',
  look_up_share: 'shared the look-up',
  alert_look_up: 'looked it up',
};

/**
 * Whether a story shows this entry. Left out: commands, presses and forms whose step has its own entry, and messages
 * about an event that has one. The CSV file has every entry.
 */
export function isShown({ what, verb = '', result = '' }: AuditEntry): boolean {
  if (result.startsWith('told_')) return false;
  const isAnswered = ['', 'answered', 'repeated', 'unreadable'].includes(result);
  if (!isAnswered) return true;
  if (what === 'command') return verb === 'lookup';
  if (what === 'press' || what === 'form') return pressed[buttonIdOf(verb)] !== undefined;
  return true;
}

/** The id of the button or form, which the audit writes after the verb. */
function buttonIdOf(verb: string): string {
  return verb.split(' ').at(-1) ?? '';
}

function deedOf({ what, verb, result, where }: AuditEntry): Run[] {
  switch (what) {
    case 'command':
    case 'press':
    case 'form': {
      const deed = what === 'command' && verb === 'lookup' ? 'looked it up' : pressed[buttonIdOf(verb ?? '')];
      if (deed !== undefined && (result === undefined || result === 'answered')) return [words(deed)];
      return result === 'refused'
        ? [words('was refused '), code(commandOf(shown(verb).split(' ')[0] ?? '', where))]
        : [words('asked for '), code(commandOf(shown(verb), where)), ...resultOf(result)];
    }
    case 'reveal':
      return [words('saw the address in full'), ...resultOf(result)];
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

/** The result, except the usual one, *answered*. */
function resultOf(result: string | undefined): Run[] {
  if (result === undefined || result === 'answered') return [];
  return [words(': '), bold(shown(result))];
}

function whereOf({ what, where }: AuditEntry): Run[] {
  if (where === undefined || !/^[CGD][A-Z0-9]{2,}$/.test(where)) return [];
  return what === 'step' ? [words(' in '), channelName(where)] : [];
}

function movedOf({ after, result = '' }: AuditEntry): Run[] {
  if (after === undefined) return [];
  if (handOvers.has(result)) return [words(' → '), actorOf({ who: after })];
  // The deed already says it.
  return result.startsWith('alert_') ? [] : [words(' → '), bold(stateWord(after))];
}

/** Results whose new state is a person: the one who has the charge or alert now. */
const handOvers: ReadonlySet<string> = new Set(['taken_over', 'alert_assigned']);

function reasonOf({ reason }: AuditEntry): Run[] {
  return reason === undefined ? [] : [words(` · “${outsideText(reason, longestReason)}”`)];
}

function shown(text: string | undefined): string {
  return outsideText(text ?? '', longestWord);
}

/** A state in the words of its messages. `link_`, `alert_` and `approval_` begin states that are not a charge's. */
export function stateWord(state: string): string {
  const known = Object.hasOwn(states, state) ? states[state] : undefined;
  return known ?? shown(state.replace(/^(?:link|alert|approval)_/, '').replaceAll('_', ' '));
}

const states: Readonly<Record<string, string>> = {
  charging: 'Charging',
  // Approved or in doubt: the entry’s own words say which.
  confirming: 'Not proven yet',
  otp_checking: 'Checking the code',
  ...agentNewsWords,
  approval_waiting: 'Needs approval',
  approval_approved: 'approved',
  approval_executed: 'done',
  approval_stopped: 'approved, but not done',
  link_asking: 'Asking for a payment link',
  link_open: 'Payment link, not paid yet',
  link_confirming: outcomeWords.approved,
  link_paid: outcomeWords.paid,
  link_given_back: outcomeWords.givenBack,
  link_review: outcomeWords.review,
  link_aged: 'No payment yet',
  link_refused: 'No payment link: request refused',
};

/** What was done, by the audit's result. */
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
  charge_not_sent: 'didn’t send it then: the alert was resolved meanwhile',
  charge_unknown: 'gave no usable answer to the charge',
  code_accepted: 'answered the code: accepted, which is no proof yet',
  code_wrong: 'answered the code: wrong',
  code_too_many: 'answered the code: no tries are left',
  code_unknown: 'gave no usable answer to the code',
  look_up_paid: 'was asked, and proves the payment',
  look_up_pending: 'was asked, and shows no payment so far',
  look_up_final_not_paid: 'was asked, and says that it was not paid',
  look_up_given_back: 'was asked, and says that it was paid and given back',
  look_up_mismatch: 'was asked, and shows another payment than this charge',
  look_up_not_found: 'was asked, and knows no such transaction',
  look_up_failed: 'was asked, and gave no usable answer',
  event_payment_success: 'reported a successful payment',
  event_payment_failed: 'reported a failed payment',
  event_payment_given_back: 'reported that the money was given back',
  event_unsigned_reference: 'reported an event with this reference, which is not signed',
  posted_charge: 'posted the charge’s message',
  posted_link: 'posted the link',
  posted_alert: 'posted the alert',
  link_asked: 'asked for a payment link',
  link_not_asked: 'didn’t ask for the link then: its alert was resolved or is being paid',
  link_alert_ended: 'noted on the link how its alert was resolved',
  link_created: 'answered: here is the link',
  link_refused: 'answered: no order was made',
  link_unknown: 'gave no usable answer about the link',
  link_looked_up_confirmed: 'was asked, and proves the payment',
  link_looked_up_not_confirmed: 'was asked, and proves no payment of this amount',
  link_looked_up_not_paid: 'was asked: the payment is over and was not made',
  link_looked_up_given_back: 'was asked: the payment was made and given back',
  link_looked_up_not_found: 'was asked, and knows of no payment',
  link_looked_up_unchecked: 'was asked, and gave no usable answer',
  link_looked_up_no_reference: 'was asked, and gave a record without a reference',
  alert_acknowledged: 'acknowledged the alert',
  alert_assigned: 'assigned the alert',
  alert_snoozed: 'snoozed the alert',
  alert_awake: 'ended the snooze',
  alert_closed: 'resolved the alert',
  alert_recovered: 'resolved the alert',
  alert_escalated: 'called for somebody: nobody had acknowledged the alert',
  alert_other_payment: 'told of another payment of the same customer',
  alert_paid_again: 'told of a second payment',
  alert_given_back: 'told that money was given back',
  asked: 'asked for a second person’s decision',
  approved: 'approved it',
  refused: 'refused it',
  withdrawn: 'took the request back',
  expired: 'ended the request: nobody decided',
  stopped: 'stopped it: what it was approved for had changed',
  executed: 'did what was approved',
};
