import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { accountCommand } from '../../../src/commands/account.ts';
import { terminalsCommand } from '../../../src/commands/terminals.ts';
import type { PageAnswer } from '../../../src/domain/service-page.ts';
import { terminalMatches, type Terminal } from '../../../src/domain/terminal.ts';
import { createListExporter } from '../../../src/operations/service/export-list.ts';
import { createServiceList } from '../../../src/operations/service/service-list.ts';
import { accountModalId } from '../../../src/slack/account/account-actions.ts';
import type { MayRun } from '../../../src/slack/command.ts';
import { listActionId, type ListButton } from '../../../src/slack/list/list-message.ts';
import type { UploadedFile } from '../../../src/slack/upload-file.ts';
import { sealer } from '../../operations/house.ts';
import { memoryStore } from '../../operations/memory-store.ts';
import { mockTheOutside } from '../../support/mocks.ts';
import type { RunningBot } from '../../support/running-bot.ts';
import { runningBots } from '../../support/running-bots.ts';

mockTheOutside();

const run = runningBots();

const place = { environment: 'live', account: 'Main shop' } as const;

async function start(
  options: {
    pages?: number;
    patienceMs?: number;
    mayRun?: MayRun;
    gate?: Promise<void>;
    refused?: readonly string[];
  } = {},
) {
  const { pages = 3, gate } = options;
  const asked: (string | undefined)[] = [];
  const made: string[] = [];
  const clock = { nowMs: 1 };
  const store = memoryStore(clock);
  const files: { to: unknown; file: UploadedFile }[] = [];
  const terminals = createServiceList<Terminal>({
    store,
    sealer,
    name: 'terminals',
    item: z.object({ terminalId: z.string() }),
    async readPage(cursor): Promise<PageAnswer<Terminal>> {
      asked.push(cursor);
      if (options.refused?.includes(cursor ?? '')) return { kind: 'cursor_refused' };
      const number = Number(cursor ?? 0);
      if (number > 4) await gate;
      const items = Array.from({ length: 50 }, (_, index) => ({ terminalId: `T${number * 50 + index}` }));
      return { kind: 'page', items, ...(number + 1 < pages ? { cursor: String(number + 1) } : {}) };
    },
    matches: terminalMatches,
    now: () => 1,
  });
  const account = accountCommand({
    ...place,
    now: () => 1,
    findAccount: async () => ({ kind: 'not_found' }),
    accountDesk: {
      async begin({ viewId }) {
        made.push(viewId);
        return { kind: 'begun', wanted: {}, carryOn: async () => ({ kind: 'doubt', lookUp: 'failed' }) };
      },
    },
    accountFields: [],
    showEnd: async () => undefined,
  });
  const bot = await run({
    more: [
      terminalsCommand({
        terminals,
        exports: {
          terminals: createListExporter({ store, name: 'terminals', list: terminals, now: () => 1 }),
        },
        async shareFile(to, file) {
          files.push({ to, file });
          return { kind: 'here' };
        },
        ...place,
        now: () => Date.UTC(2026, 10, 21, 10, 2),
      }),
      account,
    ],
    ...(options.patienceMs === undefined ? {} : { patienceMs: options.patienceMs }),
    ...(options.mayRun === undefined ? {} : { mayRun: options.mayRun }),
  });
  const press = (which: ListButton, value: string) =>
    bot.press({ actionId: listActionId('terminals', which), value, isEphemeral: true });
  return { bot, asked, made, press, files, clock };
}

/** The value of a shown button, as Slack would send it back. */
function valueOf(bot: RunningBot, which: string): string {
  const told = JSON.stringify(bot.told.at(-1)?.blocks);
  const buttons = JSON.parse(told) as { type: string; elements: { action_id: string; value: string }[] }[];
  const found = buttons.flatMap(({ type, elements }) => (type === 'actions' ? elements : []));
  return found.find(({ action_id: id }) => id === `terminals.${which}`)?.value ?? '';
}

