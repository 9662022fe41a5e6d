import { setTimeout as sleep } from 'node:timers/promises';
import type { Outside } from '../config/config.ts';
import type { ChargeSeen } from '../domain/charge.ts';
import { formatMoney } from '../domain/money.ts';
import { maskEmail } from '../domain/outside-text.ts';
import { parsed, counted } from '../domain/wording.ts';
import { chargesInDoubt, createChargeRecords } from '../features/charge/charge-record.ts';
import { customerWord, referenceWord } from '../slack/words/evidence.ts';
import { stateWord } from '../slack/words/state-words.ts';
import { command, type CommandEnd, noStoreEnd, withKept } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { failedQuestion } from './ask-service.ts';
import {
  factLines,
  firstLine,
  isoTime,
  merchantJson,
  moneyJson,
  placeLine,
  reported,
  textOrNull,
  type Answer,
  type Place,
} from './lines.ts';

export const doubtCommand = command({
  summary: 'List the charges whose outcome is not known, from the bot’s own store',
  usage: ['npm run payops --silent -- doubt [--json] [--account NAME]'],
  more: 'Ends with 0 when no outcome is open. Asks nobody; the bot may run. Of several accounts one is to be named.',
  // One account's answer must not look like the answer for all.
  scope: 'one',
  options: { json: { type: 'boolean', default: false } },
  mostWords: 0,
  prepare: ({ values: { json } }) => parsed({ run: (outside) => listDoubts(outside, json) }),
});

async function listDoubts(outside: Outside, isJson: boolean): Promise<CommandEnd> {
  const { config, log, now } = outside;
  const absent = noStoreEnd(outside);
  if (absent) return absent;
  return await withKept(
    outside,
    async ({ store, sealer }) => {
      const charges = createChargeRecords({ store, sealer, wait: sleep });
      const doubts = await chargesInDoubt({ store, log }, charges);
      const place = { environment: config.paymentsEnvironment, account: config.paymentsAccountName };
      return reported(doubtAnswer({ ...doubts, place, nowMs: now() }), isJson);
    },
    (error) => failedQuestion(outside, error),
  );
}

type DoubtView = {
  charges: readonly ChargeSeen[];
  /** References of unreadable charges, settled or not. */
  unread: readonly string[];
  place: Place;
  nowMs: number;
};

export function doubtAnswer({ charges, unread, place, nowMs }: DoubtView): Answer {
  const isSettled = charges.length + unread.length === 0;
  const title = isSettled ? 'No charge is in doubt' : `❔ ${counted(charges.length, 'charge')} in doubt`;
  const fields = charges.map((charge) => ({ charge, facts: chargeFields(charge) }));
  return {
    exitCode: isSettled ? exitCodes.ok : exitCodes.unproven,
    document: {
      kind: 'doubt',
      count: charges.length,
      charges: fields.map(({ charge, facts }) => ({
        reference: charge.reference,
        state: charge.state.kind,
        words: stateWord(charge),
        amount: moneyJson(charge.terms.money),
        customerEmail: textOrNull(maskEmail(charge.terms.customerEmail)),
        ...facts,
      })),
      unread,
      merchant: merchantJson(place),
      checkedAt: isoTime(nowMs),
    },
    lines: [
      ...(charges.length === 0 && unread.length > 0 ? [] : [title]),
      ...fields.flatMap(({ charge, facts }) => [chargeLine(charge), ...factLines(facts), nextLine(charge)]),
      ...unreadLines(unread),
      placeLine(place, 'read from the bot’s store', nowMs),
    ],
  };
}

/** People are Slack user ids. */
function chargeFields({ by, agent, submittedAt, dueAt, sends }: ChargeSeen): Record<string, unknown> {
  return {
    chargedBy: by,
    inHandOf: agent,
    submittedAt: isoTime(submittedAt),
    nextLookUpBy: dueAt === undefined ? null : isoTime(dueAt),
    sends,
  };
}

function chargeLine(charge: ChargeSeen): string {
  const { terms, reference } = charge;
  return firstLine(stateWord(charge), [
    formatMoney(terms.money),
    customerWord(terms.customerEmail),
    referenceWord(reference),
  ]);
}

function nextLine({ state, dueAt }: ChargeSeen): string {
  if (state.kind === 'review') {
    return '  Next: a person must compare it with the service’s own records; do not charge again, don’t deliver';
  }
  return dueAt === undefined
    ? '  Next: nothing, it has its outcome'
    : '  Next: a running bot looks it up; do not charge again';
}

function unreadLines(unread: readonly string[]): string[] {
  if (unread.length === 0) return [];
  return [
    `❔ ${counted(unread.length, 'charge')} that cannot be opened with these SEALING_KEYS`,
    '  Whether an outcome is open is not known. Next: run this with the very settings of the bot.',
    ...unread.map((reference) => `  ${referenceWord(reference)}`),
  ];
}
