import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { asRequest, newErrorId, type Log } from '../log.ts';
import { errorCode } from '../domain/failure.ts';
import { createUnderWay } from '../under-way.ts';

/**
 * One method on one path. `handle` gets the request with its body unread, and may throw or reject.
 */
export type Route = {
  method: string;
  /** A pattern that ends in `/*` takes any rest, for the handler to read. Logs have the pattern, never the request's path. */
  path: string;
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;
};

export type HttpServer = ReturnType<typeof createHttpServer>;

/**
 * The process's HTTP server. A handler's error becomes a 500 with an error id; the log has the id with the cause. No
 * request can end the process. Clients must send headers within 5 s and the whole request within 10 s. Idle connections
 * are closed once there are many.
 */
export function createHttpServer(routes: readonly Route[], log: Log) {
  const underWay = createUnderWay<ServerResponse>();
  let isDraining = false;
  let isClosing = false;
  const server = createServer(
    {
      headersTimeout: 5_000,
      requestTimeout: 10_000,
      // How often both timeouts above are checked; Node's default of 30 s would make them longer.
      connectionsCheckingInterval: 1_000,
      // Longer than a load balancer keeps idle connections (usually 60 s): the balancer closes first, so it never sends
      // a request into a connection that is just being closed here.
      keepAliveTimeout: 65_000,
    },
    (request, response) => {
      const leave = underWay.enter(response);
      if (isDraining) response.setHeader('connection', 'close');
      response.once('close', () => {
        leave();
        // Only when closing. While draining, an idle connection may still bring a request that is on its way.
        if (isClosing) server.closeIdleConnections();
      });
      void asRequest(() => handleRequest(request, response));
    },
  );
  server.maxConnections = mostConnections;
  let open = 0;
  server.on('connection', (socket) => {
    open += 1;
    socket.once('close', () => (open -= 1));
    // Free file handles for new requests; senders of idle connections can reconnect.
    if (open > mostBeforeIdleEnd) server.closeIdleConnections();
  });
  // Without a listener, an error of the listening server (no file handles left) would end the process.
  server.on('error', (error) => {
    if (server.listening) log('error', 'The HTTP server reported an error', {}, error);
  });

  async function handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
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

  /**
   * Returns the port (for 0: the free one that was chosen). Rejects with a message that names `setting` and what to
   * change.
   */
  async function listen(port: number, host: string, setting = 'PORT'): Promise<number> {
    try {
      server.listen(port, host);
      await once(server, 'listening');
    } catch (error) {
      throw new Error(listenProblem(error, port, host).replaceAll('PORT', setting), { cause: error });
    }
    return (server.address() as AddressInfo).port;
  }

  /**
   * From now on each response closes its connection, so that senders reconnect to another replica before the port
   * closes.
   */
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

/**
 * From this many open connections on, idle ones are closed so that they don't keep others out. Slack, a payments
 * service and a proxy together need a few dozen.
 */
const mostBeforeIdleEnd = 500;
/** Upper limit of open connections. Those that send nothing end after five seconds. */
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
