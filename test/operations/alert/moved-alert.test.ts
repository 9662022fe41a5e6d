import { describe, expect, it } from 'vitest';
import type { PostOutcome } from '../../../src/domain/delivery.ts';
import { cardsHouse, failed, recordOf } from '../cards-house.ts';

const [old, anew] = ['C0OLD00001', 'C0NEW00001'];
const refused: PostOutcome = {
  kind: 'refused',
  slackError: 'is_archived',
  fix: 'Set another.',
  about: 'channel',
};

/** Alerts for one channel, which may be archived, and whose rules may name another from then on. */
function movingHouse() {
  const channels = [old];
  const house = cardsHouse(undefined, channels);
  const slack = { isArchived: false };
  const { compose } = house.deliver;
  const answer = (channel: string, call: () => Promise<PostOutcome>) =>
    slack.isArchived && channel === old ? Promise.resolve(refused) : call();
  house.deliver.compose = (post) => {
    const made = compose(post);
    return {
      ...made,
      post: (channel, threadTs) => answer(channel, () => made.post(channel, threadTs)),
      edit: (channel, ts) => answer(channel, () => made.edit(channel, ts)),
    };
  };
  async function fail(reference: string): Promise<string> {
    const key = `payment_failed/order/${reference}`;
    house.records.set(reference, recordOf(reference, 'FAILED'));
    await house.receive({ ...failed, key, orderReference: reference });
    return key;
  }
  const parents = () => house.parents().filter(({ channel }) => channel === old || channel === anew);
  const notices = () => house.parents().filter(({ channel }) => channel !== old && channel !== anew);
  return { ...house, parents, notices, slack, channels, fail };
}

describe('an alert that left a channel which Slack refuses, because the rules name another', () => {
  it('is edited and noted at once, however long the old channel’s own messages wait', async () => {
    const { cards, channels, drain, fail, notes, parents, slack } = movingHouse();
    const first = await fail('ORDER-1');
    await drain();
    slack.isArchived = true;
    const second = await fail('ORDER-2');
    await drain(120_000);
    expect(parents().map(({ channel }) => channel)).toEqual([old]);
    channels.splice(0, 1, anew);
    await drain(600_000);
    expect(parents().map(({ channel }) => channel)).toEqual([old, anew]);

    await cards.move(first, { kind: 'close', by: 'U0ADA00001', reason: 'settled' });
    await drain(60_000);
    await cards.move(second, { kind: 'acknowledge', by: 'U0ADA00001' });
    await drain(20_000);
    const moved = parents()[1];
    expect(moved?.shown.text).toMatch(/^👀 Acknowledged/);
    expect(moved && notes(moved.ts).map(({ channel }) => channel)).toEqual([anew]);
  });

  it('is told though something that stays with the old channel stands before it', async () => {
    const { cards, channels, drain, fail, parents, slack } = movingHouse();
    const first = await fail('ORDER-1');
    await drain();
    slack.isArchived = true;
    await cards.move(first, { kind: 'acknowledge', by: 'U0ADA00001' });
    await drain(60_000);
    await fail('ORDER-2');
    await drain(1_800_000);
    channels.splice(0, 1, anew);
    await drain(600_000);
    expect(parents().map(({ channel }) => channel)).toEqual([old, anew]);
  });

  it('takes the steps along that came before it stood, past what stays with the old channel', async () => {
    const { cards, channels, drain, fail, notes, parents, slack } = movingHouse();
    slack.isArchived = true;
    const first = await fail('ORDER-1');
    await drain(120_000);
    channels.unshift(anew);
    await fail('ORDER-2');
    await cards.move(first, { kind: 'acknowledge', by: 'U0ADA00001' });
    await drain(60_000);
    channels.splice(0, 2, anew);
    await drain(900_000);
    const moved = parents().find(({ shown }) => shown.text.endsWith('ORDER-1'));
    expect(moved).toMatchObject({ channel: anew });
    expect(moved && notes(moved.ts).map(({ shown }) => shown.text.split(' · ')[0])).toEqual([
      '👀 Acknowledged',
    ]);
  });

  it('leaves what stays behind in order, and it is told once the channel is back', async () => {
    const { cards, drain, fail, notes, notices, parents, slack } = movingHouse();
    const first = await fail('ORDER-1');
    await drain();
    slack.isArchived = true;
    await cards.move(first, { kind: 'acknowledge', by: 'U0ADA00001' });
    await drain(3_600_000);
    await cards.move(first, { kind: 'close', by: 'U0ADA00001', reason: 'settled' });
    await fail('ORDER-2');
    await fail('ORDER-3');
    await drain(3_600_000);
    slack.isArchived = false;
    await drain(700_000);
    const told = parents();
    expect(told.map(({ shown }) => shown.text.split(' · ').at(-1))).toEqual([
      'ORDER-1',
      'ORDER-2',
      'ORDER-3',
    ]);
    expect(told[0]?.shown.text).toMatch(/^☑️ Closed/);
    const steps = told[0] && notes(told[0].ts).map(({ shown }) => shown.text.split(' · ')[0]);
    expect(steps).toEqual(['👀 Acknowledged', '☑️ Closed']);
    expect(notices()).toHaveLength(1);
  });

  it('leaves the steps that came hours apart in their order too', async () => {
    const { cards, drain, fail, notes, parents, slack } = movingHouse();
    const first = await fail('ORDER-1');
    await drain();
    slack.isArchived = true;
    const by = 'U0ADA00001';
    await cards.move(first, { kind: 'acknowledge', by });
    await cards.move(first, { kind: 'assign', by, to: 'U0BOLA0001' });
    await drain(3_600_000);
    await cards.move(first, { kind: 'snooze', by, forMs: 86_400_000 });
    await drain(3_600_000);
    await cards.move(first, { kind: 'close', by, reason: 'settled' });
    await drain(3_600_000);
    slack.isArchived = false;
    await drain(1_300_000);
    const [told] = parents();
    const steps = told && notes(told.ts).map(({ shown }) => shown.text.split(' · ')[0]);
    expect(steps).toEqual(['👀 Acknowledged', '👤 Assigned', '💤 Snoozed', '☑️ Closed']);
  });

  it('has the operators told once of each trouble, also of one soon after another', async () => {
    const { cards, drain, fail, notices, slack } = movingHouse();
    const first = await fail('ORDER-1');
    await drain();
    for (const [trouble, reference] of ['ORDER-2', 'ORDER-3'].entries()) {
      slack.isArchived = true;
      await cards.move(first, { kind: 'acknowledge', by: 'U0ADA00001' });
      await cards.move(first, { kind: 'assign', by: 'U0ADA00001', to: `U0BOLA000${trouble}` });
      await fail(reference);
      await drain(560_000);
      expect(notices()).toHaveLength(trouble + 1);
      slack.isArchived = false;
      await drain(490_000);
      expect(notices()).toHaveLength(trouble + 1);
    }
  });
});
