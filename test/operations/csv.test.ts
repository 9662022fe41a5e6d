import { describe, expect, it } from 'vitest';
import { csvHead, csvRows, type CsvColumn } from '../../src/operations/csv.ts';
import { listCsv, terminalColumns } from '../../src/operations/list-csv.ts';

const columns: readonly CsvColumn<{ a?: string; b?: string }>[] = [
  { head: 'a', cell: ({ a }) => a },
  { head: 'b, c', cell: ({ b }) => b },
];

describe('CSV text', () => {
  it('quotes what must be quoted, ends lines as RFC 4180 says, and leaves absent cells empty', () => {
    expect(csvHead(columns)).toBe('\uFEFFa,"b, c"\r\n');
    expect(csvRows(columns, [{ a: 'x"y', b: 'two\nlines' }, { b: '😀 ‏שלום' }, {}])).toBe(
      '"x""y","two\nlines"\r\n,😀 ‏שלום\r\n,\r\n',
    );
    expect(csvRows(columns, [])).toBe('');
  });

  it.each(['=1+1', '+234', '-1', '@SUM(A1)', '\t=1', ' =1', '\u200B=1', '＝1', '\r=1', '\n=1'])(
    'lets no spreadsheet take %j for a formula',
    (text) => {
      expect(csvRows(columns, [{ a: text }])).toMatch(/^"?'/);
    },
  );

  it('leaves all other text as it is', () => {
    expect(csvRows(columns, [{ a: '12,500.00', b: 'a=b' }])).toBe('"12,500.00",a=b\r\n');
  });
});

async function* pages() {
  yield [{ terminalId: '1', merchantName: '=cmd' }];
  yield [{ terminalId: '2' }];
}

describe('the CSV of a list', () => {
  it('comes page by page under the specification’s names', async () => {
    const pieces: string[] = [];
    for await (const piece of listCsv(terminalColumns, pages())) pieces.push(piece);
    expect(pieces.length).toBe(3);
    expect(pieces[0]).toContain('terminalId,terminalLabel,merchantName,serialNumber,accountId');
    expect(pieces[1]).toBe("1,,'=cmd,,,,,\r\n");
    expect(pieces[2]).toBe('2,,,,,,,\r\n');
  });
});
