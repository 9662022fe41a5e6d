import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiAnswer, ApiArguments } from './api-answer.ts';
import { applyAnswer } from './app-answer.ts';
import type { Recorder } from './exchanges.ts';
import { longestFile, uploadPath } from './files.ts';
import { parsedJson } from './message-content.ts';
import type { WebApi } from './web-api.ts';
import type { World } from './world.ts';

/** How Slack behaves towards the bot until told otherwise. */
export type SlackWeather = 'normal' | 'down' | 'error_500' | 'accept_but_lose' | 'rate_limited' | 'hang';

export type Door = {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  setWeather(weather: SlackWeather): void;
  weather(): SlackWeather;
  close(): void;
};

export type DoorDeps = { world: World; api: WebApi; record: Recorder };

/** What goes back over the wire. */
type Reply = { status: number; headers?: Record<string, string>; body: unknown };
type Call = { summary: string; request: unknown; run: () => Reply };

const maxBodyBytes = 1_000_000;
const noAnswer = { status: 0, outcome: ' → no answer' };

/** The HTTP side of the workspace: `/api/<method>` and response_urls, under the weather of the moment. */
export function createDoor(deps: DoorDeps): Door {
  let weather: SlackWeather = 'normal';
  const hanging = new Set<IncomingMessage>();

  function cutHanging(): void {
    for (const request of hanging) request.socket.destroy();
    hanging.clear();
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = deps.world.now();
    const url = new URL(request.url ?? '/', 'http://workspace');
    const isFile = url.pathname.startsWith(uploadPath);
    const body = await readBody(request, isFile ? longestFile : maxBodyBytes);
    const call = body === undefined ? tooLarge() : route(deps, request, url, body);
    const end = deps.record({
      from: 'bot',
      to: 'slack',
      at,
      method: request.method ?? '',
      path: url.pathname,
      summary: call.summary,
      request: call.request,
    });
    const reply = underWeather(weather, call);
    if (reply === 'hold') {
      hanging.add(request);
      request.socket.once('close', () => {
        hanging.delete(request);
        end(noAnswer);
      });
      return;
    }
    if (reply === 'cut') {
      request.socket.destroy();
      end(noAnswer);
      return;
    }
    response.writeHead(reply.status, { 'content-type': contentType(reply.body), ...reply.headers });
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
    end({ status: reply.status, outcome: outcomeOf(reply.body), response: reply.body });
  }

  return {
    handle,
    weather: () => weather,
    setWeather(next) {
      weather = next;
      cutHanging();
    },
    close: cutHanging,
  };
}

function underWeather(weather: SlackWeather, call: Call): Reply | 'cut' | 'hold' {
  switch (weather) {
    case 'normal':
      return call.run();
    case 'down':
      return 'cut';
    case 'hang':
      return 'hold';
    case 'accept_but_lose':
      call.run();
      return 'cut';
    case 'error_500':
      return { status: 500, body: 'Internal Server Error' };
    case 'rate_limited':
      return { status: 429, headers: { 'retry-after': '1' }, body: { ok: false, error: 'ratelimited' } };
  }
}

