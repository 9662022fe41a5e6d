import { describe, expect, it } from 'vitest';
import { cardsHouse, failed, paidBy, recordOf, type CardsHouse } from '../cards-house.ts';

const ada = 'U0ADA00001';

async function toldAlert(): Promise<CardsHouse> {
  const house = cardsHouse();
  house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  await house.receive(failed);
  await house.drain();
  return house;
}

function deleteAll(house: CardsHouse): void {
  for (const message of house.messages) message.isGone = true;
}

function first({ shown }: { shown: { text: string } }): string | undefined {
  return shown.text.split(' · ')[0];
}

/** What stands in the channel itself, and below its only message. */
function shownIn(house: CardsHouse): { parents: (string | undefined)[]; notes: (string | undefined)[] } {
  const parents = house.parents();
  return {
    parents: parents.map(first),
    notes: parents[0] ? house.notes(parents[0].ts).map(first) : [],
  };
}

describe('a step of an alert whose message somebody deleted', () => {
  it('has the message told anew, and stands below it: where nothing of the message itself has changed', async () => {
    const house = await toldAlert();
    deleteAll(house);
    house.records.set('ORDER-2', { ...recordOf('ORDER-2', 'SUCCESS'), amountMinor: 5 });
    await house.receive(paidBy('ORDER-2', { amountMinor: 5 }));
    await house.drain(60_000);
    expect(shownIn(house)).toEqual({
      parents: ['❌ Declined by the bank'],
      notes: ['💳 Another payment, the alert stays open'],
    });
  });

  it('waits for the new message where that is on its way already', async () => {
    const house = await toldAlert();
    await house.cards.move(failed.key, { kind: 'acknowledge', by: ada });
    await house.drain(0);
    // The message is edited, and the note is to follow.
    expect(shownIn(house)).toEqual({ parents: ['👀 Acknowledged'], notes: [] });
    deleteAll(house);
    await house.drain(2_000);
    await house.cards.move(failed.key, { kind: 'close', by: ada, reason: 'settled' });
    await house.drain(60_000);
    expect(shownIn(house)).toEqual({ parents: ['☑️ Closed'], notes: ['👀 Acknowledged', '☑️ Closed'] });
  });

  it('goes into the channel where the message stands and Slack takes nothing below it', async () => {
    const house = await toldAlert();
    const { compose } = house.deliver;
    house.deliver.compose = (post) => {
      const made = compose(post);
      return {
        ...made,
        post: (channel, threadTs) =>
          threadTs === undefined
            ? made.post(channel)
            : Promise.resolve({ kind: 'gone', slackError: 'cannot_reply_to_message' }),
      };
    };
    await house.cards.move(failed.key, { kind: 'acknowledge', by: ada });
    await house.drain(60_000);
    expect(shownIn(house)).toEqual({ parents: ['👀 Acknowledged', '👀 Acknowledged'], notes: [] });
  });
});
