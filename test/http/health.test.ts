import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  checkParts,
  createHealthRoute,
  createReadinessRoute,
  type PartCheck,
} from '../../src/http/health.ts';
import { createHttpServer, type HttpServer } from '../../src/http/server.ts';

const open: HttpServer[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close(0);
});

async function start(checks: readonly PartCheck[]) {
  const logged: string[] = [];
  const log = (_level: string, message: string) => void logged.push(message);
  const routes = [createHealthRoute(), createReadinessRoute({ checks, log, deadlineMs: 50 })];
  const server = createHttpServer({ routes, log });
  open.push(server);
  const port = await server.listen(0, '127.0.0.1');
  async function ask(path: string) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, body: await response.json() };
  }
  return { ask, logged };
}

const ok: PartCheck = { name: 'store', check: () => ({ state: 'ok' }) };
const degraded: PartCheck = {
  name: 'slack',
  check: async () => ({ state: 'degraded', detail: 'no history scope', fix: 'add channels:history' }),
};

describe('GET /healthz', () => {
  it('is 200 even when a part is down', async () => {
    const { ask } = await start([{ name: 'store', check: () => ({ state: 'down' }) }]);
    expect(await ask('/healthz')).toEqual({ status: 200, body: { state: 'ok' } });
  });
});

describe('GET /readyz', () => {
  it('is 200 and names every part while none is down', async () => {
    const { ask } = await start([ok, degraded]);
    expect(await ask('/readyz')).toEqual({
      status: 200,
      body: {
        state: 'degraded',
        parts: [
          { name: 'store', state: 'ok' },
          { name: 'slack', state: 'degraded', detail: 'no history scope', fix: 'add channels:history' },
        ],
      },
    });
    expect((await (await start([ok])).ask('/readyz')).body).toMatchObject({ state: 'ok' });
  });

  it.each<[string, PartCheck['check']]>([
    ['says so', () => ({ state: 'down', detail: 'the check failed; the log says how' })],
    [
      'throws',
      () => {
        throw new Error('canary');
      },
    ],
    ['rejects', () => Promise.reject(new Error('canary'))],
    ['hangs', () => new Promise<never>(() => {})],
  ])('is 503 when a check %s, and keeps the reason to the log', async (_name, check) => {
    const { ask } = await start([ok, { name: 'redis', check }]);
    expect(await ask('/readyz')).toEqual({
      status: 503,
      body: {
        state: 'down',
        parts: [
          { name: 'store', state: 'ok' },
          { name: 'redis', state: 'down', detail: 'the check failed; the log says how' },
        ],
      },
    });
  });

  it('runs one round of checks for all who ask at the same time, and another for the next', async () => {
    let runs = 0;
    const answer = Promise.withResolvers<{ state: 'ok' }>();
    function check() {
      runs += 1;
      return answer.promise;
    }
    const { handle } = createReadinessRoute({ checks: [{ name: 'store', check }], log: () => {} });
    async function ask() {
      const request = new IncomingMessage(new Socket());
      await handle(request, new ServerResponse(request));
    }
    const both = [ask(), ask()];
    answer.resolve({ state: 'ok' });
    await Promise.all(both);
    expect(runs).toBe(1);
    await ask();
    expect(runs).toBe(2);
  });
});

describe('checkParts', () => {
  it('logs what a check threw', async () => {
    const logged: unknown[] = [];
    const error = new Error('why');
    await checkParts(
      [{ name: 'redis', check: () => Promise.reject(error) }],
      (...line) => void logged.push(line),
    );
    expect(logged).toEqual([['warn', 'The check of redis failed', {}, error]]);
  });
});
