import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { judgeSeen } from '../../../src/features/doctor/account-checks.ts';
import { runChecks } from '../../../src/features/doctor/checks.ts';
import { dueWork, unopenedStore } from '../../../src/features/doctor/store-checks.ts';
import { unopened } from '../../../src/store/sqlite-file.ts';

const unknown = {
  atMs: Date.UTC(2026, 2, 2, 9),
  why: 'One is of the kind “charge.disputed”, which the bot doesn’t know',
};

const minutes = (count: number) => count * 60_000;
const asked = (oldestDueMs: number, due: { free: number; leased: number; paused: number }) =>
  dueWork({ store: { backlog: async () => ({ oldestDueMs, due }) } });

describe('the doctor’s check of webhook deliveries', () => {
  it('warns of an event of unknown kind until a known one comes, and mentions it even then', () => {
    expect(judgeSeen({ unknown })).toMatchObject({
      state: 'warning',
      says: expect.stringContaining('charge.disputed'),
    });
    const later = judgeSeen({ unknown, acceptedAtMs: unknown.atMs + 1 });
    expect(later).toMatchObject({
      state: 'ok',
      says: expect.stringMatching(/^The last one came at .*charge\.disputed.*WEBHOOK_EVENT_POINTERS/),
    });
  });
});

describe('the doctor’s check of due work', () => {
  it('says that no bot does the work, that a bot does other work, or that no work is overdue', async () => {
    const nobody = await asked(minutes(15), { free: 1, leased: 0, paused: 0 });
    expect(nobody).toMatchObject({ state: 'problem', says: expect.stringContaining('no bot does it') });
    const other = await asked(minutes(15), { free: 1, leased: 1, paused: 0 });
    expect(other).toMatchObject({
      state: 'warning',
      says: expect.stringContaining('the bot does other work'),
    });
    for (const due of [
      { free: 0, leased: 1, paused: 0 },
      { free: 1, leased: 1, paused: 1 },
    ])
      expect(await asked(minutes(15), due)).toMatchObject({ state: 'ok' });
    expect(await asked(minutes(4), { free: 1, leased: 1, paused: 0 })).toMatchObject({ state: 'ok' });
  });
});

describe('the doctor’s check over HTTP', () => {
  it('names a broken connection, and calls it no bug', async () => {
    const server = createServer((request) => void request.socket.destroy());
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const look = async () =>
      await fetch(`http://127.0.0.1:${port}`).then(() => ({ state: 'ok', says: '' }) as const);
    const logged: string[] = [];
    const found = await runChecks([{ part: 'Payments clock', look }], 5_000, (_level, message) => {
      logged.push(message);
    });
    server.close();
    expect(found).toEqual([
      {
        part: 'Payments clock',
        state: 'problem',
        says: 'The connection failed',
        fix: 'Check the network between the bot and it, then run the doctor again.',
      },
    ]);
    expect(logged).toEqual(['The doctor could not look at Payments clock']);
  });
});

it('tells the whole fix of a store whose disk is full, not its last sentence alone', () => {
  const { says, fix } = unopenedStore(unopened('data/payops.sqlite', new Error('database or disk is full')));
  expect(says).toMatch(/disk of DATA_DIR is full \(database or disk is full\)$/);
  expect(fix).toMatch(/^Free some of it\. .*restart it\.$/);
});
