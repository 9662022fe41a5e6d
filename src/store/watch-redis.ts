import type { Log } from '../log.ts';
import { checkRedis, type Inspectable, type RedisFinding } from './check-redis.ts';

export type RedisWatch = {
  /** Why this Redis must not be used, when it answers at once; undefined when it may be, or is away for now. */
  firstRefusal: () => Promise<string | undefined>;
  stop: () => void;
};

const retryMs = 2_000;

/**
 * Checks a Redis once, as soon as it answers, and logs what it finds. A Redis that is away at start is not
 * refused: it is checked when it is there.
 */
export function watchRedis(client: Inspectable, log: Log): RedisWatch {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function check(): Promise<string | undefined> {
    try {
      return tell(await checkRedis(client), log);
    } catch {
      // The connection itself tells of the outage.
      if (!stopped) timer = setTimeout(() => void check(), retryMs);
      return undefined;
    }
  }

  return {
    firstRefusal: check,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

function tell(findings: readonly RedisFinding[], log: Log): string | undefined {
  for (const finding of findings) if (finding.kind === 'warning') log('warn', finding.message);
  const refusals = findings.filter((finding) => finding.kind === 'refusal').map((finding) => finding.message);
  for (const message of refusals) log('error', message);
  return refusals.length > 0 ? refusals.join(' ') : undefined;
}
