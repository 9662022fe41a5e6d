import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { filledPolicyFile } from '../support/filled-policy.ts';
import { operatorCommands } from '../../src/app/command-line/run-command.ts';
import { operatorHelp } from '../../src/cli/operator-commands.ts';
import { startPlayground } from '../../src/playground/playground.ts';
import { findCanaries } from '../support/canaries.ts';
import { openChargeDialogue } from '../support/charge-dialogue.ts';
import type { House } from '../support/house.ts';
import { openPayopsDesk } from '../support/payops-desk.ts';
import { runPayops } from '../support/run-payops.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

function calls(house: House): number {
  return house.paymentsGate.passed.length;
}

describe.concurrent('payops lookup', () => {
  it('succeeds for a proven payment alone, and says why not of any other', async (test) => {
    const { ask } = await openPayopsDesk(test);
    const paid = await ask('lookup', 'ORDER-1001');
    expect(paid).toMatchObject({ code: 0, stderr: '' });
    expect(paid.stdout).toMatch(
      /^✅ Paid \(confirmed\) · NGN 12,500\.00 · a\*\*\*@example\.com · ORDER-1001\n {2}✓ Status is SUCCESS\n/,
    );
    expect(await ask('lookup', 'ORDER-1001', '12,500.00')).toMatchObject({ code: 0 });
    const other = await ask('lookup', 'ORDER-1001', '12,500.01');
    expect(other).toMatchObject({ code: 3, stderr: '' });
    expect(other.stdout).toContain('✗ Amount NGN 12,500.00 differs from the amount you gave');
    expect(await ask('lookup', 'ORDER-1002')).toMatchObject({ code: 3, stderr: '' });
    const none = await ask('lookup', 'NOPE-1');
    expect(none).toMatchObject({ code: 4, stderr: '' });
    expect(none.stdout).toMatch(/^🔎 Not found · NOPE-1\n/);
  });

  it('prints one JSON document, amounts exact, the customer masked', async (test) => {
    const { ask } = await openPayopsDesk(test);
    const { code, stdout, stderr } = await ask('lookup', 'ORDER-1003', '--json');
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'transaction',
      verdict: 'not_confirmed',
      reference: 'ORDER-1003',
      amount: { minor: 1_400_000, decimal: '14000.00', currency: 'NGN' },
      evidence: [
        { part: 'status', holds: true },
        { part: 'reference', holds: true },
        { part: 'amount', holds: false },
      ],
      transaction: {
        customerEmail: 'a***@example.com',
        orderAmount: { minor: 1_500_000, decimal: '15000.00', currency: 'NGN' },
      },
      merchant: { environment: 'live', account: 'Lagos store' },
    });
    const none = await ask('lookup', 'NOPE-1', '--json');
    expect(none.code).toBe(4);
    expect(JSON.parse(none.stdout)).toMatchObject({
      verdict: 'not_found',
      amount: null,
      transaction: null,
      evidence: [],
    });
  });

  it('is no success for a reference that reads like an option', async (test) => {
    const { house, ask } = await openPayopsDesk(test);
    for (const reference of ['--version', '--help', '-h', '--quiet', '--playground']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const end = await ask('lookup', reference);
      expect(end).toMatchObject({ code: 2, stdout: '' });
      expect(end.stderr).toContain('payops');
    }
    expect(calls(house)).toBe(0);
    expect(await ask('lookup', '--', '--version')).toMatchObject({ code: 4 });
  });

  it('is misunderstood aloud, before anybody is asked, and repeats no card number', async (test) => {
    const { house, ask } = await openPayopsDesk(test);
    const wrong = [
      ['lookup'],
      ['lookup', 'A', '1', '2'],
      ['lookup', 'A', '--csv'],
      ['lokup', 'A'],
      ['terminals', '--frob'],
      ['terminals', '--csv', '--json'],
      ['account', 'short'],
      ['doubt', 'ORDER-1001'],
      ['--quiet', 'redrive'],
      ['lookup', '5555 5555 5555 4444'],
    ];
    const ends = await Promise.all(wrong.map((words) => ask(...words)));
    expect(ends.map(({ code, stdout }) => ({ code, stdout }))).toEqual(
      wrong.map(() => ({ code: 2, stdout: '' })),
    );
    expect(ends.map(({ stderr }) => stderr).join('')).not.toContain('4444');
    expect(ends[3]?.stderr).toContain('Did you mean lookup?');
    expect(calls(house)).toBe(0);
  });
});

