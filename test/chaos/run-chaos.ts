import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { botSettings } from '../../src/playground/bot-settings.ts';
import { fastClock } from '../support/fast-clock.ts';
import type { Bundle } from '../support/bot-bundle.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { runPayops } from '../support/run-payops.ts';
import { channelWork, redisContents, sqliteContents, type StoreContents } from '../support/store-contents.ts';
import { type PaymentsService, startPaymentsService } from '../../src/simulators/payments/service.ts';
import type { SlackStats } from '../../src/simulators/slack/faults.ts';
import type { Quirks } from '../../src/simulators/slack/quirks.ts';
import { startWorkspace, type Workspace } from '../../src/simulators/slack/workspace.ts';
import { acknowledgeAll, acknowledgerRoles, unacknowledged } from './acknowledger.ts';
import { checkHistory, type Findings } from './checker.ts';
import { createFleet, type Fleet, type Victim } from './fleet.ts';
import { alertReference, orderFor, otherChannels, type Plan, planChaos } from './plan.ts';
import { createRandom, type Random } from './random.ts';
import { createSender, type Sender } from './sender.ts';

/** Often enough that every kill finds an audit entry under way, and rarely enough to be no load. */
const everyMs = 50;

/**
 * Asks one bot after the other for help, so that killed bots have audit entries under way. Ends when `over` is aborted.
 */
async function keepAsking(
  workspace: Workspace,
  target: () => string | undefined,
  over: AbortSignal,
): Promise<void> {
  const { agent } = workspace.ids.users;
  const { payDesk } = workspace.ids.channels;
  while (!over.aborted) {
    const url = target();
    workspace.connect(url && `${url}/slack/events`);
    // A bot killed meanwhile does not answer, and need not.
    await workspace.act(agent, { kind: 'send_message', channel: payDesk, text: '/pay help' });
    await rest(everyMs);
  }
}

export type ChaosOptions = {
  store: 'redis' | 'sqlite';
  /** Different events; repeats are additional. */
  events: number;
  kills: number;
  seed: number;
  /** How many times faster than real the bots’ clock, their store’s durations and Slack’s rate limit are. */
  compress: number;
  channels: number;
  /** From `bundleOf('chaos')`. */
  bundle: Bundle;
  /** Breaks their store, to test the checker. */
  isBroken?: boolean;
  /** The share of Slack’s posts that are answered 500, and again the share that are accepted with a lost answer. */
  faultShare?: number;
  /** The lease of a killed bot's work, in real time. */
  leaseMs?: number;
  /**
   * Slack's behaviour that only some users report. If edits need membership, the bot is in only half of the channels
   * until everything is posted.
   */
  quirks?: Quirks;
  /** Called sometimes with progress, for a waiting person. */
  progress?: (words: string) => void;
};

export type ChaosResult = Findings & {
  seed: number;
  channels: number;
  acknowledged: number;
  deliveries: number;
  posts: number;
  kills: Fleet['counts'];
  slack: SlackStats;
  sender: Sender['counts'];
  /** Messages other than alerts: notices to the operators. */
  notices: number;
  /**
   * Acknowledged alerts whose message does not say so; only if edits need membership, otherwise the run acknowledges
   * none.
   */
  unacknowledged: string[];
  /** Edits that Slack accepted or refused. */
  edits: number;
  /** Records still to be posted when nothing had changed for a minute. */
  workLeft: number;
  /** The result of `audit verify` afterwards. Its entries are of commands that bots answered while they were killed. */
  audit: { exitCode: number | null; words: string; entries: number };
  tookMs: number;
  /** The bots' log lines about an event. */
  linesAbout: (reference: string) => string[];
};

const repeatShare = 0.3;
const usualFaultShare = 0.01;
const manifestPath = fileURLToPath(new URL('../../manifest.yml', import.meta.url));
const prefix = 'chaos';
/** Real time in which a post and its work are certainly over: HTTP deadlines are not compressed. */
const usualLeaseMs = 6_000;
const shortestLeaseSeconds = 45;
const longestLeaseSeconds = 600;
const hopelessAfterMs = 60_000;
/** The bot's longest delay between attempts for a refusing channel. */
const longestHoldMs = 600_000;

