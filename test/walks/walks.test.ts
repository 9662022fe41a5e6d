import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** The same walks each time while the code does not change; `npm run walks` takes others. */
const count = '10';
const few = ['scripts/walks.ts', '--count', count, '--seed', '8'];

it('loses, doubles, shuffles and leaks nothing on random walks of events, people, faults and kills', async () => {
  // In a process of their own: walks replace all timers and random sources.
  const walked = await promisify(execFile)(process.execPath, few).catch((error: unknown) => error);
  const { stdout } = walked as { stdout: string };
  expect(stdout.slice(-4_000)).toContain(`${count} walks: all holds`);
  // Walks without events pass too, so require some; a hundred walks must meet the rare ones as well (`scripts/walks.ts`).
  for (const what of ['alerts taken', 'alerts resolved']) expect(stdout).toMatch(new RegExp(`${what} [1-9]`));
});
