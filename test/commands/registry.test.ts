import { expect, it } from 'vitest';
import { permissions } from '../../src/commands/registry.ts';
import { anyone } from '../../src/slack/command.ts';
import { everyVerb } from './every-verb.ts';

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

it('lists the verbs in the order of the help', () => {
  expect(verbs.map(({ verb }) => verb)).toEqual([
    'lookup',
    'charge',
    'otp',
    'link',
    'card-email',
    'cards',
    'doubt',
    'story',
    'terminals',
    'accounts',
    'account',
    'approvals',
    'alerts',
    'undelivered',
  ]);
});

it('gives every press, modal and suggestion to one verb alone', () => {
  const ids = verbs.flatMap(({ presses = [], modals = [], suggestions = [], buttons = [] }) => [
    ...[...presses, ...suggestions, ...buttons].map(({ actionId }) => `action ${actionId}`),
    ...modals.map(({ callbackId }) => `modal ${callbackId}`),
  ]);
  expect(new Set(ids).size).toBe(ids.length);
});