describe.concurrent('without settings', () => {
  it('payops helps, tells its version, and refuses everything else with a code of its own', async () => {
    const env = { PATH: process.env['PATH'] ?? '' };
    const [bare, help, version, lookup, redrive] = await Promise.all(
      [[], ['--help'], ['--version'], ['lookup', 'ORDER-1'], ['redrive']].map((words) =>
        runPayops(words, env),
      ),
    );
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help?.stdout).toContain('lookup <reference> [amount]');
    expect(bare).toEqual(help);
    const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(version).toEqual({ code: 0, stdout: `${packageJson.version}\n`, stderr: '' });
    for (const end of [lookup, redrive]) {
      expect(end).toMatchObject({ code: 5, stdout: '' });
      expect(end?.stderr).toContain('Nothing was done. The settings have problems:');
      expect(end?.stderr).toContain('PAYMENTS_ACCOUNT_ID is missing');
    }
  });

  it('tells how each operator’s command is typed, and beside other words does none of them', async () => {
    const env = { PATH: process.env['PATH'] ?? '' };
    const { stdout: all } = await runPayops(['--help'], env);
    const names = Object.keys(operatorHelp);
    expect(names).toEqual([...operatorCommands]);
    for (const name of names) {
      expect(all).toContain(`  ${name} `);
      // oxlint-disable-next-line no-await-in-loop -- two cores
      const [help, beside] = await Promise.all(
        [['--help'], ['verify', '-h']].map((words) => runPayops([name, ...words], env)),
      );
      expect(help).toMatchObject({ code: 0, stderr: '' });
      expect(help?.stdout).toContain(`npm run ${name}`);
      expect(beside).toMatchObject({ code: 2, stdout: '', stderr: help?.stdout });
    }
  });

  it('puts what was found out about a delivery where data goes, also when it does not verify', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'payops-delivery-'));
    const path = join(folder, 'delivery.http');
    writeFileSync(path, 'POST / HTTP/1.1\r\nx-signature: abc\r\n\r\n{}');
    const settings = {
      PATH: process.env['PATH'] ?? '',
      SLACK_BOT_TOKEN: 'xoxb-token',
      SLACK_SIGNING_SECRET: 'ca4a2700ca4a2700ca4a2700ca4a2700',
      PAYMENTS_SANDBOX_URL: 'https://payments.test',
      PAYMENTS_ACCOUNT_ID: '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38',
      PAYMENTS_STATIC_TOKEN: 'token',
      PAYOPS_FILE: filledPolicyFile,
      WEBHOOK_SIGNATURE_PRESET: 'raw-body',
      WEBHOOK_SECRETS: 'a-secret-of-this-test-alone',
    };
    const end = await runPayops(['explain-delivery', path], settings);
    rmSync(folder, { recursive: true });
    expect(end).toMatchObject({ code: 1, stderr: '' });
    expect(end.stdout).toContain('Verdict: refused');
  });
});

