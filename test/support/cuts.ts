import childProcess from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { request as openRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { syncBuiltinESMExports } from 'node:module';
import { promisify } from 'node:util';
import type { Kept } from '../../src/store/kept.ts';
import { serveOnLoopback } from './loopback.ts';

/**
 * For `npm run cut` alone: what of the bot the tests of a file use, and one thing cut out of it, as if the line that
 * offers it were deleted. Nothing here is in the bot: requests are stopped at a door before it, work at its store.
 * Without these variables, which `npm test` never sets, everything passes as it is.
 */
const variables = {
  /** All ids there are, as JSON. */
  offered: 'PAYOPS_CUT_OFFERED',
  /** The one that is cut out. */
  cut: 'PAYOPS_CUT',
  /** The file that takes a line for each thing that is used. */
  used: 'PAYOPS_CUT_USED',
} as const;

export { variables as cutVariables };

/** A line of the file of what was used. */
export type Used = { file: string; id: string; isSelect?: true };

export type Door = { url: string; close: () => Promise<void> };

const isWatched = (): boolean => process.env[variables.offered] !== undefined;

function offeredOf(kind: string): string[] {
  const all = JSON.parse(process.env[variables.offered] ?? '[]') as string[];
  return all.filter((id) => id.startsWith(`${kind}:`)).map((id) => id.slice(kind.length + 1));
}

/** Notes that it is used; whether it is cut out. */
function isCut(id: string, more: Pick<Used, 'isSelect'> = {}): boolean {
  const path = process.env[variables.used];
  // oxlint-disable-next-line no-underscore-dangle -- where vitest says which file it is at
  const { __vitest_worker__: worker } = globalThis as { __vitest_worker__?: { filepath?: string } };
  const file = worker?.filepath ?? '';
  if (path !== undefined) appendFileSync(path, `${JSON.stringify({ file, id, ...more })}\n`);
  return process.env[variables.cut] === id;
}

/** Where a bot that listens on this port is reached: past a door that lets nothing through that is cut out. */
export async function openDoor(port: number): Promise<Door> {
  if (!isWatched()) return { url: `http://127.0.0.1:${port}`, close: async () => undefined };
  return await serveOnLoopback((request, response) => void pass(request, response, port));
}

async function pass(request: IncomingMessage, response: ServerResponse, port: number): Promise<void> {
  const { method = 'GET', url: path = '/', rawHeaders } = request;
  const body = await buffer(request).catch(() => undefined);
  if (body === undefined) return void response.destroy();
  const asked = askedBy(path, body.toString());
  if (asked.map(({ id, ...more }) => isCut(id, more)).includes(true)) {
    // Slack takes it for acknowledged, a sender of events for delivered.
    const answer = asked.some(({ id }) => id.startsWith('options:')) ? '{"options":[]}' : '';
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    return;
  }
  const onward = openRequest({ host: '127.0.0.1', port, method, path, headers: rawHeaders }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  onward.end(body);
}

type Asked = Omit<Used, 'file'>;

function askedBy(path: string, body: string): Asked[] {
  if (path === '/slack/events') return askedInSlack(body);
  if (!path.startsWith('/webhooks/')) return [{ id: `page:${path}` }];
  const named = offeredOf('event').filter((kind) => body.includes(`"${kind}"`));
  const kinds = body.includes('"tokenKey"') ? [...named, 'saved card'] : named;
  return (kinds.length > 0 ? kinds : ['unknown']).map((kind) => ({ id: `event:${kind}` }));
}

type Payload = {
  type?: string;
  action_id?: string;
  callback_id?: string;
  actions?: { type: string; action_id: string }[];
  view?: { callback_id?: string };
  event?: { type?: string; tab?: string };
};

function askedInSlack(body: string): Asked[] {
  const form = new URLSearchParams(body);
  if (form.has('command')) return [{ id: `verb:${verbOf(form.get('text') ?? '')}` }];
  const payload = JSON.parse(form.get('payload') ?? (body.startsWith('{') ? body : '{}')) as Payload;
  const { type, action_id: list, callback_id: chosen, actions = [], view, event } = payload;
  switch (type) {
    case 'block_actions':
      return actions.map(({ action_id: id, type: element }) => ({
        id: `button:${ofNoAccount(id)}`,
        ...(element === 'button' ? {} : { isSelect: true }),
      }));
    case 'view_submission':
      return [{ id: `form:${ofNoAccount(view?.callback_id)}` }];
    case 'block_suggestion':
      return [{ id: `options:${ofNoAccount(list)}` }];
    case 'shortcut':
    case 'message_action':
      return [{ id: `shortcut:${chosen}` }];
    case 'event_callback':
      return [{ id: event?.type === 'app_home_opened' ? 'home:opened' : `home:${event?.type}` }];
    default:
      return [];
  }
}

/** The id that every account's has in common. */
function ofNoAccount(id = ''): string {
  return id.replace(/@.*$/, '');
}

/** What is typed without a verb is a reference, or nothing but the command. */
function verbOf(text: string): string {
  const [first] = text
    .replace(/--account\s+\S+/, '')
    .trim()
    .split(/\s+/);
  if (first === '' || first === undefined) return '(alone)';
  return offeredOf('verb').find((verb) => verb === first.toLowerCase()) ?? '(a reference)';
}

/** The same store, in which nobody finds work that is cut out. */
export function withoutCutWork(kept: Kept): Kept {
  if (!isWatched()) return kept;
  const { store } = kept;
  const prefixes = offeredOf('job');
  function isLeft(key: string): boolean {
    const own = key.replace(/^@[^:]*:/, '');
    const prefix = prefixes.find((one) => own.startsWith(one));
    return prefix === undefined || !isCut(`job:${prefix}`);
  }
  const take: Kept['store']['take'] = async (...given) =>
    (await store.take(...given)).filter(({ key }) => isLeft(key));
  return { ...kept, store: Object.assign(Object.create(store) as Kept['store'], { take }) };
}

/** What was typed behind `node src/main.ts`, a command that is cut out put as a word that nobody knows. */
export function wordsLeft(words: readonly string[]): string[] {
  if (!isWatched()) return [...words];
  const commands = offeredOf('command');
  const at = words.findIndex((word) => commands.includes(word));
  const name = words[at];
  return name !== undefined && isCut(`command:${name}`) ? words.with(at, 'nothing-like-it') : [...words];
}

type Watched = typeof globalThis & { payopsMayStart?: (id: string) => boolean };

/** Commands that tests run as processes, whichever helper starts them; and what the bot's own `start` starts. */
function watchProcesses(): void {
  const watched = globalThis as Watched;
  if (watched.payopsMayStart) return;
  watched.payopsMayStart = (id) => !isCut(id);
  for (const name of ['spawn', 'execFile'] as const) {
    const real = childProcess[name] as Start;
    const watchedStart: Start = (file, words, ...rest) => real(file, left(words), ...rest);
    const promised = real[promisify.custom];
    if (promised)
      watchedStart[promisify.custom] = (file, words, ...rest) => promised(file, left(words), ...rest);
    childProcess[name] = watchedStart as never;
  }
  syncBuiltinESMExports();
}

type Start = {
  (file: unknown, words: unknown, ...rest: unknown[]): unknown;
  [promisify.custom]?: (file: unknown, words: unknown, ...rest: unknown[]) => unknown;
};

/** Of `node src/main.ts …` or its bundle; of any other program as they are. */
function left(words: unknown): unknown {
  const isOurs = Array.isArray(words) && words.some((word) => /(?:main\.ts|start\.m?js)$/.test(String(word)));
  return isOurs ? wordsLeft(words as string[]) : words;
}

if (isWatched()) watchProcesses();
