import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Runtime } from '../../src/config/config.ts';
import { readCommand, type CommandEnd } from '../../src/cli/command.ts';
import { explainDeliveryCommand } from '../../src/cli/explain-delivery.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import type { SignatureScheme } from '../../src/webhooks/signed-delivery.ts';
import {
  presetScheme,
  readSignatureScheme,
  type RecipeSettings,
} from '../../src/webhooks/webhook-settings.ts';
import { runtimeOf } from '../support/runtime-of.ts';
import { signDelivery } from '../support/sign-delivery.ts';

const signedAtMs = Date.UTC(2026, 2, 1, 9, 30);
const secret = 'canary-webhook-secret-0001';
const scheme = presetScheme('timestamped-pairs');
const body = Buffer.from(
  '{"event_type":"payment_success","requestId":"r-1","data":{"order":{"orderReference":"SUB-1","customerId":"c-7","customerEmail":"jane@canary.test","amount":"5000.00"},"transaction":{"transactionId":"canary-transaction"},"tokenizedCardData":{"tokenKey":"canary-token-key"}}}',
);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'explain-delivery-'));
});
afterEach(() => rm(folder, { recursive: true }));

function runtime(more: Record<string, string> = {}): Runtime {
  const given = runtimeOf({
    WEBHOOK_SIGNATURE_PRESET: 'timestamped-pairs',
    WEBHOOK_SECRETS: `an-older-secret-of-ours,${secret}`,
    DATA_DIR: '/dev/null/none',
    ...more,
  });
  return { ...given, now: () => signedAtMs + 86_400_000 };
}

async function run(words: readonly string[], of: Runtime): Promise<CommandEnd> {
  const asked = readCommand(explainDeliveryCommand, words);
  if (!asked.ok) return { exitCode: exitCodes.usage, words: asked.problem };
  if ('runWithoutSettings' in asked.value) throw new Error('It needs the settings.');
  return await asked.value.run(of, () => Promise.reject(new Error('It writes no pieces.')));
}

async function explain(file: string | Buffer, words: string[] = [], more: Record<string, string> = {}) {
  const path = join(folder, 'delivery');
  await writeFile(path, file);
  return await run([path, ...words], runtime(more));
}

const at = ['--at', '2026-03-01T09:31:00Z'];

