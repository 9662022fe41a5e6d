import { cardNumberRefusal, maskNumbers } from '../../domain/card-number.ts';
import type { FailureKind, ServiceFailure } from '../../domain/failure.ts';
import {
  bold,
  channelName,
  code,
  headline,
  person,
  richText,
  words,
  type Piece,
  type Run,
} from '../kit/blocks.ts';
import { quoted, typedReference } from './evidence.ts';
import type { Refused } from '../command.ts';
import type { SlackMessage } from '../kit/message.ts';
import type { ModalRefusal } from '../kit/modals.ts';
import { direct } from '../people/place.ts';
import { outsideText } from '../kit/text.ts';

/** What was being done when it broke, as far as the person must know it. */
export type Interrupted = { reference?: string; moneyMayHaveMoved: boolean };

const tellOperators = 'tell the people who run this bot';
const longestProblem = 500;
const longestWord = 80;

/** The outside is broken: what happened, whether money may have moved, what happens next. */
export function serviceFailureMessage(failure: ServiceFailure, about: Interrupted): SlackMessage {
  const { what, next } = failureWords[failure.kind];
  const { text, block } = headline(`⚠️ ${what}`, referenceOf(about));
  const wait = failure.retryAfterMs;
  const nextStep = wait === undefined ? next : `try again in ${seconds(wait)}.`;
  return {
    text,
    blocks: [
      block,
      richText([bold('Money: '), words(moneyWords(about))], [bold('Next: '), words(nextStep)]),
      ...quoted('The service says:', failure.said),
    ],
  };
}

/** The bot's own memory is away, and nothing that moves money runs without it. */
export function storeUnavailableMessage(about: Interrupted): SlackMessage {
  const { text, block } = headline('⚠️ The bot’s storage does not answer', referenceOf(about));
  const money = about.moneyMayHaveMoved ? moneyWords(about) : 'none was moved.';
  const next = `try again in a minute; if it stays so, ${tellOperators}.`;
  return {
    text,
    blocks: [block, richText([bold('Money: '), words(money)], [bold('Next: '), words(next)])],
  };
}

/** Slack did not open the modal that was to be the answer. */
export function modalRefusedMessage(kind: ModalRefusal, about: Interrupted): SlackMessage {
  const { what, next } = modalRefusedWords[kind];
  const { text, block } = headline(`⚠️ ${what}`, referenceOf(about));
  const money = about.moneyMayHaveMoved ? moneyWords(about) : 'nothing was charged or changed.';
  return {
    text,
    blocks: [block, richText([bold('Money: '), words(money)], [bold('Next: '), words(next)])],
  };
}

/** The bot itself is broken. The same id stands in the log, so that whoever runs it finds the cause. */
export function bugMessage(errorId: string, about: Interrupted): SlackMessage {
  const { text, block } = headline(
    `⚠️ Something went wrong in the bot, error ${errorId}`,
    referenceOf(about),
  );
  return {
    text,
    blocks: [
      block,
      richText(
        [bold('Money: '), words(moneyWords(about))],
        [bold('Next: '), words(`${tellOperators} this error id, which is in its log: `), code(errorId)],
      ),
    ],
  };
}

/** The person typed something that cannot be read. `example` is a whole command, like `/pay lookup ORDER-1`. */
export function usageMessage(problem: string, example: string): SlackMessage {
  const [what = '', ...rest] = sentences(outsideText(maskNumbers(problem), longestProblem));
  const { text, block } = headline(what, []);
  const advice: Piece[][] = rest.length === 0 ? [] : [[words(rest.join(' '))]];
  return { text, blocks: [block, richText(...advice, [words('Like this: '), code(example)])] };
}

/** What a refusal says besides which rule and who can; see `Refused`. */
export type Refusal = {
  what: string;
  limit?: string;
} & Pick<Refused, 'rule' | 'whoCan' | 'where' | 'people' | 'notes'>;

/** More of a kind than this helps nobody, and Slack's blocks have an end. */
const mostNamed = 10;

