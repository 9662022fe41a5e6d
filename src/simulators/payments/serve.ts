import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { refusal, type Answer } from './answer.ts';
import type { ExchangeEnd, RecordExchange } from './exchanges.ts';
import { shownAuthorization, shownPath, shownText } from './masking.ts';
import { findRoute, type Call, type Found, type Route } from './route.ts';

export type ServeDeps = {
  routes: readonly Route[];
  /** Decides and answers, in one turn. */
  answer: (route: Route, call: Call) => Answer;
  record: RecordExchange;
  /** Told of what is never answered. */
  hangs: (response: ServerResponse) => void;
  onCrash: (error: unknown) => void;
};

const largestBody = 64 * 1024;

/** Reads a request, has it answered, reports the exchange. A bug becomes HTTP 500 and `onCrash`. */
export function createListener(deps: ServeDeps): RequestListener {
  return (request, response) => {
    handle(deps, request, response).catch((error: unknown) => {
      deps.onCrash(error);
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { code: '500', description: 'The simulator has a bug' }, {});
    });
  };
}

async function handle(deps: ServeDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://service');
  const method = request.method ?? 'GET';
  const found = findRoute(deps.routes, method, url.pathname);
  const label = found.kind === 'route' ? found.route.label : 'Unknown endpoint';
  const body = await readBody(request);
  if (body.kind === 'cut_off') return;
  const end = deps.record(() => ({
    from: found.kind === 'route' ? found.route.from : 'bot',
    to: 'payments',
    method,
    path: shownPath(url),
    summary: label,
    request: shownRequest(request, url, body),
  }));
  const answer = answerTo(deps, found, { request, url, body });
  if (answer.kind === 'json' && answer.afterMs !== undefined)
    await new Promise((resolve) => setTimeout(resolve, answer.afterMs));
  if (answer.kind === 'silence') deps.hangs(response);
  send(response, answer, (last) => end(() => ({ ...last(), summary: `${label}: ${answer.note}` })));
}

type Read = { kind: 'read'; value: unknown } | { kind: 'too_large' } | { kind: 'not_json' };

function answerTo(
  deps: ServeDeps,
  found: Found,
  given: { request: IncomingMessage; url: URL; body: Read },
): Answer {
  if (found.kind === 'unknown') return refusal(404, 'There is no such endpoint');
  if (found.kind === 'wrong_method') return refusal(404, 'This endpoint does not take that method');
  if (given.body.kind === 'too_large') return refusal(400, 'The body is too large');
  if (given.body.kind === 'not_json')
    return refusal(400, 'The body is not JSON (Content-Type application/json)');
  const { headers } = given.request;
  const accountId = headers['accountid'];
  return deps.answer(found.route, {
    headers,
    query: given.url.searchParams,
    params: found.params,
    body: given.body.value,
    accountId: typeof accountId === 'string' ? accountId : '',
  });
}

async function readBody(request: IncomingMessage): Promise<Read | { kind: 'cut_off' }> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size <= largestBody) chunks.push(chunk);
    }
  } catch {
    return { kind: 'cut_off' };
  }
  return size > largestBody
    ? { kind: 'too_large' }
    : parseBody(Buffer.concat(chunks).toString(), request.headers['content-type']);
}

function parseBody(text: string, contentType: string | undefined): Read {
  if (text === '') return { kind: 'read', value: undefined };
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded') {
    return { kind: 'read', value: Object.fromEntries(new URLSearchParams(text)) };
  }
  if (type !== 'application/json') return { kind: 'not_json' };
  try {
    return { kind: 'read', value: JSON.parse(text) as unknown };
  } catch {
    return { kind: 'not_json' };
  }
}

/** On resend-otp the field named orderReference carries a transaction id, which is a secret. */
function shownRequest(request: IncomingMessage, url: URL, body: Read): string {
  const accountId = request.headers['accountid'];
  return shownText({
    headers: {
      ...shownAuthorization(request.headers.authorization),
      ...(typeof accountId === 'string' ? { accountId } : {}),
    },
    body: body.kind === 'read' ? body.value : 'a body that is not JSON',
    hideReference: url.pathname.endsWith('/resend-otp'),
  });
}

function send(
  response: ServerResponse,
  answer: Answer,
  end: (last: () => Omit<ExchangeEnd, 'summary'>) => void,
): void {
  switch (answer.kind) {
    case 'json':
      end(() => ({ status: answer.status, response: shownText({ body: answer.body }) }));
      sendJson(response, answer.status, answer.body, answer.headers ?? {});
      return;
    case 'page':
      end(() => ({ status: answer.status, response: 'a page' }));
      response.writeHead(answer.status, pageHeaders).end(answer.html);
      return;
    case 'redirect':
      end(() => ({ status: 303 }));
      response.writeHead(303, { location: answer.location }).end();
      return;
    case 'unreadable':
      end(() => ({ status: 200, response: unreadable }));
      response.writeHead(200, { 'content-type': 'text/html' }).end(unreadable);
      return;
    case 'reset':
      end(() => ({ status: 0 }));
      response.socket?.resetAndDestroy();
      return;
    case 'silence':
      response.once('close', () => end(() => ({ status: 0 })));
      return;
  }
}

const unreadable = '<html><body><h1>502 Bad Gateway</h1></body></html>';

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'self' http://127.0.0.1:* http://localhost:*",
  'referrer-policy': 'no-referrer',
};

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string>,
): void {
  response.writeHead(status, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(body));
}
