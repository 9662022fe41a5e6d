import { setTimeout as sleep } from 'node:timers/promises';
import { accountAnswer, doubtAnswer, lookupAnswer, type Answer } from './answers.ts';
import type { DeskQuestion, Output } from './command-words.ts';
import { exitCodes } from './exit-codes.ts';
import { jsonText, type Place } from './lines.ts';
import { printList } from './list-output.ts';
import { outsideProblem } from './problem-words.ts';
import type { Screen } from './screen.ts';
import { parseAccountKey, refLength } from '../domain/account.ts';
import { confirm } from '../domain/confirmation.ts';
import { newErrorId } from '../log.ts';
import { chargesInDoubt, createChargeRecords } from '../features/charge/charge-record.ts';
import {
  accountColumns,
  accountSubject,
  openLists,
  terminalColumns,
  terminalSubject,
} from '../features/lists/lists.ts';
import type { CommandEnd } from './command-end.ts';
import { hasStore, type Kept } from '../store/kept.ts';
import type { Outside } from '../config/config.ts';
import { createPayments, type Payments } from '../payments/payments.ts';
import { withKept } from './with-kept.ts';

type Desk = {
  outside: Outside;
  kept: Kept;
  payments: Payments;
  lists: ReturnType<typeof openLists>;
  place: Place;
  screen: Screen;
};

/**
 * `npm run payops -- lookup REF` and its like: the desk's questions, asked with the bot's own settings, token and
 * store, and printed. Nothing is changed at the payments service, and in the store no more than what any look-up of
 * the bot keeps there: the shared access token. Never throws for what is outside.
 */
export async function askDesk(outside: Outside, question: DeskQuestion, screen: Screen): Promise<CommandEnd> {
  // What a store that was made just now lacks would seem settled.
  if (question.command === 'doubt' && !hasStore(outside.config)) return noStoreHere(outside);
  if (question.command === 'account') {
    // How long a reference is, the settings say, which were not read when the words were.
    const key = parseAccountKey(question.key.value, refLength(outside.config.accountNewFields));
    if (!key.ok) return { exitCode: exitCodes.usage, words: key.problem };
  }
  return await withKept(
    outside,
    async (kept) => {
      const desk = openDesk(outside, kept, screen);
      try {
        return await answer(desk, question);
      } finally {
        // A call that was given up may still be asking for one.
        await desk.payments.letGo();
      }
    },
    (error) => outsideProblem(error) ?? brokenHere(outside, error),
  );
}

/** All of it is made of the settings it is given, which are one account's: no other can be asked. */
function openDesk(outside: Outside, kept: Kept, screen: Screen): Desk {
  const { config } = outside;
  const payments = createPayments(outside, kept);
  return {
    outside,
    kept,
    payments,
    lists: openLists(payments, outside.now),
    place: { environment: config.paymentsEnvironment, account: config.paymentsAccountName },
    screen,
  };
}

async function answer(desk: Desk, question: DeskQuestion): Promise<CommandEnd> {
  const { lists, place, screen, outside } = desk;
  const listDeps = { screen, place, now: outside.now };
  switch (question.command) {
    case 'lookup':
      return await lookUp(desk, question);
    case 'account':
      return await lookUpAccount(desk, question);
    case 'doubt':
      return await listDoubts(desk, question);
    case 'terminals': {
      const terminals = { list: lists.terminals, subject: terminalSubject, columns: terminalColumns };
      return await printList(terminals, question, listDeps);
    }
    case 'accounts': {
      const accounts = { list: lists.accounts, subject: accountSubject, columns: accountColumns };
      return await printList(accounts, question, listDeps);
    }
  }
}

type Of<Command extends DeskQuestion['command']> = Extract<DeskQuestion, { command: Command }>;

async function lookUp(
  { payments, outside, place, screen }: Desk,
  { reference, amountMinor, output }: Of<'lookup'>,
): Promise<CommandEnd> {
  const transaction = await waited(screen, 'Looking up the transaction', payments.findTransaction(reference));
  const amount =
    amountMinor === undefined ? {} : { amount: { minor: amountMinor, source: 'person' as const } };
  const confirmation = confirm({ reference, ...amount }, transaction);
  const view = { reference, confirmation, ...place, checkedAtMs: outside.now() };
  return await printed(screen, output, lookupAnswer(view));
}

async function lookUpAccount(
  { payments, outside, place, screen }: Desk,
  { key, output }: Of<'account'>,
): Promise<CommandEnd> {
  const found = await waited(screen, 'Looking up the account', payments.findAccount(key));
  const view = { key, answer: found, place, checkedAtMs: outside.now() };
  return await printed(screen, output, accountAnswer(view));
}

async function listDoubts(
  { kept, outside, place, screen }: Desk,
  { output }: Of<'doubt'>,
): Promise<CommandEnd> {
  const { store, sealer } = kept;
  const charges = createChargeRecords({ store, sealer, wait: sleep });
  const doubts = await chargesInDoubt({ store, charges, log: outside.log });
  return await printed(screen, output, doubtAnswer({ ...doubts, place, nowMs: outside.now() }));
}

async function waited<T>(screen: Screen, words: string, work: Promise<T>): Promise<T> {
  const done = screen.progress(() => words);
  try {
    return await work;
  } finally {
    done();
  }
}

async function printed(screen: Screen, output: Output, found: Answer): Promise<CommandEnd> {
  const { document, text, exitCode } = found;
  await screen.out(output === 'json' ? `${jsonText(document, 2)}\n` : text);
  return { exitCode, words: '' };
}

function noStoreHere({ config }: Outside): CommandEnd {
  const words = `No bot has its store in DATA_DIR, ${config.dataDir}. Run this with the very settings of the bot, from the folder it is started in.`;
  return { exitCode: exitCodes.settings, words };
}

/** A bug, or a store that cannot be opened, which says so itself. */
function brokenHere({ log }: Outside, error: unknown): CommandEnd {
  const errorId = newErrorId();
  log('error', 'the command broke off', { errorId }, error);
  const words = error instanceof Error ? error.message : 'Unknown error';
  return { exitCode: exitCodes.failed, words: `Nothing was changed. ${words} (error ${errorId})` };
}
