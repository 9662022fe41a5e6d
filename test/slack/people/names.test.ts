import { expect, it } from 'vitest';
import { fields, moment, person, richText, words } from '../../../src/slack/kit/blocks.ts';
import { withNames } from '../../../src/slack/people/names.ts';
import { visibleText } from '../../support/visible-text.ts';

const [ada, omar] = ['U0ADA00001', 'U0OMAR0001'];
const message = {
  text: '👀 Acknowledged',
  blocks: [
    richText([person(omar), words(' · by rule big')]),
    ...fields({ 'Acknowledged by': [person(ada), words(' '), moment(0)] }),
  ],
};
const hostile = ['<@U0EVIL0001> *evil*', '<!channel>', 'x'.repeat(5_000), '\u202e\n'];

it.each([
  [
    'C0ALERTS01',
    'post',
    { [ada]: 'Ada', [omar]: 'Omar' },
    [`<@${omar}> · by rule big`, 'Acknowledged by Ada'],
  ],
  [
    'C0ALERTS01',
    'edit',
    { [ada]: 'Ada', [omar]: 'Omar' },
    [`<@${omar}> · by rule big`, 'Acknowledged by Ada'],
  ],
  // A post must not notify a person whose name is unknown; an edit notifies nobody.
  ['C0ALERTS01', 'post', {}, ['Acknowledged by a colleague']],
  ['C0ALERTS01', 'edit', {}, [`Acknowledged by <@${ada}>`]],
  // A mention in a direct message notifies nobody else.
  ['D0ADA00001', 'post', { [ada]: 'Ada' }, [`Acknowledged by <@${ada}>`]],
  [ada, 'post', { [ada]: 'Ada' }, [`Acknowledged by <@${ada}>`]],
] as const)(
  'in %s, a message shows names, and mentions only the people it must notify: %s, %j',
  async (to, as, names, says) => {
    const nameOf = async (userId: string) => (names as Record<string, string>)[userId];
    const shown = visibleText((await withNames(message, to, { as, calls: [omar], nameOf })).blocks);
    for (const words of says) expect(shown).toContain(words);
  },
);

it.each(hostile)('shows a name as literal text: %s', async (name) => {
  const { blocks } = await withNames(message, 'C0ALERTS01', { as: 'post', nameOf: async () => name });
  expect(JSON.stringify(blocks)).not.toMatch(/user_id|\u202e|\\n/);
  expect(JSON.stringify(blocks).length).toBeLessThan(1_500);
});
