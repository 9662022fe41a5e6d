import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { botSettings, payopsFile } from '../../src/playground/bot-settings.ts';
import { startFakePayments } from '../../test/chaos/fake-payments.ts';
import { startFakeSlack } from '../../test/chaos/fake-slack.ts';
import { startOptions } from '../../test/support/start-options.ts';
import { secrets } from '../ingest/event.ts';
import { programPath, type Program } from './contestant.ts';
import { agent, slackSigningSecret } from './names.ts';

export type House = {
  folder: string;
  /** The bot as it is deployed: `src/start.js`, its worker and all, with these changes of its environment. */
  bot: (name: string, more?: Record<string, string>) => Program;
  /** What Slack has been told so far. */
  posted: () => number;
  close: () => Promise<void>;
};

/**
 * What stands around the bot while it is measured, in the process that starts it all: a Slack that takes one message
 * a second in a channel, as Slack does, and a payments service that answers every look-up at once.
 */
export async function openHouse(): Promise<House> {
  const folder = mkdtempSync(join(tmpdir(), 'payops-bench-'));
  const [slack, payments] = await Promise.all([
    startFakeSlack({
      random: { next: () => 1 } as Parameters<typeof startFakeSlack>[0]['random'],
      refusedShare: 0,
      lostShare: 0,
      taken: () => undefined,
      now: () => Date.now(),
      factor: 1,
    }),
    startFakePayments(),
  ]);
  const payopsPath = join(folder, 'payops.yml');
  const channels = { alerts: 'C0ALERTS01', ops: 'C0OPS00001', desk: 'C0DESK0001' };
  writeFileSync(
    payopsPath,
    payopsFile({ channels, users: { agent, lead: 'U0LEAD0001', onCall: 'U0ONCALL01' } }),
  );

  return {
    folder,
    posted: () => slack.posts.length,
    bot(name, more = {}) {
      const dataDir = join(folder, name);
      mkdirSync(dataDir, { mode: 0o700, recursive: true });
      const settings = botSettings({
        port: 0,
        dataDir,
        payopsFile: payopsPath,
        slack: { apiUrl: slack.url, botToken: 'xoxb-bench-token', signingSecret: slackSigningSecret },
        payments: {
          url: payments.url,
          accountId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
          clientId: 'client-1',
          clientSecret: 'client-secret-1',
          webhookSecret: secrets['raw-body'],
        },
        redisUrl: undefined,
      });
      const env = {
        ...settings,
        PAYMENTS_STATIC_TOKEN: 'bench-access-token',
        WEBHOOK_SIGNATURE_HEADER: 'x-webhook-signature',
        WEBHOOK_SIGNATURE_ALGORITHM: 'sha256',
        SEALING_KEYS: `bench:${Buffer.alloc(32, 'bench').toString('base64')}`,
        ...more,
      };
      const logPath = join(folder, `${name}.log`);
      return { path: programPath('../src/start.js'), env, logPath, nodeOptions: startOptions };
    },
    async close() {
      await Promise.all([slack.close(), payments.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
