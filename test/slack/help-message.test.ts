import { describe, expect, it } from 'vitest';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import { helpMessage, type HelpVerb } from '../../src/slack/help-message.ts';
import { firstLine, shownLines, unescaped } from './shown-text.ts';

const lookup: HelpVerb = {
  verb: 'lookup',
  usage: '<reference> [amount]',
  summary: 'Look up a transaction by its reference',
  examples: ['lookup ORDER-1042', 'lookup ORDER-1042 12,500.00'],
};
const help: HelpVerb = { verb: 'help', usage: '[verb]', summary: 'Show what can be typed', examples: [] };

describe('helpMessage', () => {
  it('lists every verb with what follows it and what it does', () => {
    const message = helpMessage([lookup, help]);
    assertBlocks('message', message.blocks);
    expect(firstLine(message)).toBe(unescaped(message.text));
    expect(shownLines(message)).toMatchInlineSnapshot(`
      [
        "What you can do with /pay",
        "/pay lookup <reference> [amount]  Look up a transaction by its reference",
        "/pay help <verb>  gives examples.",
      ]
    `);
  });

  it('tells one verb with its examples as they are typed', () => {
    const message = helpMessage([lookup, help], lookup);
    assertBlocks('message', message.blocks);
    expect(firstLine(message)).toBe(unescaped(message.text));
    expect(shownLines(message)).toMatchInlineSnapshot(`
      [
        "/pay lookup · Look up a transaction by its reference",
        "Type: /pay lookup <reference> [amount]",
        "For example:",
        "/pay lookup ORDER-1042",
        "/pay lookup ORDER-1042 12,500.00",
      ]
    `);
  });

  it('is one Slack takes with no verbs, with many, and without examples', () => {
    const many = Array.from({ length: 60 }, (_, index) => ({ ...lookup, verb: `verb${index}` }));
    for (const message of [helpMessage([]), helpMessage(many), helpMessage(many, help)]) {
      assertBlocks('message', message.blocks);
    }
    expect(shownLines(helpMessage(many)).join('\n')).toContain('verb59');
  });
});
