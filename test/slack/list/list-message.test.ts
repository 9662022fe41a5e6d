import { describe, expect, it } from 'vitest';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import type { ListPage, Reading } from '../../../src/domain/service-page.ts';
import type { Terminal } from '../../../src/domain/terminal.ts';
import { assertBlocks, findBlockProblems } from '../../../src/slack/assert-blocks.ts';
import { fileNews, type FileEnd } from '../../../src/slack/list/list-file.ts';
import { anewNews, listMessage, readingMessage } from '../../../src/slack/list/list-message.ts';
import { accountSubject, terminalSubject } from '../../../src/slack/list/list-subjects.ts';
import type { SlackMessage } from '../../../src/slack/message.ts';
import { firstLine, unescaped } from '../shown-text.ts';

const place = { environment: 'live', account: 'Main shop' } as const;
const reading: Reading = { pages: 1, items: 50, calls: 1, readAt: 1_700_000_000_000, end: 'more' };

function terminals(
  count: number,
  of: Terminal = { terminalId: '20700001', terminalLabel: 'Till' },
): Terminal[] {
  return Array.from({ length: count }, () => of);
}

function page(parts: Partial<ListPage<Terminal>> = {}): ListPage<Terminal> {
  const items = parts.items ?? terminals(50);
  return { kind: 'page', number: 0, items, before: 0, found: items.length, hasNext: true, reading, ...parts };
}

function shown(filter: string, parts: Partial<ListPage<Terminal>> = {}): SlackMessage {
  const message = listMessage(terminalSubject, { list: 'abc', filter, page: page(parts) }, place);
  assertBlocks('message', message.blocks);
  expect(unescaped(message.text)).toBe(firstLine(message));
  return message;
}

function buttons(message: SlackMessage): string[] {
  const block = message.blocks.find(({ type }) => type === 'actions') as unknown as {
    elements: { text: { text: string } }[];
  };
  return block.elements.map(({ text }) => text.text);
}

const ends: FileEnd[] = [
  { kind: 'placed', placed: { kind: 'here' }, rows: 10_000 },
  { kind: 'placed', placed: { kind: 'direct', fix: 'x'.repeat(300) }, rows: 1 },
  { kind: 'placed', placed: { kind: 'failed', why: 'y'.repeat(300), fix: 'x'.repeat(300) }, rows: 1 },
  { kind: 'stopped', stop: { kind: 'cursor_refused' }, rows: 50, reading },
  { kind: 'stopped', stop: { kind: 'enough_calls' }, rows: 50, reading },
  {
    kind: 'stopped',
    stop: { kind: 'failure', failure: new ServiceFailure('server', 'x') },
    rows: 0,
    reading: undefined,
  },
  { kind: 'nothing' },
  { kind: 'running' },
];

const ended: Reading = { ...reading, end: 'last_page' };

