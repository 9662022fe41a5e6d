import { describe, expect, it } from 'vitest';
import { fields, moment, person, richText, words } from '../../../src/slack/kit/blocks.ts';
import { withNames } from '../../../src/slack/people/names.ts';
import { visibleText } from '../../support/visible-text.ts';

const [ada, omar] = ['U0ADA00001', 'U0OMAR0001'];
const channel = 'C0ALERTS01';
const message = {
  text: '👀 Acknowledged',
  blocks: [
    richText([person(omar), words(' · by rule big')]),
    ...fields({ 'Acknowledged by': [person(ada), words(' '), moment(0)] }),
  ],
};

function nameOf(names: Record<string, string> = {}) {
  return (userId: string) => Promise.resolve(names[userId]);
}

async function said(to: string, about: Parameters<typeof withNames>[2]): Promise<string> {
  return visibleText((await withNames(message, to, about)).blocks);
}

describe('a message that goes to a channel', () => {
  it.each(['post', 'edit'] as const)('has people by their names, but for whom it calls: %s', async (as) => {
    const told = await said(channel, { as, calls: [omar], nameOf: nameOf({ [ada]: 'Ada', [omar]: 'Omar' }) });
    expect(told).toContain(`<@${omar}> · by rule big`);
    expect(told).toMatch(/Acknowledged by Ada$/);
  });

  it('mentions nobody whose name is not known in a post, and in an edit, which pings nobody, it does', async () => {
    expect(await said(channel, { as: 'post', nameOf: nameOf() })).toContain('Acknowledged by a colleague');
    expect(await said(channel, { as: 'edit', nameOf: nameOf() })).toContain(`Acknowledged by <@${ada}>`);
  });

  it('takes a name for words and no more, however it is made', async () => {
    for (const name of ['<@U0EVIL0001> *evil*', '<!channel>', 'x'.repeat(5_000), '\u202e\n']) {
      // oxlint-disable-next-line no-await-in-loop -- a few
      const { blocks } = await withNames(message, channel, { as: 'post', nameOf: nameOf({ [ada]: name }) });
      expect(JSON.stringify(blocks)).not.toContain('user_id');
      expect(JSON.stringify(blocks)).not.toMatch(/\u202e|\\n/);
      expect(JSON.stringify(blocks).length).toBeLessThan(1_500);
    }
  });
});

it('is as it was in a direct message, where a mention pings nobody else', async () => {
  for (const direct of ['D0ADA00001', ada]) {
    // oxlint-disable-next-line no-await-in-loop -- two
    expect(await withNames(message, direct, { as: 'post', nameOf: nameOf({ [ada]: 'Ada' }) })).toEqual(
      message,
    );
  }
});
