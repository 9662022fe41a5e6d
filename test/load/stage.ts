import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { botSettings } from '../../src/playground/bot-settings.ts';
import { startPaymentsService } from '../../src/simulators/payments/service.ts';
import { startWorkspace, type Workspace } from '../../src/simulators/slack/workspace.ts';
import { orderFor, otherChannels, planChaos, type Plan } from '../chaos/plan.ts';
import { createRandom } from '../chaos/random.ts';
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
  /** How many messages are still to be posted. */
  channelWork: () => Promise<number>;
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
  const around = {
    port: 0,
    dataDir: folder,
    payopsFile,
    slack: { ...workspace.credentials, apiUrl: workspace.apiUrl },
    payments: { ...payments.credentials, url: payments.url },
    redisUrl: redis.url,
  };
  const contents = redisContents(redis.url, stagePrefix);
  return {
    plan,
    workspace,
    secret: payments.credentials.webhookSecret,
    redisUrl: redis.url,
    env: {
      ...botSettings(around),
      REDIS_PREFIX: stagePrefix,
      METRICS_PORT: '0',
      // One message for each event is what is counted.
      DIGEST_THRESHOLD: '0',
      PAYMENTS_TIMEOUT_SECONDS: '8',
      SLACK_TIMEOUT_SECONDS: '10',
      WORK_LEASE_SECONDS: '45',
    },
    channelWork: () => channelWork(contents),
    async close() {
      contents.close();
      await Promise.all([workspace.close(), payments.close(), redis.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
