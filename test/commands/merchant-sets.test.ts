import { describe, expect, it } from 'vitest';
import { createMerchantSets, type MerchantVerbs } from '../../src/commands/merchant-sets.ts';
import { createVerbs } from '../../src/commands/registry.ts';
import { accountColours, merchantLabel } from '../../src/domain/merchant.ts';
import { findViewProblems, assertBlocks } from '../../src/slack/assert-blocks.ts';
import { accountModalId } from '../../src/slack/account/account-actions.ts';
import { cardEmailModalId } from '../../src/slack/card-email/form-modal.ts';
import { chargeFields, chargeModalId } from '../../src/slack/charge/charge-modal.ts';
import type { Caller, Command, MayRun } from '../../src/slack/command.ts';
import { lookUpActionId } from '../../src/slack/evidence.ts';
import type { Modal, SlackMessage } from '../../src/slack/message.ts';
import { createFakeDesk } from './charge-stage.ts';
import { quietVerbs } from './quiet-verbs.ts';

const caller: Caller = { userId: 'U0AGENT01' };
const allowAll: MayRun = async () => ({ kind: 'allowed' });
const atLagosAlone: MayRun = async (permission) =>
  permission.endsWith('@lagos')
    ? { kind: 'allowed' }
    : { kind: 'refused', rule: 'It needs a role', whoCan: 'The leads' };
const names = ['main', 'lagos', 'abuja'];

/** Twenty accounts, of the longest and oddest labels. */
const oddest = ['𝕷'.repeat(20), 'م'.repeat(40), '&<>*_~`'.repeat(5), '👩‍👩‍👧‍👦'.repeat(3)];
const oddLabels = Array.from({ length: 20 }, (_, index) =>
  merchantLabel(oddest[index % oddest.length] ?? '', accountColours[index % accountColours.length]),
);

/** Which account was asked for what. */
type Asked = string[];

function verbsOf(name: string, asked: Asked): Command[] {
  const place = { environment: 'live' as const, account: name };
  return createVerbs({
    ...quietVerbs(place),
    otherAccounts: names.filter((one) => one !== name),
    findTransaction: async (reference) => void asked.push(`${name} ${reference}`),
    desk: createFakeDesk(),
    ledger: { search: async () => [], find: async () => undefined, idOf: async () => '' },
  });
}

type Options = { mayRun?: MayRun; labels?: readonly string[] };

function openSets({ mayRun = allowAll, labels = names }: Options = {}) {
  const asked: Asked = [];
  const all = labels.map((label, index): MerchantVerbs => ({
    merchant: { name: names[index] ?? `name-${index}`, isFirst: index === 0, isMixed: false },
    environment: 'live',
    label,
    channels: index === 1 ? ['C0LAGOS001'] : [],
    verbs: verbsOf(label, asked),
  }));
  const set = createMerchantSets(all, mayRun, () => undefined);

  async function type(text: string, channelId?: string): Promise<{ message?: SlackMessage; modal?: Modal }> {
    const understood = set.understand(text, channelId);
    if (understood.kind === 'unclear') return { message: understood.message };
    const read = understood.command.prepare(understood.words);
    if (!read.ok) throw new Error(read.problem);
    let modal: Modal | undefined;
    const message = await read.value.run({
      caller: { ...caller, ...(channelId === undefined ? {} : { channelId }) },
      openModal: async (opened) => {
        modal = opened;
        return 'V1';
      },
      whileWaiting: (work) => work,
    });
    if (message) assertBlocks('message', message.blocks);
    if (modal) expect(findViewProblems(modal)).toEqual([]);
    return { ...(message ? { message } : {}), ...(modal ? { modal } : {}) };
  }

  return { set, asked, type };
}

describe('a command', () => {
  it('goes to the account it names, else to its channel’s, else to the first', async () => {
    const { type, asked } = openSets();
    await type('INV-1');
    await type('INV-2', 'C0LAGOS001');
    await type('INV-3 --account abuja', 'C0LAGOS001');
    await type('--account main lookup INV-4', 'C0LAGOS001');
    expect(asked).toEqual(['main INV-1', 'lagos INV-2', 'abuja INV-3', 'main INV-4']);
  });

  it('that finds nothing says which account was asked and how to ask another', async () => {
    const { type } = openSets();
    const hint = 'Only LIVE · lagos was asked. Another: --account with main, abuja.';
    const asking = ['INV-1', 'story INV-1', 'otp', 'otp pay-1', 'doubt', 'undelivered'];
    for (const command of asking) {
      // oxlint-disable-next-line no-await-in-loop -- six
      expect(JSON.stringify((await type(command, 'C0LAGOS001')).message)).toContain(hint);
    }
  });

  it('that names no account there is says which are', async () => {
    const { type } = openSets();
    expect((await type('INV-1 --account lagso')).message?.text).toContain('There is no account “lagso”.');
  });

  it('is answered with help that says whose it is and how to mean another', async () => {
    const { type } = openSets();
    const shown = JSON.stringify((await type('help', 'C0LAGOS001')).message);
    expect(shown).toContain('LIVE · lagos is meant here. Another: --account with main, lagos, abuja.');
  });
});