/**
 * Events and their repeats over real HTTP to bots that are repeatedly killed, with their Redis, and a Slack with faults;
 * until everything is posted and no work is left. One bot on SQLite; four on Redis, of which two get events and all work.
 * The checker judges the result.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const startedAt = performance.now();
  const { faultShare = usualFaultShare } = options;
  const random = createRandom(options.seed);
  const plan = planChaos({
    ...options,
    repeatShare,
    random: random.fork('plan'),
    roles: acknowledgerRoles,
  });
  const clock = { fromMs: Date.now(), factor: options.compress };
  const folder = mkdtempSync(join(tmpdir(), 'payops-chaos-'));
  const redis = options.store === 'redis' ? await startRedis() : undefined;
  const now = fastClock(clock, preciseNow);
  const workspace = await startWorkspace({
    manifestPath,
    grantedOptionalScopes: ['channels:history', 'chat:write.public'],
    quirks: options.quirks ?? {},
    moreChannels: [...plan.channels.map(({ id }) => id), ...otherChannels],
    now,
    // Strictly one post a second; failed attempts count.
    postBurst: 1,
    dice: random.fork('slack').next,
  });
  for (const id of outsideOf(options, plan)) workspace.setChannel(id, { botIsMember: false });
  const ofPosts = { method: 'chat.postMessage', share: faultShare };
  workspace.setFaults({ kind: 'error_500', ...ofPosts }, { kind: 'answer_lost', ...ofPosts });
  const payments = await startPaymentsService({ now, seed: false, orderFor });
  const signs = tellPosts(workspace);
  const { program } = options.bundle;
  const env = environment(options, { folder, policy: plan.policy, clock, redis, workspace, payments });
  const team = redis ? { bots: 4, ingesting: 2 } : { bots: 1, ingesting: 1 };
  const fleet = createFleet({ ...team, env, program, redis, random: random.fork('fleet') });
  const contents = redis ? redisContents(redis.url, prefix) : sqliteContents(join(folder, 'data'));
  try {
    await fleet.start();
    const over = new AbortController();
    const asking = keepAsking(workspace, fleet.target, over.signal);
    const secret = payments.credentials.webhookSecret;
    const scene = await play({ options, plan, workspace, secret, fleet, random, contents, signs });
    over.abort();
    await asking;
    const audit = await verifyAudit(env);
    return { ...scene, audit, tookMs: performance.now() - startedAt };
  } finally {
    await fleet.stop();
    contents.close();
    await Promise.all([workspace.close(), payments.close(), redis?.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

function outsideOf({ quirks }: ChaosOptions, { channels }: Plan): string[] {
  if (quirks?.editsNeedMembership !== true) return [];
  return channels.filter((_, index) => index % 2 === 1).map(({ id }) => id);
}

/** With fractions of a millisecond, which are longer for the bots. */
function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

/** Signals a post when Slack has received it, before its answer. */
function tellPosts(workspace: Workspace): Signs {
  const signs = createSigns();
  let posts = 0;
  workspace.onChange(() => {
    const now = workspace.stats().posts;
    if (now > posts) signs.tell('posted');
    posts = now;
  });
  return signs;
}

/** Like an operator, while the bots run. */
async function verifyAudit({
  CHAOS_CLOCK: _clock,
  ...env
}: Record<string, string>): Promise<ChaosResult['audit']> {
  const { code, stdout, stderr } = await runPayops(['audit', 'verify'], env);
  const [, entries = '0'] = /whole: (\d+) entr/.exec(stdout) ?? [];
  return { exitCode: code, words: `${stdout}${stderr}`, entries: Number(entries) };
}

type Surroundings = {
  folder: string;
  policy: string;
  clock: { fromMs: number; factor: number };
  redis: RedisServer | undefined;
  workspace: Workspace;
  payments: PaymentsService;
};

function environment(options: ChaosOptions, around: Surroundings): Record<string, string> {
  const dataDir = join(around.folder, 'data');
  const payopsFile = join(around.folder, 'payops.yml');
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(payopsFile, around.policy);
  const { compress, isBroken, leaseMs = usualLeaseMs } = options;
  const leaseSeconds = Math.ceil((leaseMs / 1_000) * compress);
  return {
    ...botSettings({
      port: 0,
      dataDir,
      payopsFile,
      slack: { ...around.workspace.credentials, apiUrl: around.workspace.apiUrl },
      payments: { ...around.payments.credentials, url: around.payments.url },
    }),
    ...(around.redis
      ? {
          REDIS_URL: around.redis.url,
          REDIS_PREFIX: prefix,
          SEALING_KEYS: `chaos:${Buffer.alloc(32, 'chaos').toString('base64')}`,
        }
      : {}),
    PAYMENTS_TIMEOUT_SECONDS: '5',
    SLACK_TIMEOUT_SECONDS: '2',
    // The checker expects one message per event; storms have tests of their own.
    DIGEST_THRESHOLD: '0',
    WORK_LEASE_SECONDS: String(Math.min(Math.max(leaseSeconds, shortestLeaseSeconds), longestLeaseSeconds)),
    LOG_LEVEL: 'warn',
    CHAOS_CLOCK: JSON.stringify(around.clock),
    ...(isBroken === true ? { CHAOS_BREAK: 'yes' } : {}),
  };
}

