import type { IncomingMessage } from 'node:http';

export type BodyReading = { kind: 'body'; body: Buffer } | { kind: 'too_large' | 'too_slow' | 'aborted' };

/**
 * The raw bytes, or why there are none. Holds no more than the limit in memory, answers within the time
 * whatever the sender does, and never throws; after anything but `body` the rest is left unread.
 */
export function readBody(
  request: IncomingMessage,
  limits: { bodyBytes: number; bodyTimeoutMs: number },
): Promise<BodyReading> {
  const reading = Promise.withResolvers<BodyReading>();
  const chunks: Buffer[] = [];
  let size = 0;
  function onData(chunk: Buffer): void {
    size += chunk.length;
    if (size > limits.bodyBytes) finish({ kind: 'too_large' });
    else chunks.push(chunk);
  }
  function onEnd(): void {
    finish({ kind: 'body', body: Buffer.concat(chunks) });
  }
  function onClose(): void {
    finish({ kind: 'aborted' });
  }
  function finish(result: BodyReading): void {
    clearTimeout(timer);
    request.off('data', onData).off('end', onEnd).off('close', onClose);
    request.pause();
    reading.resolve(result);
  }
  const timer = setTimeout(() => finish({ kind: 'too_slow' }), limits.bodyTimeoutMs);
  request.on('data', onData).on('end', onEnd).on('close', onClose);
  return reading.promise;
}
