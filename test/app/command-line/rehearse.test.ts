import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openKept } from '../../../src/app/kept.ts';
import type { Outside } from '../../../src/app/outside.ts';
import { runCommand } from '../../../src/app/command-line/run-command.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { createEventLog } from '../../../src/operations/alert/event-log.ts';

const nowMs = Date.UTC(2026, 10, 21, 12);
const event: PaymentEvent = { kind: 'payment_failed', key: 'k', currency: 'NGN', amountMinor: 500 };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rehearse-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function policy(name: string, routes: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `channels:\n  alerts: C0ALERTS01\nroutes:\n${routes}`);
  return path;
}

async function openOutside(): Promise<Outside> {
  const result = readConfig({
    SLACK_BOT_TOKEN: 'xoxb-token',
    SLACK_SIGNING_SECRET: 'ca4a2700ca4a2700ca4a2700ca4a2700',
    PAYMENTS_SANDBOX_URL: 'https://payments.test',
    PAYMENTS_ACCOUNT_ID: '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38',
    PAYMENTS_TOKEN_ISSUE_BODY: '{}',
    PAYOPS_FILE: await policy('payops.yml', '  - { name: ours, when: { currency: NGN }, to: C0BIG00001 }\n'),
    DATA_DIR: join(folder, 'data'),
  });
  if (result.kind === 'refused') throw new Error(result.problems.join('\n'));
  return { config: result.config, log: () => undefined, now: () => nowMs };
}

/** Three an hour for two hours, one more in the second, and one that is too old. */
async function fillLog(outside: Outside): Promise<void> {
  const kept = openKept(outside);
  const log = createEventLog({ ...kept, now: outside.now, log: outside.log });
  const times = [1, 1, 1, 2, 2, 2, 2, 24 * 7 + 1].map((hours) => nowMs - hours * 3_600_000);
  await Promise.all(times.map((atMs, index) => log.add({ ...event, key: `k${index}` }, atMs)));
  await kept.close();
}

describe('rehearse', () => {
  it('says what the rules in force would have posted in the last 7 days', async () => {
    const outside = await openOutside();
    await fillLog(outside);
    const end = await runCommand('rehearse', [], outside);
    expect(end).toEqual({
      exitCode: 0,
      words: [
        'Of the 7 events of the last 7 days (the first 2026-11-21 10:00 UTC) these rules would have posted, mutes left out:',
        '  ours → C0BIG00001: 7, worst hour 4',
        '  channels.alerts → C0ALERTS01: 0',
      ].join('\n'),
    });
  });

  it('tries the rules of another file before they are deployed', async () => {
    const outside = await openOutside();
    await fillLog(outside);
    const path = await policy(
      'new.yml',
      '  - { name: usd, when: { currency: USD }, to: C0BIG00001 }\n  - { name: asks, when: { reason: funds }, to: C0BIG00001 }\n',
    );
    const { exitCode, words } = await runCommand('rehearse', ['--policy', path], outside);
    expect(exitCode).toBe(0);
    expect(words).toContain('usd → C0BIG00001: 0');
    expect(words).toContain('channels.alerts → C0ALERTS01: 7, worst hour 4');
    expect(words).toContain('7 of them were not looked up, as these rules would have it');
  });

  it('refuses rules that a start would refuse, and words it does not know', async () => {
    const outside = await openOutside();
    const path = await policy(
      'new.yml',
      '  - { name: all, to: C0BIG00001 }\n  - { name: never, to: C0BIG00001 }\n',
    );
    expect(await runCommand('rehearse', ['--policy', path], outside)).toMatchObject({
      exitCode: 1,
      words: expect.stringContaining('routes.1 (never) can never fit'),
    });
    expect(await runCommand('rehearse', ['--policy', join(folder, 'none.yml')], outside)).toMatchObject({
      exitCode: 1,
      words: expect.stringMatching(/cannot be read \(ENOENT\): name one that is there behind --policy\.$/),
    });
    const misspelt = await policy(
      'roles.yml',
      '  - { name: all, to: C0BIG00001 }\nroles: { lead: { may: [lokup] } }\n',
    );
    expect(await runCommand('rehearse', ['--policy', misspelt], outside)).toMatchObject({
      exitCode: 1,
      words: expect.stringContaining('“lokup” is not a permission. Did you mean lookup?'),
    });
    expect(await runCommand('rehearse', ['new.yml'], outside)).toMatchObject({ exitCode: 2 });
    expect(await runCommand('rehearse', ['--policy'], outside)).toMatchObject({ exitCode: 2 });
  });

  it('says so when there is nothing to rehearse with', async () => {
    const end = await runCommand('rehearse', [], await openOutside());
    expect(end).toMatchObject({ exitCode: 0, words: expect.stringContaining('nothing can be said') });
  });
});
