import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import {
  paymentsAction,
  playgroundAction,
  workspaceAction,
  type ActResult,
  type Exchange,
  type PageState,
} from '../simulators/protocol.ts';
import { importMapHash, readPageFile } from './page-files.ts';

/** What the page may ask to be done, told apart by who carries it out. */
const actRequest = z.object({
  user: z.string(),
  action: z.union([
    workspaceAction.transform((action) => ({ to: 'workspace' as const, action })),
    paymentsAction.transform((action) => ({ to: 'payments' as const, action })),
    playgroundAction.transform((action) => ({ to: 'playground' as const, action })),
  ]),
});
export type ActRequest = z.infer<typeof actRequest>;

export type PageServerDeps = {
  /** Throws for a person who is not in the workspace. */
  state: (userId: string) => PageState;
  /** Who one is before one has chosen. */
  firstUser: string;
  act: (request: ActRequest) => Promise<ActResult>;
  exchange: (id: number) => Exchange | undefined;
  botLog: () => string;
  /** The bot's environment, for a command that is to run beside it. */
  botSettings: () => Record<string, string>;
  /** Calls back after any change; the returned function ends that. */
  onChange: (listener: () => void) => () => void;
};

export type PageServer = { url: string; port: number; close: () => Promise<void> };

const maxBodyBytes = 256 * 1024;
/** A storm of changes is told at most this often. */
const tellEveryMs = 40;
const heartbeatMs = 15_000;
const portsTried = 20;

type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => void | Promise<void>;

/**
 * Serves the page on 127.0.0.1, from `port` or the next free one (0: any). Answers only requests that name this
 * address (a rebound DNS name does not), takes actions only from its own page, and lets the page load nothing
 * from elsewhere.
 */
export async function startPageServer(deps: PageServerDeps, port: number): Promise<PageServer> {
  const hash = await importMapHash();
  const streams = createStreams(deps);
  const routes = createRoutes(deps, streams);
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(safetyHeaders(hash))) response.setHeader(name, value);
    const answer = async (): Promise<void> => {
      const own = ownOrigins(server);
      const refusal = refusalFor(request, own);
      if (refusal) return send(response, refusal.status, refusal.words);
      const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
      const handler = routes[`${request.method} ${url.pathname}`] ?? routes[request.method ?? ''];
      await (handler ?? notFound)(request, response, url);
    };
    answer().catch(() => {
      if (response.headersSent) response.destroy();
      else send(response, 500, 'The playground met a bug of its own.');
    });
  });
  const taken = await listen(server, port, port === 0 ? 1 : portsTried);
  return {
    url: `http://127.0.0.1:${taken}`,
    port: taken,
    async close() {
      streams.close();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}

function safetyHeaders(hash: string): Record<string, string> {
  return {
    'content-security-policy': [
      "default-src 'none'",
      `script-src 'self' '${hash}'`,
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      'trusted-types lit-html',
    ].join('; '),
    'cache-control': 'no-cache',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}

function ownOrigins(server: Server): string[] {
  const { port } = server.address() as AddressInfo;
  return [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
}

/** A page elsewhere can make a browser send requests here: by a name that resolves to us, or by a plain POST. */
function refusalFor(request: IncomingMessage, own: string[]): { status: number; words: string } | undefined {
  const { host, origin } = request.headers;
  if (!own.includes(`http://${host}`))
    return { status: 421, words: 'Open the address that the playground printed.' };
  if (origin !== undefined && !own.includes(origin))
    return { status: 403, words: 'Only the playground’s own page may ask.' };
  const isJson = /^application\/json\b/.test(request.headers['content-type'] ?? '');
  if (request.method === 'POST' && !isJson) return { status: 415, words: 'Send JSON.' };
  return undefined;
}

function createRoutes(deps: PageServerDeps, streams: Streams): Record<string, Handler> {
  function asUser(url: URL, response: ServerResponse, answer: (userId: string) => void): void {
    const userId = url.searchParams.get('user') ?? deps.firstUser;
    if (deps.state(deps.firstUser).users.some((user) => user.id === userId)) answer(userId);
    else send(response, 404, 'Nobody of that id is in this workspace.');
  }
  return {
    'GET /state': (_request, response, url) =>
      asUser(url, response, (userId) => sendJson(response, 200, deps.state(userId))),
    'GET /events': (_request, response, url) =>
      asUser(url, response, (userId) => streams.open(userId, response)),
    'GET /exchange': (_request, response, url) => {
      const exchange = deps.exchange(Number(url.searchParams.get('id')));
      if (exchange) sendJson(response, 200, exchange);
      else send(response, 404, 'This exchange is no longer kept.');
    },
    'GET /settings': (_request, response) => sendJson(response, 200, deps.botSettings()),
    'GET /bot.log': (_request, response) => send(response, 200, deps.botLog()),
    'POST /act': async (request, response) => {
      const body = await readBody(request);
      if (body === undefined) return send(response, 413, 'Too much at once.');
      const asked = actRequest.safeParse(readJson(body));
      if (!asked.success)
        return sendJson(response, 400, { ok: false, problem: 'The playground does not know this action.' });
      sendJson(response, 200, await deps.act(asked.data));
    },
    GET: async (request, response, url) => {
      const file = await readPageFile(url.pathname);
      if (!file) return notFound(request, response, url);
      response.writeHead(200, { 'content-type': file.type }).end(file.body);
    },
  };
}

function notFound(_request: IncomingMessage, response: ServerResponse, _url: URL): void {
  send(response, 404, 'Nothing is here.');
}

type Streams = { open: (userId: string, response: ServerResponse) => void; close: () => void };

/** Server-sent events: each is a whole state, so a slow reader may miss some and still be right in the end. */
function createStreams(deps: PageServerDeps): Streams {
  const readers = new Map<ServerResponse, string>();
  let telling: NodeJS.Timeout | undefined;

  function tell(response: ServerResponse, userId: string): void {
    if (!response.writableNeedDrain) response.write(`data: ${JSON.stringify(deps.state(userId))}\n\n`);
    else response.once('drain', () => readers.has(response) && tell(response, userId));
  }
  function tellAll(): void {
    telling = undefined;
    for (const [response, userId] of readers) tell(response, userId);
  }
  const stopListening = deps.onChange(() => {
    telling ??= setTimeout(tellAll, tellEveryMs);
  });
  const heartbeat = setInterval(() => {
    for (const response of readers.keys()) response.write(': still here\n\n');
  }, heartbeatMs);
  return {
    open(userId, response) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('retry: 700\n\n');
      readers.set(response, userId);
      response.once('close', () => readers.delete(response));
      tell(response, userId);
    },
    close() {
      stopListening();
      clearInterval(heartbeat);
      clearTimeout(telling);
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, status: number, words: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(words);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function listen(server: Server, port: number, tries: number): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  } catch (error) {
    const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    if (!taken || tries <= 1) throw error;
    return listen(server, port + 1, tries - 1);
  }
  return (server.address() as AddressInfo).port;
}
