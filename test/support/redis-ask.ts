import { connectRedis } from '../../src/store/redis-client.ts';

/** One command to one server, past everything that is being tested. */
export async function askRedis(port: number, ...words: string[]): Promise<unknown> {
  const connection = connectRedis({ url: `redis://127.0.0.1:${port}`, log: () => undefined });
  try {
    await connection.tried;
    return await connection.client.sendCommand(words);
  } finally {
    connection.close();
  }
}

/** Asks again and again until the answer is right; a server that refuses for now is asked again too. */
export async function untilRedis(
  what: string,
  isSo: () => Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const startedAt = performance.now();
  while (!(await isSo().catch(() => false))) {
    if (performance.now() - startedAt > timeoutMs) throw new Error(`Not in ${timeoutMs} ms: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
