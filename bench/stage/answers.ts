import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Answers = { url: string; count: () => number; close: () => void };

/** Where the answers to commands go: counted, and let go. `answers: false` is a service that never answers at all. */
export async function openAnswers({ answers = true } = {}): Promise<Answers> {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    request.resume();
    if (answers) response.end('ok');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => count,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
