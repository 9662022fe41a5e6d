import { expect, it } from 'vitest';
import { alertKey } from '../../src/messages/message-record.ts';
import { createMessages } from '../../src/messages/messages.ts';
import { event, house, receiveEvent } from '../features/house.ts';

const minuteMs = 60_000;

it('an edit whose answer is lost time after time lets the alerts behind it pass', async () => {
  const { clock, receive, deliver, drain, posts } = house();
  let looks = 0;
  const { compose } = deliver;
  deliver.compose = (post) => ({
    ...compose(post),
    digest: String((looks += 1)),
    edit: () => Promise.resolve({ kind: 'unsure', cause: new Error('timeout') }),
  });
  await receiveEvent(receive, event, 'f');
  await drain(minuteMs);
  await createMessages({ ...deliver, wake: () => undefined }).refresh(alertKey(event.key));
  await drain(minuteMs);
  await receiveEvent(receive, { ...event, key: 'payment_failed:SUB-2', orderReference: 'SUB-2' }, 'f');
  const receivedAtMs = clock.nowMs;
  while (posts.length < 2 && clock.nowMs < receivedAtMs + 24 * 60 * minuteMs) await drain(minuteMs);
  expect(posts).toHaveLength(2);
  expect(clock.nowMs - receivedAtMs).toBeLessThanOrEqual(30 * minuteMs);
});