describe('a list in Slack', () => {
  it('is paged in place, by its buttons', async () => {
    const { bot, asked, press } = await start();
    await bot.type('terminals');
    expect(bot.told.at(-1)?.text).toBe('Terminals 1–50 · page 1 · more follow');
    expect(JSON.stringify(bot.told.at(-1)?.blocks)).toContain('1 call of the service for this');
    await press('next', valueOf(bot, 'next'));
    expect(bot.told.at(-1)).toMatchObject({
      text: expect.stringContaining('51–100'),
      replace_original: true,
    });
    await press('back', valueOf(bot, 'back'));
    expect(bot.told.at(-1)?.text).toContain('1–50');
    expect(JSON.stringify(bot.told.at(-1)?.blocks)).toContain('No call of the service');
    expect(asked).toEqual([undefined, '1']);
  });

  it('begins anew, and says so, when it is kept no more or the service refuses its cursor', async () => {
    const refused = ['1'];
    const { bot, asked, press, clock } = await start({ refused });
    await bot.type('terminals');
    const old = valueOf(bot, 'next');
    await press('next', old);
    expect(bot.told.at(-1)?.text).toContain('Read anew');
    expect(JSON.stringify(bot.told.at(-1)?.blocks)).toMatch(/does not take the cursor.*Terminals 1–50/);
    expect(asked).toEqual([undefined, '1', undefined]);
    refused.pop();
    await press('next', valueOf(bot, 'next'));
    expect(bot.told.at(-1)?.text).toContain('51–100');
    clock.nowMs += 30 * 60_000 + 1;
    await press('back', valueOf(bot, 'back'));
    expect(JSON.stringify(bot.told.at(-1)?.blocks)).toMatch(/half an hour.*Terminals 1–50/);
    expect(asked).toEqual([undefined, '1', undefined, '1', undefined]);
  });

  it('is made a CSV of, with progress, once for two presses, and comes back below the news of it', async () => {
    const gate = Promise.withResolvers<void>();
    const { bot, press, asked, files } = await start({ pages: 9, patienceMs: 200, gate: gate.promise });
    await bot.type('terminals');
    const value = valueOf(bot, 'csv');
    const pressed = press('csv', value);
    while (!bot.told.at(-1)?.text.includes('Making the CSV')) {
      // oxlint-disable-next-line no-await-in-loop
      await bot.next();
    }
    expect(bot.told.at(-1)?.text).toBe('⏳ Making the CSV of all terminals … · read 5 pages, 250 rows');
    const again = press('csv', value);
    while (!bot.told.at(-1)?.text.includes('A CSV of yours is being made already')) {
      // oxlint-disable-next-line no-await-in-loop
      await bot.next();
    }
    gate.resolve();
    await Promise.all([pressed, again]);
    expect(bot.told.at(-1)).toMatchObject({
      text: '📄 CSV of 450 terminals · in this conversation, for all who are in it',
      replace_original: true,
    });
    expect(JSON.stringify(bot.told.at(-1)?.blocks)).toMatch(
      /Terminals 1–50.*8 calls of the service for this/,
    );
    expect(asked.length).toBe(9);
    expect(files.length).toBe(1);
    expect(files[0]?.to).toMatchObject({ channelId: expect.any(String), userId: expect.any(String) });
    const { name, title, text, comment } = files[0]?.file ?? {};
    expect([name, title]).toEqual(['terminals-2026-11-21-1002.csv', 'CSV of 450 terminals']);
    expect(comment).toBe('450 terminals · LIVE · Main shop');
    expect(text?.split('\r\n').length).toBe(452);
    // Another press later makes another.
    await press('csv', value);
    expect(files.length).toBe(2);
  });

  it('writes what matches when a filter is in force, and says so', async () => {
    const { bot, press, files, asked } = await start({ pages: 9 });
    await bot.type('terminals T44');
    await press('csv', valueOf(bot, 'csv'));
    expect(bot.told.at(-1)?.text).toContain('📄 CSV of 11 terminals that match “T44”');
    expect(files[0]?.file.comment).toContain('11 terminals that match “T44”, of 450 terminals');
    expect(files[0]?.file.text.split('\r\n').length).toBe(13);
    expect(asked.length).toBe(9);
  });

  it('takes no button that is not its own, and a forged one shows nothing', async () => {
    const { bot, press, asked } = await start();
    for (const value of [
      '',
      '{}',
      '[1]',
      'null',
      '{"list":"a","filter":"","number":-1}',
      '{"list":"a","filter":"","number":1e99}',
    ]) {
      // oxlint-disable-next-line no-await-in-loop
      await press('next', value);
      expect(bot.told.at(-1)?.text).toContain('of no use any more');
    }
    expect(asked).toEqual([]);
    // Another person's list is as good as none: what comes is one's own.
    await press('next', JSON.stringify({ list: 'not-mine', filter: '', number: 1 }));
    expect(bot.told.at(-1)?.text).toContain('Read anew');
    expect(asked).toEqual([undefined]);
  });

  it('shows how far it is while it searches, and then what it found', async () => {
    const gate = Promise.withResolvers<void>();
    const { bot, press } = await start({ pages: 9, patienceMs: 200, gate: gate.promise });
    await bot.type('terminals T44');
    expect(bot.told.at(-1)?.text).toBe('1 terminal matches “T44” · searched 5 of the pages, 250 terminals');
    const pressed = press('all', valueOf(bot, 'all'));
    while (!bot.told.at(-1)?.text.includes('Searching')) {
      // oxlint-disable-next-line no-await-in-loop
      await bot.next();
    }
    expect(bot.told.at(-1)?.text).toBe('⏳ Searching … · 5 pages · 250 terminals · 1 found for “T44”');
    gate.resolve();
    await pressed;
    expect(bot.told.at(-1)).toMatchObject({
      text: '11 terminals match “T44” · searched all 9 pages, 450 terminals',
      replace_original: true,
    });
  });

  it('refuses a filter that is a card number, without repeating it', async () => {
    const { bot, asked } = await start();
    await bot.type('terminals 4111 1111 1111 1111');
    expect(bot.toldText()).not.toContain('4111');
    expect(asked).toEqual([]);
  });
});

const mayRun: MayRun = async (permission) =>
  permission === 'account-new'
    ? { kind: 'refused', rule: 'not in a role', whoCan: 'the leads' }
    : { kind: 'allowed' };

describe('the permission to create an account', () => {
  it('is needed besides the verb’s own for the form', async () => {
    const { bot } = await start({ mayRun });
    await bot.type('account new');
    expect(bot.told.at(-1)?.text).toContain('Not allowed');
    await bot.type('account SUB00000000000000001');
    expect(bot.told.at(-1)?.text).toContain('Not found');
  });

  it('is asked for again when the form is submitted', async () => {
    const { bot, made } = await start({ mayRun });
    const answer = await bot.submit({ view: { id: 'V9', callbackId: accountModalId } });
    expect(JSON.stringify(answer.body)).toContain('Not allowed');
    expect(made).toEqual([]);
    const allowed = await start();
    await allowed.bot.submit({ view: { id: 'V9', callbackId: accountModalId } });
    expect(allowed.made).toEqual(['V9']);
  });
});
