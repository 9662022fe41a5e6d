import type { ChargeSeen } from '../domain/charge.ts';
import { counted } from '../domain/counted.ts';
import { maskEmail } from '../domain/mask.ts';
import { formatMoney } from '../domain/money.ts';
import { stateWord } from '../slack/words/state-words.ts';
import { customerWord, referenceWord } from '../slack/words/evidence.ts';
import { utcTime } from '../slack/kit/text.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import {
  factLines,
  firstLine,
  isoTime,
  merchantJson,
  moneyJson,
  placeLine,
  textOrNull,
  type Place,
} from './lines.ts';

export type DoubtView = {
  charges: readonly ChargeSeen[];
  /** References of charges that are not settled, or are, and cannot be opened here. */
  unread: readonly string[];
  place: Place;
  nowMs: number;
};

export function doubtExitCode({ charges, unread }: DoubtView): ExitCode {
  return charges.length + unread.length === 0 ? exitCodes.ok : exitCodes.unproven;
}

export function doubtText({ charges, unread, place, nowMs }: DoubtView): string {
  return [
    ...(charges.length === 0 && unread.length > 0 ? [] : [title(charges.length)]),
    ...charges.flatMap((charge) => chargeLines(charge, nowMs)),
    ...unreadLines(unread),
    placeLine(place, 'read from the bot’s store', nowMs),
    '',
  ].join('\n');
}

function title(charges: number): string {
  return charges === 0 ? 'No charge is in doubt' : `❔ ${counted(charges, 'charge')} without a known outcome`;
}

function unreadLines(unread: readonly string[]): string[] {
  if (unread.length === 0) return [];
  return [
    `❔ ${counted(unread.length, 'charge')} that cannot be opened with these SEALING_KEYS`,
    '  Whether an outcome is open is not known. Next: run this with the very settings of the bot.',
    ...unread.map((reference) => `  ${referenceWord(reference)}`),
  ];
}

function chargeLines(charge: ChargeSeen, nowMs: number): string[] {
  const { terms, reference, submittedAt, sends, by, agent } = charge;
  const details = [formatMoney(terms.money), customerWord(terms.customerEmail), referenceWord(reference)];
  return [
    firstLine(stateWord(charge), details),
    ...factLines({
      Since: utcTime(submittedAt),
      'Charged by': by,
      'In hand of': agent === by ? undefined : agent,
      'Asked of the service': `${counted(sends, 'time')}, under this one reference`,
      Next: nextWords(charge, nowMs),
    }),
  ];
}

function nextWords({ state, dueAt }: ChargeSeen, nowMs: number): string {
  if (state.kind === 'review') {
    return 'a person must compare it with the service’s own records; do not charge again, give no value';
  }
  if (dueAt === undefined) return 'nothing, it has its outcome';
  return dueAt <= nowMs
    ? 'a running bot looks it up now; do not charge again'
    : `a running bot looks it up by ${utcTime(dueAt)}; do not charge again`;
}

/** The document of `doubt --json`; people are Slack user ids. */
export function doubtJson({ charges, unread, place, nowMs }: DoubtView): Record<string, unknown> {
  return {
    kind: 'doubt',
    count: charges.length,
    charges: charges.map((charge) => ({
      reference: charge.reference,
      state: charge.state.kind,
      words: stateWord(charge),
      amount: moneyJson(charge.terms.money),
      customerEmail: textOrNull(maskEmail(charge.terms.customerEmail)),
      chargedBy: charge.by,
      inHandOf: charge.agent,
      submittedAt: isoTime(charge.submittedAt),
      nextLookUpBy: charge.dueAt === undefined ? null : isoTime(charge.dueAt),
      sends: charge.sends,
    })),
    unread,
    merchant: merchantJson(place),
    checkedAt: isoTime(nowMs),
  };
}
