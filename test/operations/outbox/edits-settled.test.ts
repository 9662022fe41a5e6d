import { expect, it } from 'vitest';
import { createDeadLetters } from '../../../src/operations/outbox/dead-letters.ts';
import { cardsHouse, failed, recordOf } from '../cards-house.ts';

const { key: id } = failed;
const by = 'U0ADA00001';
const minuteMs = 60_000;

it('gives nothing up at its first refusal though its edit was refused in a trouble that went by without it', async () => {
  const house = cardsHouse();
  const { cards, clock, deliver, drain } = house;
  house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  await house.receive(failed);
  await cards.move(id, { kind: 'acknowledge', by });
  await drain();
  const slack = { isArchived: true };
  const { compose } = deliver;
  deliver.compose = (post) => {
    const made = compose(post);
    const answer: typeof made.post = (channel, ts) =>
      slack.isArchived
        ? Promise.resolve({ kind: 'refused', slackError: 'is_archived', fix: '', about: 'channel' })
        : made.post(channel, ts);
    return {
      ...made,
      post: answer,
      edit: (...place) => (slack.isArchived ? answer('') : made.edit(...place)),
    };
  };
  // When it is over the message says again what it said before: there is nothing left to edit.
  await cards.move(id, { kind: 'snooze', by, forMs: 2 * minuteMs });
  await drain(10 * minuteMs);
  slack.isArchived = false;
  await drain(20 * minuteMs);
  clock.nowMs += 2 * 86_400_000;
  slack.isArchived = true;
  await cards.move(id, { kind: 'close', by, reason: 'settled' });
  await drain(2_000);
  expect(await createDeadLetters({ store: house.store, now: () => clock.nowMs }).all()).toEqual([]);
  slack.isArchived = false;
  await drain(20 * minuteMs);
  expect(house.parents()[0]?.shown.text).toMatch(/^☑️ Closed/);
});
