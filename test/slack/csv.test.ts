import { describe, expect, it } from 'vitest';
import { csvText } from '../../src/slack/csv.ts';

function lineOf(...cells: string[]): string {
  return csvText(['head'], [cells]).split('\r\n')[1] ?? '';
}

describe('a CSV', () => {
  it.each(['=1+1', '+1', '-1', '@A1', '=HYPERLINK("http://x.example")'])('runs no cell like %s', (cell) => {
    expect(lineOf('first', cell).split(',')[1]).toMatch(/^"?'/);
  });

  it.each([';', '|', '\t', '; '])('runs nothing behind %j, by which other spreadsheets divide', (divider) => {
    const line = lineOf('first', `declined${divider}=HYPERLINK("http://x.example")`);
    expect(line).not.toMatch(/[;|\t]\s*"*=/);
  });

  it('keeps one row on one line, quotes what divides, and leaves words alone', () => {
    expect(lineOf('a\r\nb', 'x, y', 'say "no"', 'a; b', '5-1=4')).toBe('a b,"x, y","say ""no""",a; b,5-1=4');
  });
});
