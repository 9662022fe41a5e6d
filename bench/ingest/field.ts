import { join } from 'node:path';
import type { House } from '../stage/house.ts';
import { programPath, type Program } from '../stage/contestant.ts';
import type { EventKind, Signing } from './event.ts';

export type Variant = {
  name: string;
  program: Program;
  /** What each of its records is called in Redis, up to the event's own name. */
  keysBegin: string;
  prefix: string;
  signing: Signing;
  kind: EventKind;
  isOurs: boolean;
};

/** The floor first, then ours, then the peers, which are in the tree anyway. */
export function redisField(house: House, redisPort: number): Variant[] {
  const redisUrl = `redis://127.0.0.1:${redisPort}`;
  function peer(
    name: string,
    file: string,
    { signing = 'raw-body', keysBegin = `${file}:` }: { signing?: Signing; keysBegin?: string } = {},
  ): Variant {
    const env = { REDIS_PORT: String(redisPort), KEY_PREFIX: `${file}:` };
    const program = {
      path: programPath(`ingest/${file}.ts`),
      env,
      logPath: join(house.folder, `${file}.log`),
    };
    const about = { prefix: file, kind: 'payment_failed', isOurs: false } as const;
    return { ...about, name, program, keysBegin, signing };
  }
  function ours(name: string, kind: EventKind): Variant {
    const prefix = `ours-${kind}`;
    const program = house.bot(prefix, { REDIS_URL: redisUrl, REDIS_PREFIX: prefix });
    const about = { prefix, kind, isOurs: true, signing: 'raw-body' } as const;
    // A success that no rule wants is remembered as a payment alone.
    const record = kind === 'payment_failed' ? 'message:alert:' : 'alert-payment:';
    return { ...about, name, program, keysBegin: `{${prefix}}:record:${record}` };
  }
  return [
    peer('bare node:http and Redis (floor)', 'floor'),
    ours('Payops, failures (told)', 'payment_failed'),
    ours('Payops, successes (remembered)', 'payment_success'),
    peer('floor that seals, queues and logs, no bot', 'same-work', { keysBegin: '{same-work}:record:' }),
    peer('floor with standardwebhooks’ verify', 'standard-webhooks', { signing: 'standard-webhooks' }),
    peer('Bolt customRoutes', 'bolt-route'),
    peer('Bolt ExpressReceiver, Keyv get and set', 'bolt-express'),
  ];
}
