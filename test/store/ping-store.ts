/** A process of its own that asks the store at an address for a sign of life: `ping-store.ts <address>`. */
import { connectRedis } from '../../src/store/redis-client.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';

const connection = connectRedis({ url: process.argv[2] ?? '', log: () => undefined });
await connection.tried;
await openRedisStore(connection.commands).ping();
connection.close();
console.log('pong');
