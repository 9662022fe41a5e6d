import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { signatureHeader, signWebhook } from '../../src/simulators/payments/webhooks-out.ts';
import { createRandom } from '../chaos/random.ts';
import { openBackend } from '../support/backend.ts';
import type { Bot } from '../support/bot.ts';
import { countOf } from '../support/counts.ts';
import { openHouse } from '../support/house.ts';
import { findProgram } from '../support/programs.ts';
import { redisOf } from '../support/redis-server.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: forwarding while all of it dies, because redis-server is not installed.');

const eventsOfOrder = 3;
const orders = Math.ceil(countOf({ full: 1_002, share: 90 }) / eventsOfOrder);
const sendersAtOnce = 4;
const betweenDeathsMs = 400;
const ofKind = ['payment_failed', 'order_seen', 'payment_success'];

/** The body of an order's event number `index`; each is sent in this order. */
function bodyOf(order: string, index: number): string {
  return `{"event_type":"${ofKind[index]}", "n":${index},\t"data":{"order":{"orderReference":"${order}","note":"é ✓"}}}`;
}

describe.skipIf(missing)('while bots, their Redis and the backend are killed in turns', () => {
  it(
    'every event reaches the backend, byte for byte, in the order of its reference',
    { timeout: 600_000 },
    async (test) => {
      const seed = Date.now() % 1_000_000_000;
      const random = createRandom(seed);
      const redis = await redisOf(test);
      const secret = { value: '' };
      const backend = await openBackend(() => secret.value);
      test.onTestFinished(() => backend.close());
      const house = await openHouse(test, {
        processes: true,
        redisUrl: redis.url,
        env: { WEBHOOK_FORWARD_URL: backend.url, LOG_LEVEL: 'warn' },
      });
      secret.value = house.payments.credentials.webhookSecret;
      const bots = [house.bot({ LOG_LEVEL: 'info' }), house.bot({ LOG_LEVEL: 'info' })];
      await Promise.all(bots.map((bot) => bot.start()));
      const refused = new Map<number, number>();

      async function send(bot: Bot, body: string): Promise<number> {
        const headers = {
          'content-type': 'application/json',
          [signatureHeader]: signWebhook(body, secret.value),
        };
        const signal = AbortSignal.timeout(5_000);
        const url = `${bot.url()}/webhooks/payments`;
        const answer = await fetch(url, { method: 'POST', headers, body, signal }).catch(() => undefined);
        await answer?.text().catch(() => undefined);
        return answer?.status ?? 0;
      }
      const all = Array.from({ length: orders }, (_, index) => `CHAOS-${index}`);
      const waiting = all.values();
      async function sendOrders(): Promise<void> {
        for (const order of waiting) {
          for (let index = 0; index < eventsOfOrder;) {
            const status = await send(random.pick(bots), bodyOf(order, index));
            if (status === 200) index += 1;
            else {
              refused.set(status, (refused.get(status) ?? 0) + 1);
              await rest(50);
            }
            // Spread the events over many restarts.
            await rest(random.below(200));
          }
        }
      }

      const deaths = { bot: 0, redis: 0, backend: 0 };
      const over = new AbortController();
      async function kill(): Promise<void> {
        const victims = ['bot', 'backend', 'redis', 'backend'] as const;
        for (let turn = 0; turn < victims.length || !over.signal.aborted; turn += 1) {
          const victim = victims[turn % victims.length] ?? 'bot';
          deaths[victim] += 1;
          if (victim === 'bot') {
            const bot = random.pick(bots);
            await bot.kill9();
            await rest(random.below(300));
            await bot.start();
          } else if (victim === 'redis') {
            await redis.kill9();
            await rest(random.below(300));
            await redis.restart();
          } else {
            backend.answers(random.pick(['hang', { status: 503 }] as const));
            await rest(random.below(1_500));
            backend.cut();
            backend.answers({ status: 200 });
          }
          await rest(betweenDeathsMs);
        }
      }
      const killing = kill();
      await Promise.all(Array.from({ length: sendersAtOnce }, sendOrders));
      over.abort();
      await killing;
      const taken = (): string[] =>
        backend.asked.filter(({ status }) => status === 200).map(({ body }) => body);
      const sent = all.flatMap((order) =>
        ofKind.map((_, index) => Buffer.from(bodyOf(order, index)).toString('latin1')),
      );
      const isThere = (): boolean => new Set(taken()).size >= sent.length;
      await house.until('all of it is there', isThere, 300_000).catch(() => undefined);

      const came = taken();
      const firstAt = new Map(came.map((body, index): [string, number] => [body, index]).toReversed());
      const overtaken = all.filter((order) => {
        const places = ofKind.map((_, index) =>
          firstAt.get(Buffer.from(bodyOf(order, index)).toString('latin1')),
        );
        return places.some((place, index) => index > 0 && (place ?? 0) < (places[index - 1] ?? 0));
      });
      const counts = { seed, sent: sent.length, taken: came.length, deaths, refused: [...refused] };
      console.log(`forwarding chaos: ${JSON.stringify(counts)}`);
      expect(sent.filter((body) => !firstAt.has(body))).toEqual([]);
      expect(came.filter((body) => !sent.includes(body))).toEqual([]);
      expect(backend.asked.filter(({ isSigned }) => !isSigned)).toEqual([]);
      expect(overtaken).toEqual([]);
      expect(Math.min(...Object.values(deaths))).toBeGreaterThan(0);
    },
  );
});