describe('the message of a list', () => {
  it('says which page it is, and that more follow', () => {
    const message = shown('');
    expect(message.text).toBe('Terminals 1–50 · page 1 · more follow');
    expect(buttons(message)).toEqual(['Next', 'CSV']);
    const last = shown('', {
      number: 2,
      before: 100,
      items: terminals(20),
      hasNext: false,
      reading: { ...ended, items: 120 },
    });
    expect(last.text).toBe('Terminals 101–120 · page 3 · the last of 120');
    expect(buttons(last)).toEqual(['Back', 'CSV']);
  });

  it('says how far it searched, and offers to search all', () => {
    const message = shown('lekki', {
      found: 3,
      items: terminals(3),
      hasNext: false,
      reading: { ...reading, pages: 5, items: 250 },
    });
    expect(message.text).toBe('3 terminals match “lekki” · searched 5 of the pages, 250 terminals');
    expect(buttons(message)).toEqual(['Search all', 'CSV']);
    const all = shown('lekki', { found: 1, items: terminals(1), hasNext: false, reading: ended });
    expect(all.text).toBe('1 terminal matches “lekki” · searched all 1 page, 50 terminals');
    expect(buttons(all)).toEqual(['CSV']);
  });

  it('has words for nothing at all', () => {
    const none = { items: [], found: 0, hasNext: false };
    expect(shown('', { ...none, reading: { ...ended, items: 0 } }).text).toBe('No terminals');
    const unmatched = shown('x', { ...none, reading: ended });
    expect(unmatched.text).toContain('No terminal matches “x”');
    expect(buttons(unmatched)).toEqual(['Read anew']);
    expect(buttons(shown('x', none))).toEqual(['Search all']);
    expect(JSON.stringify(shown('', { ...none, hasNext: true }).blocks)).toContain('an empty page');
  });

  it('tells why it stopped, what is kept, and a cursor that came twice', () => {
    const failure = new ServiceFailure('rate_limited', 'x', { retryAfterMs: 61_000 });
    const stopped = shown('x', { stop: { kind: 'failure', failure } });
    expect(JSON.stringify(stopped.blocks)).toContain('call limit is reached, and asks to wait 61 seconds');
    expect(buttons(stopped)).toEqual(['Next', 'Go on searching', 'CSV']);
    expect(buttons(shown('x', { number: 1 }))).toEqual(['Back', 'Next', 'Search all']);
    const refused = shown('x', { stop: { kind: 'cursor_refused' } });
    expect(JSON.stringify(refused.blocks)).toContain('own cursor');
    expect(buttons(refused)).toEqual(['Next', 'Read anew']);
    const repeated = shown('', { reading: { ...reading, end: 'repeated_cursor' }, hasNext: false });
    expect(JSON.stringify(repeated.blocks)).toContain('same cursor twice');
  });

  it.each(['gone', 'cursor_refused'] as const)('says above a new list that the old one is %s', (why) => {
    const news = anewNews(terminalSubject, why);
    const message = listMessage(terminalSubject, { list: 'b', filter: '', page: page(), news }, place);
    assertBlocks('message', message.blocks);
    expect(message.text).toBe(firstLine(message));
    expect(message.text).toContain('Read anew');
    expect(JSON.stringify(message.blocks)).toContain('Terminals 1–50');
  });

  it('counts the calls that were made for it', () => {
    expect(JSON.stringify(shown('', {}).blocks)).toContain('1 call of the service for this');
    const none = shown('', { reading: { ...reading, calls: 0 } });
    expect(JSON.stringify(none.blocks)).toContain('No call of the service');
  });

  it.each([
    ['the longest names', 'W'.repeat(3_000)],
    ['4-byte characters', '😀'.repeat(500)],
    ['right-to-left text', '\u202Eمتجر إيكيجا '.repeat(60)],
    ['joined characters', '👨‍👩‍👧‍👦'.repeat(90)],
    ['markup and a mention', '<!channel> *bold* <https://x.example|y> &amp;'],
    ['nothing', ''],
  ])('stands with %s in every cell and in the filter', (_what, text) => {
    const item = {
      terminalId: text,
      terminalLabel: text,
      merchantName: text,
      serialNumber: text,
      createdAt: text,
    };
    const message = shown(text.slice(0, 100), { items: terminals(50, item), stop: { kind: 'enough_calls' } });
    const read = message.blocks.filter(({ type }) => type !== 'actions');
    expect(JSON.stringify([message.text, read])).not.toMatch(/\u202E/);
    const tooMany = shown('', { items: terminals(400, item) });
    for (const end of ends) {
      const filter = text.slice(0, 100);
      const news = fileNews({ subject: terminalSubject, filter }, end);
      const found = page({ items: terminals(400, item), stop: { kind: 'enough_calls' } });
      const below = listMessage(terminalSubject, { list: 'abc', filter, page: found, news }, place);
      assertBlocks('message', below.blocks);
      expect(unescaped(below.text)).toBe(firstLine(below));
    }
    expect(JSON.stringify(tooMany.blocks)).toMatch(/… and \d+ more/);
    expect(
      findBlockProblems(
        'message',
        readingMessage(terminalSubject, { filter: text, reading, found: 1 }).blocks,
      ),
    ).toEqual([]);
  });

  it('masks e-mails and withholds what looks like a card number', () => {
    const item = { terminalLabel: 'ada@example.com', merchantName: '4111 1111 1111 1111' };
    const told = JSON.stringify(shown('', { items: terminals(1, item) }));
    expect(told).toContain('a***@example.com');
    expect(told).not.toMatch(/ada@|4111/);
  });

  it('lists accounts by what they are asked for with', () => {
    const items = [
      {
        accountName: 'Yaba',
        accountRef: 'SUB00000000000000001',
        status: 'pnd',
        createdAt: '2026-01-05T09:30:00Z',
      },
    ];
    const accounts = {
      kind: 'page',
      number: 0,
      items,
      before: 0,
      found: 1,
      hasNext: false,
      reading: { ...ended, items: 1 },
    } as const;
    const message = listMessage(accountSubject, { list: 'a', filter: '', page: accounts }, place);
    assertBlocks('message', message.blocks);
    expect(JSON.stringify(message.blocks)).toMatch(/SUB00000000000000001.*pnd.*2026-01-05.*\/pay account/);
  });
});
