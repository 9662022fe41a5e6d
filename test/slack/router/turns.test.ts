import { expect, it } from 'vitest';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import { parsed } from '../../../src/domain/wording.ts';
import { anyone, defineCommand, type Prepared } from '../../../src/slack/command.ts';
import { ModalRefused } from '../../../src/slack/kit/modals.ts';
import { errorReply } from '../../../src/slack/words/error-message.ts';
import { requestOf } from '../../../src/slack/router/turns.ts';
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
] as const)('tells the person of a bug that stops %o before it runs', async (thing, verb) => {
  const slack = { members: {}, accounts: {}, nowMs: 0 };
  const { said } = await permissionStage([verb], {}, slack).act(thing, 'C0DESK0001');
  expect(said).toContain('Something went wrong in the bot, error');
});

it.each([
  [{ kind: 'press', name: 'of_an_older_bot' }, 'C0DESK0001', 'This button has expired'],
  [{ kind: 'press', name: 'of_an_older_bot' }, 'modal', 'This button has expired'],
  [{ kind: 'form', name: 'of_an_older_bot' }, 'modal', 'Nothing was done'],
  [{ kind: 'message shortcut', name: 'of_an_older_bot' }, 'C0DESK0001', 'This shortcut has expired'],
  [{ kind: 'global shortcut', name: 'of_an_older_bot' }, 'C0DESK0001', 'This shortcut has expired'],
] as const)('tells the person if no command has the %o in %s', async (thing, place, words) => {
  const slack = { members: {}, accounts: {}, nowMs: 0 };
  const verb = defineCommand({ ...facts, parse: () => parsed(undefined) });
  const { ran, said } = await permissionStage([verb], {}, slack).act(thing, place);
  expect(said).toContain(words);
  expect(ran).toBe(false);
});

it.each([
  ['expired_trigger_id', 'The form did not open in time'],
  ['push_limit_reached', 'close one of the three open windows'],
  ['internal_error', 'tell the people who run this bot'],
])('says what to do if Slack opens no form: %s', (word, words) => {
  const doing = { who: { userId: 'U1' }, moneyMayHaveMoved: false };
  const { message } = errorReply(new ModalRefused(word), doing, () => undefined);
  expect(JSON.stringify(message.blocks)).toContain(words);
});

it('says nothing to the press of a link', async () => {
  const slack = { members: {}, accounts: {}, nowMs: 0 };
  const verb = defineCommand({ ...facts, parse: () => parsed(undefined) });
  const stage = permissionStage([verb], {}, slack);
  expect((await stage.act({ kind: 'press', name: 'link_open@lagos' }, 'C0DESK0001')).said).toBe('""');
});

it('names for log and audit the reference that a look-up finds only in the thread', async () => {
  const account = { merchant: undefined, mayRun: async () => ({ kind: 'allowed' }) as const };
  const command = defineCommand({ ...facts, parse: () => parsed(undefined) });
  const prepared: Prepared = {
    async run() {
      prepared.reference = 'INV-2041' as OrderReference;
      return undefined;
    },
  };
  const { about, run } = requestOf({ account, understood: { kind: 'read', command, prepared } });
  await run({ caller: { userId: 'U1' }, openModal: async () => 'V1', whileWaiting: (work) => work });
  expect(about.reference).toBe('INV-2041');
});
