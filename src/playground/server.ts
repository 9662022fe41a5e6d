import { hash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { findPackageJSON, stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import {
  paymentsAction,
  playgroundAction,
  workspaceAction,
  type ActResult,
  type Exchange,
  type PageState,
} from '../simulators/protocol.ts';

/** The page's requests, by the part that carries them out. */
const actRequest = z.object({
  user: z.string(),
  action: z.union([
    workspaceAction.transform((action) => ({ to: 'workspace' as const, action })),
    paymentsAction.transform((action) => ({ to: 'payments' as const, action })),
    playgroundAction.transform((action) => ({ to: 'playground' as const, action })),
  ]),
});
export type ActRequest = z.infer<typeof actRequest>;

/** What the page needs of the playground. */
type PageFunctions = {
  /** The page as that person sees it. Without an id, or with an unknown one: as the first person sees it. */
  state: (userId?: string) => PageState;
  act: (request: ActRequest) => Promise<ActResult>;
  exchange: (id: number) => Exchange | undefined;
  botLog: () => string;
  /** Called after any change. */
  onChange: (listener: () => void) => void;
};

export type PageServer = { url: string; port: number; close: () => Promise<void> };

/** The page gets at most one update in this time. */
const updateEveryMs = 40;
const portsTried = 20;

/**
 * Serves the page on 127.0.0.1, from `port` or the next free one (0: any). Answers only requests that name this address
 * (a rebound DNS name does not), accepts actions only from its own page, and lets the page load nothing from elsewhere.
 */
export async function startPageServer(page: PageFunctions, port: number): Promise<PageServer> {
  const headers = await safetyHeaders();
  const routes = createRoutes(page, createStreams(page));
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      const refusal = refusalFor(request, (server.address() as AddressInfo).port);
      if (refusal) return send(response, ...refusal);
      const url = new URL(`http://${request.headers.host}${request.url}`);
      await (routes[`${request.method} ${url.pathname}`] ?? sendFile)(request, response, url);
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
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listen(server: Server, port: number, tries: number): Promise<number> {
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    if (isTaken && tries > 1) return listen(server, port + 1, tries - 1);
    throw error;
  }
  return (server.address() as AddressInfo).port;
}

async function safetyHeaders(): Promise<Record<string, string>> {
  const html = await readFile(join(pageFolder, 'index.html'), 'utf8');
  const importMap = /<script type="importmap">([\s\S]*?)<\/script>/.exec(html)?.[1] ?? '';
  const mapHash = hash('sha256', importMap, 'base64');
  return {
    'content-security-policy': [
      "default-src 'none'",
      `script-src 'self' 'sha256-${mapHash}'`,
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

/**
 * Another site could make the browser send requests here: by a name that resolves to this machine, or by a plain POST.
 */
function refusalFor({ method, headers }: IncomingMessage, port: number): [number, string] | undefined {
  const own = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  const { host, origin, 'content-type': type = '' } = headers;
  if (!own.includes(`http://${host}`)) return [421, 'Open the address that the playground printed.'];
  if (origin !== undefined && !own.includes(origin)) return [403, 'Only the playground’s own page may ask.'];
  if (method === 'POST' && !type.startsWith('application/json')) return [415, 'Send JSON.'];
  return undefined;
}

type Route = (request: IncomingMessage, response: ServerResponse, url: URL) => void | Promise<void>;

function createRoutes(page: PageFunctions, stream: Stream): Record<string, Route> {
  return {
    'GET /state': (_request, response, url) => send(response, 200, page.state(userIn(url))),
    'GET /events': (_request, response, url) => stream(userIn(url), response),
    'GET /exchange': (_request, response, url) => {
      const exchange = page.exchange(Number(url.searchParams.get('id')));
      send(response, exchange ? 200 : 404, exchange ?? 'This exchange is no longer kept.');
    },
    'GET /bot.log': (_request, response) => send(response, 200, page.botLog()),
    'POST /act': async (request, response) => {
      const action = actRequest.safeParse(await json(request).catch(() => undefined));
      if (action.success) return send(response, 200, await page.act(action.data));
      send(response, 400, { ok: false, problem: 'The playground does not know this action.' });
    },
  };
}

function userIn(url: URL): string | undefined {
  return url.searchParams.get('user') ?? undefined;
}

type Stream = (userId: string | undefined, to: ServerResponse) => void;

/** Server-sent events. Each has the whole state, so a slow reader may miss some. */
function createStreams(page: PageFunctions): Stream {
  const readers = new Map<ServerResponse, string | undefined>();
  let nextUpdate: NodeJS.Timeout | undefined;

  function writeState(response: ServerResponse, userId: string | undefined): void {
    if (response.writableNeedDrain) updateSoon();
    else response.write(`retry: 700\ndata: ${JSON.stringify(page.state(userId))}\n\n`);
  }
  function updateSoon(): void {
    nextUpdate ??= setTimeout(() => {
      nextUpdate = undefined;
      for (const [response, userId] of readers) writeState(response, userId);
    }, updateEveryMs);
  }
  page.onChange(updateSoon);
  return function stream(userId, response) {
    writeState(response.setHeader('content-type', 'text/event-stream'), userId);
    readers.set(response, userId);
    response.once('close', () => readers.delete(response));
  };
}

const pageFolder = fileURLToPath(new URL('page/', import.meta.url));

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ts': 'text/javascript; charset=utf-8',
};

/** A file of the page, with its types stripped, or of the view library. No build, no bundle. */
async function sendFile(_request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
  const location = locate(url.pathname) ?? '';
  const text = await readFile(location, 'utf8').catch(() => undefined);
  if (text === undefined) return send(response, 404, 'Nothing is here.');
  const extension = extname(location);
  response.setHeader('content-type', types[extension] ?? '');
  response.end(extension === '.ts' ? stripTypeScriptTypes(text) : text);
}

/** Allows only the page's folder and the view library's. */
function locate(path: string): string | undefined {
  const own = path === '/' ? 'index.html' : /^\/page\/([a-z-]+\.(?:ts|css|svg))$/.exec(path)?.[1];
  if (own !== undefined) return join(pageFolder, own);
  const [, name, inside = ''] = /^\/modules\/(lit|lit-html)\/((?:[\w-]+\/)*[\w-]+\.js)$/.exec(path) ?? [];
  return name && join(moduleFolder(name), inside);
}

/** The view library may be installed here, or inside the package that needs it. */
function moduleFolder(name: string): string {
  const lit = findPackageJSON('lit', import.meta.url);
  const found = name === 'lit' ? lit : lit && findPackageJSON(name, lit);
  if (found === undefined) throw new Error(`The package ${name} is not installed: run npm ci first.`);
  return dirname(found);
}

/** Text stays text; anything else becomes JSON. */
function send(response: ServerResponse, status: number, body: string | object): void {
  const [type, text] =
    typeof body === 'string'
      ? ['text/plain; charset=utf-8', body]
      : ['application/json', JSON.stringify(body)];
  response.writeHead(status, { 'content-type': type }).end(text);
}