function rawRequest(of = body, headers: Record<string, string> = {}, lineEnd = '\r\n', by = scheme): Buffer {
  const all = {
    Host: 'pay.test',
    'Content-Type': 'application/json',
    ...signDelivery(by, secret, body, signedAtMs),
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
      expect(words).toContain('Verdict: it verifies');
      expect(words).toContain('Event: payment_success');
      expect(words).toContain('  orderReference: at /data/order/orderReference, signed');
      expect(words).toContain(
        '  reason: not found at /data/transaction/gatewayMessage, /data/message, /data/reason',
      );
    },
  );

  it('explains a capture of an HTTP/2 request', async () => {
    const rest = rawRequest().subarray('POST /webhooks/payments HTTP/1.1\r\n'.length);
    const pseudo = Buffer.from(':method: POST\r\n:authority: pay.test\r\n:path: /webhooks/payments\r\n');
    expect(await explain(Buffer.concat([pseudo, rest]), at)).toMatchObject({ exitCode: 0 });
  });

  it('joins the chunks of a body as the bot does', async () => {
    const chunks = [body.subarray(0, 100), body.subarray(100), Buffer.alloc(0)].flatMap((chunk) => [
      Buffer.from(`${chunk.length.toString(16)};part\r\n`),
      chunk,
      Buffer.from('\r\n'),
    ]);
    const signed = { ...signDelivery(scheme, secret, body, signedAtMs), 'Transfer-Encoding': 'chunked' };
    for (const raw of [rawRequest(Buffer.concat(chunks), signed), rawRequest(body, signed)]) {
      const { exitCode, words } = await explain(raw, at);
      expect(words).toContain(`Delivery: a body of ${body.length} bytes`);
      expect(exitCode).toBe(0);
    }
    const cut = rawRequest(Buffer.concat(chunks.slice(0, 4)), signed);
    expect((await explain(cut, at)).words).toContain('Note: The body is incomplete');
  });

  it.each([
    ['Content-Type', 'text/plain', 415],
    ['Content-Type', '', 415],
    ['Content-Encoding', 'gzip', 415],
  ])('says that the bot refuses a signed delivery with %s: %s', async (name, value, status) => {
    const { exitCode, words } = await explain(rawRequest(body, { [name]: value }), at);
    expect(exitCode).toBe(1);
    expect(words).toContain(`Verdict: refused. The bot answers ${status}: `);
    expect(words).toContain('Signature: it verifies');
  });

  it('notes that a capture has no content-type, which the bot wants', async () => {
    const bare = rawRequest()
      .toString('latin1')
      .replace(/Content-Type: .*\r\n/, '');
    const { exitCode, words } = await explain(Buffer.from(bare, 'latin1'), at);
    expect(words).toContain('Note: It has no content-type. If the service sends none, the bot answers 415.');
    expect(exitCode).toBe(0);
  });

  it('says that the bot refuses a signed delivery that is no POST, or too large', async () => {
    const put = rawRequest().toString('latin1').replace('POST', 'PUT');
    expect((await explain(Buffer.from(put, 'latin1'), at)).words).toContain('The bot answers 405: ');
    const large = Buffer.concat([body, Buffer.alloc(300_000, ' ')]);
    expect((await explain(rawRequest(large), at)).words).toContain('The bot answers 413: ');
  });

  it('never shows the delivery’s content', async () => {
    const forged = rawRequest(Buffer.concat([body, Buffer.from(' ')]));
    const ends = [
      await explain(rawRequest(), at),
      await explain(forged, at),
      await explain(rawRequest(body, { Authorization: `Bearer ${secret}` }), at, {
        WEBHOOK_SIGNATURE_PRESET: 'static-token',
      }),
      await explain(rawRequest(body.subarray(0, -8)), at),
      await explain(rawRequest(Buffer.from('{"event_type":"canary-kind"}')), at),
    ];
    for (const { words } of ends) expect(words).not.toMatch(/canary|jane|SUB-1|older-secret|[\da-f]{12}/);
  });

  it('judges the delivery as of now without --at, and says so', async () => {
    const { exitCode, words } = await explain(rawRequest());
    expect(exitCode).toBe(1);
    expect(words).toContain('Verdict: refused. The timestamp is too old.');
    expect(words).toContain('says 86400 s old, 300 s are allowed');
    expect(words).toContain('Fix: the signature holds, and only its time does not.');
    expect(words).toContain('Judged as of now; --at judges as of when it came.');
  });

  it.each([String(signedAtMs / 1_000), String(signedAtMs), '2026-03-01T10:30:00+01:00'])(
    'takes --at %s',
    async (time) => expect(await explain(rawRequest(), ['--at', time])).toMatchObject({ exitCode: 0 }),
  );

  it('ignores bytes beyond the content-length of the headers', async () => {
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
      words: expect.stringContaining('Fix: no preset fits, nor any template'),
    });
  });

  it('says that the body is shorter than its content-length', async () => {
    const { words } = await explain(rawRequest(body, { 'Content-Length': '999' }), at);
    expect(words).toContain('The body is incomplete, or was rewritten: content-length says 999');
  });

  it.each<[string, SignatureScheme, string]>([
    ['another algorithm', { ...scheme, algorithm: 'sha512' }, 'WEBHOOK_SIGNATURE_ALGORITHM=sha512'],
    ['another header', { ...scheme, headers: ['x-theirs'] }, 'WEBHOOK_SIGNATURE_HEADER=x-theirs'],
    ['another encoding', { ...scheme, encoding: 'base64' }, 'WEBHOOK_SIGNATURE_ENCODING=base64'],
    ['a signature of the whole body', presetScheme('raw-body'), 'WEBHOOK_SIGNATURE_PRESET=raw-body'],
    [
      'the secret sent as the signature',
      presetScheme('static-token'),
      'WEBHOOK_SIGNATURE_PRESET=static-token',
    ],
  ])('names the setting that would fit %s', async (_what, theirs, fix) => {
    const { exitCode, words } = await explain(rawRequest(body, {}, '\r\n', theirs), at);
    expect(exitCode).toBe(1);
    expect(words).toContain(`Fix: it would verify with ${fix}`);
  });

  const fields = presetScheme('field-concatenation');
  const reordered =
    '{header:x-webhook-timestamp}|{json:/data/order/orderReference}|{json:/requestId}|{json:/event_type}';
  it.each<[string, RecipeSettings, string[]]>([
    [
      'fields in another order, with another separator, and a time in ms',
      { webhookSignedTemplate: reordered, webhookTimestampUnit: 'ms' },
      [`WEBHOOK_SIGNED_TEMPLATE=${reordered}`, 'WEBHOOK_TIMESTAMP_UNIT=ms'],
    ],
    [
      'a timestamp header of its own before the body, with the signature in a pair',
      {
        webhookSignedTemplate: '{header:x-their-time}.{body}',
        webhookTimestampSource: 'header:x-their-time',
        webhookTimestampUnit: 's',
        webhookSignaturePlace: 'pair:sha256',
        webhookSignatureEncoding: 'hex',
      },
      [
        'WEBHOOK_SIGNED_TEMPLATE={header:x-their-time}.{body}',
        'WEBHOOK_SIGNATURE_PLACE=pair:sha256',
        'WEBHOOK_SIGNATURE_ENCODING=hex',
        'WEBHOOK_TIMESTAMP_SOURCE=header:x-their-time',
        'WEBHOOK_TIMESTAMP_UNIT=s',
      ],
    ],
  ])('names the template that fits %s, with which the delivery verifies', async (_what, theirs, fix) => {
    const preset = { webhookSignaturePreset: 'field-concatenation' } as const;
    const read = readSignatureScheme({ ...preset, ...theirs });
    if (!read.ok || !read.value) throw new Error('no scheme');
    const request = rawRequest(body, {}, '\r\n', read.value);
    const ours = { WEBHOOK_SIGNATURE_PRESET: 'field-concatenation' };
    const { exitCode, words } = await explain(request, at, ours);
    expect(exitCode).toBe(1);
    expect(words.split('\n')).toContain(`Fix: it would verify with ${fix.join(', ')}`);
    const told = Object.fromEntries(fix.map((line) => line.split(/=(.*)/s)));
    expect(await explain(request, at, { ...ours, ...told })).toMatchObject({ exitCode: 0 });
  });

  it('names the timestamp’s unit if only that is wrong', async () => {
    const theirs: SignatureScheme = {
      ...fields,
      timestamp: {
        source: { kind: 'header', name: 'x-webhook-timestamp' },
        unit: 'ms',
        toleranceSeconds: 300,
      },
    };
    const { words } = await explain(rawRequest(body, {}, '\r\n', theirs), at, {
      WEBHOOK_SIGNATURE_PRESET: 'field-concatenation',
    });
    expect(words).toContain('Fix: the signature holds, and its time reads with WEBHOOK_TIMESTAMP_UNIT=ms');
  });

  it('says which fields the signature does not cover', async () => {
    const { exitCode, words } = await explain(rawRequest(body, {}, '\r\n', fields), at, {
      WEBHOOK_SIGNATURE_PRESET: 'field-concatenation',
    });
    expect(exitCode).toBe(0);
    expect(words).toContain('  amount: at /data/order/amount, not signed, so it is not used');
    expect(words).toContain('  kind: at /event_type, signed');
  });

  it('explains a delivery even if no signature scheme is set', async () => {
    const bare = { WEBHOOK_SIGNATURE_PRESET: '', WEBHOOK_SECRETS: '' };
    const { exitCode, words } = await explain(rawRequest(), [], bare);
    expect(exitCode).toBe(1);
    expect(words).toContain('Verdict: refused. No signature scheme is configured.');
    expect(words).toContain('Event: payment_success');
  });

  it.each<[string, string]>([
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
    const end = await run(words, runtime());
    expect(end).toMatchObject({ exitCode: 2, words: expect.stringContaining('npm run explain-delivery --') });
  });

  it('ends with 2 for a missing file', async () => {
    const end = await run([join(folder, 'none')], runtime());
    expect(end).toEqual({ exitCode: 2, words: 'The file cannot be read: there is none of that name.' });
  });
});
