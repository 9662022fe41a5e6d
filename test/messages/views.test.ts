import { expect, it } from 'vitest';
import { messageKey, readMessageRecord } from '../../src/messages/message-record.ts';
import { openBody } from '../../src/messages/views.ts';
import { storeMessage } from '../../src/messages/messages.ts';
import { house, sealer } from '../features/house.ts';

it('what a message was stored with opens as its own kind alone', async () => {
  const { store, clock } = house();
  const key = messageKey('link', 'C0DESK0001:LINK-1');
  const message = { kind: 'link', channel: 'C0DESK0001', body: { reference: 'LINK-1' } } as const;
  await storeMessage({ store, sealer, now: () => clock.nowMs }, key, message);
  const entry = await store.read(key);
  if (!entry) throw new Error('nothing was stored');
  const work = { entry, record: readMessageRecord(entry.value) };
  expect(openBody('link', sealer, work)).toEqual({ reference: 'LINK-1' });
  expect(() => openBody('charge', sealer, work)).toThrow('A record of kind link was opened as charge.');
});