function route(deps: DoorDeps, request: IncomingMessage, url: URL, body: string): Call {
  const { pathname } = url;
  if (pathname.startsWith('/api/')) return apiCall(deps, request, url, body);
  if (pathname.startsWith(uploadPath) && request.method === 'POST') return fileUpload(deps, pathname, body);
  if (/^\/(commands|actions)\//.test(pathname) && request.method === 'POST')
    return urlAnswer(deps, pathname, body);
  return {
    summary: `${pathname} (no such page)`,
    request: undefined,
    run: () => ({ status: 404, body: 'Not Found' }),
  };
}

function apiCall(deps: DoorDeps, request: IncomingMessage, url: URL, body: string): Call {
  const name = url.pathname.slice('/api/'.length);
  const read = readArguments(request, url, body);
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const { token: formToken, ...given } = read.given;
  const token = bearer ?? (read.isForm && typeof formToken === 'string' ? formToken : undefined);
  return {
    summary: deps.api.summary(name, given),
    request: readableArguments(given),
    run() {
      const answer: ApiAnswer =
        read.error === undefined ? deps.api.call(name, token, given) : { ok: false, error: read.error };
      const { retryAfterS, ...sent } = answer;
      const headers = { 'x-oauth-scopes': [...deps.world.app.scopes].join(',') };
      return retryAfterS === undefined
        ? { status: 200, headers, body: sent }
        : { status: 429, headers: { ...headers, 'retry-after': String(retryAfterS) }, body: sent };
    },
  };
}

/** The bytes of a file; the address itself is what lets them in. */
function fileUpload({ world }: DoorDeps, path: string, body: string): Call {
  return {
    summary: `a file of ${Buffer.byteLength(body)} bytes`,
    request: undefined,
    run: () =>
      world.files.take(path, body)
        ? { status: 200, body: `OK - ${Buffer.byteLength(body)}` }
        : { status: 404, body: 'Not Found' },
  };
}

function urlAnswer(deps: DoorDeps, path: string, body: string): Call {
  const { world } = deps;
  const checked = world.responseUrls.check(path);
  const who = checked.kind === 'open' ? world.directory.user(checked.target.userId)?.realName : undefined;
  return {
    summary: `response_url${who === undefined ? '' : ` to ${who} in ${placeOf(world, checked)}`}`,
    request: parsedJson(body),
    run() {
      if (checked.kind === 'refused') return { status: 404, body: { ok: false, error: checked.error } };
      const applied = applyAnswer(world, checked.target, parsedJson(body));
      if (applied.kind === 'refused') {
        const { error, messages } = applied;
        return { status: 400, body: { ok: false, error, response_metadata: { messages } } };
      }
      world.responseUrls.spend(path);
      return { status: 200, body: { ok: true } };
    },
  };
}

function placeOf(world: World, checked: ReturnType<World['responseUrls']['check']>): string {
  return checked.kind === 'open' ? world.directory.label(checked.target.channel) : '';
}

type ReadArguments = { given: ApiArguments; isForm: boolean; error?: string };

/** A token in a JSON body is not one: Slack reads it from the header then. */
function readArguments(request: IncomingMessage, url: URL, body: string): ReadArguments {
  const query = Object.fromEntries(url.searchParams);
  const type = request.headers['content-type']?.split(';')[0]?.trim() ?? '';
  if (body === '') return { given: query, isForm: true };
  if (type === 'application/x-www-form-urlencoded') {
    return { given: { ...query, ...Object.fromEntries(new URLSearchParams(body)) }, isForm: true };
  }
  if (type !== 'application/json') return { given: {}, isForm: false, error: 'invalid_post_type' };
  const parsed = parsedJson(body);
  if (typeof parsed === 'string') return { given: {}, isForm: false, error: 'invalid_json' };
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return { given: {}, isForm: false, error: 'json_not_object' };
  }
  return { given: { ...parsed }, isForm: false };
}

const structured = new Set(['blocks', 'attachments', 'view', 'metadata']);

function readableArguments(given: ApiArguments): ApiArguments {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, structured.has(name) ? parsedJson(value) : value]),
  );
}

async function readBody(request: IncomingMessage, mostBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= mostBytes) chunks.push(chunk);
  }
  return bytes > mostBytes ? undefined : Buffer.concat(chunks).toString('utf8');
}

function tooLarge(): Call {
  return { summary: 'a body too large', request: undefined, run: () => ({ status: 413, body: 'Too Large' }) };
}

function contentType(body: unknown): string {
  return typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
}

function outcomeOf(body: unknown): string {
  const isRefusal = typeof body === 'object' && body !== null && 'error' in body;
  return isRefusal ? ` → ${String(body.error)}` : '';
}
