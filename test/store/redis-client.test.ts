import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it, type TestContext } from 'vitest';
import type { Log } from '../../src/log.ts';
import { checkRedis } from '../../src/store/check-redis.ts';
import { connectRedis, type RedisConnection } from '../../src/store/redis-client.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { findProgram } from '../support/programs.ts';
import { redisOf, type RedisServer } from '../support/redis-server.ts';
import { untilRedis } from '../support/redis-store.ts';
import { openTcpGate } from '../support/tcp-gate.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: the Redis connection tests, because redis-server is not installed.');

/** Closes at the test's end what the test opened, last opened first. */
type Test = Pick<TestContext, 'onTestFinished'>;

function open(test: Test, url: string) {
  const lines: { level: string; text: string }[] = [];
  const log: Log = (level, message, fields, error) => {
    lines.push({ level, text: JSON.stringify([message, fields, String(error)]) });
  };
  const connection = connectRedis({ url, log });
  test.onTestFinished(() => connection.close());
  return { connection, lines, store: openRedisStore(connection.commands) };
}

async function listen(test: Test, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function behindOneAddress(test: Test, server: RedisServer) {
  const gate = await openTcpGate(server.port);
  test.onTestFinished(() => gate.close());
  const { connection, lines, store } = open(test, `redis://127.0.0.1:${gate.port}`);
  await connected(connection);
  return { gate, lines, store };
}

async function becomeReplicaOf(test: Test, { url }: RedisServer, port: number): Promise<void> {
  const { connection } = open(test, url);
  await connected(connection);
  await connection.client.sendCommand(['REPLICAOF', '127.0.0.1', `${port}`]);
}

function connected(connection: RedisConnection): Promise<void> {
  return untilRedis('it is connected', async () => connection.client.isReady);
}

/** Long enough for several attempts to connect, none of which may be logged again. */
async function someAttempts(lines: readonly unknown[]): Promise<void> {
  await untilRedis('the outage is told', async () => lines.length > 0);
  await rest(500);
}

describe('connectRedis', () => {
  it('refuses an impossible address without repeating it', () => {
    for (const url of ['', 'http://user:hunter22@host', 'redis://user:hunter22@host:port', 'hunter22']) {
      const attempt = () => connectRedis({ url, log: () => undefined });
      expect(attempt).toThrow(/must look like redis:/);
      expect(attempt).not.toThrow(/hunter22/);
    }
  });

  it('speaks TLS to rediss://', async (test) => {
    const server = createServer();
    const port = await listen(test, server);
    open(test, `rediss://127.0.0.1:${port}`);
    const [socket] = (await once(server, 'connection')) as [Socket];
    test.onTestFinished(() => void socket.destroy());
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    expect(bytes[0]).toBe(0x16);
  });
});

describe.skipIf(missing).concurrent('connectRedis to a Redis', () => {
  it('starts while Redis is down, logs the outage once without the password, and connects once Redis is up', async (test) => {
    const server = await redisOf(test, '--requirepass', 'hunter22');
    await server.kill9();
    const { store, lines } = open(test, server.url.replace('//', '//:hunter22@'));
    await expect(store.create('a', '')).rejects.toThrow(StoreUnavailable);
    await someAttempts(lines);
    expect(lines).toMatchObject([{ level: 'error', text: expect.stringContaining('ECONNREFUSED') }]);
    await server.restart();
    await untilRedis('it is there', () => store.create('a', ''));
    expect(lines.slice(1)).toMatchObject([{ level: 'info', text: expect.stringContaining('answers again') }]);
    expect(JSON.stringify(lines)).not.toContain('hunter22');
  });

  it.for([
    ['a wrong password', '//:hunter22@', 'WRONGPASS'],
    ['a missing password', '//', 'NOAUTH'],
  ] as const)('logs %s once, without the password, also after an outage', async ([, login, word], test) => {
    const server = await redisOf(test, '--requirepass', 'correct-horse');
    await server.kill9();
    const { lines } = open(test, server.url.replace('//', login));
    await untilRedis('the outage is told', async () => lines.length === 1);
    await server.restart();
    await untilRedis('the password is told', async () => lines.length === 2);
    // Longer than the time between two pings.
    await rest(1_500);
    expect(lines).toMatchObject([
      { level: 'error', text: expect.not.stringContaining(word) },
      { level: 'error', text: expect.stringContaining(word) },
    ]);
    expect(JSON.stringify(lines)).not.toContain('hunter22');
  });

  it('is not said to hide its settings if its database is not there', async (test) => {
    const server = await redisOf(test);
    const { connection } = open(test, `${server.url}/99`);
    await connection.tried;
    await expect(checkRedis(connection.commands)).rejects.toThrow(StoreUnavailable);
    expect(connection.failure()).toContain('DB index is out of range');
  });

  it('replaces a connection that has gone silent, also under steady calls', async (test) => {
    const server = await redisOf(test);
    // A Redis behind a connection that can be cut without either end noticing.
    const cut = new Set<Socket>();
    const wires = new Set<Socket>();
    const port = await listen(
      test,
      createServer((near) => {
        const far = connect(server.port, '127.0.0.1');
        wires.add(near);
        near.on('data', (bytes) => cut.has(near) || far.write(bytes));
        far.on('data', (bytes) => cut.has(near) || near.write(bytes));
        for (const socket of [near, far]) socket.on('error', () => undefined);
        near.on('close', () => far.destroy());
      }),
    );
    test.onTestFinished(() => wires.forEach((socket) => socket.destroy()));
    const { store, connection } = open(test, `redis://127.0.0.1:${port}`);
    await connected(connection);
    await store.ping();
    for (const socket of wires) cut.add(socket);
    const steady = setInterval(() => void store.ping().catch(() => undefined), 200);
    test.onTestFinished(() => clearInterval(steady));
    // Without the watchdog only TCP would give up, after a quarter of an hour.
    await untilRedis('it answers', () => store.ping().then(() => true));
    expect(connection.client.isReady).toBe(true);
  });

  it('reconnects after a failover behind one address at the first refused call, even if the connection stays open', async (test) => {
    const [first, second] = await Promise.all([redisOf(test), redisOf(test)]);
    const { gate, store } = await behindOneAddress(test, first);
    expect(await store.create('before', '')).toBe(true);
    gate.leadTo(second.port);
    await becomeReplicaOf(test, first, second.port);
    await expect(store.create('refused', '')).rejects.toThrow(StoreUnavailable);
    await untilRedis('it is led to the other', async () => gate.opened() > 1);
    await untilRedis('it goes on', () => store.create('after', ''));
  });

  it('replaces a connection to a replica at intervals, not with each call, and logs that once', async (test) => {
    const server = await redisOf(test);
    const { gate, lines, store } = await behindOneAddress(test, server);
    await becomeReplicaOf(test, server, 1);
    const startedAt = performance.now();
    for (let call = 0; call < 100; call += 1) {
      await expect(store.create(`${call}`, '')).rejects.toThrow(StoreUnavailable);
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    // One connection before, one at once, and on a slow machine one more within two seconds.
    expect(gate.opened()).toBeGreaterThan(1);
    expect(gate.opened()).toBeLessThanOrEqual(2 + Math.floor((performance.now() - startedAt) / 2_000));
    expect(lines).toMatchObject([{ level: 'error', text: expect.stringContaining('READONLY') }]);
  });
});

describe.skipIf(missing)('connectRedis in a process that stood still', () => {
  it('goes on with its connection: the answers of that time are only read later', async (test) => {
    const server = await redisOf(test);
    const { connection, store, lines } = open(test, server.url);
    await connected(connection);
    const stallMs = 4_000;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stallMs);
    await Promise.all([0, 1].map((turn) => rest(turn).then(() => store.create(`${turn}`, ''))));
    expect(lines).toEqual([]);
  });
});
