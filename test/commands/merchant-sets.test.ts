import { describe, expect, it } from 'vitest';
import { withHints } from '../../src/commands/merchant-hints.ts';
import { createMerchantSets, type MerchantVerbs } from '../../src/commands/merchant-sets.ts';
import { createVerbs } from '../../src/commands/registry.ts';
import { accountColours, merchantLabel } from '../../src/domain/merchant.ts';
import { findViewProblems, assertBlocks } from '../../src/slack/assert-blocks.ts';
import { accountModalId } from '../../src/slack/account/account-actions.ts';
import { cardEmailModalId } from '../../src/slack/card-email/form-modal.ts';
import { chargeFields, chargeModalId } from '../../src/slack/charge/charge-modal.ts';
import type { Caller, Command, MayRun, Pressed } from '../../src/slack/command.ts';
import { lookUpActionId } from '../../src/slack/evidence.ts';
import { linkModalId } from '../../src/slack/link/link-actions.ts';
import { linkFields } from '../../src/slack/link/link-form.ts';
import type { Modal, SlackMessage } from '../../src/slack/message.ts';
import { placeOf } from '../../src/slack/people/place.ts';
import { createFakeDesk } from './charge-stage.ts';
import { quietVerbs } from './quiet-verbs.ts';

const caller: Caller = { userId: 'U0AGENT01' };
const inModal: Caller = { ...caller, from: 'modal' };
const allowAll: MayRun = async () => ({ kind: 'allowed' });
const nothingNewAtAbuja: MayRun = async (permission) =>
  permission === 'account-new@abuja'
    ? { kind: 'refused', rule: 'It needs a role', whoCan: 'The leads' }
    : { kind: 'allowed' };
const atLagosAlone: MayRun = async (permission) =>
  permission.endsWith('@lagos')
    ? { kind: 'allowed' }
    : { kind: 'refused', rule: 'It needs a role', whoCan: 'The leads' };
const names = ['main', 'lagos', 'abuja'];

/** Which account was asked for what. */
type Asked = string[];

function verbsOf(name: string, asked: Asked, own: readonly string[]): Command[] {
  const place = { environment: 'live' as const, account: name };
  return createVerbs({
    ...quietVerbs(place),
    findTransaction: async (reference) => void asked.push(`${name} ${reference}`),
    desk: createFakeDesk(),
    ledger: { search: async () => [], find: async () => undefined, idOf: async () => '' },
    isOnRecord: async (reference) => own.includes(reference),
  });
}

type Options = { mayRun?: MayRun; own?: Record<string, readonly string[]>; labels?: readonly string[] };

