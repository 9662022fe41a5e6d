import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type * as FileSystem from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { openDraft } from '../../../src/cli/connect/draft.ts';
import {
  envWith,
  policyText,
  serviceSettings,
  shownSettings,
  writeOver,
} from '../../../src/cli/connect/written-files.ts';
import { policySchema } from '../../../src/config/policy.ts';

/** A file that is mounted by itself, as containers do: it can be written, but not replaced. */
const mounted = vi.hoisted(() => ({ path: '' }));
vi.mock(import('node:fs'), async (load): Promise<typeof FileSystem> => {
  const fs = await load();
  function renameSync(from: string, to: string): void {
    if (to === mounted.path) throw Object.assign(new Error('busy'), { code: 'EBUSY' });
    fs.renameSync(from, to);
  }
  return { ...fs, renameSync } as typeof FileSystem;
});

const before = `# ours
PORT=3000

export PAYMENTS_PAID_STATUSES=OLD # a word
REDIS_URL='redis://a b'
`;

describe('the .env file', () => {
  it('keeps every unchanged line, and removes blank settings', () => {
    const text = envWith(before, { PAYMENTS_PAID_STATUSES: 'SETTLED', PORT: '' }, 'By connect');
    expect(text).toEqual({
      ok: true,
      value: `# ours\n\nREDIS_URL='redis://a b'\n\n# By connect\nPAYMENTS_PAID_STATUSES=SETTLED\n`,
    });
  });

  it.each([
    'plain',
    'a b',
    'a#b',
    '{"a":"{{CLIENT_ID}}"}',
    `it's "so"`,
    '$HOME',
    '"',
    "'",
    '=x',
    'ends\\',
    '\\n',
  ])('reads %s back unchanged', (value) => {
    const text = envWith('', { PAYMENTS_CLIENT_SECRET: value }, 'By connect');
    expect(text.ok && parseEnv(text.value)).toEqual({ PAYMENTS_CLIENT_SECRET: value });
  });

  it.each([
    ['"open', `'"open'`],
    ["'open", `"'open"`],
    ['pa$$word', `'pa$$word'`],
  ])('quotes %s as Node and Compose both read it', (value, written) => {
    const text = envWith('', { PAYMENTS_CLIENT_SECRET: value }, 'By connect');
    expect(text).toMatchObject({ ok: true, value: expect.stringContaining(`=${written}\n`) });
  });

  it.each(["it's $HOME", "'\\ #", `'"#`, '#\\'])(
    'refuses %s, which Compose would read differently',
    (value) => {
      const text = envWith('', { PAYMENTS_CLIENT_SECRET: value }, 'By connect');
      expect(text).toMatchObject({ ok: false, problem: expect.stringContaining('PAYMENTS_CLIENT_SECRET') });
    },
  );

  it('is refused if a value would not be read back unchanged, without showing the value', () => {
    const secret = `\n'"\`#canary`;
    const text = envWith('', { PAYMENTS_CLIENT_SECRET: secret }, 'By connect');
    expect(text).toMatchObject({ ok: false, problem: expect.stringContaining('PAYMENTS_CLIENT_SECRET') });
    expect(JSON.stringify(text)).not.toContain('canary');
    const overLines = 'PAYMENTS_CLIENT_ID="a\nPORT=b"\n';
    expect(envWith(overLines, { PORT: '3000' }, 'By connect').ok).toBe(false);
  });

  it('shows no secret', () => {
    const shown = shownSettings({ PAYMENTS_CLIENT_SECRET: 'canary', PORT: '1', HOST: '' });
    expect(shown).toBe('PAYMENTS_CLIENT_SECRET=(secret)\nPORT=1\nHOST taken out');
  });
});

