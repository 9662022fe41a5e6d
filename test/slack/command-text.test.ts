import { describe, expect, it } from 'vitest';
import { wordsOf } from '../../src/slack/command-text.ts';

describe('wordsOf', () => {
  it.each([
    ['', []],
    ['  lookup   INV-1  ', ['lookup', 'INV-1']],
    ['lookup "ORDER 17 B" 5', ['lookup', 'ORDER 17 B', '5']],
    ['lookup “ORDER 17 B”', ['lookup', 'ORDER 17 B']],
    ['lookup "no end', ['lookup', 'no end']],
    ['lookup ""', ['lookup', '']],
    ['O"17', ['O"17']],
    ['A&amp;B&lt;1&gt;', ['A&B<1>']],
    ['&amp;lt;', ['&lt;']],
    ['<http://order.com|order.com>', ['order.com']],
    ['<mailto:a@b.example|a@b.example>', ['a@b.example']],
    ['<https://x.example/1>', ['x.example/1']],
    ['<@U012|ada>', ['<@U012|ada>']],
    ['INV-1\u00a05000\tx', ['INV-1', '5000', 'x']],
  ])('reads %j', (text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });
});
