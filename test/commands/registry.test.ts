import { expect, it } from 'vitest';
import { createVerbs, permissions } from '../../src/commands/registry.ts';
import { anyone } from '../../src/slack/command.ts';
import { createFakeDesk } from './charge-stage.ts';
import { noDeskLists } from './no-desk-lists.ts';
import { noSharing } from './no-sharing.ts';

const verbs = createVerbs({
  findTransaction: () => Promise.resolve(undefined),
  environment: 'sandbox',
  account: 'main account',
  now: () => 0,
  desk: createFakeDesk(),
  ledger: undefined,
  currencies: ['NGN'],
  cardEmails: {
    keepDraft: () => Promise.reject(new Error('no card e-mail is changed here')),
    readDraft: () => Promise.resolve(undefined),
    begin: () => Promise.resolve({ kind: 'stale' }),
  },
  routes: {
    rules: [],
    environment: 'sandbox',
    account: 'main account',
    failures: 'C0ALERTS01',
    successes: undefined,
  },
  rehearse: () => Promise.resolve({ events: 0, lines: [], unsure: 0 }),
  storms: { channel: () => Promise.resolve({ singles: [] }), threshold: 20, windowMs: 300_000 },
  sendTestAlert: () => Promise.resolve(),
  alertsInHand: { of: () => Promise.resolve([]) },
  undelivered: { all: async () => [], deliverAgain: async () => ({ kind: 'again', messages: 0 }) },
  approvals: {
    request: () => Promise.reject(new Error('nothing is asked here')),
    find: () => Promise.resolve(undefined),
    approve: () => Promise.resolve({ kind: 'unknown_approval' }),
    refuse: () => Promise.resolve({ kind: 'unknown_approval' }),
    withdraw: () => Promise.resolve({ kind: 'unknown_approval' }),
    waiting: () => Promise.resolve([]),
    askedBy: () => Promise.resolve([]),
  },
  ...noDeskLists,
  ...noSharing,
});

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