describe('a service’s set', () => {
  const changes = {
    PAYMENTS_SANDBOX_URL: 'https://x.test',
    PAYMENTS_ACCOUNT_ID: '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38',
    PAYMENTS_CLIENT_SECRET: 'secret-canary',
    PAYMENTS_TOKEN_ISSUE_BODY: '{"id":"{{CLIENT_ID}}"}',
    PAYMENTS_PAID_STATUSES: 'SETTLED',
    WEBHOOK_SECRETS: 'other-canary',
    WEBHOOK_SIGNED_TEMPLATE: '{body}',
    WEBHOOK_KINDS: 'charge.failed=failed',
    WEBHOOK_FORWARD_URL: 'https://backend.test',
    SLACK_MODE: 'socket',
    PORT: '3000',
  };

  it('has the settings that every merchant needs, and no secret, address or id', () => {
    expect(serviceSettings(changes, ['secret-canary'])).toEqual({
      PAYMENTS_TOKEN_ISSUE_BODY: '{"id":"{{CLIENT_ID}}"}',
      PAYMENTS_PAID_STATUSES: 'SETTLED',
      WEBHOOK_SIGNED_TEMPLATE: '{body}',
      WEBHOOK_KINDS: 'charge.failed=failed',
    });
  });

  it('leaves out a value that contains a secret', () => {
    const pasted = { ...changes, PAYMENTS_TOKEN_ISSUE_BODY: '{"s":"secret-canary"}' };
    expect(serviceSettings(pasted, ['secret-canary'])).not.toHaveProperty('PAYMENTS_TOKEN_ISSUE_BODY');
  });

  it('has settings that are not written again if PAYMENTS_SERVICE names it', () => {
    const draft = openDraft({ PAYMENTS_SERVICE: 'specification' });
    expect(draft.textOf('CHARGE_RETRY_WAIT_HOURS')).toBe('24');
    draft.take({ CHARGE_RETRY_WAIT_HOURS: '24', PAYMENTS_PAID_STATUSES: 'SETTLED' });
    expect(draft.changes()).toEqual({ PAYMENTS_PAID_STATUSES: 'SETTLED' });
  });

  it('replaces the same settings of the environment', () => {
    const draft = openDraft({ PAYMENTS_PAID_STATUSES: 'OLD' });
    draft.take({ PAYMENTS_PAID_STATUSES: 'SETTLED', PAYMENTS_FEE_POINTER: '/fee', PORT: '3001' });
    draft.moveToSet('bank', { PAYMENTS_PAID_STATUSES: 'SETTLED', PAYMENTS_FEE_POINTER: '/fee' });
    expect(draft.changes()).toEqual({ PORT: '3001', PAYMENTS_PAID_STATUSES: '', PAYMENTS_SERVICE: 'bank' });
  });
});

it('the policy file is valid, with three channels and the people who may use the bot', () => {
  const channels = { alerts: 'C0ALERTS01', desk: 'C0DESK0001', ops: 'C0OPS00001' };
  const text = policyText({ channels, members: ['U0AGENT01'] });
  expect(policySchema.parse(parse(text))).toMatchObject({
    channels,
    roles: { agents: { users: ['U0AGENT01'], may: ['*'] } },
  });
});

it('an overwritten file is kept beside the new one, also behind a link and after a second run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payops-written-'));
  const [path, real] = [join(folder, '.env'), join(folder, 'real.env')];
  writeFileSync(real, 'before');
  symlinkSync(real, path);
  const old = writeOver(path, 'after', 0o600);
  expect(old && readFileSync(old, 'utf8')).toBe('before');
  expect(readFileSync(real, 'utf8')).toBe('after');
  expect(statSync(real).mode & 0o777).toBe(0o600);
  expect(writeOver(join(folder, 'new'), 'text', 0o644)).toBeUndefined();

  const second = writeOver(path, 'after that', 0o600);
  expect(second && readFileSync(second, 'utf8')).toBe('after');
  expect(old && readFileSync(old, 'utf8')).toBe('before');
  rmSync(folder, { recursive: true });
});

it('a file that is mounted by itself is written in place, and no second file with secrets is left', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payops-written-'));
  const path = join(folder, '.env');
  writeFileSync(path, 'before and longer');
  mounted.path = realpathSync(path);
  expect(writeOver(path, 'after', 0o600)).toBe(`${path}.before-connect`);
  expect(readFileSync(path, 'utf8')).toBe('after');
  expect(readdirSync(folder).toSorted()).toEqual(['.env', '.env.before-connect']);
  mounted.path = '';
  rmSync(folder, { recursive: true });
});