function openSets({ mayRun = allowAll, own = {}, labels = names }: Options = {}) {
  const asked: Asked = [];
  const all = labels.map((label, index): MerchantVerbs => ({
    merchant: { name: names[index] ?? `name-${index}`, isFirst: index === 0, isMixed: false },
    environment: 'live',
    label,
    channels: index === 1 ? ['C0LAGOS001'] : [],
    verbs: verbsOf(label, asked, own[names[index] ?? ''] ?? []),
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

  /** Chooses the account in the form; gives what stands there then, or what was opened on top of it. */
  async function choose(form: Modal, name: string, values: Record<string, string> = {}) {
    const [block] = form.blocks;
    const element = block?.type === 'actions' ? block.elements[0] : undefined;
    if (element?.type !== 'static_select') throw new Error('no choice of an account');
    const value = element.options?.find((option) => option.value?.includes(`"${name}"`))?.value ?? '';
    const shown: { updated?: Modal; opened?: Modal } = {};
    const pressed: Pressed = {
      caller: inModal,
      value,
      view: { id: 'V1', privateMetadata: form.private_metadata ?? '', values },
      openModal: async (modal) => {
        shown.opened = modal;
        return 'V2';
      },
      updateModal: async (modal) => void (shown.updated = modal),
      reply: () => Promise.resolve(),
    };
    const found = set.press(element.action_id ?? '');
    if (!found) throw new Error(`nothing claims ${element.action_id}`);
    await found.press.press(pressed);
    return shown;
  }
  return { set, asked, type, choose };
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

  it('goes to the account that has the charge on record, whatever the channel says, unless one is named', async () => {
    const { type, asked } = openSets({ own: { abuja: ['pay-1'] } });
    await type('pay-1', 'C0LAGOS001');
    await type('pay-1 --account lagos');
    expect(asked).toEqual(['abuja pay-1', 'lagos pay-1']);
  });

  it('names the accounts when several have it on record, and asks none', async () => {
    const { type, asked } = openSets({ own: { main: ['pay-1'], abuja: ['pay-1'] } });
    const { message } = await type('pay-1');
    expect(message?.text).toBe('Several accounts have something here · main · abuja');
    expect(JSON.stringify(message)).toContain('/pay lookup pay-1 --account abuja');
    expect(asked).toEqual([]);
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

describe('the choice of an account in a form', () => {
  const typed = {
    [chargeFields.amount]: '77.00',
    [chargeFields.currency]: 'USD',
    [chargeFields.email]: 'ada@example.com',
    [chargeFields.reason]: 'September',
    [chargeFields.token]: 'lagos-token-canary',
    [chargeFields.customerId]: 'CUST-7',
    [chargeFields.card]: 'lagos-card-canary',
  };

  it('puts that account’s form in the place, with what is not the other’s', async () => {
    const { type, choose } = openSets();
    const { modal } = await type('charge 12,500.00 --account lagos');
    if (!modal) throw new Error('no form');
    expect(modal.callback_id).toBe(`${chargeModalId}@lagos`);
    const { updated } = await choose(modal, 'abuja', typed);
    expect(findViewProblems(updated)).toEqual([]);
    expect(updated?.callback_id).toBe(`${chargeModalId}@abuja`);
    const shown = JSON.stringify(updated);
    for (const kept of ['77.00', 'USD', 'ada@example.com', 'September']) expect(shown).toContain(kept);
    expect(shown).not.toMatch(/canary|CUST-7|@lagos/);
    expect(updated?.blocks.find((block) => block.block_id === chargeFields.currency)).toMatchObject({
      element: { initial_option: { value: 'USD' } },
    });
  });

  it('keeps the words of the command', async () => {
    const { type, choose } = openSets();
    const { modal } = await type('charge 12,500.00');
    if (!modal) throw new Error('no form');
    expect(JSON.stringify((await choose(modal, 'lagos')).updated)).toContain('12,500.00');
  });

  it('refuses an account that the person may not use, and leaves the form as it is', async () => {
    const { type, choose } = openSets({ mayRun: nothingNewAtAbuja });
    const { modal } = await type('account new');
    if (!modal) throw new Error('no form');
    const { updated, opened } = await choose(modal, 'abuja');
    expect(updated).toBeUndefined();
    expect(JSON.stringify(opened)).toContain('It needs a role');
    expect((await choose(modal, 'lagos')).updated?.callback_id).toBe(`${accountModalId}@lagos`);
  });

  it('judges the place where the form was opened, for the account that is chosen', async () => {
    const asked: (readonly [string, string | undefined])[] = [];
    const mayRun: MayRun = async (permission, by) => {
      asked.push([permission, placeOf(by)]);
      return { kind: 'allowed' };
    };
    for (const [channelId, place] of [
      ['C0DESK0001', 'C0DESK0001'],
      ['D0AGENT001', 'direct'],
      [undefined, 'direct'],
    ] as const) {
      const { type, choose } = openSets({ mayRun });
      // oxlint-disable-next-line no-await-in-loop -- three
      const { modal } = await type('charge 1', channelId);
      if (!modal) throw new Error('no form');
      asked.length = 0;
      // oxlint-disable-next-line no-await-in-loop
      const { updated } = await choose(modal, 'abuja');
      if (!updated) throw new Error('no other form');
      // And again from the form that took its place.
      // oxlint-disable-next-line no-await-in-loop
      await choose(updated, 'lagos');
      expect(asked).toEqual([
        ['charge@abuja', place],
        ['charge@lagos', place],
      ]);
    }
  });

  it('is one that Slack takes, with twenty accounts of the longest and oddest labels', async () => {
    const oddest = ['𝕷'.repeat(20), 'م'.repeat(40), '&<>*_~`'.repeat(5), '👩‍👩‍👧‍👦'.repeat(3)];
    const labels = Array.from({ length: 20 }, (_, index) =>
      merchantLabel(oddest[index % oddest.length] ?? '', accountColours[index % accountColours.length]),
    );
    const { type, choose } = openSets({ labels });
    for (const command of ['charge 1', 'card-email', 'account new', 'link 1']) {
      // oxlint-disable-next-line no-await-in-loop -- four
      const { modal } = await type(command);
      if (!modal) throw new Error('no form');
      // oxlint-disable-next-line no-await-in-loop
      expect(findViewProblems((await choose(modal, 'name-19')).updated)).toEqual([]);
    }
  });
});

describe('a payment link’s form', () => {
  it('stays the channel’s when another account is chosen, and keeps what is not an account’s', async () => {
    const { type, choose } = openSets();
    const { modal } = await type('link 150.00', 'C0DESK0001');
    if (!modal) throw new Error('no form');
    const typed = {
      [linkFields.amount]: '77.00',
      [linkFields.email]: 'ada@example.com',
      [linkFields.reference]: 'OUR-7',
      [linkFields.place]: 'alone',
      [linkFields.customerId]: 'CUST-7',
    };
    const { updated } = await choose(modal, 'abuja', typed);
    expect(updated).toMatchObject({
      callback_id: `${linkModalId}@abuja`,
      private_metadata: 'C0DESK0001',
    });
    expect(findViewProblems(updated)).toEqual([]);
    const shown = JSON.stringify(updated);
    for (const kept of ['77.00', 'ada@example.com', 'OUR-7', 'abuja']) expect(shown).toContain(kept);
    expect(shown).not.toContain('CUST-7');
    expect(updated?.blocks.find((block) => block.block_id === linkFields.place)).toMatchObject({
      element: { initial_option: { value: 'alone' } },
    });
  });
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

  it('look a message’s reference up at the account that has it on record, else at the channel’s', async () => {
    const { set, asked } = openSets({ own: { abuja: ['LINK-7'] } });
    async function lookUp(text: string, channelId: string): Promise<void> {
      const found = await set.shortcut('lookup_here', { ...caller, channelId });
      if (found?.shortcut.kind !== 'message') throw new Error('no such shortcut');
      const prepared = found.shortcut.prepare([text]);
      await prepared.run({ caller, openModal: async () => 'V1', whileWaiting: (work) => work });
    }
    await lookUp('is LINK-7 paid', 'C0LAGOS001');
    await lookUp('is ORDER-8 paid', 'C0LAGOS001');
    await lookUp('is ORDER-8 paid', 'C0DESK0001');
    expect(asked).toEqual(['abuja LINK-7', 'lagos ORDER-8', 'main ORDER-8']);
  });
});

describe('a refusal for one account', () => {
  it('says for which others the person may do it', async () => {
    const mayRun = withHints(
      async (permission) =>
        permission === 'charge@lagos'
          ? { kind: 'allowed' }
          : { kind: 'refused', rule: 'It needs the permission “charge”', whoCan: 'Nobody' },
      names,
    );
    expect(await mayRun('charge@main', caller)).toMatchObject({
      whoCan: 'Nobody. You can with --account lagos',
    });
    expect(await mayRun('charge@lagos', caller)).toEqual({ kind: 'allowed' });
    expect(await mayRun('otp@main', caller)).toMatchObject({ whoCan: 'Nobody' });
  });
});