describe.concurrent('when the service is away', () => {
  it('prints no data, says what helps, and tells what may be tried again from what may not', async (test) => {
    const { house, ask } = await openPayopsDesk(test, { env: { PAYMENTS_TIMEOUT_SECONDS: '3' } });
    for (const [weather, code, words] of [
      ['hang', 6, 'PAYMENTS_TIMEOUT_SECONDS'],
      ['error_500', 6, 'try again in a few minutes'],
      ['rate_limited', 6, 'as the service asks'],
      ['unauthorized', 7, 'PAYMENTS_CLIENT_SECRET'],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one weather after the other
      await house.payments.act({ kind: 'set_weather', weather });
      for (const asked of [
        ['lookup', 'ORDER-1001', '--json'],
        ['terminals', '--csv'],
      ]) {
        // oxlint-disable-next-line no-await-in-loop
        const end = await ask(...asked);
        expect({ weather, ...end }).toMatchObject({ code, stdout: '' });
        expect(end.stderr).toContain(words);
      }
    }
    const gone = await runPayops(
      ['lookup', 'ORDER-1001'],
      house.settings({ PAYMENTS_BASE_URL: 'http://127.0.0.1:1' }),
    );
    expect(gone).toMatchObject({ code: 6, stdout: '' });
    expect(gone.stderr).toContain('check PAYMENTS_BASE_URL');
    const away = {
      REDIS_URL: 'redis://127.0.0.1:1',
      SEALING_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
    };
    const noStore = await runPayops(['doubt'], house.settings(away));
    expect(noStore).toMatchObject({ code: 6, stdout: '' });
    expect(noStore.stderr).toContain('The store does not answer');
  });
});

describe.concurrent('payops account', () => {
  it('finds one by reference and by id, masked, and says what is not there', async (test) => {
    const { ask } = await openPayopsDesk(test);
    const byReference = await ask('account', 'PLAYGROUND-SUB-00003', '--json');
    const { account } = JSON.parse(byReference.stdout) as { account: { accountId: string; email: string } };
    expect(byReference.code).toBe(0);
    expect(account.email).toBe('p***@example.com');
    const byId = await ask('account', account.accountId);
    expect(byId).toMatchObject({ code: 0, stderr: '' });
    expect(byId.stdout).toMatch(/^Account · Surulere Branch · active · PLAYGROUND-SUB-00003\n/);
    expect(await ask('account', 'NOBODYS-ACCOUNT-0001')).toMatchObject({ code: 4, stderr: '' });
  });
});

describe.concurrent('payops doubt, and all that is printed', () => {
  it('lists what the running bot does not know yet, and no secret stands anywhere', async (test) => {
    const { house, ask } = await openPayopsDesk(test, {
      payments: { knownCards: true },
      env: { PAYMENTS_TIMEOUT_SECONDS: '1', LOG_LEVEL: 'debug' },
    });
    const bot = house.bot();
    await house.start(bot);
    await house.cardsKnown();
    const settled = await ask('doubt');
    expect(settled.code).toBe(0);
    expect(settled.stdout).toMatch(/^No charge is in doubt\n/);

    const dialogue = openChargeDialogue(house);
    await house.payments.act({ kind: 'set_weather', weather: 'hang' });
    await dialogue.charge('agent', { amount: '2500', card: 'ada' });
    await dialogue.modalSays('agent', 'In doubt, checking');
    const [key = ''] = await house.storeKeys('charge:');
    const reference = key.slice('charge:'.length);
    const doubt = await ask('doubt');
    expect(doubt.code).toBe(3);
    expect(doubt.stdout).toMatch(/^❔ 1 charge without a known outcome\n/);
    expect(doubt.stdout).toContain(reference);
    const json = await ask('doubt', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      kind: 'doubt',
      count: 1,
      charges: [{ reference, amount: { currency: 'NGN' }, customerEmail: expect.stringMatching(/^.\*{3}@/) }],
    });

    // As somebody's own machine may ask, with the bot's store and another key.
    // Of the key file's own name, so that the file is not read.
    const SEALING_KEYS = `file:${Buffer.alloc(32, 1).toString('base64')}`;
    const unread = await runPayops(['doubt'], house.settings({ SEALING_KEYS }));
    expect(unread).toMatchObject({ code: 3 });
    expect(unread.stdout).toMatch(/^❔ 1 charge that cannot be opened with these SEALING_KEYS\n/);
    const unreadJson = await runPayops(['doubt', '--json'], house.settings({ SEALING_KEYS }));
    expect(unreadJson).toMatchObject({ code: 3 });
    expect(JSON.parse(unreadJson.stdout)).toMatchObject({ count: 0, charges: [], unread: [reference] });

    await house.payments.act({ kind: 'set_weather', weather: 'normal' });
    const ends = await Promise.all([
      ask('lookup', 'ORDER-1001'),
      ask('lookup', 'ORDER-1001', '--json'),
      ask('account', 'PLAYGROUND-SUB-00003', '--json'),
      ask('accounts', '--csv'),
      ask('accounts', '--all', '--json'),
    ]);
    await house.payments.act({ kind: 'set_weather', weather: 'unauthorized' });
    ends.push(await ask('lookup', 'ORDER-1001'), doubt, json, settled);
    const issued = house.paymentsGate.passed.find(({ path }) => path === '/v1/auth/token/issue');
    const token = /"accessToken":"([^"]+)"/.exec(issued?.answer ?? '')?.[1] ?? '';
    const settings = house.settings();
    const canaries = {
      'access token': token,
      'client secret': settings['PAYMENTS_CLIENT_SECRET'] ?? '',
      'bot token': settings['SLACK_BOT_TOKEN'] ?? '',
      'signing secret': settings['SLACK_SIGNING_SECRET'] ?? '',
      'token key': 'tok-ada-approves',
      customer: 'ada.obi@example.com',
      'account’s e-mail': 'playground-sub-00003@',
    };
    const printed = ends.map(({ stdout, stderr }) => stdout + stderr).join('\n');
    expect(findCanaries(canaries, { 'what was printed': printed })).toEqual([]);
  });
});

