import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/command-line.ts';
import { seedCards } from '../../src/simulators/payments/seed.ts';
import { findCanaries } from '../support/canaries.ts';
import { openDesk, runHere, shareDesk, type CommandEnd } from '../support/desk.ts';
import { startPayops } from '../support/run-payops.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const lookupPath = '/v1/transactions/accounts/single';
const ada = seedCards.approves;
const [k1, k2] = ['k1', 'k2'].map((id, index) => `${id}:${Buffer.alloc(32, index + 1).toString('base64')}`);
const at = shareDesk({
  payments: { knownCards: true },
  env: {
    LOG_LEVEL: 'debug',
    SEALING_KEYS: k1 ?? '',
    PAYMENTS_TIMEOUT_SECONDS: '8',
    PAYMENTS_TOKEN_REVOKE_BODY: '{"accessToken":"{{ACCESS_TOKEN}}"}',
  },
});
const ask = (...words: string[]): Promise<CommandEnd> => at().runs(['payops', ...words]);

describe('payops lookup', () => {
  it('succeeds only for a proven payment, and says why not of any other', async () => {
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
    expect(await ask('lookup', 'NOPE-1')).toMatchObject({ code: 4, stderr: '' });
  });

  it('shows with --raw where a record has which field, and of its values only status and amounts', async () => {
    const { code, stdout } = await ask('lookup', 'ORDER-1001', '12,500.00', '--raw');
    expect(code).toBe(0);
    const [, fields = ''] = stdout.split('Fields of its record, values masked:\n');
    const lines = fields.split('\n');
    expect(lines).toContain('  /amount: 12500.00 (the amount you gave)');
    expect(lines).toContain('  /status: SUCCESS');
    expect(lines).toContain(
      '  /onlineCheckoutOrderReference: text of 10 characters (the reference you gave)',
    );
    expect(fields).not.toMatch(/ada|example\.com|ORDER-/i);
    const wrong = await ask('lookup', 'ORDER-1001', '1', '--raw', '--json');
    expect(wrong.code).toBe(3);
    expect(JSON.parse(wrong.stdout)).toMatchObject({
      fields: expect.arrayContaining([{ pointer: '/amount', shows: '12500.00' }]),
    });
  });

  it('prints one JSON document, amounts exact, the customer masked', async () => {
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
    expect(JSON.parse(none.stdout)).toMatchObject({ verdict: 'not_found', amount: null, evidence: [] });
  });

  it('with wrong arguments says so before it calls the service, and repeats no card number', async () => {
    const calls = at().house.paymentsGate.passed.length;
    const wrong = [
      ['lookup'],
      ['lookup', 'A', '1', '2'],
      ['lookup', 'A', '--csv'],
      ['lokup', 'A'],
      ['terminals', '--frob'],
      ['terminals', '--csv', '--json'],
      ['doubt', 'ORDER-1001'],
      ['--help', 'lookup', 'A'],
      ['lookup', '5555 5555 5555 4444'],
      // No success for a reference that reads like an option.
      ...['--version', '--help', '-h', '--json'].map((option) => ['lookup', option]),
    ];
    const ends = await Promise.all(wrong.map((words) => ask(...words)));
    expect(ends.map(({ code, stdout }) => ({ code, stdout }))).toEqual(
      wrong.map(() => ({ code: 2, stdout: '' })),
    );
    expect(ends.map(({ stderr }) => stderr).join('')).not.toContain('4444');
    expect(ends[3]?.stderr).toContain('Did you mean lookup?');
    expect(ends[6]?.stderr).toContain('Too many words.');
    expect(ends[4]?.stderr).toContain('There is no such option.');
    expect(at().house.paymentsGate.passed.length).toBe(calls);
    expect(await ask('lookup', '--', '--version')).toMatchObject({ code: 4 });
  });

  it('prints no data while the service or the store is away, and says what to try again', async (test) => {
    const desk = await openDesk(test, { env: { PAYMENTS_TIMEOUT_SECONDS: '1' } });
    for (const [weather, code, words] of [
      ['hang', 6, 'Check the network'],
      ['error_500', 6, 'Ask the payments service'],
      ['rate_limited', 6, 'as the service asks'],
      ['unauthorized', 7, 'PAYMENTS_CLIENT_SECRET'],
    ] as const) {
      await desk.house.payments.act({ kind: 'set_mode', mode: weather });
      const end = await desk.runs(['payops', 'lookup', 'ORDER-1001', '--json']);
      expect({ weather, ...end }).toMatchObject({ code, stdout: '' });
      expect(end.stderr).toContain(words);
    }
    // No replica may wait for the token that a command requested.
    expect(await desk.house.storeKeys('token:lock:')).toEqual([]);
    const gone = await desk.runs(['payops', 'lookup', 'A-1'], { PAYMENTS_BASE_URL: 'http://127.0.0.1:1' });
    expect(gone).toMatchObject({ code: 6, stdout: '' });
    expect(gone.stderr).toContain('Check PAYMENTS_BASE_URL');
    const away = { REDIS_URL: 'redis://127.0.0.1:1', SEALING_KEYS: k1 ?? '' };
    const noStore = await desk.runs(['payops', 'doubt'], away);
    expect(noStore).toMatchObject({ code: 6, stdout: '' });
    expect(noStore.stderr).toContain('The store does not answer');
  });
});

