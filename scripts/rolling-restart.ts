/**
 * `npm run rolling-restart -- --rounds 5 --events 50 --commands 5`: two bots on a Redis of its own, behind a stand-in for
 * a Kubernetes Service with the times of deploy/kubernetes. Replaces one bot after the other, `--rounds` times both,
 * under so many events and commands a second, each sent once. `--hasty`: without preStop and drain, to show that failures
 * are detected. Prints the answers; the exit code is 0 only if every webhook and command was answered, no bot was killed,
 * and each event was posted once.
 */
import { setTimeout as rest } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openStage, startLoad } from '../test/load/load.ts';
import { type ReplicaEnd, startService } from '../test/load/service.ts';
import { readDeployment } from '../test/support/kubernetes.ts';
import { wholeNumber } from './whole-number.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    events: { type: 'string', default: '50' },
    commands: { type: 'string', default: '5' },
    hasty: { type: 'boolean', default: false },
  },
});
const rounds = wholeNumber('rounds', values.rounds);
const eventsPerSecond = wholeNumber('events', values.events);
const commandsPerSecond = wholeNumber('commands', values.commands);

/** For one bot on a slow machine: start, preStop, drain and the work under way. */
const mostSecondsEach = 60;
const beforeAndAfterMs = 2_000;
const drainMs = 120_000;

const deployment = readDeployment();
const { replicas } = deployment.spec;
const [{ env }] = deployment.spec.template.spec.containers;
const stage = await openStage({
  events: eventsPerSecond * (rounds * replicas + 1) * mostSecondsEach,
  // Slack accepts one message a second in each channel.
  channels: Math.max(10, eventsPerSecond * 2),
});
const times = Object.fromEntries(
  env.filter(({ name }) => /^(DRAIN|STOP)_SECONDS$/.test(name)).map(({ name, value }) => [name, value]),
);
const settings = { ...stage.env, ...times, ...(values.hasty ? { DRAIN_SECONDS: '0' } : {}) };
const service = await startService(settings, deployment, values.hasty);
const startedAt = performance.now();
const ends: ReplicaEnd[] = [];
let exitCode = 1;
try {
  await Promise.all(Array.from({ length: replicas }, () => service.add()));
  const load = startLoad(stage, { url: service.url, eventsPerSecond, commandsPerSecond });
  await rest(beforeAndAfterMs);
  for (let number = 0; number < rounds * replicas; number += 1) {
    await service.add();
    const end = await service.removeOldest();
    ends.push(end);
    console.log(
      `replica ${number + 1} replaced; the old one ended in ${seconds(end.tookMs)} s with ${end.code}`,
    );
  }
  await rest(beforeAndAfterMs);
  await load.stop();
  const left = await stage.leftAfter(drainMs);
  const { unanswered, ...findings } = load.findings();
  console.log(
    `${seconds(performance.now() - startedAt)} s, ${ends.length} replacements; webhooks ${told(load.webhooks)}; ${load.commands()} commands, ${unanswered.length} failed; ${service.counts.opened} connections, ${service.counts.refused} refused`,
  );
  console.log(
    `lost ${findings.lost.length}, doubled ${findings.doubled.length}, misplaced ${findings.misplaced.length}, out of order ${findings.overtaken.length}, left to post ${left}`,
  );
  const isFine =
    [...load.webhooks.keys()].every((answer) => /^2\d\d$/.test(answer)) &&
    ends.every(({ code }) => code === 0) &&
    [...Object.values(findings), unanswered].every((keys) => keys.length === 0) &&
    load.webhooks.size > 0 &&
    left === 0;
  if (!isFine)
    for (const line of service
      .lines()
      .filter((line) => /"(error|warn)"/.test(line))
      .slice(0, 20))
      console.log(line);
  exitCode = isFine ? 0 : 1;
} finally {
  await service.close();
  await stage.close();
}
process.exit(exitCode);

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}

function told(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([answer, times]) => `${answer} ${times}`).join(', ') || 'none';
}
