import { once } from 'node:events';
import { createServer } from 'node:net';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpServer, sendJson, type HttpServer, type Route } from '../../src/http/server.ts';
import type { LogFields } from '../../src/log.ts';
import { connectRaw } from './raw-client.ts';

const open: HttpServer[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close(0);
});

type Line = { level: string; message: string; fields?: LogFields | undefined; error?: unknown };

function build(routes: readonly Route[]) {
  const lines: Line[] = [];
  const server = createHttpServer(
    routes,
    (level, message, fields, error) => void lines.push({ level, message, fields, error }),
  );
  open.push(server);
  return { server, lines };
}

async function start(routes: readonly Route[]) {
  const built = build(routes);
  return { ...built, port: await built.server.listen(0, '127.0.0.1') };
}

function get(path: string, handle: Route['handle']): Route {
  return { method: 'GET', path, handle };
}

const fine = get('/fine', (_request, response) => sendJson(response, 200, { fine: true }));

/** A route that answers once `goOn` is resolved. */
function slowRoute() {
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const slow = get('/slow', async (_request, response) => {
    begun.resolve();
    await goOn.promise;
    sendJson(response, 200, { slow: true });
  });
  return { slow, begun, goOn };
}

async function ask(port: number, path: string, init: RequestInit = {}) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? '' : JSON.parse(text) };
}

