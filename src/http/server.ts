import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { asRequest, newErrorId, type Log } from '../log.ts';
import { errorCode } from '../domain/failure.ts';
import { createUnderWay } from '../under-way.ts';

/**
 * One method on one path. `handle` gets request and response, body unread, and may throw or reject: Bolt's listener fits
 * unchanged.
 */
export type Route = {
  method: string;
  /** Ends in `/*` if the handler reads the rest: only this pattern is logged. */
  path: string;
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;
};

export type HttpServer = ReturnType<typeof createHttpServer>;

/**
 * The process's one HTTP server. A handler's error becomes a 500 with an error id; the log has the id with the cause. No
 * request ends the process. Slow clients are closed: headers within 5 s, the request within 10 s. Idle connections close
 * when there are many.
 */
export function createHttpServer(routes: readonly Route[], log: Log) {
  const underWay = createUnderWay<ServerResponse>();
  let isDraining = false;
  let isClosing = false;
  const server = createServer(
    {
      headersTimeout: 5_000,
      requestTimeout: 10_000,
      // Checks both limits above; the default is half a minute.
      connectionsCheckingInterval: 1_000,
      // Longer than a load balancer's usual 60 s, so it never sends into a closing connection.
      keepAliveTimeout: 65_000,
    },
    (request, response) => {
      const leave = underWay.enter(response);
      if (isDraining) response.setHeader('connection', 'close');
      response.once('close', () => {
        leave();
        // Not while draining: a request may be on its way.
        if (isClosing) server.closeIdleConnections();
      });
      void asRequest(() => carry(request, response));
    },
  );
  server.maxConnections = mostConnections;
  let open = 0;
  server.on('connection', (socket) => {
    open += 1;
    socket.once('close', () => (open -= 1));
    // Close idle connections: senders reconnect, and file handles are for requests.
    if (open > mostBeforeIdleEnd) server.closeIdleConnections();
  });
  // Once listening, a server error (no file handles left) must not end the process.
  server.on('error', (error) => {
    if (server.listening) log('error', 'The HTTP server reported an error', {}, error);
  });

  async function carry(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0];
    const onPath = routes.filter((route) => isOn(route.path, path ?? ''));
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const route =
      onPath.find((route) => route.method === request.method) ??
      onPath.find((route) => route.method === method);
    if (!route) {
      if (onPath.length === 0) return sendJson(response, 404, { error: 'not found' });
      response.setHeader('allow', onPath.map((route) => route.method).join(', '));
      return sendJson(response, 405, { error: 'method not allowed' });
    }
    try {
      await route.handle(request, response);
    } catch (error) {
      const errorId = newErrorId();
      const fields = { errorId, method: route.method, path: route.path, httpStatus: 500 };
      log('error', 'A request handler failed', fields, error);
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: 'internal error', errorId });
    }
  }

  /** The port listened on (a free one for 0). Rejects with what to change: `setting`. */
  async function listen(port: number, host: string, setting = 'PORT'): Promise<number> {
    try {
      server.listen(port, host);
      await once(server, 'listening');
    } catch (error) {
      throw new Error(listenProblem(error, port, host).replaceAll('PORT', setting), { cause: error });
    }
    return (server.address() as AddressInfo).port;
  }

  /** From now on each answer closes its connection, so senders reconnect elsewhere before the port closes. */
  function drain(): void {
    isDraining = true;
    for (const response of underWay.all())
      if (!response.headersSent) response.setHeader('connection', 'close');
  }

  /**
   * Accepts no new connections, waits for requests under way until the deadline, then cuts them off. Resolves when the port
   * is free.
   */
  async function close(deadlineMs = 10_000): Promise<void> {
    if (!server.listening) return;
    drain();
    isClosing = true;
    const closed = once(server, 'close');
    server.close();
    const timer = setTimeout(() => server.closeAllConnections(), deadlineMs);
    await closed;
    clearTimeout(timer);
  }

  /** `underWay`: the number of unanswered requests. */
  return { listen, drain, close, underWay: underWay.count };
}

/** Slack, a service and a proxy keep some dozens open; this many idle ones must not keep others out. */
const mostBeforeIdleEnd = 500;
/** Silent connections end after five seconds; this is the most the process allows. */
const mostConnections = 5_000;

function isOn(pattern: string, path: string): boolean {
  return pattern.endsWith('/*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}

/** Whether the request has the bearer token, or none is required. */
export function bringsToken({ headers }: IncomingMessage, token: string | undefined): boolean {
  if (token === undefined) return true;
  const [given, wanted] = [Buffer.from(headers.authorization ?? ''), Buffer.from(`Bearer ${token}`)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** Ends the response with a JSON body that must not be cached. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(text);
}

function listenProblem(error: unknown, port: number, host: string): string {
  const code = errorCode(error) ?? '';
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken by another program (or another Payops). Stop it, or set PORT to a free port.`;
    case 'EACCES':
      return `Listening on port ${port} is not permitted to this user. Set PORT to 1024 or more, and let a proxy hold the lower port.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is no address of this machine. Set HOST to 0.0.0.0 for every address, or 127.0.0.1 for this machine only.`;
    case 'ERR_SOCKET_BAD_PORT':
      return `${port} is no port. Set PORT to a number from 1 to 65535.`;
    default:
      return `Cannot listen on ${host}, port ${port}${code === '' ? '' : ` (${code})`}. Check HOST and PORT.`;
  }
}
