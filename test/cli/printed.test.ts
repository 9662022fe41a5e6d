import { describe, expect, it } from 'vitest';
import { accountAnswer, doubtAnswer, lookupAnswer } from '../../src/cli/answers.ts';
import { jsonText } from '../../src/cli/lines.ts';
import type { Output } from '../../src/cli/desk-commands.ts';
import { printList as printDeskList } from '../../src/cli/list-output.ts';
import { createScreen, progressLine, type Screen } from '../../src/cli/screen.ts';
import { confirm } from '../../src/domain/confirmation.ts';
import type { Transaction } from '../../src/domain/transaction.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import type { Reading, ReadingStop } from '../../src/features/lists/service-list.ts';
import type { Terminal } from '../../src/payments/terminals.ts';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { terminalColumns, terminalSubject } from '../../src/features/lists/lists.ts';
import { seen as seenCharge } from '../features/charge/seen-charges.ts';

const place = { environment: 'live', account: 'Lagos store' } as const;
/** Steers a terminal, fakes a line of ours, reverses the reading direction, and holds an address. */
const hostile = '\u001B[2J\u009B31m\r\n✅ Paid (confirmed)\u202Eevil evil@example.com\u2028';
const reference = 'ORDER-1' as OrderReference;

function steers(text: string): boolean {
  return /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text);
}

const transaction: Transaction = {
  id: hostile,
  status: hostile,
  amountMinor: 500_000,
  currency: hostile,
  type: hostile,
  source: hostile,
  entryType: hostile,
  gatewayMessage: hostile,
  orderId: hostile,
  orderReference: hostile,
  orderAmountMinor: 500_100,
  customerEmail: `${hostile}ada@example.com`,
  paymentMethod: hostile,
};

describe('hostile words of the service', () => {
  const view = {
    reference,
    confirmation: confirm({ reference }, transaction),
    ...place,
    checkedAtMs: 0,
  };

  it('steer no terminal, fake no line and show no address in a look-up', () => {
    const { text, document } = lookupAnswer(view);
    expect(text).toContain('evil');
    expect(steers(text)).toBe(false);
    expect(text.split('\n').filter((line) => line.startsWith('✅'))).toEqual([]);
    const json = jsonText(document, 2);
    expect(steers(json)).toBe(false);
    for (const printed of [text, json]) expect(printed).not.toMatch(/evil@|ada@/);
  });

  it('nor in an account or a charge', () => {
    const account = {
      accountId: hostile,
      accountName: hostile,
      email: 'ada@example.com',
      phoneNumber: '+234 800 000 1188',
      description: hostile,
      banks: [{ bankName: hostile }],
    };
    const key = { by: 'accountRef', value: 'x'.repeat(20) } as const;
    const seen = { key, answer: { kind: 'found', account }, place, checkedAtMs: 0 } as const;
    const refused = { key, answer: { kind: 'refused', message: hostile }, place, checkedAtMs: 0 } as const;
    const charge = seenCharge();
    const doubts = { charges: [charge], unread: [reference], place, nowMs: 0 };
    const answers = [accountAnswer(seen), accountAnswer(refused), doubtAnswer(doubts)];
    const printed = answers.flatMap(({ text, document }) => [text, jsonText(document)]);
    expect(printed.filter(steers)).toEqual([]);
    for (const text of printed) expect(text).not.toMatch(/evil@|ada@|0001188|800 000/);
    expect(printed.join('\n')).not.toContain(charge.terms.customerEmail);
  });

  it('nor in a list, whose JSON is the same words all the same', async () => {
    const terminal: Terminal = { terminalId: '1', merchantName: hostile };
    const text = await printed([[terminal]], 'text');
    expect(steers(text)).toBe(false);
    expect(text.trimEnd().split('\n')).toHaveLength(2);
    const json = await printed([[terminal]], 'json');
    expect(steers(json)).toBe(false);
    expect((JSON.parse(json) as { items: Terminal[] }).items[0]?.merchantName).toBe(hostile);
    const csv = await printed([[terminal]], 'csv');
    expect(csv).toContain('evil');
    // Breaks of lines and tabs are a file's own.
    expect(csv).not.toMatch(/(?![\r\n\t])\p{Cc}/u);
  });
});