describe('payops terminals and accounts', () => {
  it('print the whole list as a table, CSV or one document, and how much was read', async () => {
    const all = await ask('terminals');
    expect(all).toMatchObject({ code: 0, stderr: '120 terminals read in 3 pages\n' });
    const lines = all.stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^terminalId +terminalLabel +merchantName/);
    expect(lines).toHaveLength(121);
    const csv = await ask('terminals', '--csv');
    expect(csv.stdout.trimEnd().split('\r\n')).toHaveLength(121);
    const none = await ask('terminals', 'nothing-like-it');
    expect(none).toMatchObject({ code: 4, stdout: '' });
    expect(none.stderr).toContain('No terminal matches “nothing-like-it”; 120 terminals read in 3 pages');
    const accounts = await ask('accounts', 'PLAYGROUND-SUB-00003', '--json');
    const shown = { kind: 'accounts', filter: 'PLAYGROUND-SUB-00003', found: 1, complete: true };
    expect(JSON.parse(accounts.stdout)).toMatchObject(shown);
    expect(accounts.stdout).not.toMatch(/@|phone/i);
  });

  it('say by code and words that they broke off, and still print one document', async (test) => {
    const desk = await openDesk(test, { payments: { rateLimit: { limit: 2, windowMs: 600_000 } } });
    const json = await desk.runs(['payops', 'terminals', '--json']);
    expect(json.code).toBe(6);
    expect(JSON.parse(json.stdout)).toMatchObject({
      found: 100,
      read: { pages: 2, items: 100 },
      complete: false,
    });
    expect(json.stderr).toContain('The list broke off: 100 terminals read in 2 pages.');
    expect(json.stderr).toContain('as the service asks');
  });
});

describe('payops doubt', () => {
  it('lists the running bot’s charges in doubt, and fails where no bot uses the store', async (test) => {
    const desk = await openDesk(test, {
      payments: { knownCards: true },
      env: { PAYMENTS_TIMEOUT_SECONDS: '1', LOG_LEVEL: 'debug' },
    });
    const settled = await desk.runs(['payops', 'doubt']);
    expect(settled).toMatchObject({ code: 0, stdout: expect.stringMatching(/^No charge is in doubt\n/) });
    await desk.opens('agent', '/pay charge 2500');
    await desk.submits('agent', { 'Saved card': 'ada' });
    await desk.house.payments.act({ kind: 'set_mode', mode: 'hang' });
    await desk.submits('agent');
    const modal = await desk.modalSays('agent', 'In doubt, checking');
    const [reference = ''] = /pay-\w+/.exec(modal.shown.text) ?? [];
    const doubt = await desk.runs(['payops', 'doubt']);
    expect(doubt.code).toBe(3);
    expect(doubt.stdout).toMatch(/^❔ 1 charge in doubt\n/);
    expect(doubt.stdout).toContain(reference);
    const json = await desk.runs(['payops', 'doubt', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      kind: 'doubt',
      count: 1,
      charges: [{ reference, amount: { currency: 'NGN' }, customerEmail: 'a***@example.com' }],
    });
    // From another machine, with the bot's store but another key, named like the key file.
    const SEALING_KEYS = `file:${Buffer.alloc(32, 1).toString('base64')}`;
    const unread = await desk.runs(['payops', 'doubt', '--json'], { SEALING_KEYS });
    expect(unread.code).toBe(3);
    expect(JSON.parse(unread.stdout)).toMatchObject({ count: 0, charges: [], unread: [reference] });

    const DATA_DIR = join(desk.house.folder, 'elsewhere');
    const elsewhere = await desk.runs(['payops', 'doubt'], { DATA_DIR });
    expect(elsewhere).toMatchObject({ code: 5, stdout: '' });
    expect(existsSync(DATA_DIR)).toBe(false);

    const settings = desk.house.settings();
    const { signingSecret } = desk.house.workspace.credentials;
    const canaries = {
      'client secret': settings['PAYMENTS_CLIENT_SECRET'] ?? '',
      'bot token': settings['SLACK_BOT_TOKEN'] ?? '',
      'signing secret': signingSecret,
      'token key': ada.tokenKey,
      customer: ada.customerEmail,
    };
    const printed = [settled, doubt, json, unread].map(({ stdout, stderr }) => stdout + stderr).join('\n');
    expect(findCanaries(canaries, { 'what was printed': printed })).toEqual([]);
  });
});

