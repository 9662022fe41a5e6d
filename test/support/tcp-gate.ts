import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

export type TcpGate = {
  port: number;
  /** Resolves when a caller has sent this text; from there on its bytes are held back. */
  hold: (text: string) => Promise<void>;
  /** Sets the target of new connections; open ones stay. */
  leadTo: (target: number) => void;
  /** How many connections were opened through it. */
  opened: () => number;
  close: () => Promise<void>;
};

/** Forwards bytes to a local port until told to hold some back: for a store that never gets a certain command. */
export async function openTcpGate(target: number): Promise<TcpGate> {
  const sockets = new Set<Socket>();
  let wanted: { text: string; held: PromiseWithResolvers<void> } | undefined;

  let leadsTo = target;
  let opened = 0;

  const server = createServer((caller) => {
    opened += 1;
    const callee = connect(leadsTo, '127.0.0.1');
    let isHeld = false;
    for (const [socket, other] of [
      [caller, callee],
      [callee, caller],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    callee.pipe(caller);
    caller.on('data', (bytes: Buffer) => {
      if (wanted && bytes.includes(wanted.text)) {
        isHeld = true;
        wanted.held.resolve();
        wanted = undefined;
      }
      if (!isHeld) callee.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    port: (server.address() as AddressInfo).port,
    hold(text) {
      wanted = { text, held: Promise.withResolvers() };
      return wanted.held.promise;
    },
    leadTo(next) {
      leadsTo = next;
    },
    opened: () => opened,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}