describe('what is shown', () => {
  it('bears its account’s name in every id that Slack gives back, and the first account’s none', async () => {
    const { type, set } = openSets();
    const { message } = await type('INV-1 --account lagos');
    expect(JSON.stringify(message)).toContain(`"action_id":"${lookUpActionId}@lagos"`);
    expect(JSON.stringify((await type('INV-1')).message)).toContain(`"action_id":"${lookUpActionId}"`);
    const pressed = set.pressed(`${lookUpActionId}@lagos`, '["INV-1"]');
    expect(pressed).toMatchObject({ kind: 'command', command: { merchant: 'lagos' } });
    expect(set.pressed(lookUpActionId, '["INV-1"]')).toMatchObject({ command: { merchant: 'main' } });
    expect(set.pressed(`${lookUpActionId}@nobody`, '["INV-1"]')).toBeUndefined();
    const ids = [chargeModalId, cardEmailModalId, accountModalId];
    for (const id of ids) expect(set.modal(`${id}@abuja`)?.command.merchant).toBe('abuja');
    expect(set.suggestion(`${chargeFields.card}@lagos`)?.command.merchant).toBe('lagos');
  });

  it('needs the permission for its own account', async () => {
    const needed: string[] = [];
    const mayRun: MayRun = async (permission) => {
      needed.push(permission);
      return { kind: 'allowed' };
    };
    const { set } = openSets({ mayRun });
    await set.home(caller);
    expect(new Set(needed.map((permission) => permission.split('@')[1]))).toEqual(new Set(names));
    expect(set.modal(`${accountModalId}@lagos`)?.modal.permissions).toEqual(['account-new@lagos']);
  });
});

describe('a form', () => {
  it.each(['charge 1', 'card-email', 'account new', 'link 1'])(
    'of %s says whose it is, lets nobody choose another, and is one that Slack takes',
    async (command) => {
      const { type } = openSets();
      const { modal } = await type(`${command} --account lagos`);
      const shown = JSON.stringify(modal);
      expect(shown).toContain('lagos');
      expect(shown).not.toMatch(/main|abuja/);
      const { modal: odd } = await openSets({ labels: oddLabels }).type(command);
      expect(findViewProblems(odd)).toEqual([]);
    },
  );
});

describe('menu, Home and shortcuts', () => {
  it('have buttons of the account that is meant', async () => {
    const { type, set } = openSets();
    expect(JSON.stringify((await type('', 'C0LAGOS001')).message)).toContain(
      '"action_id":"menu.charge@lagos"',
    );
    expect(JSON.stringify((await type('')).message)).toContain('"action_id":"menu.charge"');
    expect(set.pressed('menu.charge@lagos', '')).toMatchObject({ command: { merchant: 'lagos' }, words: [] });
    expect(JSON.stringify(await set.home(caller))).toContain('"action_id":"menu.charge"');
  });

  it('are those of the first account that the person may use', async () => {
    const { set } = openSets({ mayRun: atLagosAlone });
    const home = await set.home(caller);
    assertBlocks('home', home.blocks);
    const shown = JSON.stringify(home);
    expect(shown).toContain('"action_id":"menu.charge@lagos"');
    expect(shown).toContain('LIVE · lagos');
    expect(shown).not.toMatch(/"action_id":"menu\.charge(@abuja)?"/);
    expect(await set.shortcut('charge', caller)).toMatchObject({ command: { merchant: 'lagos' } });
  });

  it('look a message’s reference up at the channel’s account, else at the first', async () => {
    const { set, asked } = openSets();
    async function lookUp(text: string, channelId: string): Promise<void> {
      const found = await set.shortcut('lookup_here', { ...caller, channelId });
      if (found?.shortcut.kind !== 'message') throw new Error('no such shortcut');
      const prepared = found.shortcut.prepare([text]);
      await prepared.run({ caller, openModal: async () => 'V1', whileWaiting: (work) => work });
    }
    await lookUp('is ORDER-8 paid', 'C0LAGOS001');
    await lookUp('is ORDER-8 paid', 'C0DESK0001');
    expect(asked).toEqual(['lagos ORDER-8', 'main ORDER-8']);
  });
});
