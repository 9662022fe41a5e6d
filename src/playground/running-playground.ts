import { z } from 'zod';

const settings = z.record(z.string(), z.string());
const deadlineMs = 2_000;

/** The environment of the bot in the playground whose page has this port here; undefined when none answers. */
export async function readPlaygroundSettings(port: number): Promise<Record<string, string> | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/settings`, {
      redirect: 'error',
      signal: AbortSignal.timeout(deadlineMs),
    });
    return answer.ok ? settings.parse(await answer.json()) : undefined;
  } catch {
    return undefined;
  }
}
