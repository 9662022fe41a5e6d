import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { createHolds, type Held, type HoldPoint, type Passed } from '../../src/simulators/holds.ts';
import { serveOnLoopback } from './loopback.ts';

export type Gate = {
  url: string;
  /** Requests that passed, with their headers; the simulators' own have none. */
  readonly passed: readonly (Passed & { headers?: IncomingHttpHeaders })[];
  /** Resolves when the next request whose path ends with `path` has reached that point. */
  hold: (path: string, point: HoldPoint) => Promise<Held>;
  /** Cuts every connection of the callers, held ones included. */
  cut: () => void;
  close: () => Promise<void>;
};

/**
 * A proxy before bots that passes everything unchanged unless told to hold a request. All `targets` get each request at
 * once; the caller gets the worst of their answers. The simulators have gates of their own.
 */
export async function openGate(targets: () => readonly string[]): Promise<Gate> {
  const { hold, reached } = createHolds();
  const passed: (Passed & { headers: IncomingHttpHeaders })[] = [];
  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? '/';
    const path = url.split('?', 1)[0] ?? '/';
    const body = await buffer(request);
    await reached(path, 'before');
    const answers = await Promise.all(targets().map((target) => forward(target + url, request, body)));
    await reached(path, 'after');
    const [worst] = answers.toSorted((one, other) => other.status - one.status);
    if (!worst) throw new Error('nowhere to pass it to');
    const { headers } = request;
    passed.push({ path, request: `${url}\n${body.toString()}`, answer: worst.body.toString(), headers });
    response.writeHead(worst.status, worst.headers).end(worst.body);
  }

  const server = await serveOnLoopback((request, response) => {
    pass(request, response).catch(() => request.socket.destroy());
  });
  return { ...server, passed, hold };
}

/** These belong to one connection, or don't fit the decoded body. */
const hopHeaders = /^(connection|keep-alive|transfer-encoding|content-length|content-encoding|host|expect)$/;

async function forward(
  url: string,
  { method = 'GET', headersDistinct }: IncomingMessage,
  body: Buffer,
): Promise<{ status: number; headers: Record<string, string>; body: Buffer }> {
  const headers = Object.entries(headersDistinct)
    .filter(([name]) => !hopHeaders.test(name))
    .flatMap(([name, values = []]) => values.map((value): [string, string] => [name, value]));
  const sent = body.length === 0 ? {} : { body: new Uint8Array(body) };
  const answer = await fetch(url, { method, headers, redirect: 'manual', ...sent });
  const kept = [...answer.headers].filter(([name]) => !hopHeaders.test(name));
  return {
    status: answer.status,
    headers: Object.fromEntries(kept),
    body: Buffer.from(await answer.arrayBuffer()),
  };
}
