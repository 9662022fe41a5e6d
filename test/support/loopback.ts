import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Loopback = {
  /** Without a final slash. */
  url: string;
  /** Cuts every connection. */
  cut: () => void;
  close: () => Promise<void>;
};

/** A server on 127.0.0.1, on a free port. */
export async function serveOnLoopback(listener: RequestListener): Promise<Loopback> {
  const server = createServer({ keepAliveTimeout: 65_000 }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => server.closeAllConnections(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
