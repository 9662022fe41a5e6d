import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createRecorder, type Recorder } from './exchanges.ts';
import { createFaults, type Faults, type Often } from './faults.ts';
import { createHolds, type Holds, type Passed } from './holds.ts';
import type { Exchange } from './protocol.ts';

/**
 * The common part of the simulated Slack and payments service: a server on 127.0.0.1 that tests can watch, hold and
 * break.
 */

export type SimulatorOptions = {
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** Called when an exchange begins and, with the same id, when it ends; secrets are masked. Ids count up from 1. */
  onExchange?: (exchange: Exchange) => void;
  /** Keeps requests and answers in `passed`. Default false. */
  keepPassed?: boolean;
  /** Decides which calls a fault with a `share` affects. Default Math.random. */
  dice?: () => number;
};

export type Simulator<Fault> = {
  url: string;
  /** Called after every visible change; the returned function unsubscribes. */
  onChange: (listener: () => void) => () => void;
  /** Replaces all faults; none: everything works. Cuts hanging connections. */
  setFaults: (...faults: readonly Fault[]) => void;
  /** Resolves when the next request whose path ends with this, like `/chat.postMessage`, has reached that point. */
  hold: Holds['hold'];
  /** With `keepPassed`: every answered request. */
  readonly passed: readonly Passed[];
  /** Cuts every connection, held ones included. */
  cut: () => void;
};

export type Asked = { request: IncomingMessage; url: URL; body: string };

/**
 * How a request is answered. `silence` hangs until the faults are next set. `outcome` is appended to the exchange's
 * summary.
 */
export type Reply = { outcome: string } & (
  | { kind: 'answer'; status: number; headers?: Record<string, string>; body: string | object }
  | { kind: 'cut' }
  | { kind: 'silence' }
);

/** One request: how the exchange log shows it, and the function that carries it out and answers, synchronously. */
export type Visit = { begin: Parameters<Recorder>[0]; run: () => Reply };

type OpenSimulator<Fault> = {
  simulator: Simulator<Fault>;
  now: () => number;
  changed: () => void;
  record: Recorder;
  faults: Faults<Fault>;
  server: Server;
  /** Answers all requests from now on. */
  serve: (visit: (asked: Asked) => Visit) => void;
  /** Throws if the simulator itself had a bug while answering. */
  close: () => Promise<void>;
};

export async function openSimulator<Fault extends Often & { kind: string }>(
  options: SimulatorOptions,
): Promise<OpenSimulator<Fault>> {
  const now = options.now ?? Date.now;
  // As long as a load balancer: with Node's own five seconds a slow caller would reuse a connection that is being closed.
  const server = createServer({ keepAliveTimeout: 65_000 });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const faults = createFaults<Fault>(options.dice ?? Math.random);
  const holds = createHolds();
  const record = createRecorder(now, options.onExchange);
  const passed: Passed[] = [];
  const hanging = new Set<Socket>();
  const listeners = new Set<() => void>();
  let crash: unknown;

  function changed(): void {
    for (const listener of listeners) listener();
  }
  async function answer(visit: Visit, { request, url, body }: Asked): Promise<Written | undefined> {
    const { socket } = request;
    const end = record(visit.begin);
    const reply = visit.run();
    const { outcome } = reply;
    if (reply.kind === 'silence') {
      hanging.add(socket);
      socket.once('close', () => {
        hanging.delete(socket);
        end(() => ({ status: 0, outcome }));
      });
      return undefined;
    }
    if (reply.kind === 'cut') {
      end(() => ({ status: 0, outcome }));
      socket.resetAndDestroy();
      return undefined;
    }
    const written = asWritten(reply);
    end(() => ({ status: reply.status, outcome, response: reply.body }));
    await holds.reached(url.pathname, 'after');
    if (options.keepPassed === true)
      passed.push({ path: url.pathname, request: `${request.url}\n${body}`, answer: written.body });
    return written;
  }

  return {
    simulator: {
      url: `http://127.0.0.1:${port}`,
      onChange(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      setFaults(...next) {
        faults.set(next);
        for (const socket of hanging) socket.destroy();
        changed();
      },
      hold: holds.hold,
      passed,
      cut: () => server.closeAllConnections(),
    },
    now,
    changed,
    record,
    faults,
    server,
    serve(visit) {
      server.on('request', (request, response) => {
        const handle = async (): Promise<void> => {
          const url = new URL(request.url ?? '/', 'http://simulator');
          const read = await buffer(request).catch(() => undefined);
          if (read === undefined) return;
          // As bytes: decoding as `text` would drop a file's byte order mark.
          const body = read.toString();
          await holds.reached(url.pathname, 'before');
          const asked = { request, url, body };
          const written = await answer(visit(asked), asked);
          if (written) response.writeHead(written.status, written.headers).end(written.body);
        };
        handle().catch((error: unknown) => {
          crash = error;
          response.destroy();
        });
      });
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      if (crash !== undefined) throw new Error('A simulator met a bug of its own.', { cause: crash });
    },
  };
}

type Written = { status: number; headers: Record<string, string>; body: string };

/** Text stays text; anything else becomes JSON. */
function asWritten({ status, headers, body }: Extract<Reply, { kind: 'answer' }>): Written {
  const isText = typeof body === 'string';
  const type = isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
  return {
    status,
    headers: { 'content-type': type, ...headers },
    body: isText ? body : JSON.stringify(body),
  };
}
