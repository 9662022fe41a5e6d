import type { Button } from '@slack/types';
import { maskNumbers } from '../../domain/card.ts';
import { ServiceFailure, type FailureKind, StoreUnavailable } from '../../domain/failure.ts';
import { counted } from '../../domain/wording.ts';
import { newErrorId, type Log } from '../../log.ts';
import { bold, channelName, code, person, rich, words, type Run } from '../kit/blocks.ts';
import { quoted, typedReference } from './payment-words.ts';
import type { Caller, Refused } from '../command.ts';
import type { SlackMessage } from '../kit/message.ts';
import { ModalRefused } from '../kit/modals.ts';
import { noteMessage, type Note } from '../kit/note.ts';
import { direct } from '../people/role.ts';
import { fixFor } from '../slack-error.ts';
import { outsideText } from '../kit/text.ts';

const notKept = 'That looks like a card number. It was not kept.';

const cardNumberRefusal = `${notKept} Delete your message if others can see it, and send the customer a payment link instead.`;

/** For a form, where there is no message to delete. */
export const cardNumberProblem = `${notKept} Send the customer a payment link instead.`;

/** What the error interrupted, for the person. */
type Interrupted = { reference?: string | undefined; moneyMayHaveMoved: boolean };

const tellOperators = 'tell the people who run this bot';
const longestProblem = 500;
const longestWord = 80;

/** What broke, whether money moved, and what to do next. */
function brokenNote(what: string, { reference, moneyMayHaveMoved }: Interrupted, next: Run[]) {
  const about = reference === undefined ? [] : [typedReference(reference)];
  const money = moneyMayHaveMoved
    ? `it may have moved. Do not charge ${about[0] ?? 'this payment'} again; a look-up tells.`
    : 'none was moved by this.';
  return { state: `⚠️ ${what}`, about, body: [rich`${bold('Money: ')}${money}`, [bold('Next: '), ...next]] };
}

/** The payments service failed: what happened, whether money may have moved, what to do next. */
export function serviceFailureNote(failure: ServiceFailure, about: Interrupted): Note {
  const { what, next } = failureWords[failure.kind];
  const { retryAfterMs: wait } = failure;
  const seconds = counted(Math.max(1, Math.ceil((wait ?? 0) / 1000)), 'second');
  const note = brokenNote(what, about, rich`${wait === undefined ? next : `try again in ${seconds}.`}`);
  return { ...note, body: [...note.body, ...quoted('The service says:', failure.said)] };
}

/** A bug of ours. The log has the same id with the cause. */
export function bugMessage(errorId: string, about: Interrupted): SlackMessage {
  const next = rich`${tellOperators}; its log has this error id.`;
  return noteMessage(brokenNote(`Something went wrong in the bot, error ${errorId}`, about, next));
}

/** The bot can't read the input. `example` is a whole command, like `/pay lookup ORDER-1`. */
export function usageMessage(problem: string, example: string): SlackMessage {
  // `outsideText` would mask the example address in the problem, so leave that sentence out.
  const said = outsideText(maskNumbers(problem.replace(/ One looks like .*$/u, '')), longestProblem);
  return sentencesMessage(said, rich`Like this: ${code(example)}`);
}

/** The first sentence is the state. */
function sentencesMessage(text: string, ...more: Run[][]): SlackMessage {
  const [what = '', ...rest] = text.split(/(?<=\.) /u);
  return noteMessage({ state: what.replace(/\.$/u, ''), body: [rich`${rest.join(' ')}`, ...more] });
}

/** More names don't help, and Slack limits blocks. */
const mostNamed = 10;

/**
 * What was refused, why, and whom to ask. Permissions and roles are shown only to an `admin`, who can change them. For the
 * caller alone, so mentions notify nobody.
 */
export function refusalMessage(
  refusal: { what: string } & Omit<Refused, 'kind'>,
  { admin = false }: { admin?: boolean } = {},
): SlackMessage {
  const { where = [], people = [], notes = [], isByRole, rule, whoCan } = refusal;
  const isShown = admin || isByRole !== true;
  return noteMessage({
    state: `⛔ Not allowed: ${outsideText(refusal.what, longestProblem)}`,
    body: [
      isByRole === true ? whomToAsk(where, people) : [],
      isShown ? rich`${rule}. ${isByRole === true ? 'Who can: ' : ''}${whoCan}.` : [],
      ...notes
        .slice(0, mostNamed)
        .map((note) => [bold('For the owner of payops.yml: '), words(outsideText(note, longestProblem))]),
    ],
  });
}

function whomToAsk(where: readonly string[], people: readonly string[]): Run[] {
  if (where.length > 0) return [words('You may in '), ...parted(where.map(placeName)), words('.')];
  return people.length > 0
    ? [words('Ask '), ...parted(people.map(person), ' or '), words('.')]
    : rich`Ask the owner of payops.yml for it.`;
}

