import { describe, expect, it } from 'vitest';
import { destinationsOf, needsLookUp, type RoutePlan } from '../../../src/domain/alert-route.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { createDeadLetters } from '../../../src/operations/outbox/dead-letters.ts';
import { receiveEvent } from '../../../src/operations/alert/receive-event.ts';
import { event, house } from '../house.ts';

const [big, dead, other, later] = ['C0BIG00001', 'C0DEAD0001', 'C0OTHER001', 'C0LATER001'];
const giveUpMs = 3_600_000;

/** Alerts for these channels, of which the refused take none; `rules` may be set anew. */
function opened(channels: readonly string[], refused: readonly string[]) {
  const built = house();
  const rules = { channels };
  const planned = (): RoutePlan => ({
    rules: [{ name: 'all', match: {}, channels: rules.channels, goesOn: false }],
    environment: 'live',
    account: 'main account',
    failures: later,
    successes: undefined,
  });
  const route = (told: PaymentEvent, atMs: number) => destinationsOf(planned(), told, atMs);
  Object.assign(built.receive, { route, needsLookUp: (told: PaymentEvent) => needsLookUp(planned(), told) });
  const { compose } = built.deliver;
  const told: string[] = [];
  Object.assign(built.deliver, {
    route,
    giveUpMs,
    opsChannel: undefined,
    compose: (post: Parameters<typeof compose>[0]) => ({
      ...compose(post),
      post(channel: string) {
        if (refused.includes(channel)) {
          return { kind: 'refused', slackError: 'is_archived', fix: 'Set another.', about: 'channel' };
        }
        told.push(channel);
        return { kind: 'posted', channel, ts: `${built.clock.nowMs / 1_000}` };
      },
    }),
  });
  const letters = createDeadLetters({ store: built.store, now: () => built.clock.nowMs });
  return { ...built, rules, told, letters };
}

describe('a copy for a channel that Slack refuses, delivered again once the rules name another', () => {
  it('is done with where the event was told elsewhere', async () => {
    const { receive, drain, rules, told, letters } = opened([big, dead], [dead]);
    await receiveEvent(receive, event, 'f');
    await drain(giveUpMs + 600_000);
    expect(await letters.all()).toMatchObject([{ channel: dead, messages: 1 }]);
    rules.channels = [big, other];
    await letters.redrive();
    await drain(giveUpMs + 600_000);
    expect(told).toEqual([big]);
    expect(await letters.all()).toEqual([]);
  });

  it('is told once in each channel of now where it was told in none', async () => {
    const gone = ['C0DEAD0002', dead];
    const routes = opened(gone, gone);
    const { receive, drain, rules, told, letters } = routes;
    Object.assign(routes.deliver, { route: () => rules.channels.map((channel) => ({ channel })) });
    Object.assign(receive, { needsLookUp: () => true });
    await receiveEvent(receive, event, 'f');
    await drain(giveUpMs + 600_000);
    expect((await letters.all()).map(({ messages }) => messages)).toEqual([1, 1]);
    rules.channels = [big, other];
    await letters.redrive();
    await drain(600_000);
    expect(told.toSorted()).toEqual([big, other]);
    await drain(giveUpMs);
    expect(await letters.all()).toEqual([]);
  });

  it('goes on being its channel’s when a rule still names it, or no rule names any', async () => {
    const refused = [dead];
    const { receive, drain, rules, told, letters } = opened([big, dead], refused);
    await receiveEvent(receive, event, 'f');
    await drain(giveUpMs + 600_000);
    refused.length = 0;
    expect(rules.channels).toContain(dead);
    await letters.redrive();
    await drain(60_000);
    expect(told).toEqual([big, dead]);
  });

  it.each(['payment_failed', 'payment_success'] as const)(
    'is told in its own channel when the rules come back to it: %s',
    async (kind) => {
      const refused = [dead, other];
      const routes = opened([dead], refused);
      const { receive, drain, rules, told, letters } = routes;
      Object.assign(routes.deliver, { route: () => rules.channels.map((channel) => ({ channel })) });
      Object.assign(receive, { needsLookUp: () => true });
      await receiveEvent(receive, { ...event, kind }, 'f');
      await drain(giveUpMs + 600_000);
      rules.channels = [other];
      await letters.redrive();
      await drain(giveUpMs + 600_000);
      expect(await letters.all()).toMatchObject([{ channel: other, messages: 1 }]);
      refused.length = 0;
      rules.channels = [dead];
      await letters.redrive();
      await drain(60_000);
      expect(told).toEqual([dead]);
      expect(await letters.all()).toEqual([]);
    },
  );
});
