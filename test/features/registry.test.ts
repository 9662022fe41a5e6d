import { expect, it } from 'vitest';
import { permissions } from '../../src/features/registry.ts';
import { anyone, permissionsOf } from '../../src/slack/command.ts';
import { everyVerb } from '../../scripts/every-verb.ts';

const verbs = everyVerb();

it('lists as permissions exactly what its verbs ask for', () => {
  const asked = new Set(
    verbs
      .flatMap((verb) => [
        ...permissionsOf(verb),
        ...[...(verb.modals ?? []), ...(verb.presses ?? [])].flatMap(({ permissions: more = [] }) =>
          typeof more === 'function' ? [] : more,
        ),
      ])
      .filter((permission) => permission !== anyone),
  );
  expect(new Set(permissions)).toEqual(asked);
});
