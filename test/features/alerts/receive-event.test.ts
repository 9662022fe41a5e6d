import { describe, expect, it } from 'vitest';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import type { SavedCard } from '../../../src/domain/card.ts';
import { channel, event, house, keepsPayments, killed, receiveEvent, type Receiving } from '../house.ts';

it('tells nobody of a repeat with another reason alone, which a sender may write a time into', async () => {
  const { receive, drain, posts } = house();
  await receiveEvent(receive, event, 'f');
  expect(await receiveEvent(receive, { ...event, reason: 'timed out after 3 ms' }, 'g')).toBe('differs');
  await drain(60_000);
  expect(posts.map((one) => one.channel)).toEqual([channel]);
});

const card: SavedCard = { tokenKey: 'canary-token', customerEmail: 'jane@example.com' };
const key = 'payment_success:SUB-1';
const saving: PaymentEvent = { ...event, kind: 'payment_success', key, savedCard: card };

function ledgerHouse() {
  const { receive, store } = house();
  const remembered: SavedCard[] = [];
  const triggered: PaymentEvent[] = [];
  const steps: string[] = [];
  const keepPayment = keepsPayments(store);
  const deps: Receiving = {
    ...receive,
    async addPayment(...payment) {
      const isNew = await keepPayment(...payment);
      steps.push('stored');
      return isNew;
    },
    async rememberCard(told) {
      steps.push('remembered');
      remembered.push(told);
    },
    async beforeReceived(told) {
      steps.push('triggered');
      triggered.push(told);
    },
  };
  return { deps, steps, remembered, triggered, store };
}

describe('an event that brings a saved card', () => {
  it('has the card remembered and its charge looked up, then is stored without the card', async () => {
    const { deps, steps, remembered, triggered } = ledgerHouse();
    expect(await receiveEvent(deps, saving, 'f')).toBe('new');
    expect(steps).toEqual(['remembered', 'triggered', 'stored']);
    expect(remembered).toEqual([card]);
    expect(triggered).toMatchObject([{ key, orderReference: 'SUB-1' }]);
    expect(JSON.stringify(triggered)).not.toContain('canary-token');
  });

  it('is not stored when the card could not be kept, so that the delivery comes again', async () => {
    const { deps, remembered, triggered, store } = ledgerHouse();
    await expect(receiveEvent({ ...deps, rememberCard: killed }, saving, 'f')).rejects.toThrow('killed');
    expect([store.keys(), triggered]).toEqual([[], []]);
    expect(await receiveEvent(deps, saving, 'f')).toBe('new');
    expect(remembered).toEqual([card]);
  });

  it('has it remembered again when a crash came between the card and the event', async () => {
    const { deps, remembered } = ledgerHouse();
    await expect(receiveEvent({ ...deps, addPayment: killed }, saving, 'f')).rejects.toThrow('killed');
    await receiveEvent(deps, saving, 'f');
    expect(remembered).toEqual([card, card]);
  });

  it('does not bring back, by a repeat, a card that was forgotten meanwhile', async () => {
    const { deps, remembered } = ledgerHouse();
    await receiveEvent(deps, saving, 'f');
    expect(await receiveEvent(deps, saving, 'f')).toBe('duplicate');
    expect(await receiveEvent(deps, saving, 'g')).toBe('differs');
    expect(remembered).toEqual([card]);
  });

  it('takes no token that only a repeat brings, and does not say that it was kept', async () => {
    const { deps, remembered, triggered } = ledgerHouse();
    const { savedCard: _token, ...bare } = saving;
    await receiveEvent(deps, { ...bare, cardSaved: { kind: 'no_token' } }, 'f');
    expect(await receiveEvent(deps, saving, 'f')).toBe('duplicate');
    expect(remembered).toEqual([]);
    // Its charge is looked up at every repeat.
    expect(triggered.map(({ cardSaved }) => cardSaved)).toEqual([{ kind: 'no_token' }, { kind: 'no_token' }]);
  });
});
