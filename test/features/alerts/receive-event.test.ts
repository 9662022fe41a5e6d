import { describe, expect, it } from 'vitest';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import type { SavedCard } from '../../../src/domain/saved-card.ts';
import {
  channel,
  event,
  house,
  keepsPayments,
  killed,
  receiveEvent,
  sealer,
  type Receiving,
} from '../house.ts';

describe('receiveEvent', () => {
  it('tells nobody of a repeat with another reason alone, which a sender may write a time into', async () => {
    const { receive, drain, posts } = house();
    await receiveEvent(receive, event, 'f');
    const repeat = { ...event, reason: 'timed out after 3 ms' };
    expect(await receiveEvent(receive, repeat, 'g')).toBe('differs');
    await drain(60_000);
    expect(posts.map((one) => one.channel)).toEqual([channel]);
  });

  it('keeps nothing of the customer in the clear, and no card token at all while the ledger is off', async () => {
    const { receive, store } = house();
    await receiveEvent(receive, { ...event, savedCard: { tokenKey: 'canary-token' } }, 'f');
    const values = await Promise.all(store.keys().map(async (key) => (await store.read(key))?.value ?? ''));
    const dump = `${store.keys().join()} ${values.join()}`;
    for (const secret of ['canary-transaction', 'canary-token', 'jane@example.com']) {
      expect(dump).not.toContain(secret);
    }
    const opened = values.map((value) =>
      sealer.open(store.keys()[0] ?? '', (JSON.parse(value) as { sealed: string }).sealed),
    );
    expect(opened.join()).toContain('SUB-1');
    expect(opened.join()).not.toContain('canary-token');
  });
});

const card: SavedCard = { tokenKey: 'canary-token', customerEmail: 'jane@example.com' };
const saving: PaymentEvent = {
  ...event,
  kind: 'payment_success',
  key: 'payment_success:SUB-1',
  isSavedCardCharge: false,
  savedCard: card,
};

function ledgerHouse() {
  const opened = house();
  const steps: string[] = [];
  const remembered: SavedCard[] = [];
  const triggered: PaymentEvent[] = [];
  const { store } = opened;
  const spied: typeof store = {
    ...store,
    read(key) {
      steps.push('read');
      return store.read(key);
    },
    create(key, value, options) {
      steps.push('create');
      return store.create(key, value, options);
    },
  };
  const deps: Receiving = {
    ...opened.receive,
    store: spied,
    expect: keepsPayments(spied),
    rememberCard(told) {
      steps.push('remember');
      remembered.push(told);
      return Promise.resolve();
    },
    beforeReceived(told) {
      steps.push('trigger');
      triggered.push(told);
      return Promise.resolve();
    },
  };
  return { ...opened, deps, steps, remembered, triggered };
}

describe('receiveEvent of an event that brings a saved card', () => {
  it('remembers the card, puts the look-up of the charge on record, then stores the event without the card', async () => {
    const { deps, steps, remembered, triggered, store } = ledgerHouse();
    expect(await receiveEvent(deps, saving, 'f')).toBe('new');
    expect(steps).toEqual(['read', 'read', 'remember', 'trigger', 'create']);
    expect(remembered).toEqual([card]);
    expect(triggered).toMatchObject([{ key: saving.key, orderReference: 'SUB-1' }]);
    expect(JSON.stringify(triggered)).not.toContain('canary-token');
    const records = await Promise.all(store.keys().map(async (key) => [key, (await store.read(key))?.value]));
    const opened = records.map(([key = '', value = '']) => sealer.open(key, value));
    expect(opened.join()).toContain('SUB-1');
    expect(opened.join()).not.toContain('canary-token');
  });

  it.each([
    ['kept', true],
    ['not_kept', false],
  ] as const)(
    'stores that the card was %s, by its face, and whose it is, without its token',
    async (kind, isOn) => {
      const { deps, store } = ledgerHouse();
      const { customerEmail: _email, ...bare } = saving;
      const told = { ...card, cardType: 'Visa', cardPan: '411111******1111' };
      await receiveEvent(
        { ...deps, ...(isOn ? {} : { rememberCard: undefined }) },
        { ...bare, savedCard: told },
        'f',
      );
      const key = `alert-payment:${saving.key}`;
      const { event: stored } = JSON.parse(sealer.open(key, (await store.read(key))?.value ?? '')) as {
        event: PaymentEvent;
      };
      expect(stored).toMatchObject({
        cardSaved: { kind, face: { cardType: 'Visa', lastFour: '1111' } },
        customerEmail: 'jane@example.com',
      });
      expect(JSON.stringify(stored)).not.toMatch(/canary-token|411111/);
    },
  );

  it('stores nothing when the card could not be kept, so that the delivery comes again', async () => {
    const { deps, remembered, triggered, store } = ledgerHouse();
    await expect(receiveEvent({ ...deps, rememberCard: killed }, saving, 'f')).rejects.toThrow('killed');
    expect(store.keys()).toEqual([]);
    expect(triggered).toEqual([]);
    expect(await receiveEvent(deps, saving, 'f')).toBe('new');
    expect(remembered).toEqual([card]);
  });

  it('remembers again when a crash came between the card and the event', async () => {
    const { deps, remembered } = ledgerHouse();
    const crashing = { ...deps, expect: killed };
    await expect(receiveEvent(crashing, saving, 'f')).rejects.toThrow('killed');
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
    expect(triggered.at(-1)?.cardSaved).toEqual({ kind: 'no_token' });
  });

  it('looks the charge up at every repeat, also at one that differs', async () => {
    const { deps, triggered } = ledgerHouse();
    await receiveEvent(deps, event, 'f');
    await receiveEvent(deps, event, 'f');
    await receiveEvent(deps, event, 'g');
    expect(triggered).toEqual([event, event, event]);
  });
});
