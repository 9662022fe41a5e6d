import { reseal, type Resealed } from '../records/reseal.ts';
import type { Runtime } from '../config/config.ts';
import { counted, listed, parsed } from '../domain/wording.ts';
import { keyFile, keyFileId } from '../store/storage.ts';
import { command, type CommandEnd, withStorage } from './command.ts';
import { reasonOf } from '../store/explain-error.ts';

export const resealCommand = command({
  summary: 'Seal all that the store holds with the first of SEALING_KEYS',
  usage: ['npm run reseal'],
  more: 'For all accounts. Bots may run. Says which of the other keys can go; ends with 1 while something is left.',
  scope: 'shared',
  prepare: () => parsed({ run: resealAll }),
});

async function resealAll(runtime: Runtime): Promise<CommandEnd> {
  return await withStorage(
    runtime,
    async ({ store, sealer, keyIds }) => endOf(await reseal(store, { sealer, keyIds }), keyIds),
    (error) =>
      `Not everything is sealed with the first key. ${reasonOf(error)} Run this again once that is fixed: it goes on where it stopped.`,
    { verb: 'reseal' },
  );
}

function endOf({ resealed, busy, unopened }: Resealed, keyIds: readonly string[]): CommandEnd {
  const [first = '', ...others] = keyIds;
  const lines = [`${counted(resealed, 'record')} resealed with ${nameOf(first)}.`];
  for (const [id, keys] of unopened) {
    const some = `${keys.slice(0, 3).join(', ')}${keys.length > 3 ? ' and more' : ''}`;
    const are = recordsAre(keys.length);
    const unchanged = keys.length === 1 ? 'stays as it is' : 'stay as they are';
    lines.push(
      keyIds.includes(id)
        ? `${are} damaged, or sealed with another key that had the id ${id}, and ${unchanged}: ${some}`
        : `${are} sealed with ${nameOf(id)}, which is missing. ${missingFix(id)}, and run this again: ${some}`,
    );
  }
  if (busy > 0) lines.push(`${recordsAre(busy)} being worked on. Run this again.`);
  const free = busy > 0 ? [] : others.filter((id) => !unopened.has(id));
  if (free.length > 0) {
    const ids = free.filter((id) => id !== keyFileId);
    const removal = [
      ...(ids.length > 0 ? [`take ${listed(ids, 'and')} out of SEALING_KEYS`] : []),
      ...(free.includes(keyFileId) ? [`delete ${keyFile} in DATA_DIR`] : []),
    ];
    lines.push(
      `Nothing is sealed with ${listed(free.map(nameOf), 'or')}. Once every bot has started with ${nameOf(first)} first, run this again; if it says the same, ${removal.join(', and ')}.`,
    );
  }
  return { exitCode: busy > 0 || unopened.size > 0 ? 1 : 0, words: lines.join('\n') };
}

function recordsAre(count: number): string {
  return count === 1 ? 'One record is' : `${count} records are`;
}

function nameOf(id: string): string {
  return id === keyFileId ? keyFile : id;
}

function missingFix(id: string): string {
  return id === keyFileId ? 'Put that file back into DATA_DIR' : 'Add that key at the end of SEALING_KEYS';
}
