import { connect, type Socket } from 'node:net';

/** One socket to Redis, for its own protocol with nothing between: each line that it answers is heard, and an error ends it all. */
export function connectToRedis(port: number, hear: (line: string) => void): Socket {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  let rest = '';
  return socket.setEncoding('latin1').on('data', (chunk: string) => {
    rest += chunk;
    for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 2);
      if (line.startsWith('-')) throw new Error(line);
      hear(line);
    }
  });
}
