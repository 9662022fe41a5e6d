import { expect, it } from 'vitest';
import { createTestAlerts } from '../../../src/features/alerts/test-alert.ts';
import { channel, deliverNext, house, killed, sealer } from '../house.ts';

const ada = 'U0ADA00001';

it('posts a test alert once though the worker died before the post left', async () => {
  const { clock, store, deliver, drain, posts } = house();
  const send = createTestAlerts({
    store,
    sealer,
    leaseMs: 45_000,
    now: () => clock.nowMs,
    wake: () => undefined,
  });
  await send(channel, ada);
  const dying = { ...deliver, compose: () => ({ digest: '', post: killed, edit: killed }) };
  await expect(deliverNext(dying)).rejects.toThrow('killed');
  await drain(300_000);
  expect(posts).toMatchObject([{ post: { askedBy: ada } }]);
});
