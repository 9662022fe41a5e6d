import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Outside } from '../../src/config/config.ts';
import { runCommand } from '../../src/cli/run-command.ts';
import { signaturePresets, signDelivery, type SignatureScheme } from '../../src/webhooks/signature.ts';
import { outsideOf } from '../support/outside-of.ts';

const signedAtMs = Date.UTC(2026, 2, 1, 9, 30);
const secret = 'canary-webhook-secret-0001';
const scheme = signaturePresets['timestamped-pairs'];
const body = Buffer.from(
  '{"event_type":"payment_success","requestId":"r-1","data":{"order":{"orderReference":"SUB-1","customerId":"c-7","customerEmail":"jane@canary.test","amount":"5000.00"},"transaction":{"transactionId":"canary-transaction"},"tokenizedCardData":{"tokenKey":"canary-token-key"}}}',
);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'explain-delivery-'));
});
afterEach(() => rm(folder, { recursive: true }));

function outside(more: Record<string, string> = {}): Outside {
  const given = outsideOf({
    WEBHOOK_SIGNATURE_PRESET: 'timestamped-pairs',
    WEBHOOK_SECRETS: `an-older-secret-of-ours,${secret}`,
    DATA_DIR: '/dev/null/none',
    ...more,
  });
  return { ...given, now: () => signedAtMs + 86_400_000 };
}

async function explain(file: string | Buffer, words: string[] = [], more: Record<string, string> = {}) {
  const path = join(folder, 'delivery');
  await writeFile(path, file);
  return await runCommand('explain-delivery', [path, ...words], outside(more));
}

const at = ['--at', '2026-03-01T09:31:00Z'];

