import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { botSettings, payopsFile } from '../../src/playground/bot-settings.ts';
import { type PaymentsService, startPaymentsService } from '../../src/simulators/payments/service.ts';
import { startWorkspace } from '../../src/simulators/slack/workspace.ts';
import { startOptions } from '../../test/support/bot.ts';
import { webhookSecret } from '../ingest/event.ts';
import { type Program, programPath } from './contestant.ts';

export type House = {
  folder: string;
  /** The bot as deployed: `src/start.js` with its worker, and these changes to its environment. */
  bot: (name: string, more?: Record<string, string>) => Program;
  payments: PaymentsService;
  close: () => Promise<void>;
};

const manifestPath = fileURLToPath(new URL('../../manifest.yml', import.meta.url));

/**
 * A payments service that knows every reference: those that begin with PAID are paid, others declined. The token outlasts
 * the run.
 */
export async function openService(): Promise<{ payments: PaymentsService; accessToken: string }> {
  const payments = await startPaymentsService({
    seed: false,
    orderFor: (reference) => ({
      amountMinor: 500_000,
      state: reference.startsWith('PAID') ? 'paid' : 'declined',
      reason: 'Insufficient funds',
    }),
    tokenLifetimeMs: 7 * 86_400_000,
    rateLimit: { limit: Infinity, windowMs: 60_000 },
  });
  const { accountId, clientId, clientSecret } = payments.credentials;
  const issued = await fetch(`${payments.url}/v1/auth/token/issue`, {
    method: 'POST',
    headers: { accountId, 'content-type': 'application/json' },
    body: JSON.stringify({ clientId, clientSecret }),
  });
  const { data } = (await issued.json()) as { data: { accessToken: string } };
  return { payments, accessToken: data.accessToken };
}

/**
 * The bot's surroundings while it is measured, in the process that starts it all: a Slack with its limit of one message a
 * second and channel, and a payments service that answers every look-up at once.
 */
export async function openHouse(): Promise<House> {
  const folder = mkdtempSync(join(tmpdir(), 'payops-bench-'));
  const [workspace, { payments, accessToken }] = await Promise.all([
    startWorkspace({ manifestPath, grantedOptionalScopes: ['channels:history'] }),
    openService(),
  ]);
  const { channels: ids, users } = workspace.ids;
  const payopsPath = join(folder, 'payops.yml');
  const channels = { alerts: ids.payAlerts, ops: ids.payOps, desk: ids.payDesk };
  writeFileSync(payopsPath, payopsFile({ channels, users }));

  return {
    folder,
    payments,
    bot(name, more = {}) {
      const dataDir = join(folder, name);
      mkdirSync(dataDir, { mode: 0o700, recursive: true });
      const settings = botSettings({
        port: 0,
        dataDir,
        payopsFile: payopsPath,
        slack: { ...workspace.credentials, apiUrl: workspace.apiUrl },
        payments: { ...payments.credentials, url: payments.url, webhookSecret },
      });
      const env = {
        ...settings,
        PAYMENTS_STATIC_TOKEN: accessToken,
        WEBHOOK_SIGNATURE_HEADER: 'x-webhook-signature',
        WEBHOOK_SIGNATURE_ALGORITHM: 'sha256',
        SEALING_KEYS: `bench:${Buffer.alloc(32, 'bench').toString('base64')}`,
        ...more,
      };
      const logPath = join(folder, `${name}.log`);
      return { path: programPath('../src/start.js'), env, logPath, nodeOptions: startOptions };
    },
    async close() {
      await Promise.all([workspace.close(), payments.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
