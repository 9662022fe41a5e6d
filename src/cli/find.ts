import type { Runtime } from '../config/config.ts';
import type { FoundRecord } from '../domain/found-record.ts';
import { dayNamed } from '../domain/local-day.ts';
import { maskEmail } from '../domain/outside-text.ts';
import { parsed } from '../domain/wording.ts';
import { dateWords, parseFind, type TypedQuestion } from '../features/find/find.ts';
import { headWords, knownWords, recordLines, unreadWords } from '../features/find/find-message.ts';
import { type FoundPage, openFoundRecords } from '../features/find/find-records.ts';
import { findersOf } from '../merchants.ts';
import { openFingerprint } from '../records/fingerprint.ts';
import { plainLine } from '../slack/kit/blocks.ts';
import { askStore } from './ask-service.ts';
import { command, type CommandEnd } from './command.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { firstLine, isoTime, moneyJson, accountLine, reported, textOrNull } from './lines.ts';

/** People narrow a longer result with a filter or a day. */
const mostListed = 20;

export const findCommand = command({
  summary: 'List what the bot knows of a customer or a card, from its own store',
  usage: [
    'npm run payops --silent -- find <e-mail> [failed | open] [DAY] [--json] [--account NAME]',
    'npm run payops --silent -- find <last four> <amount> [failed | open] [DAY] [--json] [--account NAME]',
  ],
  more: `The newest ${mostListed}, as last known. Reads the bot’s store alone; the bot may run. With several accounts, name one.`,
  scope: 'one',
  options: { json: { type: 'boolean', default: false } },
  mostWords: 4,
  prepare({ values: { json }, positionals }) {
    const typed = parseFind(positionals);
    return typed.ok ? parsed({ run: (runtime) => find(runtime, typed.value, json) }) : typed;
  },
});

async function find(runtime: Runtime, asked: TypedQuestion, isJson: boolean): Promise<CommandEnd> {
  const { config, log, now } = runtime;
  return await askStore(runtime, async ({ store, sealer }, askedAccount) => {
    const fingerprint = openFingerprint(store, sealer, log);
    const records = openFoundRecords({ store, fingerprint, now }, findersOf({ store, sealer }));
    const timeZone = config.policy.timezone;
    const { by, ...filter } = asked;
    const at = { ...filter, list: await records.listOf(by), number: 0 };
    const day = asked.day === undefined ? undefined : dayNamed(timeZone, asked.day);
    const [page, sinceMs] = [await records.page({ ...at, day }, mostListed), await records.since()];
    const known = { since: dateWords(sinceMs, now(), timeZone), alertDays: config.alertDetailsDays };
    const answer = {
      exitCode: exitCodeFor(page),
      document: {
        kind: 'found',
        records: page.records.map(recordJson),
        more: page.next !== undefined,
        unread: page.unread,
        since: isoTime(sinceMs),
        merchant: askedAccount,
        readAt: isoTime(now()),
      },
      lines: [
        firstLine(headWords({ at, page, ...known }), [at.whom, at.day ?? '']),
        ...page.records.map((record) => `  ${recordLines(record, at).map(plainLine).join(' · ')}`),
        ...unreadWords(page).map((line) => `  ${line}`),
        `  ${knownWords(known)}`,
        accountLine(askedAccount, 'read from the bot’s store', now()),
      ],
    };
    return reported(answer, isJson);
  });
}

/** *Nothing matches* only if all were read: a record that can't be, or an older one, may match. */
function exitCodeFor({ records, next, unread }: FoundPage): ExitCode {
  if (unread > 0) return exitCodes.unproven;
  if (records.length > 0) return exitCodes.ok;
  return next === undefined ? exitCodes.notFound : exitCodes.unproven;
}

function recordJson({ state, money, card, reference, customerEmail, atMs, isFailed, isOpen }: FoundRecord) {
  return {
    state: textOrNull(state),
    amount: money ? moneyJson(money) : null,
    cardType: textOrNull(card?.cardType),
    lastFour: textOrNull(card?.lastFour),
    reference: textOrNull(reference),
    customerEmail: textOrNull(customerEmail === undefined ? undefined : maskEmail(customerEmail)),
    at: isoTime(atMs),
    failed: isFailed,
    open: isOpen,
  };
}
