import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkRedis, checkSchema, type Inspectable } from '../../src/store/check-redis.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import { connectRedis, type RedisConnection } from '../../src/store/redis-client.ts';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { findProgram } from '../support/programs.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: the Redis settings tests, because redis-server is not installed.');

async function findings(client: Inspectable): Promise<string[]> {
  return (await checkRedis(client)).map(({ kind, message }) => `${kind}: ${message}`);
}

describe.skipIf(missing)('checkRedis', () => {
  let server: RedisServer;
  const connections: RedisConnection[] = [];
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(async () => {
    for (const connection of connections) connection.close();
    await server?.stop();
  });
  async function open(user = '') {
    const connection = connectRedis({ url: server.url.replace('//', `//${user}`), log: () => undefined });
    connections.push(connection);
    await connection.tried;
    return connection.client;
  }

  it('accepts a Redis that evicts nothing and writes to disk before it answers', async () => {
    expect((await checkRedis(await open())).map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok']);
  });

  it('refuses records of another schema, and says what to do', async () => {
    const client = await open();
    const kinds = async () => (await checkSchema(client, 'mine')).kind;
    expect(await kinds()).toBe('ok');
    await openRedisStore(client, { prefix: 'mine' }).create('first', '');
    expect(await kinds()).toBe('ok');
    // As written by a release before schemas, and by a future one.
    await client.del('{mine}:schema');
    expect((await checkSchema(client, 'mine')).message).toMatch(
      /older Payops.*Run the release that wrote them/,
    );
    await client.set('{mine}:schema', '4');
    expect((await checkSchema(client, 'mine')).message).toMatch(/newer Payops.*Run that version again\.$/);
    expect((await checkSchema(client, 'other')).kind).toBe('ok');
  });

  it('warns of a Redis that may lose acknowledged changes, with the fix', async () => {
    const client = await open();
    await client.configSet('appendfsync', 'everysec');
    expect((await findings(client))[2]).toMatch(/^warning: .*everysec.*Set appendfsync to always/);
    await client.configSet('appendonly', 'no');
    expect((await findings(client))[1]).toMatch(/^warning: .*appendonly no.*Set appendonly to yes/);
    await client.configSet('appendonly', 'yes');
    await client.configSet('appendfsync', 'always');
  });

  it('reads INFO if CONFIG is forbidden, and names what it could not check', async () => {
    const admin = await open();
    await admin.sendCommand(['ACL', 'SETUSER', 'managed', 'on', '>pw', '~*', '+@all', '-config']);
    await admin.configSet('maxmemory-policy', 'volatile-ttl');
    const found = await findings(await open('managed:pw@'));
    await admin.configSet('maxmemory-policy', 'noeviction');
    expect(found[0]).toMatch(/^refusal: .*volatile-ttl/);
    expect(found[1]).toBe('ok: appendonly is yes.');
    expect(found[2]).toMatch(/^warning: .*appendfsync, so it could not be checked.*always/);
  });

  it('throws StoreUnavailable if Redis is away', async () => {
    const client = await open();
    client.destroy();
    await expect(checkRedis(client)).rejects.toThrow(StoreUnavailable);
  });
});
