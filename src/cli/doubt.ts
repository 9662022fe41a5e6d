import type { Runtime } from '../config/config.ts';
import type { ChargeSeen } from '../domain/charge.ts';
import { maskEmail } from '../domain/outside-text.ts';
import { parsed } from '../domain/wording.ts';
import { doubtLines, doubtTitle } from '../features/charge/charge-list.ts';
import { chargesInDoubt, type Doubts } from '../features/charge/charge-record.ts';
import { referenceWord } from '../slack/words/payment-words.ts';
import { plainLine } from '../slack/kit/blocks.ts';
import { chargeHead } from '../slack/words/charge-facts.ts';
import { stateWord } from '../slack/words/state-words.ts';
import { command, type CommandEnd } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { askStore } from './ask-service.ts';
import {
  firstLine,
  isoTime,
  moneyJson,
  accountLine,
  reported,
  textOrNull,
  type Answer,
  type AskedAccount,
} from './lines.ts';

export const doubtCommand = command({
  summary: 'List the charges whose outcome is not known, from the bot’s own store',
  usage: ['npm run payops --silent -- doubt [--json] [--account NAME]'],
  more: 'Ends with 0 when no outcome is open. Reads the bot’s store alone; the bot may run. With several accounts, name one.',
  // Asks for one account, so that its answer is never taken for the answer of all.
  scope: 'one',
  options: { json: { type: 'boolean', default: false } },
  prepare: ({ values: { json } }) => parsed({ run: (runtime) => listDoubts(runtime, json) }),
});

async function listDoubts(runtime: Runtime, isJson: boolean): Promise<CommandEnd> {
  const { log, now } = runtime;
  return await askStore(runtime, async ({ store, sealer }, askedAccount) => {
    const doubts = await chargesInDoubt({ store, sealer, log });
    return reported(doubtAnswer({ ...doubts, askedAccount, nowMs: now() }), isJson);
  });
}

type DoubtView = Doubts & { askedAccount: AskedAccount; nowMs: number };

export function doubtAnswer({ charges, unread, askedAccount, nowMs }: DoubtView): Answer {
  const isSettled = charges.length + unread.length === 0;
  return {
    exitCode: isSettled ? exitCodes.ok : exitCodes.unproven,
    document: {
      kind: 'doubt',
      count: charges.length,
      charges: charges.map((charge) => ({
        reference: charge.reference,
        state: charge.state.kind,
        words: stateWord(charge),
        amount: moneyJson(charge.terms.money),
        customerEmail: textOrNull(maskEmail(charge.terms.customerEmail)),
        // People are Slack user ids.
        chargedBy: charge.by,
        inHandOf: charge.agent,
        submittedAt: isoTime(charge.submittedAt),
        nextLookUpBy: charge.dueAt === undefined ? null : isoTime(charge.dueAt),
        sends: charge.sends,
      })),
      unread,
      merchant: askedAccount,
      checkedAt: isoTime(nowMs),
    },
    lines: [
      doubtTitle(charges.length, unread.length),
      ...charges.flatMap((charge) => chargeLines(charge, nowMs)),
      ...unreadLines(unread),
      accountLine(askedAccount, 'read from the bot’s store', nowMs),
    ],
  };
}

function chargeLines(charge: ChargeSeen, nowMs: number): string[] {
  const { state, about } = chargeHead(charge);
  return [firstLine(state, about), ...doubtLines(charge, nowMs).map((line) => `  ${plainLine(line)}`)];
}

function unreadLines(unread: readonly string[]): string[] {
  if (unread.length === 0) return [];
  return [
    'Cannot be opened with these SEALING_KEYS, so their outcome is not known:',
    ...unread.map((reference) => `  ${referenceWord(reference)}`),
    'Next: run this with the bot’s own settings.',
  ];
}
