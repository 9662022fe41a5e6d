import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  scripts: { start: string };
};

/** Node's options as `npm start` has them; the environment comes from whoever starts the bot. */
export const startOptions: readonly string[] = scripts.start
  .split(' ')
  .filter((word) => word.startsWith('--') && !word.startsWith('--env-file'));
