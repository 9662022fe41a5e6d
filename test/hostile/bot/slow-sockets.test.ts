import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, type TestContext } from 'vitest';
import { heldUp, runSlowSockets, type Latency } from './slow-sockets.ts';

function latency(p99Ms: number, wrong = 0): Latency {
  return { sent: 100, wrong, p50Ms: p99Ms / 2, p99Ms };
}

describe('events beside slow sockets', () => {
  it.each([
    ['as quick as before', latency(10), latency(12), 0],
    ['slower, but not to be noticed', latency(10), latency(500), 0],
    ['slower on a slow machine', latency(200), latency(1_000), 0],
    ['noticeably slower', latency(10), latency(501), 1],
    ['much slower on a slow machine', latency(200), latency(1_001), 1],
    ['answered with something else', latency(10), latency(10, 1), 1],
    ['answered with something else before already', latency(10, 1), latency(10), 1],
  ])('that are %s', (_what, before, during, problems) => {
    expect(heldUp({ before, during })).toHaveLength(problems);
  });

  it('are held up where a bot has no time for them, and not where it has', async (test) => {
    const times = { beforeMs: 300, duringMs: 1_000 };
    const quick = await runSlowSockets(await serverThatWaits(test, 0), 20, times);
    expect(heldUp(quick)).toEqual([]);
    expect(quick.open).toEqual([]);
    const slow = await runSlowSockets(await serverThatWaits(test, 600), 20, times);
    expect(heldUp(slow)).toEqual([expect.stringContaining('p99')]);
  });
});

const slowMs = 900;

function signed(): Record<string, string> {
  return { 'content-type': 'application/json' };
}

/** Answers so much later while somebody is slow, and closes whoever is after a little while. */
async function serverThatWaits({ onTestFinished }: TestContext, waitMs: number) {
  const server = createServer({
    connectionsCheckingInterval: 100,
    headersTimeout: slowMs,
    requestTimeout: slowMs,
  });
  let sockets = 0;
  server.on('connection', (socket) => {
    sockets += 1;
    socket.setTimeout(slowMs, () => socket.destroy());
    socket.on('close', () => (sockets -= 1));
  });
  server.on('request', (request, response) => {
    response.statusCode = request.headers['content-length'] === '2' ? 401 : 200;
    // fetch keeps a few connections of its own.
    request.on('end', () => void setTimeout(() => response.end(), sockets >= 15 ? waitMs : 0));
    request.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, signed };
}
