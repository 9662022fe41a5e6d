import type { IncomingMessage, ServerResponse } from 'node:http';

type BodyReading = { kind: 'body'; body: Buffer } | { kind: 'too_large' | 'aborted' };

/**
 * Reads the raw body up to the limit; never throws. After `too_large` the rest of the body is unread, and `endResponse`
 * drains the rest. The server's timeouts close slow senders.
 */
export function readBody(request: IncomingMessage, mostBytes: number): Promise<BodyReading> {
  const reading = Promise.withResolvers<BodyReading>();
  const chunks: Buffer[] = [];
  let size = 0;
  function onData(chunk: Buffer): void {
    size += chunk.length;
    chunks.push(chunk);
    if (size <= mostBytes) return;
    request.pause();
    finish({ kind: 'too_large' });
  }
  function onEnd(): void {
    finish({ kind: 'body', body: Buffer.concat(chunks) });
  }
  function onClose(): void {
    finish({ kind: 'aborted' });
  }
  function finish(result: BodyReading): void {
    request.off('data', onData).off('end', onEnd).off('close', onClose);
    reading.resolve(result);
  }
  request.on('data', onData).on('end', onEnd).on('close', onClose);
  return reading.promise;
}

type Linger = { lingerMs: number; lingerBytes: number };

/**
 * Sends the answer and ends the response. If part of the body is unread, the connection is not reused, and the rest is
 * drained for up to `lingerMs` or `lingerBytes` first: closing at once sends a reset, which can make the sender lose
 * the answer. The byte limit stops endless senders.
 */
export function endResponse(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  answer: { status: number; headers?: Record<string, string>; body: string },
  { lingerMs, lingerBytes }: Linger,
): void {
  if (response.destroyed) return;
  const isRead = request.complete;
  response.writeHead(answer.status, {
    'content-length': Buffer.byteLength(answer.body),
    ...(isRead ? {} : { connection: 'close' }),
    ...answer.headers,
  });
  if (isRead) {
    response.end(answer.body);
    return;
  }
  response.write(answer.body);
  const timer = setTimeout(() => response.end(), lingerMs);
  request.once('close', () => {
    clearTimeout(timer);
    response.end();
  });
  let drained = 0;
  request.on('data', (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > lingerBytes) request.pause();
  });
  request.resume();
}
