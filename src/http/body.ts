import type { IncomingMessage, ServerResponse } from 'node:http';

type BodyReading = { kind: 'body'; body: Buffer } | { kind: 'too_large' | 'aborted' };

/**
 * The raw bytes, or why there are none. Holds at most the limit in memory; never throws. After any result but `body` the
 * rest is unread. The server closes slow senders.
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
 * Ends the response. If the body is unread, the connection is not reused, and some of the rest is drained before it closes:
 * an immediate close sends a reset that can erase the answer. An endless sender is drained for less long: each piece costs
 * memory.
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
