import { expect, it } from 'vitest';
import { parsed } from '../../../src/domain/wording.ts';
import { anyone, defineCommand } from '../../../src/slack/command.ts';
import { permissionStage } from '../../support/permission-stage.ts';

function broken(): never {
  throw new Error('a bug');
}

const facts = {
  verb: 'lookup',
  usage: '',
  summary: 'Look up',
  examples: [],
  permission: anyone,
  effect: 'none',
  run: async () => undefined,
} as const;

it.each([
  [{ kind: 'typed', name: 'lookup' }, defineCommand({ ...facts, parse: broken })],
  [
    { kind: 'press', name: 'again' },
    defineCommand({
      ...facts,
      parse: () => parsed(undefined),
      presses: [{ actionId: 'again', about: broken, press: async () => undefined }],
    }),
  ],
] as const)('tells the person of a bug before %o has begun', async (thing, verb) => {
  const slack = { members: {}, accounts: {}, nowMs: 0 };
  const { said } = await permissionStage([verb], {}, slack).act(thing, 'C0DESK0001');
  expect(said).toContain('Something went wrong in the bot, error');
});