function rawRequest(of = body, headers: Record<string, string> = {}, lineEnd = '\r\n'): Buffer {
  const all = {
    Host: 'pay.test',
    'Content-Type': 'application/json',
    ...signDelivery(scheme, secret, body, signedAtMs),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const head = ['POST /webhooks/payments HTTP/1.1', ...lines, '', ''].join(lineEnd);
  return Buffer.concat([Buffer.from(head), of]);
}

describe('explain-delivery', () => {
  it.each(['\r\n', '\n'])(
    'explains a raw request that verifies, with %j at the end of its lines',
    async (end) => {
      const { exitCode, words } = await explain(rawRequest(body, {}, end), at);
      expect(exitCode).toBe(0);
      expect(words).toContain('Scheme: HMAC sha256 in hex over {pair:t}.{body}; the secret is read as utf8');
      expect(words).toContain(
        'Looked for the signature in: header x-webhook-signature, then x-signature (pair:v1)',
      );
      expect(words).toContain('Found: 1 signature in header x-webhook-signature');
      expect(words).toContain(
        `Signed (${body.length + 11} bytes, UTF-8; between the marks): «1772357400.{"event_type"`,
      );
      expect(words).toContain('60 s before 2026-03-01T09:31:00.000Z; within the tolerance of 300 s');
      expect(words).toMatch(
        /^Secret 1: expected .{6}… \(64 characters\), received .{6}… \(64 characters\): they differ from character \d+ on$/m,
      );
      expect(words).toMatch(/^Secret 2: .*: the same$/m);
      expect(words).toContain('Verdict: it verifies');
      expect(words).toContain('Event: payment_success');
      expect(words).toContain('  orderReference: “SUB-1” at /data/order/orderReference, signed');
      expect(words).toContain('  customerEmail: “j***@canary.test” at /data/order/customerEmail, signed');
      expect(words).toContain('  transactionId: [hidden] at /data/transaction/transactionId, signed');
      expect(words).toContain(
        '  reason: not found at /data/transaction/gatewayMessage, /data/message, /data/reason',
      );
    },
  );

  it('explains the same from JSON', async () => {
    const headers = signDelivery(scheme, secret, body, signedAtMs);
    const json = JSON.stringify({ headers, body: body.toString() });
    expect(await explain(json, at)).toMatchObject({ exitCode: 0 });
  });

  it('explains one that came by HTTP/2, and one that an editor put its mark before', async () => {
    const firstLine = 'POST /webhooks/payments HTTP/1.1\r\n';
    const rest = rawRequest().subarray(firstLine.length);
    const pseudo = ':method: POST\r\n:authority: pay.test\r\n:path: /webhooks/payments\r\n';
    for (const lead of [pseudo, `\uFEFF${firstLine}`, `\uFEFF${pseudo}`]) {
      const file = Buffer.concat([Buffer.from(lead), rest]);
      // oxlint-disable-next-line no-await-in-loop -- they share a file
      expect(await explain(file, at)).toMatchObject({ exitCode: 0 });
    }
  });

  it('shows no secret, token key, transaction or e-mail, and no whole signature, however it is asked', async () => {
    const [signature = ''] = Object.values(signDelivery(scheme, secret, body, signedAtMs));
    const digest = /v1=(.*)/.exec(signature)?.[1] ?? '';
    const forged = rawRequest(Buffer.concat([body, Buffer.from(' ')]));
    const ends = [
      await explain(rawRequest(), at),
      await explain(rawRequest()),
      await explain(forged, at),
      await explain(rawRequest(body, { Authorization: `Bearer ${secret}` }), at, {
        WEBHOOK_SIGNATURE_PRESET: 'static-token',
      }),
      await explain(rawRequest(body.subarray(0, -8)), at),
    ];
    for (const { words } of ends) {
      for (const hidden of [secret, 'an-older-secret', 'canary-t', 'jane@', digest, digest.slice(0, 12)]) {
        expect(words).not.toContain(hidden);
      }
    }
  });

  it('judges as of now without --at, and says so', async () => {
    const { exitCode, words } = await explain(rawRequest());
    expect(exitCode).toBe(1);
    expect(words).toContain('86400 s before 2026-03-02T09:30:00.000Z; outside the tolerance of 300 s');
    expect(words).toContain('Verdict: refused, the timestamp is too old');
    expect(words).toContain('Fix: the signature holds, and only its time does not.');
    expect(words).toContain('Judged as of now; --at judges as of when it came.');
  });

  it.each([String(signedAtMs / 1_000), String(signedAtMs), '2026-03-01T10:30:00+01:00'])(
    'takes --at %s',
    async (time) => expect(await explain(rawRequest(), ['--at', time])).toMatchObject({ exitCode: 0 }),
  );

  it('leaves out what stands behind the length that the headers tell', async () => {
    const file = Buffer.concat([
      rawRequest(body, { 'Content-Length': String(body.length) }),
      Buffer.from('\n'),
    ]);
    const { exitCode, words } = await explain(file, at);
    expect(exitCode).toBe(0);
    expect(words).toContain('Note: The file has 1 byte more than content-length says');
    const unmeasured = await explain(Buffer.concat([rawRequest(), Buffer.from('\n')]), at);
    expect(unmeasured).toMatchObject({
      exitCode: 1,
      words: expect.stringContaining('Fix: none of the presets fits. Check WEBHOOK_SECRETS'),
    });
  });

  it('says when the capture is shorter than it was', async () => {
    const { words } = await explain(rawRequest(body, { 'Content-Length': '999' }), at);
    expect(words).toContain('The body is incomplete, or was rewritten: content-length says 999');
  });

  it.each<[string, SignatureScheme, string]>([
    ['another algorithm', { ...scheme, algorithm: 'sha512' }, 'WEBHOOK_SIGNATURE_ALGORITHM=sha512'],
    ['another header', { ...scheme, headers: ['x-theirs'] }, 'WEBHOOK_SIGNATURE_HEADER=x-theirs'],
    ['another encoding', { ...scheme, encoding: 'base64' }, 'WEBHOOK_SIGNATURE_ENCODING=base64'],
    ['the whole body signed', signaturePresets['raw-body'], 'WEBHOOK_SIGNATURE_PRESET=raw-body'],
    ['the secret itself', signaturePresets['static-token'], 'WEBHOOK_SIGNATURE_PRESET=static-token'],
  ])('names the setting that fits %s', async (_what, theirs, fix) => {
    const headers = signDelivery(theirs, secret, body, signedAtMs);
    const { exitCode, words } = await explain(JSON.stringify({ headers, body: body.toString() }), at);
    expect(exitCode).toBe(1);
    expect(words).toContain(`Fix: it would verify with ${fix}`);
  });

  it('cuts a long body in the middle and makes its controls visible', async () => {
    const long = Buffer.from(`{"a":"${'x'.repeat(5_000)}"}\r\n\u001B[2J`);
    const { words } = await explain(rawRequest(long), at);
    expect(words).toMatch(/…\(\d+ characters left out\)…/);
    expect(words).toContain('}␍␊␛[2J»');
    expect(words).not.toContain('\u001B');
    expect(words).toContain('Event: none, the body is not JSON in UTF-8');
  });

  it('says what a signature of fields leaves unsigned', async () => {
    const fields = signaturePresets['field-concatenation'];
    const headers = signDelivery(fields, secret, body, signedAtMs);
    const { exitCode, words } = await explain(JSON.stringify({ headers, body: body.toString() }), at, {
      WEBHOOK_SIGNATURE_PRESET: 'field-concatenation',
    });
    expect(exitCode).toBe(0);
    expect(words).toContain('  amount: “5000.00” at /data/order/amount, not signed, so it is not used');
    expect(words).toContain('  kind: “payment_success” at /event_type, signed');
  });

  it('explains although the bot itself refuses everything', async () => {
    const bare = { WEBHOOK_SIGNATURE_PRESET: '', WEBHOOK_SECRETS: '' };
    const { exitCode, words } = await explain(rawRequest(), [], bare);
    expect(exitCode).toBe(1);
    expect(words).toContain('Scheme: none is configured');
    expect(words).toContain('Event: payment_success');
  });

  it.each<[string, string]>([
    ['{"headers":{}', 'it begins like JSON and cannot be read as JSON'],
    ['{"headers":{},"body":{"event":1}}', 'an object has lost the bytes that were signed'],
    ['{"headers":[],"body":"x"}', 'it needs "headers"'],
    ['POST / HTTP/1.1\r\nHost: x', 'no blank line ends its headers'],
    ['POST / HTTP/1.1\r\ncanary nonsense\r\n\r\n{}', 'line 1 of its headers is no header, like name: value'],
  ])('ends with 2 for %j', async (file, why) => {
    const end = await explain(file);
    expect(end).toMatchObject({ exitCode: 2, words: expect.stringContaining(why) });
    expect(end.words).not.toContain('canary');
  });

  it.each([
    [[]],
    [['--at', 'now']],
    [['file', '--at']],
    [['file', '--at', 'noon']],
    [['file', 'other', 'more', 'x']],
  ])('ends with 2 and the usage for %j', async (words) => {
    const end = await runCommand('explain-delivery', words, outside());
    expect(end).toMatchObject({ exitCode: 2, words: expect.stringContaining('npm run explain-delivery --') });
  });

  it('ends with 2 when there is no such file', async () => {
    const end = await runCommand('explain-delivery', [join(folder, 'none')], outside());
    expect(end).toEqual({ exitCode: 2, words: 'The file cannot be read: there is none of that name.' });
  });
});
