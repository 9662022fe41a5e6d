import { expect, it } from 'vitest';
import { createVerbs, permissions } from '../../src/commands/registry.ts';
import { anyone } from '../../src/slack/command.ts';

it('lists as permissions exactly what its verbs ask for', () => {
  const verbs = createVerbs({
    findTransaction: () => Promise.resolve(undefined),
    environment: 'sandbox',
    account: 'main account',
    now: () => 0,
  });
  const asked = new Set(
    verbs.map(({ permission }) => permission).filter((permission) => permission !== anyone),
  );
  expect(new Set(permissions)).toEqual(asked);
});
