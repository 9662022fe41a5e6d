import { reseal, type Resealed } from '../records/reseal.ts';
import type { Runtime } from '../config/config.ts';
import { parsed } from '../domain/wording.ts';
import { command, type CommandEnd, reasonOf, withStorage } from './command.ts';

/**
 * Reseals the whole store with the first sealing key, and says which other keys can be removed. If interrupted, it can
 * be run again.
 */
export const resealCommand = command({
  summary: 'Seal all that the store holds under the first of SEALING_KEYS',
  usage: ['npm run reseal'],
  more: 'For all accounts. Bots may run. Says which of the other keys can go; ends with 1 while something is left.',
  scope: 'shared',
  options: {},
  mostWords: 0,
  prepare: () => parsed({ run: resealAll }),
});

async function resealAll(runtime: Runtime): Promise<CommandEnd> {
  return await withStorage(
    runtime,
    async ({ store, sealer, keyIds }) => endOf(await reseal(store, { sealer, keyIds }), keyIds),
    (error) => ({
      exitCode: 1,
      words: `Not everything is sealed under the first key. ${reasonOf(error)} Run this again once that is fixed: it goes on where it stopped.`,
    }),
    { verb: 'reseal' },
  );
}

function endOf({ resealed, busy, unopened }: Resealed, keyIds: readonly string[]): CommandEnd {
  const [first = '', ...others] = keyIds;
  const lines = [`${recordsOf(resealed)} sealed under ${first} now.`];
  for (const [id, keys] of unopened) {
    const [some, more] = [keys.slice(0, 3).join(', '), keys.length > 3 ? ' and more' : ''];
    lines.push(
      keyIds.includes(id)
        ? `${recordsOf(keys.length)} not what ${id} sealed there, and left: ${some}${more}`
        : `${recordsOf(keys.length)} sealed with ${id}, which is not here: ${some}${more}`,
    );
  }
  if (busy > 0) lines.push(`${recordsOf(busy)} being worked on. Run this again.`);
  const free = busy > 0 ? [] : others.filter((id) => !unopened.has(id));
  if (free.length > 0) {
    lines.push(
      `Nothing is sealed with ${free.join(' or ')}. Once every bot has started with ${first} first, run this again; if it says the same, take it out of SEALING_KEYS${free.includes('file') ? ' (file: delete sealing.key in DATA_DIR)' : ''}.`,
    );
  }
  return { exitCode: busy > 0 || unopened.size > 0 ? 1 : 0, words: lines.join('\n') };
}

function recordsOf(count: number): string {
  return count === 1 ? 'One record is' : `${count} records are`;
}
