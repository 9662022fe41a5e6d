import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import express from 'express';
import { describe, expect, it, type TestContext } from 'vitest';
import { signatureHeader, signWebhook } from '../../src/simulators/payments/webhooks-out.ts';
import { type Backend, openBackend } from '../support/backend.ts';
import { type Desk, openDesk } from '../support/desk.ts';
import { serveOnLoopback } from '../support/loopback.ts';
import { findProgram } from '../support/programs.ts';
import { freePort } from '../support/redis-server.ts';

/** The code in docs/webhooks.md, run as written. */
const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');

function block(language: string): string {
  const [, text] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(page) ?? [];
  if (text === undefined) throw new Error(`The page has no ${language}.`);
  return text;
}

const nginx = findProgram('nginx');
if (nginx === undefined)
  console.warn('SKIPPED: the mirror of docs/webhooks.md, because nginx is not installed.');

type Stage = { desk: Desk; backend: Backend; send: (body: string) => Promise<number> };

/** `open`: starts what listens at the service's one address, between backend and bot. */
async function stage(
  test: TestContext,
  open: (backend: Backend, botUrl: string) => Promise<{ url: string; close: () => unknown }>,
): Promise<Stage> {
  const desk = await openDesk(test, { clock: true });
  const { webhookSecret } = desk.house.payments.credentials;
  const backend = await openBackend(() => webhookSecret);
  const way = await open(backend, desk.house.webhookGate.url);
  test.onTestFinished(async () => {
    await way.close();
    await backend.close();
  });
  return {
    desk,
    backend,
    async send(body) {
      const headers = {
        'content-type': 'application/json',
        [signatureHeader]: signWebhook(body, webhookSecret),
      };
      const answer = await fetch(`${way.url}/hooks/payments`, { method: 'POST', headers, body });
      await answer.text();
      return answer.status;
    },
  };
}

function failure(reference: string): string {
  return `{ "event_type":"payment_failed", "note":"é ✓", "data":{"order":{"orderReference":"${reference}"}}}`;
}

/** Both get it, each with its own check of the signature over the same bytes. */
async function expectBoth({ desk, backend }: Stage, reference: string): Promise<void> {
  await desk.reads('lead', reference, 'payAlerts');
  const came = backend.asked.find(({ body }) => body.includes(reference));
  expect(came).toMatchObject({ isSigned: true, body: Buffer.from(failure(reference)).toString('latin1') });
}

async function startNginx(backend: Backend, botUrl: string) {
  const folder = mkdtempSync(join(tmpdir(), 'payops-nginx-'));
  const port = await freePort();
  const server = block('nginx')
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replace('http://backend:8080', backend.url)
    .replace('http://payops:3000', botUrl);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const path = join(folder, 'nginx.conf');
  writeFileSync(
    path,
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
     events {} http { access_log off; ${temporary.join(' ')} ${server} }`,
  );
  const child = spawn(nginx ?? '', ['-p', folder, '-c', path, '-e', join(folder, 'error.log')], {
    stdio: 'pipe',
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`nginx did not start:\n${said}`);
    await rest(20);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function accepts(port: number): Promise<boolean> {
  const socket = createConnection(port, '127.0.0.1');
  const isOpen = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return isOpen;
}

describe.skipIf(nginx === undefined)('the mirror of docs/webhooks.md', () => {
  it('gives both the same bytes, and the backend’s answer even if the bot fails', async (test) => {
    const at = await stage(test, startNginx);
    expect(await at.send(failure('MIRROR-1'))).toBe(200);
    await expectBoth(at, 'MIRROR-1');

    at.backend.answers({ status: 503 });
    expect(await at.send(failure('MIRROR-2'))).toBe(503);
    await expectBoth(at, 'MIRROR-2');

    at.backend.answers({ status: 200 });
    await at.desk.house.webhookGate.close();
    expect(await at.send(failure('MIRROR-3'))).toBe(200);
    expect(at.backend.asked.at(-1)?.body).toContain('MIRROR-3');
  });
});

describe('the handler of docs/webhooks.md', () => {
  it('gives the bot the same bytes, and makes the service retry what the bot missed', async (test) => {
    const at = await stage(test, async (backend, botUrl) => {
      const app = express();
      const text = block('js')
        .replaceAll('x-webhook-signature', signatureHeader)
        .replace('https://pay.example.com', botUrl);
      const handle = async (body: Buffer, headers: Record<string, string>): Promise<void> => {
        const sent = { [signatureHeader]: headers[signatureHeader] ?? '' };
        await fetch(backend.url, { method: 'POST', headers: sent, body: new Uint8Array(body) });
      };
      // oxlint-disable-next-line typescript/no-implied-eval
      new Function('app', 'express', 'handle', text)(app, express, handle);
      return await serveOnLoopback(app);
    });
    expect(await at.send(failure('COPY-1'))).toBe(200);
    await expectBoth(at, 'COPY-1');
    await at.desk.house.webhookGate.close();
    expect(await at.send(failure('COPY-2'))).toBe(503);
    expect(at.backend.asked.at(-1)?.body).toContain('COPY-2');
  });
});