type Printed = { out: string; code: number; words: string };

/** What the last page says of the next, and why the walk stops before the list does. */
type Ending = { end?: Reading['end']; stop?: () => ReadingStop | undefined };

/** A list whose walk gives these pages and then ends so. */
async function printList(
  pages: readonly (readonly Terminal[])[],
  output: Output,
  { end = 'last_page', stop = () => undefined }: Ending = {},
): Promise<Printed> {
  let out = '';
  const screen: Screen = {
    out: async (text) => void (out += text),
    note: () => undefined,
    problem: () => undefined,
    progress: () => () => undefined,
  };
  const list = {
    begin: async () => undefined,
    show: async () => Promise.reject(new Error('Nobody shows it.')),
    async *matchingPages() {
      let items = 0;
      for (const [index, page] of pages.entries()) {
        items += page.length;
        const isLast = index === pages.length - 1;
        const reading = { pages: index + 1, items, calls: 0, readAt: 0, end: isLast ? end : 'more' } as const;
        yield { items: page, reading };
      }
      return stop();
    },
  };
  const desk = { list, subject: terminalSubject, columns: terminalColumns };
  const question = { output, filter: '', all: true } as const;
  const { exitCode: code, words } = await printDeskList(desk, question, { screen, place, now: () => 0 });
  return { out, code, words };
}

async function printed(pages: readonly (readonly Terminal[])[], output: Output): Promise<string> {
  const { out, code } = await printList(pages, output);
  expect(code).toBe(0);
  return out;
}

describe('a list', () => {
  it('of nothing is a document too, and pages without items leave no gap', async () => {
    expect(JSON.parse(await printed([], 'json'))).toMatchObject({ items: [], found: 0, complete: true });
    expect(await printed([[]], 'text')).toBe('');
    const [one, two] = [{ terminalId: '1' }, { terminalId: '2' }];
    const json = await printed([[], [one], [], [two], []], 'json');
    expect(JSON.parse(json)).toMatchObject({ items: [one, two], found: 2, read: { pages: 5, items: 2 } });
  });
});

function breaking(error: Error): Ending {
  return {
    stop: () => {
      throw error;
    },
  };
}

describe('a list that is not whole', () => {
  it.each([
    ['a repeated cursor', { end: 'repeated_cursor' } satisfies Ending, 'the same cursor twice'],
    ['a store that went away', breaking(new StoreUnavailable('away')), 'The store does not answer'],
  ])('because of %s says so, and its document is one that says so too', async (_, ends, words) => {
    for (const output of ['text', 'csv', 'json'] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one output after the other
      const end = await printList([[{ terminalId: '1' }]], output, ends);
      expect(end.code).toBe(6);
      expect(end.words).toContain('broke off after 1 page, 1 terminal: what was printed is not all of it');
      expect(end.words).toContain(words);
    }
    const { out } = await printList([[{ terminalId: '1' }]], 'json', ends);
    expect(JSON.parse(out)).toMatchObject({ found: 1, complete: false });
  });

  it('because of a bug is not taken for one that the outside broke', async () => {
    await expect(printList([], 'csv', breaking(new TypeError('a bug')))).rejects.toThrow('a bug');
  });
});

describe('the progress', () => {
  it('counts the seconds, and never wraps', () => {
    expect(progressLine('Reading', 3_600, 80)).toBe('⏳ Reading · 3 s');
    for (const columns of [2, 20, 40]) {
      expect([...progressLine('Reading '.repeat(20), 900, columns)]).toHaveLength(columns - 2);
    }
  });

  it('and the notes are kept from whoever wants quiet, problems are not', () => {
    const written: string[] = [];
    const stream = { isTTY: true, write: (text: string) => written.push(text) > 0 };
    const screen = createScreen({ stdout: stream, stderr: stream, quiet: true, now: () => 0 });
    screen.progress(() => 'x')();
    screen.note('a note');
    screen.problem('a problem');
    expect(written).toEqual(['a problem\n']);
  });
});
