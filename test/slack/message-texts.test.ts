import { describe, expect, it } from 'vitest';
import { candidateReferences } from '../../src/features/lookup/candidate-references.ts';
import { lookUpButton } from '../../src/slack/words/evidence.ts';
import { actions } from '../../src/slack/kit/blocks.ts';
import { messageTexts } from '../../src/slack/message-texts.ts';
import { inAccount } from '../../src/slack/own-account.ts';

function found(message: unknown): string[] {
  return candidateReferences(messageTexts(message));
}

function rich(...elements: object[]) {
  return { blocks: [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }] };
}

describe('messageTexts', () => {
  it('reads words, blocks, attachments and fields', () => {
    const message = {
      text: 'see INV-1',
      blocks: [
        { type: 'section', text: { type: 'mrkdwn', text: 'about *INV-2*' } },
        { type: 'context', elements: [{ type: 'plain_text', text: 'INV-3' }] },
        {
          type: 'table',
          rows: [
            [
              { type: 'raw_text', text: 'INV-4' },
              { type: 'raw_text', text: 'INV-5' },
            ],
          ],
        },
      ],
      attachments: [
        { fallback: 'INV-6', fields: [{ title: 'Reference', value: 'SPRING' }] },
        { blocks: [{ type: 'header', text: { type: 'plain_text', text: 'INV-7' } }] },
      ],
    };
    const all = ['SPRING', 'INV-1', 'INV-2', 'INV-3', 'INV-4', 'INV-5', 'INV-6', 'INV-7'];
    expect(new Set(found(message))).toEqual(new Set(all));
  });

  it('reads a word that is half bold as one, and code to the letter', () => {
    expect(
      found(rich({ type: 'text', text: 'INV-' }, { type: 'text', text: '2041', style: { bold: true } })),
    ).toEqual(['INV-2041']);
    expect(found(rich({ type: 'text', text: 'ORDER 17 B', style: { code: true } }))).toEqual(['ORDER 17 B']);
  });

  it('reads what a button of the bot looks up, spaces included', () => {
    expect(found({ text: 'Paid', blocks: [actions(...lookUpButton('Refresh', 'ORDER 17 B'))] })).toEqual([
      'ORDER 17 B',
    ]);
  });

  it('reads it in the messages of every merchant account', () => {
    const merchant = { name: 'lagos', isFirst: false, isMixed: false };
    const lagos = inAccount(merchant, () => ({
      text: 'Paid',
      blocks: [actions(...lookUpButton('Refresh', 'ORDER 17 B'))],
    }));
    expect(JSON.stringify(lagos)).toContain('look_up@lagos');
    expect(found(lagos)).toEqual(['ORDER 17 B']);
  });

  it('leaves people, channels, dates and links out', () => {
    const text =
      '<@U0AGENT01> in <#C0DESK0001|desk> <!date^1700000000^{time}|at 14:32> <https://x.test/INV-9|here>';
    expect(found({ text })).toEqual([]);
    expect(
      found(rich({ type: 'user', user_id: 'U0AGENT01' }, { type: 'link', url: 'https://x.test/INV-9' })),
    ).toEqual([]);
  });

  it('sees a card number that is parted by styles, and takes nothing of it', () => {
    const parted = rich(
      { type: 'text', text: 'is 41111111' },
      { type: 'text', text: '11111111', style: { bold: true } },
    );
    expect(found(parted)).toEqual([]);
  });

  it.each([
    undefined,
    null,
    'text',
    7,
    [],
    { text: 7, blocks: 'x', attachments: [null, 1] },
    { blocks: [null, { elements: 7 }] },
  ])('takes the odd payload %j', (message) => {
    expect(found(message)).toEqual([]);
  });

  it('gives up on what is nested without end', () => {
    let nested: object = { type: 'text', text: 'INV-1' };
    for (let depth = 0; depth < 5_000; depth += 1) nested = { type: 'rich_text_section', elements: [nested] };
    expect(found({ blocks: [nested] })).toEqual([]);
  });
});
