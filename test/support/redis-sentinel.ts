import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './programs.ts';
import { askRedis, untilRedis } from './redis-ask.ts';
import { end, freePort, launchOnPort, startRedis, type RedisServer } from './redis-server.ts';

export type Sentinel = { readonly port: number; stop(): Promise<void> };

export type SentinelRedis = {
  /** Names all Sentinels. */
  readonly url: string;
  readonly master: RedisServer;
  readonly replicas: readonly RedisServer[];
  readonly sentinels: readonly Sentinel[];
  /** Resolves when another node than the first master is a master that the Sentinels name. */
  failedOver(): Promise<RedisServer>;
  /** Resolves when the node has a replica that follows it: when Redis can keep what REDIS_WAIT_REPLICAS asks for. */
  followed(master: RedisServer): Promise<void>;
  /** Resolves when all Sentinels name it, and not only the one that made it master. */
  agreedOn(master: RedisServer): Promise<void>;
  stop(): Promise<void>;
};

export const masterName = 'payops-master';

/** A master, replicas of it, and three Sentinels that replace it about a second after it is gone; all on loopback. */
export async function startSentinelRedis({ replicas: count = 1 } = {}): Promise<SentinelRedis> {
  // A full copy would otherwise wait 5 s for more replicas to come.
  const args = ['--repl-diskless-sync-delay', '0'];
  const master = await startRedis({ args });
  const follow = [...args, '--replicaof', '127.0.0.1', String(master.port)];
  const replicas = await Promise.all(Array.from({ length: count }, () => startRedis({ args: follow })));
  await untilRedis('the replicas have all', async () =>
    String(await askRedis(master.port, 'INFO', 'replication')).includes(`connected_slaves:${count}`),
  );
  const sentinels = await Promise.all([0, 1, 2].map(() => startSentinel(master.port)));
  await untilRedis('the Sentinels know each other and the replicas', async () => {
    const views = await Promise.all(sentinels.map(({ port }) => masterSeenBy(port)));
    return views.every((view) => view['num-other-sentinels'] === '2' && view['num-slaves'] === String(count));
  });

  return {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${masterName}`,
    master,
    replicas,
    sentinels,
    async failedOver() {
      let promoted: RedisServer | undefined;
      await untilRedis('another master', async () => {
        const views = await Promise.all(
          sentinels.map(({ port }) => masterSeenBy(port).catch(() => undefined)),
        );
        promoted = replicas.find(({ port }) => views.some((view) => view?.['port'] === String(port)));
        if (promoted === undefined) return false;
        return String(await askRedis(promoted.port, 'ROLE')).startsWith('master');
      });
      if (promoted === undefined) throw new Error('no master');
      return promoted;
    },
    followed: ({ port }) =>
      untilRedis('it has a replica', async () =>
        /^slave\d+:.*state=online/m.test(String(await askRedis(port, 'INFO', 'replication'))),
      ),
    agreedOn: (promoted) =>
      untilRedis('all Sentinels name it', async () => {
        const views = await Promise.all(sentinels.map(({ port }) => masterSeenBy(port)));
        return views.every((view) => view['port'] === String(promoted.port));
      }),
    async stop() {
      await Promise.all([...sentinels, ...replicas, master].map((server) => server.stop()));
    },
  };
}

/** `settings` are lines of its configuration file. */
export async function startSentinel(masterPort: number, settings: readonly string[] = []): Promise<Sentinel> {
  const program = findProgram('redis-server');
  if (program === undefined) throw new Error('redis-server is not installed.');
  const folder = mkdtempSync(join(tmpdir(), 'payops-sentinel-'));
  const port = await freePort();
  const file = join(folder, 'sentinel.conf');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${masterName} 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds ${masterName} 1000`,
    `sentinel failover-timeout ${masterName} 3000`,
    ...settings,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const child: ChildProcess = await launchOnPort(program, [file, '--sentinel'], 'Sentinel ID is');
  return {
    port,
    async stop() {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function masterSeenBy(port: number): Promise<Record<string, string>> {
  const words = (await askRedis(port, 'SENTINEL', 'MASTER', masterName)) as string[];
  return Object.fromEntries(words.flatMap((word, n) => (n % 2 === 0 ? [[word, words[n + 1] ?? '']] : [])));
}
