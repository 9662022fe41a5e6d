import { describe, expect, it } from 'vitest';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import { bold } from '../../src/slack/blocks.ts';
import type { OpenItems } from '../../src/slack/command.ts';
import { menuMessage } from '../../src/slack/menu-message.ts';

const charge = { verb: 'charge', menu: { text: 'Charge a card', opens: 'modal' } } as const;

function waiting(word: string, untilMs?: number): OpenItems {
  return { count: 2, line: [bold(word)], ...(untilMs === undefined ? {} : { untilMs }) };
}

describe('the menu', () => {
  it('says first what cannot wait', () => {
    const open = [waiting('alerts'), waiting('late', 9_000), waiting('soon', 5_000), waiting('doubts')];
    const { text, blocks } = menuMessage([charge], open);
    expect(text).toContain('8 things wait for you');
    const said = JSON.stringify(blocks);
    const at = ['soon', 'late', 'alerts', 'doubts'].map((word) => said.indexOf(`"${word}"`));
    expect(at).toEqual(at.toSorted((one, other) => one - other));
    expect(at).not.toContain(-1);
    assertBlocks('message', blocks);
  });

  it('has a button for each verb that has one, and the others by their words', () => {
    const said = JSON.stringify(menuMessage([charge, { verb: 'terminals' }], []).blocks);
    expect(said).toContain('menu.charge');
    expect(said).toContain('/pay terminals');
    expect(said).not.toContain('<reference>');
  });

  it('stays within Slack’s limits with more verbs and items than there are', () => {
    const verbs = Array.from({ length: 60 }, (_, at) => ({
      verb: `verb-${at}`,
      ...(at % 2 === 0 ? { menu: { text: '𝒳'.repeat(80), opens: 'modal' as const } } : {}),
    }));
    const open = Array.from({ length: 40 }, () => waiting('שלום '.repeat(40)));
    expect(() => assertBlocks('message', menuMessage(verbs, open).blocks)).not.toThrow();
    expect(() => assertBlocks('message', menuMessage([], []).blocks)).not.toThrow();
  });
});