type Stage = {
  options: ChaosOptions;
  plan: Plan;
  workspace: Workspace;
  /** For webhooks. */
  secret: string;
  fleet: Fleet;
  random: Random;
  contents: StoreContents;
  signs: Signs;
};

type Played = Omit<ChaosResult, 'tookMs' | 'audit'>;

async function play(stage: Stage): Promise<Played> {
  const { options, plan, workspace, secret, fleet, random, signs } = stage;
  const posted = (): number => workspace.stats().posts;
  const backlog = Math.max(100, options.events / 10);
  const over = new AbortController();
  const sender: Sender = createSender({
    deliveries: plan.deliveries,
    secret,
    target: fleet.target,
    random: random.fork('sender'),
    atOnce: 24,
    over: over.signal,
    answered: (url) => signs.tell('acknowledged', url),
    // Keeps events coming nearly as long as posts, so that kills find both under way.
    mayGo: () => sender.acknowledged.size - posted() < backlog || watch.stillForMs() > 5_000,
  });
  const moved = (): number => sender.counts.answered2xx + posted();
  const watch: Watch = watchMoves(moved, plan.deliveries.length + options.events, options.progress);
  try {
    const kills = killAlong({
      ...stage,
      ...options,
      watch,
      over: over.signal,
      random: random.fork('kills'),
    });
    const work = Promise.all([sender.run(), kills, acknowledgeWhileOutside(stage, sender)]);
    await Promise.race([work, fleet.broken, standstill(stage, sender, watch)]);
    await fleet.whole();
    for (const id of outsideOf(options, plan)) workspace.setChannel(id, { botIsMember: true });
    const workLeft = await drain(stage.contents, watch, longestHoldMs / options.compress);
    return judge(stage, sender, workLeft);
  } finally {
    over.abort();
    watch.stop();
  }
}

const pressAgainMs = 500;

/**
 * Resolves when every event is posted and every alert acknowledged, at least in its thread: its edit may be refused. Work
 * that waits for an invitation must hold up nothing else.
 */
async function acknowledgeWhileOutside(stage: Stage, sender: Sender): Promise<void> {
  const { options, plan, workspace, fleet } = stage;
  if (outsideOf(options, plan).length === 0) return;
  for (;;) {
    await rest(pressAgainMs);
    const left = await acknowledgeAll(workspace, fleet.target);
    const told = new Set(workspace.posts().map(alertReference));
    const isTold = [...sender.acknowledged.keys()].every((reference) => told.has(reference));
    if (left === 0 && isTold && sender.counts.answered2xx === plan.deliveries.length) return;
  }
}

/** Rejects when nothing has changed for so long that nothing will; never resolves. */
async function standstill({ fleet, workspace, plan }: Stage, sender: Sender, watch: Watch): Promise<never> {
  await watch.hopeless;
  const refused = JSON.stringify([...sender.counts.refused]);
  throw new Error(
    `Nothing was acknowledged or posted for ${hopelessAfterMs / 1_000} s: ${sender.counts.answered2xx} of ${plan.deliveries.length} deliveries were taken (else ${refused}), ${workspace.stats().posts} messages posted, ${JSON.stringify(fleet.counts)} killed. The bots wrote last:\n${fleet.lines().slice(-20).join('\n')}`,
  );
}

function watchMoves(moved: () => number, all: number, progress: ChaosOptions['progress']): Watch {
  let last = moved();
  let movedAtMs = performance.now();
  const stillForMs = (): number => performance.now() - movedAtMs;
  const hopeless = Promise.withResolvers<void>();
  const looking = setInterval(() => {
    if (moved() !== last) {
      last = moved();
      movedAtMs = performance.now();
    } else if (stillForMs() > hopelessAfterMs) hopeless.resolve();
  }, 50);
  const telling = setInterval(() => progress?.(`${Math.floor((100 * moved()) / all)} %`), 10_000);
  return {
    share: () => moved() / all,
    stillForMs,
    hopeless: hopeless.promise,
    stop() {
      clearInterval(looking);
      clearInterval(telling);
    },
  };
}

/**
 * Resolves with 0 when nothing more will be posted or edited, or with the remaining work if nothing changes for long. Slack
 * accepts fifty edits a minute in all channels together, so many edits take long after the last post.
 */