describe.concurrent('a command that was not answered', () => {
  it('leaves no replica waiting for the token that it asked for', async (test) => {
    const { house, ask } = await openPayopsDesk(test, { env: { PAYMENTS_TIMEOUT_SECONDS: '2' } });
    await house.payments.act({ kind: 'set_weather', weather: 'hang' });
    expect(await ask('lookup', 'ORDER-1001')).toMatchObject({ code: 6 });
    expect(await house.storeKeys('token:lock:')).toEqual([]);
  });
});

describe.concurrent('payops doubt where no bot has its store', () => {
  it('is no proof that no outcome is open', async (test) => {
    const { house } = await openPayopsDesk(test);
    const DATA_DIR = join(house.folder, 'elsewhere');
    const end = await runPayops(['doubt'], house.settings({ DATA_DIR }));
    expect(end).toMatchObject({ code: 5, stdout: '' });
    expect(end.stderr).toContain('DATA_DIR');
    expect(existsSync(DATA_DIR)).toBe(false);
  });
});

/** npm as a person starts it, with no setting of ours. */
function npm(words: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  return new Promise((resolve) => {
    execFile('npm', words, { cwd: root, env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

describe.concurrent('the playground', () => {
  const fromReadme = 'npm run payops -- --playground lookup ORDER-1001';

  it('is asked by the command of README with no settings of one’s own', async (test) => {
    const playground = await startPlayground();
    test.onTestFinished(() => playground.close());
    const { port } = new URL(playground.url);
    // Another port than the usual one, which somebody may be using.
    const end = await npm([...fromReadme.split(' ').slice(1), '--playground-port', port]);
    expect(end).toMatchObject({ code: 0 });
    expect(end.stdout).toContain('✅ Paid (confirmed) · NGN 12,500.00');
    const piped = await npm(
      `run payops --silent -- --playground-port ${port} lookup ORDER-1002 --json`.split(' '),
    );
    expect(piped.code).toBe(3);
    expect(JSON.parse(piped.stdout)).toMatchObject({ verdict: 'not_confirmed' });
    expect(await runPayops(['--playground-port', port, 'lookup', 'NOPE-1'], {})).toMatchObject({ code: 4 });
  });

  it('that does not run is told as such', async () => {
    const end = await runPayops(['--playground-port', '1', 'lookup', 'ORDER-1001'], {});
    expect(end).toMatchObject({ code: 5, stdout: '' });
    expect(end.stderr).toContain('npm run playground');
  });
});
