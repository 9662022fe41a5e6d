import { randomBytes } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as rest } from 'node:timers/promises';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signWebhook } from '../../src/simulators/payments/webhooks-out.ts';
import { type Acknowledged, checkHistory, type Findings } from '../chaos/checker.ts';
import { orderFor, otherChannels, type Plan, planChaos, referenceIn } from '../chaos/plan.ts';
import { botSettings } from '../../src/playground/bot-settings.ts';
import { startPaymentsService } from '../../src/simulators/payments/service.ts';
import { startWorkspace, type Workspace } from '../../src/simulators/slack/workspace.ts';
import { createRandom } from '../chaos/random.ts';
import { post } from '../chaos/sender.ts';
import { startRedis } from '../support/redis-server.ts';
import { channelWork, redisContents } from '../support/store-contents.ts';

/** What stands around bots that take a steady load: a Redis, a Slack and a payments service where nothing goes wrong. */
export type Stage = {
  plan: Plan;
  workspace: Workspace;
  /** Of the webhooks. */
  secret: string;
  redisUrl: string;
  /** Of each bot, which share their Redis and listen where they can. */
  env: Readonly<Record<string, string>>;
  /** How many messages are still to be posted once none is, or so much time is over. */
  leftAfter: (ms: number) => Promise<number>;
  close: () => Promise<void>;
};

const manifestPath = fileURLToPath(new URL('../../manifest.yml', import.meta.url));
export const stagePrefix = 'load';

/** `events`: as many can be sent at most. */
export async function openStage({ events, channels }: { events: number; channels: number }): Promise<Stage> {
  // So that what is started ends with it.
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(1));
  const folder = mkdtempSync(join(tmpdir(), 'payops-load-'));
  const redis = await startRedis();
  const random = createRandom(1);
  const roles = '{ support-agent: { users: [UADA], may: [lookup] } }';
  const plan = planChaos({ events, repeatShare: 0, channels, random, roles });
  const workspace = await startWorkspace({
    manifestPath,
    grantedOptionalScopes: ['channels:history'],
    moreChannels: [...plan.channels.map(({ id }) => id), ...otherChannels],
  });
  const payments = await startPaymentsService({
    seed: false,
    orderFor,
    rateLimit: { limit: Infinity, windowMs: 60_000 },
  });
  const payopsFile = join(folder, 'payops.yml');
  writeFileSync(payopsFile, plan.policy.replace('UADA', workspace.ids.users.agent));
  const contents = redisContents(redis.url, stagePrefix);
  return {
    plan,
    workspace,
    secret: payments.credentials.webhookSecret,
    redisUrl: redis.url,
    env: {
      ...botSettings({
        port: 0,
        dataDir: folder,
        payopsFile,
        slack: { ...workspace.credentials, apiUrl: workspace.apiUrl },
        payments: { ...payments.credentials, url: payments.url },
      }),
      REDIS_URL: redis.url,
      REDIS_PREFIX: stagePrefix,
      SEALING_KEYS: `load:${randomBytes(32).toString('base64')}`,
      METRICS_PORT: '0',
      // One message for each event is what is counted.
      DIGEST_THRESHOLD: '0',
      PAYMENTS_TIMEOUT_SECONDS: '8',
      SLACK_TIMEOUT_SECONDS: '10',
      WORK_LEASE_SECONDS: '45',
    },
    async leftAfter(ms) {
      const endsAt = performance.now() + ms;
      // Asked again until it is so.
      for (let left = await channelWork(contents); ; left = await channelWork(contents)) {
        if (left === 0 || performance.now() >= endsAt) return left;
        await rest(500);
      }
    },
    async close() {
      contents.close();
      await Promise.all([workspace.close(), payments.close(), redis.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type LoadOptions = {
  /** Where all of it goes. */
  url: string;
  eventsPerSecond: number;
  commandsPerSecond: number;
};

export type Load = {
  /** By what became of it: a status, or why there was none. */
  readonly webhooks: ReadonlyMap<string, number>;
  /** How many look-ups were asked for. */
  commands: () => number;
  /** Of the webhooks since the last call, in milliseconds, the slowest last. */
  answerTimes: () => number[];
  /** Sends no more; resolves when all that was sent is answered. */
  stop: () => Promise<void>;
  /** Of what was acknowledged, once nothing is left to post: what was told wrongly, and look-ups that nobody answered. */
  findings: () => Findings & { unanswered: string[] };
};

/**
 * Sends events and commands at their pace, whatever becomes of them, each once: who sends to a bot that is restarted
 * must not have to try again. Connections are kept open, as senders and proxies do.
 */
export function startLoad({ plan, workspace, secret }: Stage, options: LoadOptions): Load {
  const agent = new Agent({ keepAlive: true });
  const webhooks = new Map<string, number>();
  const acknowledged: Acknowledged[] = [];
  const sent = new Set<string>();
  const asked: string[] = [];
  const underWay = new Set<Promise<void>>();
  const over = new AbortController();
  const deliveries = plan.deliveries.values();
  let times: number[] = [];
  workspace.connect(`${options.url}/slack/events`);

  async function deliver(): Promise<void> {
    const { value: delivery } = deliveries.next();
    if (!delivery) throw new Error('All events are sent: plan more of them.');
    const { reference: key, channel, body } = delivery;
    sent.add(key);
    const firstSentAtMs = performance.now();
    const answer = await post(agent, `${options.url}/webhooks/payments`, {
      body,
      signature: signWebhook(body, secret),
    });
    const ackedAtMs = performance.now();
    times.push(ackedAtMs - firstSentAtMs);
    count(webhooks, answer);
    if (/^2\d\d$/.test(answer)) acknowledged.push({ key, channel, firstSentAtMs, ackedAtMs });
  }

  async function ask(): Promise<void> {
    const reference = `PAID-${String(asked.length).padStart(6, '0')}`;
    asked.push(reference);
    const typed = { channel: workspace.ids.channels.payDesk, text: `/pay ${reference}` };
    await workspace.act(workspace.ids.users.agent, { kind: 'send_message', ...typed });
  }

  async function keepPace(perSecond: number, send: () => Promise<void>): Promise<void> {
    const startedAt = performance.now();
    for (let number = 0; !over.signal.aborted; number += 1) {
      const waitMs = startedAt + (number * 1_000) / perSecond - performance.now();
      if (waitMs > 0) await rest(waitMs, undefined, { signal: over.signal }).catch(() => undefined);
      if (over.signal.aborted) return;
      const sending = send().finally(() => underWay.delete(sending));
      underWay.add(sending);
    }
  }

  const paces = [keepPace(options.eventsPerSecond, deliver), keepPace(options.commandsPerSecond, ask)];
  return {
    webhooks,
    commands: () => asked.length,
    answerTimes() {
      const since = times.toSorted((one, other) => one - other);
      times = [];
      return since;
    },
    async stop() {
      over.abort();
      await Promise.all(paces);
      await Promise.all(underWay);
      agent.destroy();
    },
    findings() {
      const posts = workspace.posts().flatMap(({ channel, metadata, threadTs }) => {
        const key = referenceIn(String(metadata?.event_payload['key']));
        return key === undefined || threadTs !== undefined ? [] : [{ key, channel }];
      });
      const { agent: person } = workspace.ids.users;
      const screen = JSON.stringify(workspace.state(person).messages[workspace.ids.channels.payDesk]);
      const unanswered = asked.filter((reference) => !screen.includes(reference));
      return { ...checkHistory({ acknowledged, posts, sent }), unanswered };
    },
  };
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}
