import type { IncomingMessage } from 'node:http';
import type { Faults } from '../faults.ts';
import type { Asked, Reply, Visit } from '../simulator.ts';
import type { ApiAnswer, ApiArguments } from './api-answer.ts';
import { applyAnswer } from './app-answer.ts';
import { type FaultedCall, isFaultFor, type SlackFault } from './faults.ts';
import { uploadPath } from './files.ts';
import { parsedJson } from './message-content.ts';
import type { WebApi } from './web-api.ts';
import type { World } from './world.ts';

type HttpApiDeps = { world: World; api: WebApi; faults: Faults<SlackFault> };

type Answer = { status: number; headers?: Record<string, string>; body: string | object };
/** One call of the bot, and how it would be answered without a fault. */
type Call = FaultedCall & {
  summary: () => string;
  request?: () => unknown;
  run: () => Answer;
  /** The refusal if the call exceeds Slack's rate limit; undefined: it doesn't. A failing call counts too. */
  tooSoon?: () => Answer | undefined;
};

/** The HTTP side of the workspace: `/api/<method>` and response_urls, under the current faults. */
export function createHttpApi(deps: HttpApiDeps) {
  const { counter } = deps.world;
  return function visit(asked: Asked): Visit {
    const call = route(deps, asked);
    counter.called(call.method, call.channel);
    return {
      begin: () => ({
        from: 'bot',
        to: 'slack',
        method: asked.request.method ?? '',
        path: asked.url.pathname,
        summary: call.summary(),
        request: call.request?.(),
      }),
      run() {
        const fault = deps.faults.pick((one) => isFaultFor(one, call));
        const reply = fault === undefined ? replyOf(call.run()) : underFault(fault, call);
        if (reply.kind === 'answer' && reply.status === 429) counter.rateLimited(call.method);
        return reply;
      },
    };
  };
}

function replyOf(answer: Answer): Reply {
  const { body } = answer;
  const isRefusal = typeof body === 'object' && 'error' in body;
  return { kind: 'answer', ...answer, outcome: isRefusal ? ` → ${String(body.error)}` : '' };
}

const noAnswer = { outcome: ' → no answer' };

function underFault(fault: SlackFault, call: Call): Reply {
  switch (fault.kind) {
    case 'down':
      return { kind: 'cut', ...noAnswer };
    case 'answer_lost':
      call.run();
      return { kind: 'cut', ...noAnswer };
    case 'hang':
      return { kind: 'silence', ...noAnswer };
    case 'error_500':
      return replyOf(call.tooSoon?.() ?? { status: 500, body: 'Internal Server Error' });
    case 'rate_limited':
      return replyOf({
        status: 429,
        headers: { 'retry-after': '1' },
        body: { ok: false, error: 'ratelimited' },
      });
    case 'refused':
      return replyOf(call.tooSoon?.() ?? { status: 200, body: { ok: false, error: fault.error } });
    case 'unknown_blocks':
      return replyOf(call.tooSoon?.() ?? refuseBlocks(call, fault.types));
  }
}

/** Slack's refusal of unknown block types, for messages and for views. */
function refuseBlocks({ method, blockTypes }: Call, unknown: readonly string[]): Answer {
  const messages = blockTypes()
    .filter((type) => unknown.includes(type))
    .map((type) => `[ERROR] unsupported type: ${type}`);
  const error = method.startsWith('views.') ? 'invalid_arguments' : 'invalid_blocks';
  const body = { ok: false, error, response_metadata: { messages } };
  return { status: method === 'response_url' ? 400 : 200, body };
}

function route(deps: HttpApiDeps, asked: Asked): Call {
  const { pathname } = asked.url;
  if (pathname.startsWith('/api/')) return apiCall(deps, asked);
  const isPost = asked.request.method === 'POST';
  if (pathname.startsWith(uploadPath) && isPost) return fileUpload(deps, pathname, asked.body);
  if (/^\/(commands|actions)\//.test(pathname) && isPost) return urlAnswer(deps, pathname, asked.body);
  return {
    method: 'unknown',
    channel: undefined,
    blockTypes: () => [],
    summary: () => `${pathname} (no such page)`,
    run: () => ({ status: 404, body: 'Not Found' }),
  };
}

function apiCall({ world, api }: HttpApiDeps, { request, url, body }: Asked): Call {
  const name = url.pathname.slice('/api/'.length);
  const read = readArguments(request, url, body);
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const { token: formToken, ...given } = read.given;
  const form = read.isForm && typeof formToken === 'string' ? formToken : undefined;

  function answer({ retryAfterS, ...sent }: ApiAnswer): Answer {
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
      const refusal = api.tooSoon(name, given);
      return refusal && answer(refusal);
    },
    run: () =>
      answer(
        read.error === undefined ? api.call(name, { bearer, form }, given) : { ok: false, error: read.error },
      ),
  };
}

/** The channel's id, also if the call gives its name. */
function channelOf(world: World, given: ApiArguments): string | undefined {
  const word = given['channel'] ?? given['channel_id'];
  return typeof word === 'string' ? (world.directory.destination(word)?.id ?? word) : undefined;
}

/** The types of all blocks, nested ones included. */
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

/** The bytes of a file; no token is needed: only the address is secret. */
function fileUpload({ world }: HttpApiDeps, path: string, body: string): Call {
  return {
    method: 'upload',
    channel: undefined,
    blockTypes: () => [],
    summary: () => `a file of ${Buffer.byteLength(body)} bytes`,
    run: () =>
      world.files.take(path, body)
        ? { status: 200, body: `OK - ${Buffer.byteLength(body)}` }
        : { status: 404, body: 'Not Found' },
  };
}

function urlAnswer(deps: HttpApiDeps, path: string, body: string): Call {
  const { world } = deps;
  const checked = world.responseUrls.check(path);
  const target = checked.kind === 'open' ? checked.for : undefined;
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
      const applied = applyAnswer(world, checked.for, parsedJson(body));
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

/** Ignores a token in a JSON body: Slack then reads it only from the header. */
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
