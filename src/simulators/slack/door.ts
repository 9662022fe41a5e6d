import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Faults } from '../faults.ts';
import type { Holds, Passed } from '../holds.ts';
import type { ApiAnswer, ApiArguments } from './api-answer.ts';
import { applyAnswer } from './app-answer.ts';
import type { Recorder } from './exchanges.ts';
import { type FaultedCall, isFaultFor, isHistory, type SlackFault } from './faults.ts';
import { longestFile, uploadPath } from './files.ts';
import { parsedJson } from './message-content.ts';
import type { WebApi } from './web-api.ts';
import type { World } from './world.ts';

type DoorDeps = {
  world: World;
  api: WebApi;
  record: Recorder;
  faults: Faults<SlackFault>;
  holds: Holds;
  passed: ((passed: Passed) => void) | undefined;
};

/** What goes back over the wire. */
type Reply = { status: number; headers?: Record<string, string>; body: unknown };
/** What the bot asks of Slack, and what it would be answered. */
type Call = FaultedCall & {
  summary: () => string;
  request: (() => unknown) | undefined;
  /** With `latest` for the time when a late history ends. */
  run: (changes?: ApiArguments) => Reply;
  /** Undefined: it keeps Slack's pace, in which a call that fails counts too. */
  tooSoon?: () => Reply | undefined;
};
type Outcome = { how: 'send' | 'cut' | 'hold'; reply: Reply; afterMs?: number };

const maxBodyBytes = 1_000_000;
const noAnswer = { status: 0, outcome: ' → no answer' };
const nothing: Reply = { status: 0, body: '' };

/** The HTTP side of the workspace: `/api/<method>` and response_urls, under the faults of the moment. */
export function createDoor(deps: DoorDeps) {
  const { world, faults } = deps;
  const { counter } = world;
  const hanging = new Set<IncomingMessage>();

  function meet(call: Call): Outcome {
    const fault = faults.strike((one) => isFaultFor(one, call));
    return fault === undefined ? { how: 'send', reply: call.run() } : underFault(fault, call, world.now);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = world.now();
    const url = new URL(request.url ?? '/', 'http://workspace');
    const isFile = url.pathname.startsWith(uploadPath);
    const body = await readBody(request, isFile ? longestFile : maxBodyBytes);
    await deps.holds.stand(url.pathname, 'before');
    const call = body === undefined ? tooLarge() : route(deps, request, url, body);
    counter.called(call.method, call.channel);
    const end = deps.record(() => ({
      from: 'bot',
      to: 'slack',
      at,
      method: request.method ?? '',
      path: url.pathname,
      summary: call.summary(),
      request: call.request,
    }));
    const { how, reply, afterMs } = meet(call);
    if (reply.status === 429) counter.rateLimited(call.method);
    if (how === 'hold') {
      hanging.add(request);
      request.socket.once('close', () => {
        hanging.delete(request);
        end(noAnswer);
      });
      return;
    }
    if (how === 'cut') {
      request.socket.destroy();
      end(noAnswer);
      return;
    }
    if (afterMs !== undefined) await new Promise((resolve) => setTimeout(resolve, afterMs));
    const answer = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body);
    end({ status: reply.status, outcome: outcomeOf(reply.body), response: () => parsedJson(answer) });
    await deps.holds.stand(url.pathname, 'after');
    deps.passed?.({ path: url.pathname, request: `${request.url ?? ''}\n${body ?? ''}`, answer });
    response.writeHead(reply.status, { 'content-type': contentType(reply.body), ...reply.headers });
    response.end(answer);
  }

  return {
    handle,
    /** Cuts what hangs. */
    cutHanging() {
      for (const request of hanging) request.socket.destroy();
      hanging.clear();
    },
  };
}

function underFault(fault: SlackFault, call: Call, now: () => number): Outcome {
  switch (fault.kind) {
    case 'down':
      return { how: 'cut', reply: nothing };
    case 'answer_lost':
      return { how: 'cut', reply: call.run() };
    case 'hang':
      return { how: 'hold', reply: fault.carriedOut === true ? call.run() : nothing };
    case 'error_500':
      return { how: 'send', reply: error500(call, fault.carriedOut === true) };
    case 'rate_limited':
      return { how: 'send', reply: tooMany(fault.retryAfterS ?? 1) };
    case 'refused':
      return { how: 'send', reply: call.tooSoon?.() ?? refuse(fault.error) };
    case 'slow':
      return { how: 'send', reply: call.run(), afterMs: fault.ms };
    case 'history_lag':
      return { how: 'send', reply: call.run({ latest: String((now() - fault.ms) / 1000) }) };
    case 'unknown_blocks':
      return { how: 'send', reply: call.tooSoon?.() ?? refuseBlocks(call, fault.types) };
  }
}

function error500(call: Call, isCarriedOut: boolean): Reply {
  const reply: Reply = { status: 500, body: 'Internal Server Error' };
  if (!isCarriedOut) return call.tooSoon?.() ?? reply;
  const carriedOut = call.run();
  return carriedOut.status === 429 ? carriedOut : reply;
}

