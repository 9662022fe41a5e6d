import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDateToken } from '../../../src/playground/page/dates.ts';
import { parseInline, parseMrkdwn, safeUrl, type Inline } from '../../../src/playground/page/mrkdwn.ts';

const text = (value: string): Inline => ({ kind: 'text', text: value });

describe('mrkdwn', () => {
  it.each<[string, Inline[]]>([
    ['*Paid* now', [{ kind: 'bold', children: [text('Paid')] }, text(' now')]],
    [
      '_a_ ~b~',
      [{ kind: 'italic', children: [text('a')] }, text(' '), { kind: 'strike', children: [text('b')] }],
    ],
    ['`a*b*` c', [{ kind: 'code', text: 'a*b*' }, text(' c')]],
    ['2*3*4 and snake_case_name', [text('2*3*4 and snake_case_name')]],
    ['* not bold *', [text('* not bold *')]],
    ['*a _b_*', [{ kind: 'bold', children: [text('a '), { kind: 'italic', children: [text('b')] }] }]],
    ['a &lt;b&gt; &amp;amp;', [text('a <b> &amp;')]],
    ['<@U1> <#C1|ops>', [{ kind: 'user', id: 'U1' }, text(' '), { kind: 'channel', id: 'C1', label: 'ops' }]],
    [
      '<https://a.example/?x=1&amp;y=2|here>',
      [{ kind: 'link', url: 'https://a.example/?x=1&y=2', text: 'here' }],
    ],
    ['<!here>', [{ kind: 'broadcast', range: 'here' }]],
    [':tada: :no_such:', [{ kind: 'emoji', character: '🎉', name: 'tada' }, text(' :no_such:')]],
    ['<javascript:alert(1)|x>', [text('<javascript:alert(1)|x>')]],
    [
      '<!date^1700000000^{date_num}^https://a.example|then>',
      [
        {
          kind: 'date',
          seconds: 1_700_000_000,
          format: '{date_num}',
          fallback: 'then',
          url: 'https://a.example',
        },
      ],
    ],
  ])('reads %s', (source, expected) => {
    expect(parseInline(source)).toEqual(expected);
  });

  it('reads quotes and preformatted passages', () => {
    expect(parseMrkdwn('a\n&gt; b\n&gt; c\n```\n<x>\n```')).toEqual([
      { kind: 'lines', children: [text('a')] },
      { kind: 'quote', children: [text('b'), { kind: 'break' }, text('c')] },
      { kind: 'preformatted', text: '<x>\n' },
    ]);
  });

  it('reads any text without failing, and loses none that has no marks', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (source) => {
        parseMrkdwn(source);
      }),
    );
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z <.,]{1,60}$/), (source) => {
        expect(parseInline(source)).toEqual([text(source)]);
      }),
    );
  });

  it('lets a link lead to the web and to mail only', () => {
    expect(safeUrl('https://a.example')).toBe('https://a.example');
    expect(safeUrl('mailto:a@example.com')).toBe('mailto:a@example.com');
    for (const url of [
      'javascript:x',
      ' JavaScript:x',
      'data:text/html,x',
      'file:///etc',
      '//a.example',
      '/act',
    ]) {
      expect(safeUrl(url)).toBeUndefined();
    }
  });
});

describe('date tokens', () => {
  const at = new Date(2026, 10, 20, 14, 5, 9);
  const seconds = at.getTime() / 1000;

  it('are told in the reader’s own time', () => {
    expect(formatDateToken(seconds, '{date_num} {time_secs}', at)).toBe('2026-11-20 14:05:09');
    expect(formatDateToken(seconds, '{date_short_pretty} at {time}', at)).toBe('Today at 14:05');
    expect(formatDateToken(seconds, 'since {date_pretty}', new Date(2026, 10, 21))).toBe('since yesterday');
    expect(formatDateToken(seconds, '{date_short_pretty}', new Date(2026, 11, 25))).toBe('Nov 20, 2026');
    expect(formatDateToken(seconds, '{ago}', new Date(at.getTime() + 180_000))).toBe('3 minutes ago');
    expect(formatDateToken(seconds, '{no_such}', at)).toBe('{no_such}');
  });
});
