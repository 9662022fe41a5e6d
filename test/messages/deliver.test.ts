import { describe, expect, it } from 'vitest';
import { tellOperators } from '../../src/messages/messages.ts';
import {
  alertsHouse,
  type AlertsHouse,
  failed,
  linesOf,
  openAlertsWorld,
  slackFaults,
  startAlerts,
} from '../features/alerts-house.ts';
import { channel, ops } from '../features/house.ts';

const minuteMs = 60_000;

function failure(reference: string) {
  return { ...failed, key: `payment_failed/order/${reference}`, orderReference: reference };
}

/** The first posts meet these faults. */
function failing({ slack }: AlertsHouse, ...faults: ReturnType<AlertsHouse['slack']['meets']>[]): void {
  slack.meets = ({ method }) => (method === 'post' ? faults.shift() : undefined);
}

/** The channels of all tries, in order. */
function triedIn({ slack }: AlertsHouse): string[] {
  return slack.calls.flatMap((call) => (call.method === 'post' ? [call.channel] : []));
}

function tell({ account }: AlertsHouse, opsChannel: string, name = opsChannel): Promise<void> {
  return tellOperators({ ...account, opsChannel }, name, { state: 'An event', about: ['x'], lines: [] });
}

const tooLong = slackFaults.refuses('msg_too_long');

describe('a message', () => {
  it.each([
    ['a rate limit', slackFaults.slow(30)],
    ['a refusal', slackFaults.refuses('not_in_channel')],
    ['a connection refused', slackFaults.notSent],
  ])('is posted again after %s, and does not say that it may be a repeat', async (_what, fault) => {
    const house = alertsHouse();
    failing(house, fault);
    await house.receive(failed);
    await house.drain(120_000);
    expect(triedIn(house).filter((to) => to === channel)).toHaveLength(2);
    const [message] = house.parents();
    expect(message && linesOf(message)).not.toContain('May be a repeat');
  });

  it('is posted at Slack’s rate: one a second in a channel', async () => {
    const house = alertsHouse();
    for (const name of ['A', 'B', 'C']) await house.receive(failure(name));
    await house.drain(0);
    expect(house.parents()).toHaveLength(1);
    house.clock.nowMs += 1_000;
    await house.drain(0);
    expect(house.parents()).toHaveLength(2);
  });

  it('keeps the channel it was stored for, even if the settings name another now', async () => {
    const world = openAlertsWorld();
    const before = startAlerts(world);
    const wrong = slackFaults.refuses('channel_not_found');
    failing(before, wrong, wrong);
    await before.receive(failed);
    await tell(before, ops, 'a');
    await before.drain(0);
    world.routes.failures = 'C0OTHER001';
    world.opsChannel = 'C0RIGHT001';
    await startAlerts(world).drain(120_000);
    expect(new Set(triedIn(before))).toEqual(new Set([channel, ops]));
    expect(before.parents().filter((one) => one.channel === channel)).toHaveLength(1);
  });

  it('that Slack refuses for its content blocks no other, and the operators get a notice', async () => {
    const house = alertsHouse();
    // As blocks, and as text.
    failing(house, tooLong, tooLong);
    await house.receive(failed);
    await house.receive(failure('NEXT'));
    await house.drain(2_000);
    expect(house.parents().map((one) => one.channel)).toEqual([ops, channel]);
  });

  it('that is a refused notice causes no further notice', async () => {
    const house = alertsHouse();
    house.slack.meets = () => tooLong;
    await house.receive(failed);
    await house.drain(60_000);
    expect(house.store.keys().filter((key) => key.startsWith('message:notice:'))).toHaveLength(1);
  });

  it('is not delayed while Slack refuses another channel', async () => {
    const house = alertsHouse();
    house.slack.meets = (call) =>
      call.channel === 'C0REFUSED1' ? slackFaults.refuses('is_archived') : undefined;
    for (const to of ['C0REFUSED1', 'C0OTHER001']) {
      await tell(house, to);
      house.routes.failures = to;
      await house.receive(failure(to));
    }
    await house.drain(1_000);
    expect(house.parents().map((one) => one.channel)).toEqual(['C0OTHER001', 'C0OTHER001']);
  });

  it('is still posted at most once a second if Slack asks to wait zero seconds', async () => {
    const house = alertsHouse();
    house.slack.meets = () => slackFaults.slow(0);
    await house.receive(failed);
    await house.drain(3_000);
    expect(triedIn(house)).toHaveLength(4);
  });

  it('is not posted by a process that was suspended until too little of the lease was left', async () => {
    const world = openAlertsWorld();
    const slow = startAlerts(world, async (name, effect) => {
      const result = await effect();
      if (name === 'write message:alert') world.clock.nowMs += 40_000;
      return result;
    });
    await slow.receive(failed);
    await slow.once();
    expect(slow.slack.calls).toEqual([]);
  });

  it('no longer blocks later alerts once the answers to its edit were lost many times', async () => {
    const house = alertsHouse();
    const { clock, slack } = house;
    slack.meets = ({ method }) => (method === 'edit' ? slackFaults.lost : undefined);
    await house.receive(failed);
    await house.drain(minuteMs);
    await house.alerts.move(failed.key, { kind: 'acknowledge', by: 'U0ADA00001' });
    await house.drain(minuteMs);
    await house.receive(failure('SUB-2'));
    const receivedAtMs = clock.nowMs;
    while (house.parents().length < 2 && clock.nowMs < receivedAtMs + 24 * 60 * minuteMs)
      await house.drain(minuteMs);
    expect(house.parents()).toHaveLength(2);
    expect(clock.nowMs - receivedAtMs).toBeLessThanOrEqual(30 * minuteMs);
  });
});
