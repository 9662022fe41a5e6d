import { describe, expect, it } from 'vitest';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import type { AlertMute } from '../../../src/domain/alert.ts';
import type { SavedCard } from '../../../src/domain/card.ts';
import { eventsList } from '../../../src/messages/message-record.ts';
import { alertsHouse, openAlertsWorld, type Pass, startAlerts } from '../alerts-house.ts';
import { channel, event, killed } from '../house.ts';

it('sends operators no notice if only the reason of a repeat differs: some senders put a time into it', async () => {
  const house = alertsHouse();
  await house.receive(event);
  expect(await house.receive({ ...event, reason: 'timed out after 3 ms' }, 'g')).toBe('differs');
  await house.drain(60_000);
  expect(house.parents().map((one) => one.channel)).toEqual([channel]);
});

it('posts no repeat of a payment that was muted when it came, and counts it once', async () => {
  const world = openAlertsWorld();
  world.routes.successes = channel;
  const payment: PaymentEvent = { ...event, kind: 'payment_success', key: 'payment_success/order/SUB-1' };
  const until = { fromMs: 0, untilMs: world.clock.nowMs + 1_000, isOver: false };
  const mute: AlertMute = { id: 'V1', channel, by: 'U1', why: 'noise', match: {}, ...until };
  const house = startAlerts(world, undefined, { needs: { mutes: async () => [mute] } });
  expect(await house.receive(payment)).toBe('new');
  world.clock.nowMs += 2_000;
  expect(await house.receive(payment)).toBe('duplicate');
  await house.drain(60_000);
  expect(house.parents()).toEqual([]);
  expect((await world.store.list(eventsList, { max: 9 })).entries).toHaveLength(1);
});

const card: SavedCard = { tokenKey: 'canary-token', customerEmail: 'jane@example.com' };
const key = 'payment_success:SUB-1';
const saving: PaymentEvent = { ...event, kind: 'payment_success', key, savedCard: card };

function ledgerHouse() {
  const world = openAlertsWorld();
  const remembered: SavedCard[] = [];
  const triggered: PaymentEvent[] = [];
  const steps: string[] = [];
  const start = (pass?: Pass, rememberCard?: () => Promise<void>) =>
    startAlerts(world, pass, {
      needs: {
        async rememberCard(told) {
          steps.push('remembered');
          await rememberCard?.();
          remembered.push(told);
        },
        async beforeReceived(told) {
          steps.push('triggered');
          triggered.push(told);
        },
      },
    });
  const { receive } = start(async (name, effect) => {
    const result = await effect();
    if (name === 'create event') steps.push('stored');
    return result;
  });
  return { start, receive, steps, remembered, triggered, store: world.store };
}

describe('an event that brings a saved card', () => {
  it('stores the card, has the charge looked up, and is then stored without the card', async () => {
    const { receive, steps, remembered, triggered } = ledgerHouse();
    expect(await receive(saving)).toBe('new');
    expect(steps).toEqual(['remembered', 'triggered', 'stored']);
    expect(remembered).toEqual([card]);
    expect(triggered).toMatchObject([{ key, orderReference: 'SUB-1' }]);
    expect(JSON.stringify(triggered)).not.toContain('canary-token');
  });

  it('is not stored if storing the card failed, so the sender retries', async () => {
    const { start, receive, remembered, triggered, store } = ledgerHouse();
    await expect(start(undefined, killed).receive(saving)).rejects.toThrow('killed');
    expect([store.keys(), triggered]).toEqual([[], []]);
    expect(await receive(saving)).toBe('new');
    expect(remembered).toEqual([card]);
  });

  it('stores the card again after a crash between card and event', async () => {
    const { start, receive, remembered } = ledgerHouse();
    const dying = start((name, effect) => (name.startsWith('create') ? killed() : Promise.resolve(effect())));
    await expect(dying.receive(saving)).rejects.toThrow('killed');
    await receive(saving);
    expect(remembered).toEqual([card, card]);
  });

  it('does not store a forgotten card again when it is repeated', async () => {
    const { receive, remembered } = ledgerHouse();
    await receive(saving);
    expect(await receive(saving)).toBe('duplicate');
    expect(await receive(saving, 'g')).toBe('differs');
    expect(remembered).toEqual([card]);
  });

  it('ignores a token that only a repeat has', async () => {
    const { receive, remembered, triggered } = ledgerHouse();
    const { savedCard: _token, ...bare } = saving;
    await receive({ ...bare, cardSaved: { kind: 'no_token' } });
    expect(await receive(saving)).toBe('duplicate');
    expect(remembered).toEqual([]);
    // Its charge is looked up at every repeat.
    expect(triggered.map(({ cardSaved }) => cardSaved)).toEqual([{ kind: 'no_token' }, { kind: 'no_token' }]);
  });
});