async function drain(contents: StoreContents, watch: Watch, heldMs: number): Promise<number> {
  let least = Infinity;
  let fellAtMs = performance.now();
  for (;;) {
    const left = await channelWork(contents);
    if (left < least) [least, fellAtMs] = [left, performance.now()];
    const stillForMs = Math.min(watch.stillForMs(), performance.now() - fellAtMs);
    if (left === 0 || stillForMs > hopelessAfterMs + heldMs) return left;
    await rest(200);
  }
}

function judge(stage: Stage, sender: Sender, workLeft: number): Played {
  const { options, plan, workspace, fleet } = stage;
  const posts = workspace.posts();
  const mayLook = (channel: string): boolean =>
    options.quirks?.isHistorySlow !== true && !outsideOf(options, plan).includes(channel);
  const seen = new Set<string>();
  const alerts = posts.flatMap((post) => {
    const { channel, blocks } = post;
    const key = alertReference(post);
    if (key === undefined) return [];
    // If the history was unreadable after a lost answer, the second post says that it may be a repeat.
    const isMarked = seen.has(key) && !mayLook(channel) && JSON.stringify(blocks).includes('May be a repeat');
    seen.add(key);
    return isMarked ? [] : [{ key, channel }];
  });
  const findings = checkHistory({
    acknowledged: [...sender.acknowledged.values()],
    posts: alerts,
    sent: sender.sent,
  });
  return {
    ...findings,
    // While a slow history is searched for one message, others may pass it (docs/limits.md).
    overtaken: options.quirks?.isHistorySlow === true ? [] : findings.overtaken,
    unacknowledged: outsideOf(options, plan).length === 0 ? [] : unacknowledged(workspace),
    edits: workspace.stats().calls['chat.update'] ?? 0,
    seed: options.seed,
    channels: plan.channels.length,
    acknowledged: sender.acknowledged.size,
    deliveries: plan.deliveries.length,
    posts: alerts.length,
    kills: fleet.counts,
    slack: workspace.stats(),
    sender: sender.counts,
    notices: posts.length - alerts.length,
    workLeft,
    linesAbout: (reference) => fleet.lines().filter((line) => line.includes(reference)),
  };
}

/** What a kill can follow at once, when it is most likely to interrupt something. */
type Sign = 'acknowledged' | 'posted';

type Signs = {
  tell: (sign: Sign, url?: string) => void;
  /** Resolves at the next such event with the bot's address, if known; or without one after a while. */
  next: (sign: Sign) => Promise<string | undefined>;
};

const signPatienceMs = 1_000;

function createSigns(): Signs {
  const waiting = new Map<Sign, (url?: string) => void>();
  return {
    tell(sign, url) {
      waiting.get(sign)?.(url);
      waiting.delete(sign);
    },
    next: (sign) =>
      new Promise<string | undefined>((resolve) => {
        const timer = setTimeout(() => resolve(undefined), signPatienceMs);
        waiting.set(sign, (url) => {
          clearTimeout(timer);
          resolve(url);
        });
      }),
  };
}

type Watch = {
  /** From 0 to 1: the share of the work that is acknowledged and posted. */
  share: () => number;
  /** Time since something was last acknowledged or posted. */
  stillForMs: () => number;
  /** Resolves when that is so long that nothing more will come. */
  hopeless: Promise<void>;
  stop: () => void;
};

type Wanted = { kills: number; store: 'redis' | 'sqlite' };

type Killing = Wanted & { fleet: Fleet; signs: Signs; watch: Watch; random: Random; over: AbortSignal };

/**
 * Kills at random points of the work, not of time: each waits until its share is done, so that all find work under way.
 * If the work stands still, it comes anyway. Rejects if `over` is aborted before.
 */
async function killAlong(killing: Killing): Promise<void> {
  const { fleet, signs, watch, random, over, ...wanted } = killing;
  for (const { moment, victim, after } of planKills(wanted, random)) {
    while (watch.share() < moment && watch.stillForMs() < 10_000) await rest(5, undefined, { signal: over });
    const url = after === 'anything' ? await rest(random.below(40), undefined) : await signs.next(after);
    while (!(await fleet.kill(victim, url))) await rest(5, undefined, { signal: over });
  }
}

type Kill = { moment: number; victim: Victim; after: Sign | 'anything' };

/** With Redis, one kill in eight is of Redis, and at least one. */
function planKills({ kills, store }: Wanted, random: Random): Kill[] {
  const ofRedis = store === 'redis' ? Math.min(kills, Math.max(1, Math.floor(kills / 8))) : 0;
  return Array.from({ length: kills }, (_, index) => ({
    moment: 0.01 + 0.94 * random.next(),
    victim: index < ofRedis ? ('redis' as const) : ('bot' as const),
    after: random.pick(['anything', 'acknowledged', 'posted'] as const),
  })).toSorted((one, other) => one.moment - other.moment);
}
