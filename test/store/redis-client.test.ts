import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Log } from '../../src/log.ts';
import { connectRedis, type RedisClient } from '../../src/store/redis-client.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import { calmMs } from '../support/calm-ms.ts';
import { findProgram } from '../support/programs.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { openTcpGate } from '../support/tcp-gate.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: the Redis connection tests, because redis-server is not installed.');

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

function open(url: string) {
  const lines: { level: string; text: string }[] = [];
  const log: Log = (level, message, fields, error) => {
    lines.push({ level, text: JSON.stringify([message, fields, String(error)]) });
  };
  const connection = connectRedis({ url, log });
  cleanUps.push(() => connection.close());
  return { ...connection, lines, store: openRedisStore(connection.client) };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function startServer(args: readonly string[] = []) {
  const server = await startRedis({ args });
  cleanUps.push(() => server.stop());
  return server;
}

async function behindOneAddress(server: RedisServer) {
  const gate = await openTcpGate(server.port);
  cleanUps.push(() => gate.close());
  const { commands, lines, client } = open(`redis://127.0.0.1:${gate.port}`);
  await next(client, 'ready');
  return { gate, lines, store: openRedisStore(commands) };
}

async function becomeReplicaOf({ url }: RedisServer, port: number): Promise<void> {
  const { client } = open(url);
  await next(client, 'ready');
  await client.sendCommand(['REPLICAOF', '127.0.0.1', `${port}`]);
}

/** Unlike events.once, not ended by the error events that an outage is made of. */
function next(client: RedisClient, event: 'ready' | 'reconnecting'): Promise<void> {
  return new Promise((resolve) => client.once(event, () => resolve()));
}

describe('connectRedis', () => {
  it('refuses an address that can never work without repeating it', () => {
    for (const url of ['', 'http://user:hunter22@host', 'redis://user:hunter22@host:port', 'hunter22']) {
      const attempt = () => connectRedis({ url, log: () => undefined });
      expect(attempt).toThrow(/must look like redis:/);
      expect(attempt).not.toThrow(/hunter22/);
    }
  });

  it('speaks TLS to rediss://', async () => {
    const server = createServer();
    const port = await listen(server);
    open(`rediss://127.0.0.1:${port}`);
    const [socket] = (await once(server, 'connection')) as [Socket];
    cleanUps.push(() => socket.destroy());
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    expect(bytes[0]).toBe(0x16);
  });
});

describe.skipIf(missing)('connectRedis to a Redis', () => {
  it('starts while Redis is down, logs the outage once without its password, and is there when Redis is', async () => {
    const server = await startServer(['--requirepass', 'hunter22']);
    await server.kill9();
    const { store, lines, client } = open(server.url.replace('//', '//:hunter22@'));
    await expect(store.create('a', '')).rejects.toThrow(StoreUnavailable);
    for (let failed = 0; failed < 3; failed += 1) await next(client, 'reconnecting');
    expect(lines).toMatchObject([{ level: 'error', text: expect.stringContaining('ECONNREFUSED') }]);
    await server.restart();
    await expect.poll(() => store.create('a', '')).toBe(true);
    expect(lines).toHaveLength(2);
    expect(JSON.stringify(lines)).not.toContain('hunter22');
  });

  it('says that the password is wrong, once, without it', async () => {
    const server = await startServer(['--requirepass', 'correct-horse']);
    const { lines, client } = open(server.url.replace('//', '//:hunter22@'));
    for (let failed = 0; failed < 2; failed += 1) await next(client, 'reconnecting');
    expect(lines).toMatchObject([{ level: 'error', text: expect.stringContaining('WRONGPASS') }]);
    expect(JSON.stringify(lines)).not.toContain('hunter22');
  });

  it('logs the end of an outage too', async () => {
    const server = await startServer();
    const { lines, client } = open(server.url);
    await next(client, 'ready');
    await server.kill9();
    await expect.poll(() => lines.length).toBe(1);
    await server.restart();
    await expect.poll(() => lines.length).toBe(2);
    expect(lines[1]).toMatchObject({ level: 'info', text: expect.stringContaining('answers again') });
  });

  it('leaves a connection that has gone silent, also under steady calls', async () => {
    const server = await startServer();
    // Redis behind a wire that can be cut without either end hearing of it.
    const cut = new Set<Socket>();
    const wires = new Set<Socket>();
    const port = await listen(
      createServer((near) => {
        const far = connect(server.port, '127.0.0.1');
        wires.add(near);
        near.on('data', (bytes) => cut.has(near) || far.write(bytes));
        far.on('data', (bytes) => cut.has(near) || near.write(bytes));
        for (const socket of [near, far]) socket.on('error', () => undefined);
        near.on('close', () => far.destroy());
      }),
    );
    cleanUps.push(() => wires.forEach((socket) => socket.destroy()));
    const { store, client } = open(`redis://127.0.0.1:${port}`);
    await next(client, 'ready');
    await store.ping();
    for (const socket of wires) cut.add(socket);
    const steady = setInterval(() => void store.ping().catch(() => undefined), 200);
    cleanUps.push(() => clearInterval(steady));
    const answers = async () => await expect.poll(() => store.ping()).toBeUndefined();
    expect(await calmMs(answers)).toBeLessThan(7000);
  });

  it('follows a failover behind one address within 3 s, though its connection stays open', async () => {
    const [first, second] = await Promise.all([startServer(), startServer()]);
    const { gate, store } = await behindOneAddress(first);
    expect(await store.create('before', '')).toBe(true);
    gate.leadTo(second.port);
    await becomeReplicaOf(first, second.port);
    const goesOn = async () =>
      await expect.poll(() => store.create('after', ''), { timeout: 5_000 }).toBe(true);
    const tookMs = await calmMs(goesOn);
    expect(tookMs).toBeLessThan(3_000);
  });

  it('renews a connection to a replica once in a while, not with each call, and says it once', async () => {
    const server = await startServer();
    const { gate, lines, store } = await behindOneAddress(server);
    await becomeReplicaOf(server, 1);
    for (let call = 0; call < 100; call += 1) {
      await expect(store.create(`${call}`, '')).rejects.toThrow(StoreUnavailable);
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    expect(gate.opened()).toBe(2);
    expect(lines).toMatchObject([{ level: 'error', text: expect.stringContaining('READONLY') }]);
  });
});
