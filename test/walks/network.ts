import http, { IncomingMessage, ServerResponse, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { asRun, replaceAll, runOf, type Run, type VirtualTime } from './virtual-time.ts';

/** One HTTP call. `from`: the bot; undefined for others. */
export type Call = {
  from: Run | undefined;
  to: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
};
export type Answer = { status: number; headers: Record<string, string>; body: string };

/**
 * A call's fate. `not_sent`: no server was there. `lost`: it never arrives, and there is no answer. `unheard`: it is
 * carried out, up to `lateMs` late, but its answer is lost. `answered`: something between answers, and nothing is carried
 * out.
 */
export type Fate =
  | { kind: 'carried'; thereMs: number; backMs: number }
  | { kind: 'not_sent' }
  | { kind: 'lost'; isCut: boolean }
  | { kind: 'unheard'; lateMs: number; isCut: boolean }
  | { kind: 'answered'; answer: Answer };

export type Traffic = {
  fate: (call: Call) => Fate;
  /** Carries the call out at its target, and may look at the result. */
  carry: (call: Call, carry: (call: Call) => Promise<Answer | undefined>) => Promise<Answer | undefined>;
};

type Listening = { server: Server; run: Run | undefined; underWay: Set<() => void> };

/**
 * HTTP without sockets: servers listen under a name, and every `fetch` of this process goes there, subject to `Traffic`.
 * A dead bot's calls are not sent, and it gets no answers.
 */
export class Network {
  /** Calls under way from others than bots. */
  open = 0;
  private readonly listening = new Map<string, Listening>();
  private ports = 0;
  private readonly held = new Set<object>();
  private readonly time: VirtualTime;
  private readonly traffic: Traffic;
  /** Which bot gets calls to `bot`; undefined: none. */
  route: () => string | undefined = () => undefined;

  constructor(time: VirtualTime, traffic: Traffic) {
    this.time = time;
    this.traffic = traffic;
    const createServer = http.createServer;
    const withoutSocket = (server: Server): Server => this.withoutSocket(server);
    replaceAll([
      [
        http,
        {
          createServer: (...given: [object, RequestListener]) => withoutSocket(createServer(...given)),
        },
      ],
      [globalThis, { fetch: (input: Request | string | URL, init?: RequestInit) => this.fetch(input, init) }],
    ]);
  }

  /** Cuts the bot's calls under way, in both directions. */
  kill(run: Run): void {
    run.isDead = true;
    for (const [name, one] of this.listening) {
      if (one.run !== run) continue;
      this.listening.delete(name);
      for (const cut of one.underWay) cut();
    }
  }

  private withoutSocket(server: Server): Server {
    const { listening } = this;
    let name = '';
    this.ports += 1;
    const port = this.ports;
    return Object.assign(server, {
      listen(...given: unknown[]) {
        const heard = given.find((one) => typeof one === 'function') as (() => void) | undefined;
        if (heard) server.once('listening', heard);
        name = `127.0.0.1:${port}`;
        listening.set(name, { server, run: runOf(), underWay: new Set() });
        Object.defineProperty(server, 'listening', { get: () => listening.has(name), configurable: true });
        process.nextTick(() => server.emit('listening'));
        return server;
      },
      address: () => ({ address: '127.0.0.1', port, family: 'IPv4' }),
      close(done?: () => void) {
        if (done) server.once('close', done);
        listening.delete(name);
        process.nextTick(() => server.emit('close'));
        return server;
      },
      closeAllConnections() {
        for (const cut of listening.get(name)?.underWay ?? []) cut();
      },
      closeIdleConnections: () => undefined,
    });
  }

  private async fetch(input: Request | string | URL, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const body = await request.text();
    const headers = { host: url.host, ...Object.fromEntries(request.headers) };
    const call: Call = {
      from: runOf(),
      to: url.host,
      method: request.method,
      path: url.pathname + url.search,
      headers,
      body,
    };
    // Keep a reference: a collected request's signal no longer aborts, and collection is not deterministic.
    const held = [input, request];
    this.held.add(held);
    const answer = await this.carry(call, request.signal).finally(() => this.held.delete(held));
    const hasBody = answer.status !== 204 && answer.status !== 304;
    return new Response(hasBody ? answer.body : null, { status: answer.status, headers: answer.headers });
  }

  private carry(call: Call, signal: AbortSignal): Promise<Answer> {
    const { time } = this;
    if (call.from?.isDead) return new Promise(() => undefined);
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const done = Promise.withResolvers<Answer>();
    const caller = call.from;
    if (caller) caller.underWay += 1;
    else this.open += 1;
    time.activity += 1;
    let isOver = false;
    const finish = (settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      signal.removeEventListener('abort', abort);
      if (caller) caller.underWay -= 1;
      else this.open -= 1;
      time.activity += 1;
      asRun(caller, settle);
    };
    const abort = (): void => finish(() => done.reject(signal.reason as Error));
    signal.addEventListener('abort', abort);
    const later = (ms: number, work: () => void): void => void asRun(caller, () => setTimeout(work, ms));
    const fail = (code: string, ms = 1): void => later(ms, () => finish(() => done.reject(failed(code))));
    const give = (answer: Answer, ms: number): void => later(ms, () => finish(() => done.resolve(answer)));
    const fate = this.traffic.fate(call);
    const deliver = async (work: (answer: Answer | undefined) => void): Promise<void> => {
      work(await this.deliver(call));
    };
    // Not bound to the caller: the call arrives even if the caller dies.
    const reach = (work: (answer: Answer | undefined) => void, ms: number): void =>
      void asRun(undefined, () => setTimeout(() => void deliver(work), ms));
    switch (fate.kind) {
      case 'not_sent':
        fail('ECONNREFUSED');
        break;
      case 'lost':
        fail(...(fate.isCut ? cut : hung));
        break;
      case 'answered':
        give(fate.answer, 5);
        break;
      case 'unheard':
        reach(() => undefined, 1 + fate.lateMs);
        fail(...(fate.isCut ? cut : hung));
        break;
      case 'carried':
        reach((answer) => {
          if (answer === undefined) fail('ECONNRESET');
          else if (answer === nobody) fail('ECONNREFUSED');
          else give(answer, fate.backMs);
        }, fate.thereMs);
    }
    return done.promise;
  }

  /** Undefined if it was cut. */
  private async deliver(call: Call): Promise<Answer | undefined> {
    const answer = await this.traffic.carry(call, async (given) => {
      const name = given.to === 'bot' ? this.route() : given.to;
      const target = name === undefined ? undefined : this.listening.get(name);
      return target ? await inject(target, given) : nobody;
    });
    this.time.activity += 1;
    return answer;
  }
}

const cut: readonly [string, number] = ['ECONNRESET', 6];
/** The default deadline of `fetch`, for calls without their own. */
const hung: readonly [string, number] = ['UND_ERR_HEADERS_TIMEOUT', 300_000];
const nobody: Answer = { status: 0, headers: {}, body: '' };

function failed(code: string): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
}

