import { describe, expect, it } from 'vitest';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import { keepUnknownEvent, receiveEvent } from '../../src/operations/receive-event.ts';
import { channel, event, house, ops, sealer } from './house.ts';

describe('receiveEvent', () => {
  it('stores an event once: a repeat is a duplicate and one alert is posted', async () => {
    const { receive, drain, posts } = house();
    expect(await receiveEvent(receive, event, 'f')).toBe('new');
    expect(await receiveEvent(receive, event, 'f')).toBe('duplicate');
    await drain(60_000);
    expect(await receiveEvent(receive, event, 'f')).toBe('duplicate');
    await drain(60_000);
    expect(posts.map((one) => one.channel)).toEqual([channel]);
  });

  it('tells the operators, once, of a repeat with another amount or outcome', async () => {
    const { receive, drain, posts } = house();
    await receiveEvent(receive, event, 'f');
    expect(await receiveEvent(receive, event, 'g')).toBe('differs');
    expect(await receiveEvent(receive, event, 'g')).toBe('differs');
    await drain(60_000);
    expect(posts.filter((one) => one.channel === ops)).toHaveLength(1);
    expect(posts.find((one) => one.channel === ops)?.post).toMatchObject({
      notice: { kind: 'event_differs' },
    });
  });

  it('remembers an event that is told nowhere', async () => {
    const { receive, drain, posts } = house();
    const success: PaymentEvent = { ...event, kind: 'payment_success', key: 'payment_success:SUB-1' };
    expect(await receiveEvent(receive, success, 'f')).toBe('new');
    expect(await receiveEvent(receive, success, 'f')).toBe('duplicate');
    await drain(60_000);
    expect(posts).toEqual([]);
  });

  it('keeps nothing of the customer in the clear, and no card token at all', async () => {
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

describe('keepUnknownEvent', () => {
  it('keeps every delivery and tells the operators once per kind', async () => {
    const { receive, store, drain, posts } = house();
    await keepUnknownEvent(receive, { eventKind: 'refund', key: 'a', body: Buffer.from('{}') });
    await keepUnknownEvent(receive, { eventKind: 'refund', key: 'b', body: Buffer.from('{}') });
    await drain(60_000);
    expect(store.keys()).toEqual(expect.arrayContaining(['unknown:a', 'unknown:b']));
    expect(posts).toMatchObject([
      { channel: ops, post: { notice: { kind: 'unknown_event', eventKind: 'refund' } } },
    ]);
  });
});
