import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as rest } from 'node:timers/promises';
import { createBot, type Bot, type BotEnd } from '../support/bot.ts';
import type { Deployment } from '../support/kubernetes.ts';

/** How one replica's end went: how long it took from the decision to end it, and whether it was cut short. */
export type ReplicaEnd = BotEnd & { tookMs: number };

export type Service = {
  url: string;
  /** Starts one and resolves when its readiness probe lets it take part. */
  add: () => Promise<void>;
  /** Ends the oldest, as the kubelet does. */
  removeOldest: () => Promise<ReplicaEnd>;
  /** Connections that came while no replica was ready. */
  counts: { refused: number; opened: number };
  lines: () => string[];
  close: () => Promise<void>;
};

/** How long it takes until every node knows that a pod is no endpoint any more. */
const endpointLagMs = 1_000;

type Replica = { bot: Bot; isReady: boolean; isEnding: boolean };

/**
 * What a Kubernetes Service is to those who connect: new connections go to the ready replicas in turn, and those that are
 * open stay where they are. A replica ends as the deployment says: its preStop, while the news spreads, then SIGTERM, and
 * SIGKILL when the grace period is over.
 */
export async function startService(
  env: Readonly<Record<string, string>>,
  { spec }: Deployment,
  /** For showing that what is measured would be seen: replicas end without preStop. */
  isHasty = false,
): Promise<Service> {
  const { terminationGracePeriodSeconds, containers } = spec.template.spec;
  const [{ readinessProbe, lifecycle }] = containers;
  const preStopMs = isHasty ? 0 : Number(lifecycle.preStop.exec.command[1]) * 1_000;
  const replicas: Replica[] = [];
  const lines: string[] = [];
  const counts = { refused: 0, opened: 0 };
  const sockets = new Set<Socket>();
  let turn = 0;

  const server = createServer((caller) => {
    const ready = replicas.filter(({ isReady }) => isReady);
    turn += 1;
    const replica = ready[turn % Math.max(1, ready.length)];
    counts.opened += 1;
    if (!replica) {
      counts.refused += 1;
      caller.destroy();
      return;
    }
    join(caller, connect(Number(new URL(replica.bot.url()).port), '127.0.0.1'));
  });

  function join(caller: Socket, callee: Socket): void {
    for (const [socket, other] of [
      [caller, callee],
      [callee, caller],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.once('close', () => {
        sockets.delete(socket);
        other.end();
      });
      socket.pipe(other);
    }
  }

  async function isReady({ bot }: Replica): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(readinessProbe.timeoutSeconds * 1_000);
      const { ok } = await fetch(`http://127.0.0.1:${metricsPort(bot)}${readinessProbe.httpGet.path}`, {
        signal,
      });
      return ok;
    } catch {
      return false;
    }
  }

  /** Until the replica has ended. */
  async function probe(replica: Replica): Promise<void> {
    let failures = 0;
    while (replica.bot.isRunning()) {
      const answered = await isReady(replica);
      failures = answered ? 0 : failures + 1;
      if (answered && !replica.isEnding) replica.isReady = true;
      if (failures >= readinessProbe.failureThreshold) replica.isReady = false;
      await rest(readinessProbe.periodSeconds * 1_000);
    }
    replica.isReady = false;
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    lines: () => [...lines, ...replicas.flatMap(({ bot }) => [...bot.lines])],
    async add() {
      const replica: Replica = { bot: createBot(env), isReady: false, isEnding: false };
      replicas.push(replica);
      await replica.bot.start();
      void probe(replica);
      while (!replica.isReady) await rest(50);
    },
    async removeOldest() {
      const [replica] = replicas;
      if (!replica) throw new Error('No replica is left.');
      const startedAt = performance.now();
      replica.isEnding = true;
      const lag = rest(endpointLagMs).then(() => (replica.isReady = false));
      await rest(preStopMs);
      // Past this the kubelet kills; createBot does so by itself, later than any grace period that is right.
      const graceMs = terminationGracePeriodSeconds * 1_000 - preStopMs;
      const force = setTimeout(() => void replica.bot.kill9(), graceMs);
      const end = await replica.bot.stop();
      clearTimeout(force);
      await lag;
      replicas.splice(replicas.indexOf(replica), 1);
      lines.push(...replica.bot.lines);
      return { ...end, tookMs: performance.now() - startedAt };
    },
    async close() {
      await Promise.all(replicas.map(({ bot }) => bot.end()));
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

function metricsPort({ lines }: Bot): number {
  const line = lines.findLast((one) => one.includes('"Payops listens"'));
  const { metricsPort: port } = JSON.parse(line ?? '{}') as { metricsPort?: number };
  if (port === undefined) throw new Error('The bot has not said where its probes are answered.');
  return port;
}
