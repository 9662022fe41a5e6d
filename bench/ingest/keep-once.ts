import { connect } from 'node:net';

/** Remembers a key once: true when it is new. */
export type KeepOnce = (key: string) => Promise<boolean>;

const rememberMs = 86_400_000;

/** `SET key 1 NX PX …` in Redis's own protocol, one socket, nothing between: the least that a durable dedupe costs. */
export function keepOnceInRedis(port: number): KeepOnce {
  const waiting: ((isNew: boolean) => void)[] = [];
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  let rest = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    rest += chunk;
    for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
      const answer = rest.slice(0, end);
      rest = rest.slice(end + 2);
      if (answer.startsWith('-')) throw new Error(answer);
      // $-1, which is nil: it was there.
      waiting.shift()?.(answer === '+OK');
    }
  });
  const tail = `$1\r\n1\r\n$2\r\nNX\r\n$2\r\nPX\r\n$${String(rememberMs).length}\r\n${rememberMs}\r\n`;
  return (key) =>
    new Promise((resolve) => {
      waiting.push(resolve);
      socket.write(`*6\r\n$3\r\nSET\r\n$${Buffer.byteLength(key)}\r\n${key}\r\n${tail}`);
    });
}