function placeName(place: string): Run {
  return place === direct
    ? words('direct messages with the bot, its Home and shortcuts')
    : channelName(place);
}

function parted(runs: readonly Run[], last = ', '): Run[] {
  const end = Math.min(runs.length, mostNamed) - 1;
  const shown = runs
    .slice(0, mostNamed)
    .flatMap((run, index) => (index === 0 ? [run] : [words(index === end ? last : ', '), run]));
  return runs.length > mostNamed ? [...shown, words(' …')] : shown;
}

/** The word isn't a command; `nearest` is the likely command. */
export function unknownVerbMessage(
  typed: string,
  nearest: string | undefined,
  buttons: readonly Button[] = [],
): SlackMessage {
  const [wrong, meant] = [typed, nearest ?? ''].map((verb) => outsideText(maskNumbers(verb), longestWord));
  return noteMessage({
    state: `“${wrong}” isn’t a command`,
    body: [
      nearest === undefined ? [] : rich`Did you mean ${code(`/pay ${meant}`)}?`,
      rich`${code('/pay help')} lists them.`,
    ],
    buttons,
  });
}

/** For a button, form or shortcut that no command has: an update or the settings have removed it. */
export function expiredMessage(what: 'button' | 'form' | 'shortcut'): SlackMessage {
  return noteMessage({
    state: `This ${what} has expired`,
    body: [rich`Nothing was done. ${code('/pay')} shows what you can do.`],
  });
}

/** Refuses a typed card number, without repeating the number: Slack would store it twice. */
export function cardNumberMessage(): SlackMessage {
  return sentencesMessage(`⛔ ${cardNumberRefusal}`);
}

/** `what` broke, without a full stop; what to do `next`, with a full stop. */
export const failureWords: Record<FailureKind, { what: string; next: string }> = {
  timeout: {
    what: 'No answer from the payments service in time',
    next: 'try again in a minute.',
  },
  network: {
    what: 'The payments service can’t be reached',
    next: `try again in a minute; if it stays so, ${tellOperators}.`,
  },
  unauthorized: {
    what: 'The payments service refused the bot’s access token',
    next: `trying again won’t help; ${tellOperators} to check its credentials and account id.`,
  },
  forbidden: {
    what: 'The payments service does not let the bot’s account do this',
    next: `trying again won’t help; ${tellOperators} to ask the payments service for the permission.`,
  },
  rate_limited: {
    what: 'The payments service’s call limit is reached',
    next: 'try again in a few minutes.',
  },
  server: {
    what: 'The payments service reports a fault of its own',
    next: 'try again in a few minutes.',
  },
  refused: {
    what: 'The payments service refused the request',
    next: 'correct what it names, then try again.',
  },
  malformed: {
    what: 'The payments service’s answer can’t be read',
    next: `try again; if it stays so, ${tellOperators} to check the service’s address.`,
  },
};

/**
 * The one place that turns errors into words, with a reason for the audit. `ServiceFailure`, `StoreUnavailable` and
 * `ModalRefused` say what happened, whether money may have moved, and what happens next; any other error is our bug, with
 * an id on screen and in the log.
 */
export function errorReply(
  error: unknown,
  doing: Interrupted & { who: Caller; verb?: string | undefined },
  log: Log,
): { message: SlackMessage; reason: string } {
  const { who, verb, ...about } = doing;
  const logFields = { verb, userId: who.userId };
  if (error instanceof ServiceFailure) {
    const { kind } = error;
    log('warn', 'The payments service gave no usable answer', { ...logFields, failure: kind }, error);
    const message = noteMessage(serviceFailureNote(error, about));
    return { message, reason: `the payments service: ${kind}` };
  }
  if (error instanceof StoreUnavailable) {
    log('warn', 'The store did not answer', logFields, error);
    const next = rich`try again in a minute; if it stays so, ${tellOperators}.`;
    const message = noteMessage(brokenNote('The bot’s storage does not answer', about, next));
    return { message, reason: 'the store was away' };
  }
  if (error instanceof ModalRefused) {
    const { slackError, isTooLate } = error;
    log('warn', 'Slack opened no modal', { ...logFields, slackError, fix: fixFor(slackError) });
    const what = isTooLate ? 'The form did not open in time' : 'Slack did not open the form';
    const lasting = isTooLate ? '.' : `; if it stays so, ${tellOperators}: the log says why.`;
    const next =
      slackError === 'push_limit_reached'
        ? rich`close one of the three open windows, then do the same again.`
        : rich`do the same again${lasting}`;
    const message = noteMessage(brokenNote(what, about, next));
    return { message, reason: `Slack opened no modal: ${slackError}` };
  }
  const errorId = newErrorId();
  log('error', 'A command failed', { errorId, ...logFields }, error);
  return {
    message: bugMessage(errorId, { moneyMayHaveMoved: about.moneyMayHaveMoved }),
    reason: `error ${errorId}`,
  };
}
