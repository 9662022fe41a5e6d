import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openKept } from '../../../src/app/kept.ts';
import type { Outside } from '../../../src/app/outside.ts';
import { runCommand } from '../../../src/app/command-line/run-command.ts';
import { createCardLedger, type CardLedger } from '../../../src/operations/card/card-ledger.ts';
import { openFingerprint } from '../../../src/operations/work/fingerprint.ts';
import { findProgram } from '../../support/programs.ts';
import { startRedis } from '../../support/redis-server.ts';
import { outsideOf } from '../outside-of.ts';

const email = 'ada.canary@example.com';
const cards = ['canary-token-1', 'canary-token-2'].map((tokenKey) => ({ tokenKey, customerEmail: email }));
const olu = { tokenKey: 'canary-token-3', customerEmail: 'olu@example.com' };
const sealingKeys = `k1:${randomBytes(32).toString('base64')}`;

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'forget-cards-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

function outside(more: Record<string, string> = {}): Outside & { lines: string[] } {
  const lines: string[] = [];
  const log: Outside['log'] = (...line) => void lines.push(JSON.stringify(line));
  return { ...outsideOf({ DATA_DIR: dataDir, ...more }), log, lines };
}

async function withLedger<T>(settings: Record<string, string>, use: (ledger: CardLedger) => Promise<T>) {
  const given = outside(settings);
  const kept = openKept(given);
  try {
    await kept.checked();
    const { store, sealer } = kept;
    const fingerprint = openFingerprint({ store, sealer, log: given.log });
    return await use(
      createCardLedger({ store, sealer, fingerprint, keepMs: 1_095 * 86_400_000, now: given.now }),
    );
  } finally {
    await kept.close();
  }
}

async function rememberAll(settings: Record<string, string> = {}): Promise<void> {
  await withLedger(settings, async (ledger) => {
    for (const card of [...cards, olu]) await ledger.remember(card);
  });
}

function left(settings: Record<string, string> = {}): Promise<(string | undefined)[]> {
  return withLedger(settings, async (ledger) =>
    (await ledger.search('', 10)).map((card) => card.customerEmail),
  );
}

describe('forget-cards', () => {
  it('forgets every card of the address and tells how many, and nothing of them', async () => {
    await rememberAll();
    const given = outside();
    const end = await runCommand('forget-cards', ['Ada.Canary@example.com'], given);
    expect(end).toEqual({
      exitCode: 0,
      words: '2 saved cards of this address are forgotten here. At the payments service nothing has changed.',
    });
    expect(`${end.words}${given.lines.join()}`).not.toMatch(/canary/i);
    expect(await left()).toEqual(['olu@example.com']);
    expect(await runCommand('forget-cards', ['olu@example.com'], outside())).toMatchObject({
      exitCode: 0,
      words: expect.stringMatching(/^One saved card of this address is forgotten/),
    });
  });

  it('opens what the key file sealed when SEALING_KEYS are set later', async () => {
    await rememberAll();
    expect(await left({ SEALING_KEYS: sealingKeys })).toHaveLength(3);
    const end = await runCommand('forget-cards', [email], outside({ SEALING_KEYS: sealingKeys }));
    expect(end).toMatchObject({ exitCode: 0, words: expect.stringMatching(/^2 saved cards/) });
  });

  it('says that there was none, which is no failure', async () => {
    expect(await runCommand('forget-cards', [email], outside())).toEqual({
      exitCode: 0,
      words: 'The store holds no saved card of this address. Run this with the very settings of the bot.',
    });
  });

  it.each([[], ['ada'], ['ada@example'], ['4242424242424242'], ['canary-token-1'], [email, email]])(
    'refuses what is not one e-mail address, %j, without repeating it',
    async (...words: string[]) => {
      await rememberAll();
      expect(await runCommand('forget-cards', words, outside())).toEqual({
        exitCode: 2,
        words:
          'Nothing was forgotten. Give one e-mail address, such as: npm run forget-cards -- ada@example.com',
      });
      expect(await left()).toHaveLength(3);
    },
  );

  it('does not claim to have forgotten when the store cannot be opened, read or reached', async () => {
    await rememberAll();
    const noFolder = await runCommand('forget-cards', [email], outside({ DATA_DIR: '/dev/null/none' }));
    expect(noFolder).toMatchObject({ exitCode: 1, words: expect.stringContaining('DATA_DIR') });
    // Of the key file's own name, so that the file is not read.
    const fileGone = { SEALING_KEYS: sealingKeys.replace('k1:', 'file:') };
    const otherKey = await runCommand('forget-cards', [email], outside(fileGone));
    expect(otherKey).toMatchObject({ exitCode: 1, words: expect.stringContaining('Put the sealing key') });
    const away = outside({ REDIS_URL: 'redis://127.0.0.1:1', SEALING_KEYS: sealingKeys });
    expect(await runCommand('forget-cards', [email], away)).toMatchObject({
      exitCode: 1,
      words: expect.stringContaining('The store does not answer'),
    });
    expect(await left()).toHaveLength(3);
  });

  it.skipIf(findProgram('redis-server') === undefined)('forgets in Redis too', async () => {
    const server = await startRedis();
    try {
      const settings = { REDIS_URL: server.url, SEALING_KEYS: sealingKeys };
      await rememberAll(settings);
      expect(await runCommand('forget-cards', [email], outside(settings))).toMatchObject({ exitCode: 0 });
      expect(await left(settings)).toEqual(['olu@example.com']);
    } finally {
      await server.stop();
    }
  });
});
