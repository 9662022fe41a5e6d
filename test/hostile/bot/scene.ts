import { createHmac } from 'node:crypto';
import { signatureHeader, signWebhook } from '../../../src/simulators/payments/webhooks-out.ts';
import { deployedBot } from '../../support/bot.ts';
import { openHouse } from '../../support/house.ts';

/** One bot on loopback, between a workspace and a payments service. */
export type Scene = {
  port: number;
  /** For a deployed bot. */
  pid: () => number;
  /** The payments service's headers for this body. */
  signed: (body: Buffer | string) => Record<string, string>;
  /** Slack's headers for this body. */
  slackSigned: (body: string) => Record<string, string>;
  close: () => Promise<void>;
};

/**
 * `deployed`: a process, to measure it from outside; `here`: in this process. Independent of vitest, so that a script can
 * use it.
 */
export async function openScene(where: 'deployed' | 'here'): Promise<Scene> {
  const closers: (() => unknown)[] = [];
  const test = {
    onTestFinished: (close: unknown) => void closers.push(close as () => unknown),
    onTestFailed: () => undefined,
  };
  const house = await openHouse(
    test,
    where === 'deployed' ? { program: deployedBot } : { env: { STOP_SECONDS: '1' } },
  );
  const bot = house.bot();
  await house.start(bot);
  const settings = house.settings();
  const { WEBHOOK_SECRETS: secret = '', SLACK_SIGNING_SECRET: slackSecret = '' } = settings;
  return {
    port: Number(new URL(bot.url()).port),
    pid: () => bot.pid(),
    signed: (body) => ({
      'content-type': 'application/json',
      // One character per byte, so that bytes that are not text are signed unchanged.
      [signatureHeader]:
        typeof body === 'string'
          ? signWebhook(body, secret)
          : createHmac('sha512', secret).update(body).digest('hex'),
    }),
    slackSigned(body) {
      const at = String(Math.floor(Date.now() / 1_000));
      const digest = createHmac('sha256', slackSecret).update(`v0:${at}:${body}`).digest('hex');
      return {
        'content-type': 'application/x-www-form-urlencoded',
        'x-slack-request-timestamp': at,
        'x-slack-signature': `v0=${digest}`,
      };
    },
    async close() {
      for (const close of closers) await close();
    },
  };
}

export const paths = { webhook: '/webhooks/payments', slack: '/slack/events' } as const;
export type Path = (typeof paths)[keyof typeof paths];

export function head(path: string, headers: Record<string, string>, method = 'POST'): string {
  const lines = Object.entries({ host: 'bot', ...headers }).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}

export function statusIn(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}

/** An ordinary event, unique by reference. */
export function eventText(reference: string): string {
  const order = {
    orderReference: reference,
    orderId: `ord-${reference}`,
    amount: '5000.00',
    currency: 'NGN',
  };
  return JSON.stringify({ event_type: 'payment_success', data: { order } });
}
