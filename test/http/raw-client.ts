import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A bare TCP connection to a server on loopback, for requests that no HTTP client would send. */
export type RawClient = {
  socket: Socket;
  write: (text: string | Buffer) => void;
  /** Waits for the text or the end of the connection; everything received so far. */
  receive: (until: string | RegExp) => Promise<string>;
  /** Waits until the server closes the connection; everything received. */
  receiveAll: () => Promise<string>;
};

export async function connectRaw(port: number): Promise<RawClient> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    received += chunk;
  });
  // Some tests provoke a reset, and judge what arrived before it.
  socket.on('error', () => {});
  await once(socket, 'connect');
  // `once` would reject at a reset.
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));

  async function receive(until: string | RegExp): Promise<string> {
    function isThere(): boolean {
      return typeof until === 'string' ? received.includes(until) : until.test(received);
    }
    while (!isThere() && !socket.destroyed) await Promise.race([once(socket, 'data'), closed]);
    return received;
  }

  async function receiveAll(): Promise<string> {
    await closed;
    return received;
  }

  return { socket, write: (text) => void socket.write(text), receive, receiveAll };
}
