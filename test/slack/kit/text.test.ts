import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cut,
  escapeMrkdwn,
  mrkdwnText,
  oneLine,
  outsideText,
  slackTime,
  utcTime,
} from '../../../src/slack/kit/text.ts';

/** Text as hostile as a bank's message can be: Slack markup, bidi marks, 4-byte characters, half characters. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        '<!here>',
        '<!channel|x>',
        '<@U123>',
        '<#C1|pay>',
        '<https://evil.example|Paid>',
        '<!date^1^{date}|now>',
        '&lt;',
        '&',
        '\u202E',
        '\u200B',
        '\uD83D',
        '\uDE00',
        '👩‍👩‍👧',
        'e\u0301\u0301',
        '\n✅ Paid (confirmed)',
      ),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

const invisible = /[\p{Cc}\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF]/u;

describe('mrkdwnText', () => {
  it('never holds a live mention, link or date, is never over the limit and never ends in half an entity', () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 0, max: 200 }), (text, max) => {
        const safe = mrkdwnText(text, max);
        expect(safe).not.toMatch(/[<>]/);
        expect(safe.replace(/&(amp|lt|gt);/g, '')).not.toContain('&');
        expect(safe.length).toBeLessThanOrEqual(max);
        expect(safe.isWellFormed()).toBe(true);
        expect(safe).not.toMatch(invisible);
      }),
    );
  });

  it('reads back as the cleaned text when nothing had to be cut', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const back = mrkdwnText(text, 100_000)
          .replaceAll('&lt;', '<')
          .replaceAll('&gt;', '>')
          .replaceAll('&amp;', '&');
        expect(back).toBe(oneLine(text));
      }),
    );
  });
});

describe('outsideText', () => {
  it('is one visible, well-formed line within the limit', () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 0, max: 200 }), (text, max) => {
        const safe = outsideText(text, max);
        expect(safe.length).toBeLessThanOrEqual(max);
        expect(safe.isWellFormed()).toBe(true);
        expect(safe).not.toMatch(invisible);
      }),
    );
  });

  it('masks an e-mail address and withholds what looks like a card number', () => {
    expect(outsideText('no card of ada.obi@example.com', 100)).toBe('no card of a***@example.com');
    expect(outsideText('card 4111 1111 1111 1111 refused', 100)).toBe(
      '[withheld: it looks like a card number]',
    );
    expect(outsideText('card 4111\u200B111111111111 refused', 100)).not.toContain('4111');
  });

  it('gives one line of many, so that nobody writes a line of ours', () => {
    expect(outsideText('Declined\r\n\u2028✅ Paid (confirmed)', 100)).toBe('Declined ✅ Paid (confirmed)');
  });
});

describe('cut', () => {
  it('is never over the limit, never half a character and always a beginning of the text', () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 0, max: 120 }), (text, max) => {
        const whole = oneLine(text);
        const short = cut(whole, max);
        expect(short.length).toBeLessThanOrEqual(max);
        expect(short.isWellFormed()).toBe(true);
        expect(short === whole || whole.startsWith(short.replace(/…$/u, ''))).toBe(true);
      }),
    );
  });

  it('keeps a character of several code points together', () => {
    expect(cut('ab🇳🇬cd', 6)).toBe('ab…');
    expect(cut('ab🇳🇬cd', 7)).toBe('ab🇳🇬…');
    expect(cut('abc', 3)).toBe('abc');
  });

  it('cuts a character of endless marks at a code point rather than showing nothing', () => {
    expect(cut(`e${'\u0301'.repeat(500)}`, 10)).toHaveLength(10);
  });
});

describe('slackTime', () => {
  it('is a date token in whole seconds whose fallback cannot end it early', () => {
    expect(slackTime(1_789_393_020_999, utcTime(1_789_393_020_999))).toBe(
      '<!date^1789393020^{date_short_pretty} {time}|2026-09-14 13:37 UTC>',
    );
    expect(slackTime(0, 'x><!here>')).not.toContain('<!here>');
  });
});

describe('escapeMrkdwn', () => {
  it('escapes the ampersand first, so that nothing is escaped twice', () => {
    expect(escapeMrkdwn('<&>')).toBe('&lt;&amp;&gt;');
  });
});
