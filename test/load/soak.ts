import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as rest } from 'node:timers/promises';
import { connectRedis } from '../../src/store/redis-client.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import type { Store } from '../../src/store/store.ts';
import { createBot } from '../support/bot.ts';
import { type Load, openStage, stagePrefix, startLoad } from './load.ts';

export type SoakOptions = {
  seconds: number;
  eventsPerSecond: number;
  commandsPerSecond: number;
  progress: (words: string) => void;
};

/** What one look at the bot saw. */
export type Sample = {
  atSeconds: number;
  residentMegabytes: number;
  /** What a full garbage collection leaves, and what is held outside V8. */
  keptMegabytes: number;
  descriptors: number;
  /** How long the oldest record that was due had waited. */
  oldestDueSeconds: number;
  /** 99 of 100 webhooks since the last look were answered within. */
  answerMs: number;
};

export type Soaked = {
  samples: readonly Sample[];
  sent: Load;
  /** What is wrong, in words; none: all is well. */
  wrongs: readonly string[];
  /** Of the second half, per hour. */
  growth: Growth;
};

/** Slack takes one message a second in a channel: as many channels as keep every record's wait below a few seconds. */
const channels = 60;
const oldestDueSeconds = 10;
/** Of what is due: nothing may be left once this is over. */
const drainSeconds = 60;

/** Has the bot collect its garbage at SIGUSR2, and write what is left: that tells in minutes what it keeps. */
const collects = `import('node:v8').then(v8=>{v8.setFlagsFromString('--expose-gc');import('node:vm').then(vm=>{const/**/gc=vm.runInNewContext('gc');process.on('SIGUSR2',()=>{gc();const{heapUsed,external}=process.memoryUsage();process._rawDebug('kept:'+(heapUsed+external))})})})`;
const collectEvery = 8;

