import type { Log } from '../log.ts';
import { checkRedis, checkSchema, type Inspectable, type RedisFinding } from './check-redis.ts';
import type { ScriptRunner } from './redis-store.ts';

export type RedisWatch = {
  /** Resolves when Redis has been checked, or is away for now. */
  check: () => Promise<void>;
  /** Why this Redis must not be used; undefined while nothing speaks against it. */
  refusal: () => string | undefined;
  stop: () => void;
};

const retryMs = 2_000;

/**
 * Checks a Redis once each time it is asked to, as soon as it answers, and logs what it finds. A Redis that is away at start is not
 * refused: it is checked when it is there.
 */
export function watchRedis(client: Inspectable & ScriptRunner, prefix: string, log: Log): RedisWatch {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let refusal: string | undefined;

  async function check(): Promise<void> {
    try {
      refusal = tell([...(await checkRedis(client)), await checkSchema(client, prefix)], log);
    } catch {
      // The connection itself tells of the outage.
      if (!stopped) timer = setTimeout(() => void check(), retryMs);
    }
  }

  return {
    check,
    refusal: () => refusal,
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