/** Keeps its body. */
class KeptResponse extends ServerResponse {
  readonly chunks: Buffer[] = [];
  // Headers given here can't be read back later.
  override writeHead(status: number, ...more: unknown[]): this {
    const given = more.findLast((one) => typeof one === 'object') as Record<string, string> | undefined;
    for (const [name, value] of Object.entries(given ?? {})) this.setHeader(name, value);
    return super.writeHead(status);
  }
  override write(chunk: string | Uint8Array, ...more: unknown[]): boolean {
    this.chunks.push(Buffer.from(chunk as string));
    return super.write(chunk, ...(more as []));
  }
  override end(chunk?: unknown, ...more: unknown[]): this {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array)
      this.chunks.push(Buffer.from(chunk as string));
    return super.end(chunk, ...(more as []));
  }
}

function inject({ server, run, underWay }: Listening, call: Call): Promise<Answer | undefined> {
  const done = Promise.withResolvers<Answer | undefined>();
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, next) => next() });
  Object.assign(socket, { resetAndDestroy: () => socket.destroy() });
  const request = new IncomingMessage(socket as Socket);
  const sent = { ...call.headers, 'content-length': String(Buffer.byteLength(call.body)) };
  Object.assign(request, {
    method: call.method,
    url: call.path,
    headers: sent,
    headersDistinct: Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, [value]])),
    rawHeaders: Object.entries(sent).flat(),
    httpVersion: '1.1',
    httpVersionMajor: 1,
    httpVersionMinor: 1,
    complete: true,
  });
  const response = new KeptResponse(request);
  const cut = (): void => void socket.destroy();
  underWay.add(cut);
  const over = (answer?: Answer): void => {
    underWay.delete(cut);
    done.resolve(answer);
  };
  socket.on('error', () => undefined);
  socket.once('close', () => over());
  response.once('finish', () => {
    const headers = Object.fromEntries(
      Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]),
    );
    over({ status: response.statusCode, headers, body: Buffer.concat(response.chunks).toString() });
    response.emit('close');
  });
  response.assignSocket(socket as Socket);
  asRun(run, () => {
    server.emit('request', request, response);
    if (call.body !== '') request.push(call.body);
    request.push(null);
  });
  return done.promise;
}