describe('createHttpServer', () => {
  it('routes by exact path and method, and ignores the query', async () => {
    const { port } = await start([fine]);
    expect(await ask(port, '/fine?x=/other')).toMatchObject({ status: 200, body: { fine: true } });
    expect(await ask(port, '/fine', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    for (const path of ['/', '/fine/', '/FINE', '/fine/..', '/%66ine', '//fine']) {
      expect(await ask(port, path)).toMatchObject({ status: 404, body: { error: 'not found' } });
    }
  });

  it('closes idle connections once there are many, but none with an unanswered request', async () => {
    const { slow, begun, goOn } = slowRoute();
    const { port } = await start([fine, slow]);
    const waiting = await connectRaw(port);
    waiting.write('GET /slow HTTP/1.1\r\nhost: a\r\n\r\n');
    await begun.promise;
    const idle = await Promise.all(
      Array.from({ length: 510 }, async () => {
        const one = await connectRaw(port);
        one.write('GET /fine HTTP/1.1\r\nhost: a\r\n\r\n');
        await one.receive('{"fine":true}');
        return one;
      }),
    );
    const late = await connectRaw(port);
    await expect.poll(() => idle.filter(({ socket }) => !socket.destroyed).length).toBeLessThan(500);
    late.write('GET /fine HTTP/1.1\r\nhost: a\r\n\r\n');
    expect(await late.receive('{"fine":true}')).toContain('200 OK');
    goOn.resolve();
    expect(await waiting.receive('{"slow":true}')).toContain('200 OK');
    for (const { socket } of [waiting, late, ...idle]) socket.destroy();
  });

  it('answers 405 to another method, and names the methods of the path', async () => {
    const { port } = await start([fine, { ...fine, method: 'POST' }]);
    const reply = await ask(port, '/fine', { method: 'DELETE' });
    expect(reply).toMatchObject({ status: 405, body: { error: 'method not allowed' } });
    expect(reply.headers.get('allow')).toBe('GET, POST');
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('canary');
      },
    ],
    ['rejects', () => Promise.reject(new Error('canary'))],
  ])('answers 500 with nothing but an error id when a handler %s', async (_name, handle) => {
    const { port, lines } = await start([get('/bad', handle), fine]);
    const reply = await ask(port, '/bad');
    expect(reply).toMatchObject({
      status: 500,
      body: { error: 'internal error', errorId: expect.stringMatching(/^[0-9A-F]{8}$/) },
    });
    expect(lines).toEqual([
      {
        level: 'error',
        message: 'A request handler failed',
        fields: { errorId: reply.body.errorId, method: 'GET', path: '/bad', httpStatus: 500 },
        error: expect.objectContaining({ message: 'canary' }),
      },
    ]);
    expect((await ask(port, '/fine')).status).toBe(200);
  });

  it('cuts the connection when a handler fails in the middle of its answer', async () => {
    const half = get('/half', (_request, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('12345');
      throw new Error('half way');
    });
    const { port } = await start([half, fine]);
    await expect(ask(port, '/half')).rejects.toThrow(/terminated|fetch failed/);
    expect((await ask(port, '/fine')).status).toBe(200);
  });

  it.each([
    ['a whole URL', 'GET http://x/fine HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 'HTTP/1.1 404'],
    ['an asterisk', 'OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 'HTTP/1.1 404'],
    ['a broken escape', 'GET /%zz%00 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 'HTTP/1.1 404'],
    [
      'an upgrade',
      'GET /fine HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close\r\nupgrade: websocket\r\n\r\n',
      'HTTP/1.1 200',
    ],
  ])('survives %s', async (_name, text, expected) => {
    const { port } = await start([fine]);
    const client = await connectRaw(port);
    client.write(text);
    expect((await client.receiveAll()).slice(0, 12)).toBe(expected);
    expect((await ask(port, '/fine')).status).toBe(200);
  });
});

describe('listen', () => {
  it('tells what to do when the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { server } = build([]);
    await expect(server.listen(port, '127.0.0.1')).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is taken by another program (or another Payops). Stop it, or set PORT to a free port.`,
    );
    other.close();
    await once(other, 'close');
    expect(await server.listen(port, '127.0.0.1')).toBe(port);
  });

  it.each([
    [0, '203.0.113.1', '203.0.113.1 is no address of this machine. Set HOST'],
    [70_000, '127.0.0.1', '70000 is no port. Set PORT'],
  ])('tells what to do about port %d on %s', async (port, host, words) => {
    await expect(build([]).server.listen(port, host)).rejects.toThrow(words);
  });
});

describe('drain', () => {
  it('keeps answering, but closes each connection after its response', async () => {
    const { slow, begun, goOn } = slowRoute();
    const { server, port } = await start([slow, fine]);
    const kept = await connectRaw(port);
    kept.write('GET /fine HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await kept.receive('"fine"')).toMatch(/keep-alive/i);
    const busy = await connectRaw(port);
    busy.write('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
    await begun.promise;
    server.drain();
    kept.write('GET /fine HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await kept.receiveAll()).toMatch(/connection: close.*"fine"/is);
    goOn.resolve();
    expect(await busy.receiveAll()).toMatch(/connection: close.*"slow"/is);
    expect((await ask(port, '/fine')).headers.get('connection')).toBe('close');
  });
});

describe('close', () => {
  it('finishes a request under way, refuses new connections, and closes idle ones', async () => {
    const { slow, begun, goOn } = slowRoute();
    const { server, port } = await start([slow, fine]);
    const idle = await connectRaw(port);
    idle.write('GET /fine HTTP/1.1\r\nhost: x\r\n\r\n');
    await idle.receive('"fine"');
    const busy = await connectRaw(port);
    busy.write('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
    await begun.promise;
    const closed = server.close();
    await idle.receiveAll();
    await expect(connectRaw(port)).rejects.toThrow('ECONNREFUSED');
    goOn.resolve();
    expect(await busy.receiveAll()).toMatch(/connection: close.*"slow"/is);
    await closed;
  });

  it('closes a connection after its response, even one that had begun before', async () => {
    const begun = Promise.withResolvers<ServerResponse>();
    const slow = get('/slow', (_request, response) => {
      response.writeHead(200, { 'content-length': '4' });
      response.write('12');
      begun.resolve(response);
    });
    const { server, port } = await start([slow]);
    const client = await connectRaw(port);
    client.write('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
    const response = await begun.promise;
    const closed = server.close(60_000);
    response.end('34');
    await closed;
    expect(await client.receiveAll()).toMatch(/keep-alive.*1234$/is);
  });

  it('cuts off requests that are still under way at the deadline', async () => {
    const begun = Promise.withResolvers<void>();
    const hang = get('/hang', () => {
      begun.resolve();
      return new Promise<void>(() => {});
    });
    const { server, port } = await start([hang]);
    const client = await connectRaw(port);
    client.write('GET /hang HTTP/1.1\r\nhost: x\r\n\r\n');
    await begun.promise;
    await server.close(20);
    expect(await client.receiveAll()).toBe('');
  });
});
