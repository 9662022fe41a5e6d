import type { Runtime } from '../config/config.ts';
import { csvHead, csvRows, type CsvColumn } from '../csv.ts';
import { parsed, problem, counted } from '../domain/wording.ts';
import { fileColumns } from '../features/lists/list-message.ts';
import { accountColumns, accountMatches, terminalColumns } from '../features/lists/lists.ts';
import { createServiceList } from '../features/lists/service-list.ts';
import type { Payments } from '../payments/payments.ts';
import type { ReadPage } from '../payments/pages.ts';
import { terminalMatches } from '../payments/terminals.ts';
import { outsideText } from '../slack/kit/text.ts';
import { type CliCommand, command, type CommandEnd, type Out } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { askService, failedQuestion } from './ask-service.ts';
import { isoTime, jsonText } from './lines.ts';

type Listed<Item> = {
  one: string;
  many: string;
  columns: readonly CsvColumn<Item>[];
  readPage: (payments: Payments) => ReadPage<Item>;
  matches: (item: Item, words: readonly string[]) => boolean;
};

/** Prints the whole list, or only the matches. As CSV it is the same file as in Slack. */
export const terminalsCommand = listCommand({
  one: 'terminal',
  many: 'terminals',
  columns: terminalColumns,
  readPage: (payments) => payments.listTerminals,
  matches: terminalMatches,
});

export const accountsCommand = listCommand({
  one: 'account',
  many: 'accounts',
  columns: accountColumns,
  readPage: (payments) => payments.listAccounts,
  matches: accountMatches,
});

function listCommand<Item>(listed: Listed<Item>): CliCommand {
  const { one, many } = listed;
  return command({
    summary: `List the ${many}, or those that a filter finds`,
    usage: [`npm run payops --silent -- ${many} [filter] [--csv | --json] [--account NAME]`],
    more: `Reads the list to its end; a filter is words that each ${one} found must contain. Several accounts: the first, unless one is named.`,
    scope: 'first',
    options: { csv: { type: 'boolean' }, json: { type: 'boolean' } },
    mostWords: Infinity,
    prepare({ values: { csv, json }, positionals }) {
      if (csv && json) return problem('One of --csv and --json.');
      const form = csv ? 'csv' : json ? 'json' : 'text';
      const filter = positionals.join(' ');
      return parsed({ run: (runtime, out) => list(runtime, listed, { filter, form, out }) });
    },
  });
}

type ListRequest = { filter: string; form: 'text' | 'csv' | 'json'; out: Out };

async function list<Item>(
  runtime: Runtime,
  listed: Listed<Item>,
  { filter, form, out }: ListRequest,
): Promise<CommandEnd> {
  const { one, many, readPage, matches } = listed;
  return await askService(runtime, async (payments, askedAccount) => {
    const readList = createServiceList(readPage(payments), matches, runtime.now);
    const page = await readList({
      filter,
      mostCalls: Infinity,
      progress: ({ pages, items }) => showProgress(`${pages} pages, ${items} rows …`),
    });
    showProgress('');
    const { found, reading, stop } = page;
    const isComplete = stop === undefined && reading.end === 'last_page';
    if (form === 'json') {
      const document = {
        kind: many,
        filter,
        items: records(listed, page.items),
        found,
        read: { pages: reading.pages, items: reading.items },
        complete: isComplete,
        merchant: askedAccount,
        readAt: isoTime(reading.readAt),
      };
      await out(jsonText(document));
    } else if (found > 0) {
      const shown = fileColumns(listed.columns);
      await out(form === 'csv' ? csvHead(shown) + csvRows(shown, page.items) : table(shown, page.items));
    }
    const readWords = `${counted(reading.items, one, many)} read in ${counted(reading.pages, 'page')}`;
    if (stop) {
      const why =
        stop.kind === 'failure'
          ? failedQuestion(runtime, stop.failure)
          : 'The service’s list has expired.\nNext: run this again.';
      return { exitCode: exitCodes.noAnswer, words: `The list broke off: ${readWords}. ${why}` };
    }
    const none = filter === '' ? `There is no ${one}` : `No ${one} matches “${outsideText(filter, 120)}”`;
    const words = found > 0 ? readWords : `${none}; ${readWords}`;
    if (isComplete) return { exitCode: found > 0 ? exitCodes.ok : exitCodes.notFound, words };
    return {
      exitCode: exitCodes.unproven,
      words: `${words}; it may be longer: the service gave a cursor twice`,
    };
  });
}

/** The items under the specification's field names, as in the CSV. */
function records<Item>({ columns }: Listed<Item>, items: readonly Item[]): Record<string, string | null>[] {
  const shown = fileColumns(columns);
  return items.map((item) => Object.fromEntries(shown.map(({ head, cell }) => [head, cell(item) || null])));
}

/** One line that is overwritten. The number of pages is unknown until the last one, so there is no progress bar. */
function showProgress(words: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${words}`);
}

function table<Item>(columns: readonly CsvColumn<Item>[], items: readonly Item[]): string {
  const rows = [
    columns.map(({ head }) => head),
    ...items.map((item) => columns.map(({ cell }) => (cell(item) ?? '').slice(0, 40))),
  ];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, index) => cell.padEnd(widths[index] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
