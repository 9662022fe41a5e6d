import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { signatureHeader } from '../../src/simulators/payments/webhooks-out.ts';
import { serveOnLoopback } from './loopback.ts';

type Taken = { path: string; headers: IncomingHttpHeaders; body: string; isSigned: boolean; status: number };

/** Status and headers of an answer; `hang`: none. */
type Answer = { status: number; headers?: Record<string, string> } | 'hang';

export type Backend = {
  url: string;
  /** Every request, in order; `status`: its answer. */
  readonly asked: readonly Taken[];
  /** The most requests that were open at once. */
  mostOpen: () => number;
  /** Sets the answer, or a function of the body. */
  answers: (next: Answer | ((body: string) => Answer)) => void;
  cut: () => void;
  close: () => Promise<void>;
};

function takes(): Answer {
  return { status: 200 };
}

/** A merchant's own backend: checks the signature itself, over the raw bytes. */
export async function openBackend(secret: () => string | undefined): Promise<Backend> {
  const asked: Taken[] = [];
  let answer: (body: string) => Answer = takes;
  let [open, mostOpen] = [0, 0];
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.once('close', () => {
      open -= 1;
    });
    const bytes = await buffer(request);
    const body = bytes.toString('latin1');
    const next = answer(body);
    const status = next === 'hang' ? 0 : next.status;
    const isSigned = holds(secret() ?? '', bytes, String(request.headers[signatureHeader]));
    asked.push({ path: request.url ?? '', headers: request.headers, body, isSigned, status });
    if (next !== 'hang') response.writeHead(next.status, next.headers).end('thank you');
  }
  const server = await serveOnLoopback((request, response) => void receive(request, response));
  return {
    ...server,
    asked,
    mostOpen: () => mostOpen,
    answers(next) {
      answer = typeof next === 'function' ? next : () => next;
    },
  };
}

function holds(secret: string, body: Buffer, signature: string): boolean {
  const expected = createHmac('sha512', secret).update(body).digest();
  const given = Buffer.from(signature, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