/** One bot on Redis under a steady load, looked at from outside all the while. */
export async function runSoak(options: SoakOptions): Promise<Soaked> {
  const { seconds, progress } = options;
  const events = Math.ceil(options.eventsPerSecond * seconds * 1.2) + 1_000;
  const stage = await openStage({ events, channels });
  const connection = connectRedis({ url: stage.redisUrl, log: () => undefined });
  const store = openRedisStore(connection.commands, { prefix: stagePrefix });
  const bot = createBot({
    ...stage.env,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(collects)}`,
  });
  try {
    await Promise.all([connection.tried, bot.start()]);
    const load = startLoad(stage, { ...options, url: bot.url() });
    const samples: Sample[] = [];
    const startedAt = performance.now();
    const everySeconds = Math.max(0.5, seconds / 400);
    for (let at = everySeconds; at <= seconds; at += everySeconds) {
      await rest(Math.max(0, startedAt + at * 1_000 - performance.now()));
      if (!bot.isRunning()) throw new Error(`The bot ended:\n${bot.lines.slice(-10).join('\n')}`);
      const times = load.answerTimes();
      if (samples.length % collectEvery === 0) process.kill(bot.pid(), 'SIGUSR2');
      const kept = bot.lines.findLast((line) => line.startsWith('kept:')) ?? 'kept:0';
      samples.push({
        atSeconds: (performance.now() - startedAt) / 1_000,
        ...ofProcess(bot.pid()),
        keptMegabytes: Number(kept.slice('kept:'.length)) / 1_048_576,
        oldestDueSeconds: (await oldestDueMs(store)) / 1_000,
        answerMs: times[Math.floor(times.length * 0.99)] ?? 0,
      });
      if (samples.length % 20 === 0) progress(`${Math.round((100 * at) / seconds)} %`);
    }
    const endsWith = samples.slice(-Math.ceil(samples.length / 10));
    await load.stop();
    const left = await stage.leftAfter(drainSeconds * 1_000);
    const { lost, doubled, misplaced, strangers, unanswered } = load.findings();
    const growth = growthOf(samples);
    if (growth.megabytes === 0) throw new Error('The bot never said what it keeps.');
    const wrongs = [
      ...judgeAnswers(load),
      ...Object.entries({ lost, doubled, misplaced, strangers, unanswered })
        .filter(([, keys]) => keys.length > 0)
        .map(([what, keys]) => `${what}: ${keys.slice(0, 5).join(', ')}`),
      ...(left === 0 ? [] : [`${left} messages were still to be posted ${drainSeconds} s after the end`]),
      ...(Math.min(...endsWith.map((sample) => sample.oldestDueSeconds)) > oldestDueSeconds
        ? [`at the end something was due for more than ${oldestDueSeconds} s`]
        : []),
      ...judgeGrowth(samples, growth),
    ];
    return { samples, sent: load, wrongs, growth };
  } finally {
    await bot.end();
    await store.close();
    connection.close();
    await stage.close();
  }
}

/** Asked again while its connection is lost: on a machine that is too busy a Redis may seem to be gone. */
async function oldestDueMs(store: Store): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    try {
      return (await store.backlog()).oldestDueMs;
    } catch (error) {
      if (tries === 60) throw error;
      await rest(1_000);
    }
  }
}

function judgeAnswers({ webhooks }: Load): string[] {
  const refused = [...webhooks].filter(([answer]) => !/^2\d\d$/.test(answer));
  return refused.map(([answer, times]) => `${times} webhooks were answered ${answer}`);
}

/** As the kernel counts; Linux alone has this. */
function ofProcess(pid: number): Pick<Sample, 'residentMegabytes' | 'descriptors'> {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return {
    residentMegabytes: Number(kilobytes) / 1_024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** In the second half: what is gained an hour, how sure that is (a standard error), and by how much in all. */
export type Growth = { megabytesPerHour: number; errorPerHour: number; megabytes: number };

const groups = 12;

/**
 * The line through the least that was kept in each of twelve parts of the second half.
 */
export function growthOf(samples: readonly Sample[]): Growth {
  const half = samples.slice(Math.floor(samples.length / 2));
  const size = Math.max(1, Math.floor(half.length / groups));
  const lowest = Array.from({ length: Math.floor(half.length / size) }, (_, at) =>
    half
      .slice(at * size, (at + 1) * size)
      .reduce((low, sample) => (sample.keptMegabytes < low.keptMegabytes ? sample : low)),
  );
  const x = lowest.map(({ atSeconds }) => atSeconds / 3_600);
  const y = lowest.map(({ keptMegabytes }) => keptMegabytes);
  const [meanX, meanY] = [mean(x), mean(y)];
  const spread = sum(x.map((one) => (one - meanX) ** 2));
  const slope = sum(x.map((one, at) => (one - meanX) * ((y[at] ?? 0) - meanY))) / spread;
  const rests = y.map((one, at) => one - meanY - slope * ((x[at] ?? 0) - meanX));
  const error = Math.sqrt(sum(rests.map((one) => one ** 2)) / Math.max(1, x.length - 2) / spread);
  const hours = (x.at(-1) ?? 0) - (x[0] ?? 0);
  return { megabytesPerHour: slope, errorPerHour: error, megabytes: slope * hours };
}

/** Compiled code and what is under way come and go. */
const noiseMegabytes = 3;
/** A shorter run is still filling its caches. */
const shortestSeconds = 3 * 60;
const noiseDescriptors = 4;
/** In a short run a busy moment opens connections that are kept; a leak with each event opens hundreds. */
const noiseDescriptorsOfShort = 40;

/** Memory within noise, and as many descriptors in the last quarter as in the second. */
export function judgeGrowth(samples: readonly Sample[], growth: Growth): string[] {
  const { megabytes, megabytesPerHour, errorPerHour } = growth;
  const isLong = (samples.at(-1)?.atSeconds ?? 0) >= shortestSeconds;
  const isGrowing = isLong && megabytes > noiseMegabytes && megabytesPerHour > 3 * errorPerHour;
  const most = (from: number, to: number): number =>
    Math.max(...samples.slice(samples.length * from, samples.length * to).map((one) => one.descriptors));
  const [before, after] = [most(0.25, 0.5), most(0.75, 1)];
  return [
    ...(isGrowing
      ? [
          `memory grows by ${megabytesPerHour.toFixed(0)} MB an hour, ${megabytes.toFixed(1)} MB in the second half`,
        ]
      : []),
    ...(after > before + (isLong ? noiseDescriptors : noiseDescriptorsOfShort)
      ? [`descriptors grew from ${before} to ${after}`]
      : []),
  ];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

function mean(numbers: readonly number[]): number {
  return sum(numbers) / Math.max(1, numbers.length);
}
