import { describe, expect, it } from 'vitest';
import { csvHead, csvRows, type CsvColumn } from '../src/csv.ts';

const columns: readonly CsvColumn<{ a?: string; b?: string }>[] = [
  { head: 'a', cell: ({ a }) => a },
  { head: 'b, c', cell: ({ b }) => b },
];

function cell(text: string): string {
  return csvRows(columns, [{ a: text }]).slice(0, -',\r\n'.length);
}

describe('CSV text', () => {
  it('quotes cells and ends lines as RFC 4180 says, and leaves absent cells empty', () => {
    expect(csvHead(columns)).toBe('\uFEFFa,"b, c"\r\n');
    expect(csvRows(columns, [{ a: 'x"y', b: 'x, y' }, { b: '😀 ‏שלום' }, {}])).toBe(
      '"x""y","x, y"\r\n,😀 ‏שלום\r\n,\r\n',
    );
    expect(csvRows(columns, [])).toBe('');
  });

  it.each(['=1+1', '+234', '-1', '@SUM(A1)', '\t=1', ' =1', '\u200B=1', '＝1', '\r=1', '\n=1', '\u0000=1'])(
    'keeps spreadsheets from reading %j as a formula',
    (text) => {
      expect(cell(text)).toMatch(/^"?'/);
    },
  );

  it.each([';', '|', '\t', '; ', '|\u200B', ';"', '\n', '\r\n', '\u2028'])(
    'keeps spreadsheets that split at %j from reading a formula after it',
    (divider) => {
      for (const sign of ['=', '＝', '@', '+', '-']) {
        expect(cell(`declined${divider}${sign}HYPERLINK("http://x.example")`)).not.toMatch(
          /[;|\t\n\r\u2028]["\s\p{Cf}]*[=＝@+-]/u,
        );
      }
    },
  );

  it.each(['a\nb', 'a\r\nb', 'a\rb', 'a\u2028b', 'a\u0085b', 'a\vb', 'a\u0000b', '  a\t b \n'])(
    'keeps %j on one line',
    (text) => {
      expect(cell(text)).toBe('a b');
    },
  );

  it('leaves all other text unchanged', () => {
    expect(csvRows(columns, [{ a: '12,500.00', b: 'a=b' }])).toBe('"12,500.00",a=b\r\n');
    expect(cell('say "no"; 5-1=4')).toBe('"say ""no""; 5-1=4"');
  });

  it('handles a hostile cell in linear time', () => {
    // Measures this process's own CPU time, so other programs don't affect it.
    const times = [20_000, 200_000].map((length) => {
      const before = process.cpuUsage();
      for (const part of [' ', ';', '; ', ';\u200B', "'", '|"']) cell(part.repeat(length));
      return process.cpuUsage(before).user / 1_000;
    });
    expect(times[1]).toBeLessThan(Math.max(100, (times[0] ?? 0) * 60));
  });
});
