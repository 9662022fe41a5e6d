import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCanned, type CannedPlayground } from './canned.ts';

type Answer = { status: number; body: string; headers: Record<string, unknown> };

/** A request with any Host and an unchanged path, which fetch doesn't allow. */
function ask(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const asking = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }),
      );
    });
    asking.on('error', reject);
    asking.end(body);
  });
}

const act = JSON.stringify({ user: 'U1', action: { kind: 'bot_kill' } });
const json = { 'content-type': 'application/json' };

describe('the page’s server', () => {
  let canned: CannedPlayground;
  beforeEach(async () => {
    canned = await startCanned();
  });
  afterEach(() => canned.close());

  it('answers only requests that name its own address', async () => {
    const rebound = await ask(canned.port, '/state', { host: 'evil.example' });
    expect(rebound.status).toBe(421);
    expect(rebound.body).not.toContain('ORDER');
    expect((await ask(canned.port, '/state', { host: `localhost:${canned.port}` })).status).toBe(200);
  });

  it('takes actions only from its own page', async () => {
    const foreign = await ask(canned.port, '/act', { ...json, origin: 'https://evil.example' }, act);
    expect(foreign.status).toBe(403);
    const opaque = await ask(canned.port, '/act', { ...json, origin: 'null' }, act);
    expect(opaque.status).toBe(403);
    const form = await ask(canned.port, '/act', { 'content-type': 'text/plain' }, act);
    expect(form.status).toBe(415);
    expect(canned.acts).toEqual([]);
    expect((await ask(canned.port, '/act', { ...json, origin: canned.url }, act)).status).toBe(200);
    expect(canned.acts).toHaveLength(1);
  });

  it('refuses an unknown action, and answers with an error if the state can’t be made', async () => {
    const unknown = ['{"user":"U1","action":{"kind":"rm"}}', 'not json'];
    const answers = await Promise.all(unknown.map((body) => ask(canned.port, '/act', json, body)));
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    expect(canned.acts).toEqual([]);
    expect((await ask(canned.port, '/state?user=U9')).status).toBe(500);
    expect((await ask(canned.port, '/events?user=U9')).status).toBe(500);
  });

  it.each([
    '/page/../server.ts',
    '/page/%2e%2e/server.ts',
    '/modules/lit/../../package.json',
    '/page/tsconfig.json',
    '/server.ts',
  ])('gives nothing outside its folders: %s', async (path) => {
    expect((await ask(canned.port, path)).status).toBe(404);
  });

  it('serves the page’s TypeScript without its types, under a policy that allows nothing from elsewhere', async () => {
    const script = await ask(canned.port, '/page/main.ts');
    expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(script.body).not.toContain(': void');
    const policy = String((await ask(canned.port, '/')).headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  it('takes the next free port if the requested one is taken', async () => {
    const second = await startCanned(canned.port);
    expect(second.port).toBeGreaterThan(canned.port);
    expect((await ask(second.port, '/')).status).toBe(200);
    await second.close();
  });
});
