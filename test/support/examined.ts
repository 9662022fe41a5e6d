import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { keyFile, readOrMakeKeyFile, storeFile } from '../../src/store/storage.ts';
import type { Store } from '../../src/store/store.ts';
import { findCanaries } from './canaries.ts';
import { runHere } from './desk.ts';
import { openHouse, type House, type HouseOptions } from './house.ts';
import { serveOnLoopback } from './loopback.ts';
import { startRedis } from './redis-server.ts';
import { runPayops } from './run-payops.ts';

export type Finding = { part: string; account?: string; state: string; says: string; fix?: string };
export type Doctor = { code: number | null; findings: Finding[] };

type Env = Record<string, string>;
type Change = (house: House, test: TestContext) => Promise<Env | void> | Env | void;

/** A bot's surroundings, and their faults. */
export type Broken = {
  house?: HouseOptions;
  /** Starts a Redis with these arguments before the house. */
  redis?: readonly string[];
  /** Installs the app by a manifest without this scope. */
  withoutScope?: string;
  policy?: (policy: string) => string;
  /** Breaks something, and returns the settings for that. */
  breaks?: Change;
  env?: Env;
  clockMs?: number;
};

/** Node reads this variable only at its start, so it needs a doctor in its own process. */
const ofTheProcess = 'NODE_EXTRA_CA_CERTS';
const secretNames = /TOKEN$|SECRETS?$|SEALING_KEYS/;
export const manifest = readFileSync(new URL('../../manifest.yml', import.meta.url), 'utf8');

export type Stage = { house: House; settings: Env; examine: (more?: Env) => Promise<Doctor> };

/** Sets up a bot with this fault. `examine` then runs the doctor, and throws if its output contains a secret. */
export async function openStage(test: TestContext, broken: Broken): Promise<Stage> {
  const server = broken.redis === undefined ? undefined : await startRedis({ args: broken.redis });
  if (server) test.onTestFinished(() => server.stop());
  const house = await openHouse(test, {
    ...broken.house,
    workspace: {
      grantedOptionalScopes: 'all',
      ...broken.house?.workspace,
      ...installedWithout(test, broken),
    },
    ...(server ? { redisUrl: server.url } : {}),
  });
  // As a bot that was stopped leaves it: the doctor makes none.
  if (!server) {
    readOrMakeKeyFile(join(house.dataDir, keyFile), join(house.dataDir, storeFile));
    await inStore(house, () => Promise.resolve());
  }
  if (broken.policy) writeFileSync(house.policyFile, broken.policy(readFileSync(house.policyFile, 'utf8')));
  const breaks = await broken.breaks?.(house, test);
  const settings = house.settings({ PAYMENTS_TIMEOUT_SECONDS: '4', ...broken.env, ...breaks });
  const now = () => house.now() + (broken.clockMs ?? 0);
  return {
    house,
    settings,
    async examine(more = {}) {
      const all = { ...settings, ...more };
      const words = ['doctor', '--json'];
      const { code, stdout, stderr } = Object.hasOwn(all, ofTheProcess)
        ? await runPayops(words, all)
        : await runHere(words, all, now);
      if (stdout === '') throw new Error(stderr);
      const { findings } = JSON.parse(stdout) as Doctor;
      const secrets = Object.entries(all).filter(([name]) => secretNames.test(name));
      const long = Object.fromEntries(secrets.filter(([, value]) => value.length >= 8));
      const leaked = findCanaries(long, { stdout, stderr: `${stderr} ` });
      if (leaked.length > 0) throw new Error(`The doctor tells a secret: ${leaked.join(', ')}`);
      return { code, findings };
    },
  };
}

function installedWithout(test: TestContext, { withoutScope }: Broken): { manifestPath?: string } {
  if (withoutScope === undefined) return {};
  const folder = mkdtempSync(join(tmpdir(), 'payops-doctor-'));
  test.onTestFinished(() => rmSync(folder, { recursive: true }));
  const manifestPath = join(folder, 'manifest.yml');
  writeFileSync(manifestPath, manifest.replaceAll(`      - ${withoutScope}\n`, ''));
  return { manifestPath };
}

export async function webPage(test: TestContext, status: number, headers: Env = {}): Promise<string> {
  const server = await serveOnLoopback((_request, response) => {
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<h1>Welcome</h1>');
  });
  test.onTestFinished(() => server.close());
  return server.url;
}

/**
 * The payments service behind another address: strips `prefix` from paths, answers 404 below `missing`, and its clock is
 * `lateMs` behind.
 */
export async function behind(
  { payments }: House,
  test: TestContext,
  { prefix = '', missing = '', lateMs = 0 },
): Promise<string> {
  const server = await serveOnLoopback((request, response) => {
    void pass(request, response).catch(() => response.destroy());
  });
  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').slice(prefix.length);
    if (missing !== '' && path.startsWith(missing)) return void response.writeHead(404).end('Not Found');
    const { method = 'GET', headers } = request;
    const sent = await text(request);
    const { authorization = '', accountid = '' } = headers;
    const answer = await fetch(payments.url + path, {
      method,
      headers: { authorization, accountid: String(accountid), 'content-type': 'application/json' },
      ...(sent === '' ? {} : { body: sent }),
    });
    const date = new Date(Date.now() - lateMs).toUTCString();
    response.writeHead(answer.status, { 'content-type': 'application/json', date }).end(await answer.text());
  }
  test.onTestFinished(() => server.close());
  return server.url + prefix;
}

export async function inStore(house: House, work: (store: Store) => Promise<unknown>): Promise<void> {
  const store = openSqliteStore({ path: join(house.dataDir, storeFile), now: house.now });
  await work(store);
  await store.close();
}