function tooMany(retryAfterS: number): Reply {
  const headers = { 'retry-after': String(retryAfterS) };
  return { status: 429, headers, body: { ok: false, error: 'ratelimited' } };
}

function refuse(error: string, messages?: string[]): Reply {
  const told = messages === undefined ? {} : { response_metadata: { messages } };
  return { status: 200, body: { ok: false, error, ...told } };
}

/** As an old workspace says it, of messages and of views. */
function refuseBlocks(call: Call, unknown: readonly string[]): Reply {
  const messages = call
    .blockTypes()
    .filter((type) => unknown.includes(type))
    .map((type) => `[ERROR] unsupported type: ${type}`);
  if (call.method.startsWith('views.')) return refuse('invalid_arguments', messages);
  return {
    ...refuse('invalid_blocks', messages),
    ...(call.method === 'response_url' ? { status: 400 } : {}),
  };
}

function route(deps: DoorDeps, request: IncomingMessage, url: URL, body: string): Call {
  const { pathname } = url;
  if (pathname.startsWith('/api/')) return apiCall(deps, request, url, body);
  if (pathname.startsWith(uploadPath) && request.method === 'POST') return fileUpload(deps, pathname, body);
  if (/^\/(commands|actions)\//.test(pathname) && request.method === 'POST')
    return urlAnswer(deps, pathname, body);
  return odd(`${pathname} (no such page)`, { status: 404, body: 'Not Found' });
}

/** Neither a call nor an answer. */
function odd(summary: string, reply: Reply): Call {
  return {
    method: 'unknown',
    channel: undefined,
    blockTypes: () => [],
    summary: () => summary,
    request: undefined,
    run: () => reply,
  };
}

function apiCall(deps: DoorDeps, request: IncomingMessage, url: URL, body: string): Call {
  const { world, api } = deps;
  const name = url.pathname.slice('/api/'.length);
  const read = readArguments(request, url, body);
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const { token: formToken, ...given } = read.given;
  const token = bearer ?? (read.isForm && typeof formToken === 'string' ? formToken : undefined);

  function reply({ retryAfterS, ...sent }: ApiAnswer): Reply {
    const headers = { 'x-oauth-scopes': [...world.app.scopes].join(',') };
    return retryAfterS === undefined
      ? { status: 200, headers, body: sent }
      : { status: 429, headers: { ...headers, 'retry-after': String(retryAfterS) }, body: sent };
  }

  return {
    method: name,
    channel: channelOf(world, given),
    blockTypes: () => blockTypesIn(readableArguments(given)),
    summary: () => api.summary(name, given),
    request: () => readableArguments(given),
    tooSoon() {
      const answer = api.tooSoon(name, given);
      return answer === undefined ? undefined : reply(answer);
    },
    run(changes) {
      if (read.error !== undefined) return reply({ ok: false, error: read.error });
      const asked =
        changes === undefined || !isHistory(name) ? given : { ...given, ...earlier(given, changes) };
      return reply(api.call(name, token, asked));
    },
  };
}

/** A history that ends sooner still stays as it was asked for. */
function earlier(given: ApiArguments, changes: ApiArguments): ApiArguments {
  return Number(given['latest'] ?? Infinity) < Number(changes['latest']) ? {} : changes;
}

/** As an id, however the call names it. */
function channelOf(world: World, given: ApiArguments): string | undefined {
  const word = given['channel'] ?? given['channel_id'];
  return typeof word === 'string' ? (world.directory.destination(word)?.id ?? word) : undefined;
}

/** The types of all blocks within, however deep. */
function blockTypesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one: unknown) => blockTypesIn(one));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    const own = name === 'blocks' && Array.isArray(inner) ? inner.map(typeOf) : [];
    return [...own, ...blockTypesIn(inner)];
  });
}

function typeOf(block: unknown): string {
  return typeof block === 'object' && block !== null && 'type' in block ? String(block.type) : '';
}

/** The bytes of a file; the address itself is what lets them in. */
function fileUpload({ world }: DoorDeps, path: string, body: string): Call {
  return {
    method: 'upload',
    channel: undefined,
    blockTypes: () => [],
    summary: () => `a file of ${Buffer.byteLength(body)} bytes`,
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
  const target = checked.kind === 'open' ? checked.target : undefined;
  return {
    method: 'response_url',
    channel: target?.channel,
    blockTypes: () => blockTypesIn(parsedJson(body)),
    summary() {
      const who = world.directory.user(target?.userId ?? '')?.realName;
      return `response_url${who === undefined ? '' : ` to ${who} in ${world.directory.label(target?.channel ?? '')}`}`;
    },
    request: () => parsedJson(body),
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

const structured = new Set(['blocks', 'view', 'metadata']);

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
  return odd('a body too large', { status: 413, body: 'Too Large' });
}

function contentType(body: unknown): string {
  return typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
}

function outcomeOf(body: unknown): string {
  const isRefusal = typeof body === 'object' && body !== null && 'error' in body;
  return isRefusal ? ` → ${String(body.error)}` : '';
}
