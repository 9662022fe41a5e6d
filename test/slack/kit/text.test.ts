import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fields, headline, richText, words } from '../../../src/slack/kit/blocks.ts';
import { cut, mrkdwnText, oneLine, outsideText, slackTime, utcTime } from '../../../src/slack/kit/text.ts';

// test/hostile/texts covers hostile texts.

describe('cut text', () => {
  const hostile = fc
    .array(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('<!date^1^{date}|now>', '&', '\uD83D', '\uDE00', '👩‍👩‍👧', 'e\u0301\u0301', '\u202E'),
      ),
      { maxLength: 30 },
    )
    .map((parts) => parts.join(''));

  it('stays within the limit, is a prefix of the text, and never ends inside a character or entity', () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 0, max: 200 }), (text, max) => {
        const whole = oneLine(text);
        const short = cut(whole, max);
        expect(short === whole || whole.startsWith(short.replace(/…$/u, ''))).toBe(true);
        const safe = mrkdwnText(text, max);
        expect(safe.replace(/&(amp|lt|gt);/g, '')).not.toContain('&');
        for (const one of [short, safe, outsideText(text, max)]) {
          expect(one.length).toBeLessThanOrEqual(max);
          expect(one.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  it('keeps a character of several code points together, unless it has endless marks', () => {
    expect(cut('ab🇳🇬cd', 6)).toBe('ab…');
    expect(cut('ab🇳🇬cd', 7)).toBe('ab🇳🇬…');
    expect(cut(`e${'\u0301'.repeat(500)}`, 10)).toHaveLength(10);
  });
});

it('masks an e-mail address in outside text, and withholds text with a possible card number', () => {
  expect(outsideText('no card of ada.obi@example.com', 100)).toBe('no card of a***@example.com');
  expect(outsideText('card 4111 1111 1111 1111 refused', 100)).toBe(
    '[withheld: it looks like a card number]',
  );
  expect(outsideText('card 4111\u200B111111111111 refused', 100)).not.toContain('4111');
  expect(outsideText('Declined\r\n\u2028✅ Paid (confirmed)', 100)).toBe('Declined ✅ Paid (confirmed)');
});

it('gives a time in whole seconds, whose fallback cannot end the token early', () => {
  expect(slackTime(1_789_393_020_999, utcTime(1_789_393_020_999))).toBe(
    '<!date^1789393020^{date_short_pretty} {time}|2026-09-14 13:37 UTC>',
  );
  expect(slackTime(0, 'x><!here>')).not.toContain('<!here>');
});

it('shows at most six fields, leaves out missing values, and makes no block if all are missing', () => {
  const seven = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`L${index}`, `v${index}`]));
  expect(JSON.stringify(fields(seven))).toMatch(/v5(?!.*v6)/);
  expect(JSON.stringify(fields({ A: undefined, B: '', C: 'c' }))).not.toMatch(/"[AB]"/);
  expect(fields({ A: undefined })).toEqual([]);
});

it('gives a headline’s text and its block the same words, and escapes only the text', () => {
  expect(headline('⚠️ Doubt', ['', '<A&B>'])).toEqual({
    text: '⚠️ Doubt · &lt;A&amp;B&gt;',
    block: richText([{ type: 'text', text: '⚠️ Doubt', style: { bold: true } }, words(' · <A&B>')]),
  });
});
