import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { findRoute, refusal, type Answer, type Call, type Found, type Route } from './route.ts';
import type { Holds, Passed } from '../holds.ts';
import {
  shownAuthorization,
  shownPath,
  shownText,
  type ExchangeEnd,
  type RecordExchange,
} from './exchanges.ts';

type ServeDeps = {
  routes: readonly Route[];
  /** Decides and answers, in one turn. */
  answer: (route: Route, call: Call) => Answer;
  record: RecordExchange;
  holds: Holds;
  passed: ((passed: Passed) => void) | undefined;
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
      else response.writeHead(500).end('The simulator has a bug');
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
  await deps.holds.stand(url.pathname, 'before');
  const end = deps.record(() => ({
    from: found.kind === 'route' ? found.route.from : 'bot',
    to: 'payments',
    method,
    path: shownPath(url),
    summary: label,
    request: shownRequest(request, url, body),
  }));
  const answer = answerTo(deps, found, { request, url, body });
  const endWith = (last: () => Omit<ExchangeEnd, 'summary'>): void =>
    end(() => ({ ...last(), summary: `${label}: ${answer.note}` }));
  if (answer.kind === 'silence') {
    deps.hangs(response);
    response.once('close', () => endWith(() => ({ status: 0 })));
    return;
  }
  if (answer.kind === 'reset') {
    endWith(() => ({ status: 0 }));
    response.socket?.resetAndDestroy();
    return;
  }
  if (answer.kind === 'json' && answer.afterMs !== undefined)
    await new Promise((resolve) => setTimeout(resolve, answer.afterMs));
  const { status, headers, text, shown } = written(answer);
  endWith(() => ({ status, ...(shown === undefined ? {} : { response: shown() }) }));
  await deps.holds.stand(url.pathname, 'after');
  deps.passed?.({ path: url.pathname, request: `${request.url ?? ''}\n${body.text}`, answer: text });
  response.writeHead(status, headers).end(text);
}

type Read = { text: string } & (
  | { kind: 'read'; value: unknown }
  | { kind: 'too_large' }
  | { kind: 'not_json' }
);

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
  const text = Buffer.concat(chunks).toString();
  return size > largestBody ? { kind: 'too_large', text } : parseBody(text, request.headers['content-type']);
}

function parseBody(text: string, contentType: string | undefined): Read {
  if (text === '') return { kind: 'read', value: undefined, text };
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded') {
    return { kind: 'read', value: Object.fromEntries(new URLSearchParams(text)), text };
  }
  if (type !== 'application/json') return { kind: 'not_json', text };
  try {
    return { kind: 'read', value: JSON.parse(text) as unknown, text };
  } catch {
    return { kind: 'not_json', text };
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

type Written = {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** In the log of exchanges. */
  shown?: () => string;
};

function written(answer: Exclude<Answer, { kind: 'silence' | 'reset' }>): Written {
  switch (answer.kind) {
    case 'json':
      return {
        status: answer.status,
        headers: { ...answer.headers, 'content-type': 'application/json' },
        text: JSON.stringify(answer.body),
        shown: () => shownText({ body: answer.body }),
      };
    case 'page':
      return { status: answer.status, headers: pageHeaders, text: answer.html, shown: () => 'a page' };
    case 'redirect':
      return { status: 303, headers: { location: answer.location }, text: '' };
    case 'unreadable':
      return {
        status: 200,
        headers: { 'content-type': 'text/html' },
        text: unreadable,
        shown: () => unreadable,
      };
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