/**
 * The person may not: what, which rule, their limit, where they may, and who can. Whole sentences without their full
 * stop. Shown to the caller alone: whoever is named in it is not called.
 */
export function refusalMessage(refusal: Refusal): SlackMessage {
  const { where = [], people = [], notes = [] } = refusal;
  const { text, block } = headline(`⛔ Not allowed: ${outsideText(refusal.what, longestProblem)}`, []);
  const lines: Run[][] = [[bold('Rule: '), words(refusal.rule)]];
  if (refusal.limit !== undefined) lines.push([bold('Your limit: '), words(refusal.limit)]);
  if (where.length > 0) lines.push([bold('Where: '), ...parted(where.map(placeName))]);
  lines.push([bold('Who can: '), words(refusal.whoCan)]);
  if (people.length > 0) lines.push([bold('For example: '), ...parted(people.map(person))]);
  for (const note of notes.slice(0, mostNamed)) {
    lines.push([bold('For the owner of payops.yml: '), words(outsideText(note, longestProblem))]);
  }
  return { text, blocks: [block, richText(...lines)] };
}

function placeName(place: string): Run {
  return place === direct
    ? words('direct messages with the bot, its Home and shortcuts')
    : channelName(place);
}

function parted(runs: readonly Run[]): Run[] {
  const shown = runs.slice(0, mostNamed).flatMap((run, index) => (index === 0 ? [run] : [words(', '), run]));
  return runs.length > mostNamed ? [...shown, words(' …')] : shown;
}

/** A verb that does not exist; `nearest` is what was probably meant. */
export function unknownVerbMessage(typed: string, nearest: string | undefined): SlackMessage {
  const { text, block } = headline(`“${outsideText(maskNumbers(typed), longestWord)}” isn’t a command`, []);
  const help: Piece[] = [code('/pay help'), words(' lists them.')];
  return {
    text,
    blocks: [
      block,
      nearest === undefined
        ? richText(help)
        : richText(
            [
              words('Did you mean '),
              code(`/pay ${outsideText(maskNumbers(nearest), longestWord)}`),
              words('?'),
            ],
            help,
          ),
    ],
  };
}

/** A card number was typed. Says nothing of what was typed, so that it is in Slack no second time. */
export function cardNumberMessage(): SlackMessage {
  const [first = '', ...rest] = sentences(cardNumberRefusal);
  const { text, block } = headline(`⛔ ${first}`, []);
  return { text, blocks: [block, richText([words(rest.join(' '))])] };
}

/** What broke outside, without a full stop, and what to do then, with one. */
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
    what: 'The payments service does not allow this to the bot’s account',
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

const modalRefusedWords: Record<ModalRefusal, { what: string; next: string }> = {
  too_late: {
    what: 'Slack gave the bot no more time to open the form',
    next: 'do the same again.',
  },
  too_many: {
    what: 'Slack shows no more than three forms on top of each other',
    next: 'close the one in front, then do the same again.',
  },
  refused: {
    what: 'Slack did not open the form',
    next: `do the same again; if it stays so, ${tellOperators}: the log says why.`,
  },
  unreachable: {
    what: 'Slack did not say whether the form opened',
    next: 'if there is no form, do the same again.',
  },
};

function moneyWords({ reference, moneyMayHaveMoved }: Interrupted): string {
  const subject = reference === undefined ? 'this payment' : typedReference(reference);
  return moneyMayHaveMoved
    ? `it may have moved. Do not charge ${subject} again; a look-up tells.`
    : 'none was moved by this.';
}

function referenceOf({ reference }: Interrupted): string[] {
  return reference === undefined ? [] : [typedReference(reference)];
}

function seconds(ms: number): string {
  const whole = Math.max(1, Math.ceil(ms / 1000));
  return whole === 1 ? '1 second' : `${whole} seconds`;
}

function sentences(text: string): string[] {
  return text.split(/(?<=\.) /u);
}
