import { expect, it } from 'vitest';
import { permissions } from '../../src/features/registry.ts';
import { anyone } from '../../src/slack/command.ts';
import { everyVerb } from '../../scripts/every-verb.ts';

const verbs = everyVerb();

it('lists as permissions exactly what its verbs ask for', () => {
  const asked = new Set(
    verbs
      .flatMap(({ permission, orPermissions = [], modals = [], presses = [] }) => [
        permission,
        ...orPermissions,
        ...[...modals, ...presses].flatMap(({ permissions: more = [] }) => more),
      ])
      .filter((permission) => permission !== anyone),
  );
  expect(new Set(permissions)).toEqual(asked);
});
