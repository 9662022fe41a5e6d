import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Answers = { url: string; count: () => number; close: () => void };

/** Where the answers to commands go, whoever gave them: counted, and let go. */
export async function openAnswers(): Promise<Answers> {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    request.resume();
    response.end('ok');
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
