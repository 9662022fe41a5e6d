import { describe, expect, it } from 'vitest';
import { cardsHouse, failed, linesOf, mentionedIn, recordOf, type CardsHouse } from '../cards-house.ts';
import { drainKilled, everFewer, killAtEachPoint } from '../killed-house.ts';

const ada = 'U0ADA00001';

/** A card that stands in its channel, acknowledged; from now on Slack edits its message no more. */
async function closedCard(
  slackError: string,
): Promise<{ one: CardsHouse; two: CardsHouse; firstTs: string }> {
  const one = cardsHouse();
  const two = cardsHouse(one.path, undefined, one);
  one.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  await one.receive(failed);
  await one.drain();
  const [first] = one.parents();
  if (!first) throw new Error('no card stands');
  if (slackError === 'message_not_found') first.isGone = true;
  else first.closed = slackError;
  await one.cards.move(failed.key, { kind: 'acknowledge', by: ada });
  return { one, two, firstTs: first.ts };
}

function expectOneReplacement({ parents, notes }: CardsHouse, firstTs: string): void {
  const [parent, ...others] = parents().filter(({ ts }) => ts !== firstTs);
  expect(others).toEqual([]);
  if (!parent) throw new Error('nothing took its place');
  expect(parent.shown.text).toMatch(/^👀 Acknowledged/);
  expect(linesOf(parent)).toContain(`/archives/C0ALERTS01/p${firstTs.replace('.', '')}`);
  expect(linesOf(parent)).not.toContain('may repeat');
  expect(parent.pinged).toEqual([]);
  expect(mentionedIn(parent)).toEqual([ada]);
  expect(notes(parent.ts)).toHaveLength(1);
}

describe.each(['message_not_found', 'cant_update_message', 'edit_window_closed'])(
  'a card whose edit Slack answers with %s',
  (slackError) => {
    it('is replaced by one message that links back, also by two replicas at once', async () => {
      const { one, two, firstTs } = await closedCard(slackError);
      for (let second = 0; second < 30; second += 1) {
        // oxlint-disable-next-line no-await-in-loop -- both at the same moment, then a second later
        await Promise.all([one.drain(0), two.drain(0)]);
        one.clock.nowMs += 1_000;
      }
      expectOneReplacement(one, firstTs);
      expect(two.parents()).toEqual(one.parents());
    });

    it('is replaced once wherever the process is killed, by whoever goes on', async () => {
      const kills = await killAtEachPoint(async (killAt) => {
        const { one, two, firstTs } = await closedCard(slackError);
        const survived = await drainKilled(one, killAt, 30_000);
        one.clock.nowMs += 60_000;
        await two.drain(60_000);
        expectOneReplacement(two, firstTs);
        await Promise.all([one.store.close(), two.store.close()]);
        return survived;
      }, everFewer);
      expect(kills).toBeGreaterThan(20);
    });
  },
);
