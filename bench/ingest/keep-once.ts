import { connectToRedis } from './redis-lines.ts';

/** Remembers a key once: true when it is new. */
export type KeepOnce = (key: string) => Promise<boolean>;

const rememberMs = 86_400_000;

/** `SET key 1 NX PX …` in Redis's own protocol, one socket, nothing between: the least that a durable dedupe costs. */
export function keepOnceInRedis(port: number): KeepOnce {
  const waiting: ((isNew: boolean) => void)[] = [];
  // $-1, which is nil: it was there.
  const socket = connectToRedis(port, (line) => waiting.shift()?.(line === '+OK'));
  const tail = `$1\r\n1\r\n$2\r\nNX\r\n$2\r\nPX\r\n$${String(rememberMs).length}\r\n${rememberMs}\r\n`;
  return (key) =>
    new Promise((resolve) => {
      waiting.push(resolve);
      socket.write(`*6\r\n$3\r\nSET\r\n$${Buffer.byteLength(key)}\r\n${key}\r\n${tail}`);
    });
}