describe('audit verify', () => {
  it('accepts the trail of a new bot, and detects a missing one, with or without its store', async (test) => {
    const desk = await openDesk(test);
    expect(await desk.runs(['audit', 'verify'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^The audit trail is whole: it holds no entry yet\./),
    });
    await desk.asks('agent', '/pay ORDER-1001', 'Paid');
    const whole = { code: 0, stdout: expect.stringContaining('The audit trail is whole: 1 entry') };
    await desk.house.until('it is on record', async () => (await desk.house.storeKeys('audit:')).length > 0);
    expect(await desk.runs(['audit', 'verify'])).toMatchObject(whole);
    await desk.bot.stop();
    const db = new DatabaseSync(join(desk.house.dataDir, 'payops.sqlite'), { timeout: 5_000 });
    db.exec(`delete from entries where key like 'audit%' or key = 'store-audit'`);
    const removed = { code: 3, stdout: expect.stringContaining('the trail was removed') };
    expect(await desk.runs(['audit', 'verify'])).toMatchObject(removed);
    db.exec('delete from entries');
    db.close();
    expect(await desk.runs(['audit', 'verify'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('No bot has started on this store yet, or it was emptied'),
    });
    const DATA_DIR = join(desk.house.folder, 'elsewhere');
    expect(await desk.runs(['audit', 'verify'], { DATA_DIR })).toMatchObject({ code: 5, stdout: '' });
  });
});

describe('without settings', () => {
  it('prints help and version, each command’s usage, and ends everything else with 5', async () => {
    const help = await runHere(['payops', '--help'], {});
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(await runHere(['payops'], {})).toEqual(help);
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(await runHere(['--version'], {})).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    for (const name of Object.keys(commands)) {
      expect(help.stdout).toContain(`  ${name} `);
      const [own, beside] = [await runHere([name, '-h'], {}), await runHere([name, 'verify', '--help'], {})];
      const told = own.stdout + own.stderr;
      expect(own).toMatchObject(name === 'lookup' ? { code: 2, stdout: '' } : { code: 0, stderr: '' });
      expect(told).toMatch(new RegExp(`npm run (payops --silent -- )?${name}`));
      expect(beside).toMatchObject({ code: 2, stdout: '', stderr: told });
      expect(await runHere([name, 'one', 'word', 'too many', '--frob'], {})).toMatchObject({
        code: 2,
        stdout: '',
      });
    }
    for (const words of [['lookup', 'ORDER-1'], ['redrive']]) {
      const end = await runHere(words, {});
      expect(end).toMatchObject({ code: 5, stdout: '' });
      expect(end.stderr).toContain('Nothing was done. The settings have problems:');
      expect(end.stderr).toContain('PAYMENTS_ACCOUNT_ID is missing');
    }
    expect((await runHere(['revok-token'], {})).stderr).toContain('Payops has no command “revok-token”');
    // Words of JavaScript's objects are no commands.
    expect((await runHere(['constructor'], {})).stderr).toContain('Payops has no command “constructor”');
  });
});

describe('the operators’ commands', () => {
  it('revoke-token ends the shared token, and the next start gets a new one', async () => {
    const desk = at();
    await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
    const { tokensIssued } = desk.house.payments.stats();
    expect(await desk.runs(['revoke-token'], { PAYMENTS_TOKEN_REVOKE_BODY: '' })).toMatchObject({ code: 5 });
    expect(await desk.runs(['revoke-token'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^The shared access token is revoked .+ and forgotten here\./),
    });
    expect(desk.house.payments.stats()).toMatchObject({ tokensIssued, tokensRevoked: 1 });
    expect(await desk.runs(['revoke-token'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The store holds no access token'),
    });
    await desk.restarts();
    await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
    expect(desk.house.payments.stats()).toMatchObject({ tokensIssued: tokensIssued + 1 });
  });

  it('revoke-token says if the service refuses, or may have done it', async () => {
    const desk = at();
    await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
    for (const [weather, code, words] of [
      ['error_500', 6, 'Whether the access token was revoked is not known'],
      ['unauthorized', 7, 'Nothing was revoked'],
    ] as const) {
      await desk.house.payments.act({ kind: 'set_mode', mode: weather });
      const end = await desk.runs(['revoke-token']);
      expect(end).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(words) });
    }
    await desk.house.payments.act({ kind: 'set_mode', mode: 'normal' });
  });

  it('reseal seals everything with the first key, which is then enough for the bot', async () => {
    const desk = at();
    const SEALING_KEYS = `${k2},${k1}`;
    expect(await desk.runs(['reseal'], { SEALING_KEYS })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+ records resealed with k2\.\nNothing is sealed with k1\./),
    });
    await desk.restarts({ SEALING_KEYS });
    expect(await desk.runs(['reseal'], { SEALING_KEYS })).toMatchObject({ code: 0 });
    await desk.restarts({ SEALING_KEYS: k2 ?? '' });
    await desk.opens('agent', '/pay charge 10.00');
    const review = await desk.submits('agent', { 'Saved card': '4081' });
    expect(review?.shown.text).toContain('·· 4081');
    const trail = await desk.runs(['audit', 'verify'], { SEALING_KEYS: k2 ?? '' });
    expect(trail.stdout).toContain('The audit trail is whole');
  });

  it('forget-cards forgets all that the bot remembers of a customer, and nothing at the service', async () => {
    const desk = at();
    const SEALING_KEYS = k2 ?? '';
    const forget = (...words: string[]) => desk.runs(['forget-cards', ...words], { SEALING_KEYS });
    expect((await forget(ada.customerEmail)).stdout).toContain(
      'One saved card of this address is forgotten here',
    );
    expect((await forget(ada.customerEmail)).stdout).toContain(
      'The store holds no saved card of this address',
    );
    await desk.opens('agent', '/pay charge 10.00');
    await expect(desk.submits('agent', { 'Saved card': '4081' })).rejects.toThrow('offers nothing');
    expect(desk.house.payments.state().cards.map(({ tokenKey }) => tokenKey)).toContain(ada.tokenKey);
    const masked = await forget('a***@example.com');
    expect(masked).toMatchObject({ code: 2, stdout: '' });
    expect(masked.stderr).toContain('That e-mail is masked');
    const mistyped = await forget('4242424242424242');
    expect(mistyped).toMatchObject({ code: 2, stdout: '' });
    expect(mistyped.stderr).not.toContain('4242');
    expect((await desk.runs(['forget-cards', ada.customerEmail], { DATA_DIR: '/dev/null/none' })).code).toBe(
      5,
    );
  });

  it('rehearse says what the rules, or others, would have posted in the last 7 days', async () => {
    const desk = at();
    const policy = join(desk.house.folder, 'new.yml');
    const rehearse = (routes: string) => {
      writeFileSync(policy, `channels:\n  alerts: C0ALERTS01\nroutes:\n${routes}`);
      return desk.runs(['rehearse', '--policy', policy], { SEALING_KEYS: k2 ?? '' });
    };
    await desk.house.decline();
    await desk.settled();
    const inForce = await desk.runs(['rehearse'], { SEALING_KEYS: k2 ?? '' });
    expect(inForce.stdout).toMatch(/^Of the 5 events of the last 7 days/);
    const other = await rehearse('  - { name: usd, when: { currency: USD }, to: C0BIG00001 }\n');
    expect(other.stdout).toContain('usd → C0BIG00001: no alerts');
    expect(other.stdout).toMatch(/channels\.alerts → C0ALERTS01: \d alerts?, worst hour/);
    const never = await rehearse('  - { name: all, to: C0BIG00001 }\n  - { name: never, to: C0BIG00001 }\n');
    expect(never).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('routes.1 (never) can never fit'),
    });
    expect(await desk.runs(['rehearse', '--policy', `${policy}.none`])).toMatchObject({ code: 1 });
    expect((await desk.runs(['redrive'], { SEALING_KEYS: k2 ?? '' })).stdout).toContain(
      'Everything was delivered',
    );
  });
});

describe('as a process', () => {
  it('ends with its code: quietly if the reader leaves, with words if the disk is full, and at Ctrl-C', async () => {
    const { house } = at();
    const run = (...words: string[]) => startPayops(words, house.settings({ SEALING_KEYS: k2 ?? '' }));
    const first = house.paymentsGate.hold(lookupPath, 'before');
    const unread = run('lookup', 'ORDER-1002');
    unread.child.stdout.destroy();
    (await first).release();
    expect(await unread.ended).toMatchObject({ code: 141, stderr: '' });
    expect(await run('lookup', 'ORDER-1002').ended).toMatchObject({ code: 3, stderr: '' });

    const held = house.paymentsGate.hold(lookupPath, 'before');
    const interrupted = run('lookup', 'ORDER-1001');
    const { release } = await held;
    interrupted.child.kill('SIGINT');
    expect(await interrupted.ended).toEqual({ code: 130, stdout: '', stderr: '' });
    release();

    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [join(root, 'src/main.ts'), 'payops', '--help'], {
      env: {},
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    const ended = new Promise((resolve) => child.once('close', resolve));
    expect(await text(child.stderr!)).toBe('The output cannot be written: ENOSPC\n');
    expect(await ended).toBe(1);
  });
});
