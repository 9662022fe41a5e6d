// What the one person who pressed is told; none of it pings anybody.

import type { MovedCard } from './alert.ts';
import type { AlertCard, AlertTaken, Lookup } from '../../domain/alert.ts';
import type { KnownDecline } from '../../domain/decline-reason.ts';
import type { ChargeAgain } from './charge-again.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import { type Run, moment, person, words } from '../../slack/kit/blocks.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import { labelled, plain } from '../../slack/words/charge-facts.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import { failureWords } from '../../slack/words/error-message.ts';
import { referenceWord } from '../../slack/words/evidence.ts';
import { holdLines } from '../../slack/words/next-steps.ts';
import { revealButtonOf, transactionMessage } from '../../slack/words/transaction-message.ts';

type Refused = Extract<MovedCard, { kind: 'refused' }>['why'];

/** Somebody was first, or there is nothing to do: who, when, and that nothing changed. */
export function refusedMessage(why: Refused, card: AlertCard, askedBy: string): SlackMessage {
  return noteMessage({ state: refusedWords(why, card, askedBy), body: [standing(card, askedBy)] });
}

/** Why no charge is begun from the alert now: it has ended, or another charge has it. */
export function takenMessage(taken: AlertTaken, askedBy: string): SlackMessage {
  if (taken.kind === 'ended') return refusedMessage('ended', taken.card, askedBy);
  const { reference, by, at } = taken.charge;
  const who = by === askedBy ? words('You') : person(by);
  const isCharging = words(by === askedBy ? ' began this charge ' : ' is charging it since ');
  return noteMessage({
    state: '⏳ Already being charged',
    about: [referenceWord(reference)],
    body: [
      [who, isCharging, moment(at), words('. You charged nothing.')],
      labelled('Next', 'wait for its result.'),
    ],
  });
}

function refusedWords(why: Refused, card: AlertCard, askedBy: string): string {
  switch (why) {
    case 'taken':
      return card.kind === 'acknowledged' && card.by === askedBy
        ? '👀 You already acknowledged it'
        : '👀 Acknowledged by somebody else first';
    case 'ended':
      return card.kind === 'recovered' ? '✅ Already resolved' : '☑️ Already closed';
    case 'not_acknowledged':
      return 'Acknowledge it first';
    case 'nothing_new':
      return 'Already done';
  }
}

function standing(card: AlertCard, askedBy: string): Run[] {
  const by = (userId: string): Run => (userId === askedBy ? words('you') : person(userId));
  switch (card.kind) {
    case 'open':
      return [words('Nobody has acknowledged it yet.')];
    case 'acknowledged':
      return [
        words('Acknowledged by '),
        by(card.by),
        words(' '),
        moment(card.at),
        ...(card.assignee === undefined ? [] : [words(', assigned to '), by(card.assignee)]),
        words('.'),
      ];
    case 'recovered':
      return [words('A payment resolved it '), moment(card.at), words('.')];
    case 'closed':
      return [words('Closed by '), by(card.by), words(' '), moment(card.at), words('.')];
  }
}

export function unknownAlertMessage(): SlackMessage {
  const next = plain('It’s older than the bot remembers. Look the reference up instead.');
  return noteMessage({ state: 'This alert is gone', body: [next] });
}

/** What a look-up gave, as `/pay lookup` tells it. */
export function lookedUpMessage(
  { lookup, atMs }: { lookup: Lookup; atMs: number },
  reference: string,
  {
    mayReveal,
    declined,
    ...place
  }: ChargePlace & { mayReveal: boolean; declined?: KnownDecline | undefined },
): SlackMessage {
  if (lookup.kind === 'unchecked') {
    const why = plain(`${failureWords[lookup.failure].what}. The alert stays as it was.`);
    return noteMessage({ state: '❔ Not checked', about: [referenceWord(reference)], body: [why] });
  }
  if (lookup.kind === 'no_reference') return noteMessage({ state: '❔ There is no signed order to look up' });
  const view = {
    // It was looked up, so it is one.
    reference: reference as OrderReference,
    confirmation: lookup,
    ...place,
    checkedAtMs: atMs,
    ...(declined ? { declined } : {}),
  };
  return transactionMessage(view, mayReveal ? revealButtonOf(view) : []);
}

/** Why the charge is not tried again now, and when. */
type NotAgain = Exclude<ChargeAgain, { kind: 'allowed' }>;

export function notAgainMessage(why: NotAgain): SlackMessage {
  const state = why.kind === 'resting' ? '⏳ Card on hold' : '🚫 Not charged again';
  return noteMessage({ state, body: lines(why) });
}

function lines(why: NotAgain): ReturnType<typeof holdLines> {
  switch (why.kind) {
    case 'resting':
      return holdLines({ ...why, attemptsLeft: 1 });
    case 'refused':
      return holdLines(why.verdict);
    case 'no_card':
      return [plain('The bot knows no saved card of this customer.')];
    case 'details_gone':
      return [
        plain('This alert is too old: its customer was erased.'),
        labelled('Next', 'use /pay charge if the customer still owes it.'),
      ];
    case 'not_declined':
      return [
        plain('The look-up doesn’t say declined, so money may have moved.'),
        labelled('Next', 'look it up first.'),
      ];
  }
}
