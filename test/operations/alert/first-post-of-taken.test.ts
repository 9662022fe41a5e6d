import { describe, expect, it } from 'vitest';
import { cardsHouse, failed, linesOf, recordOf, type CardsHouse } from '../cards-house.ts';

const ada = 'U0ADA00001';
const bola = 'U0BOLA0001';
const channels = ['C0ALERTS01', 'C0OTHERS01'] as const;
type Channel = (typeof channels)[number];

/** Told in two channels, by a rule that calls Ada; one of them takes no post for a minute. */
async function halfTold(late: Channel): Promise<CardsHouse> {
  const house = cardsHouse(undefined, channels);
  const rule = {
    name: 'large',
    match: {},
    channels,
    mention: { kind: 'person', id: ada },
    goesOn: false,
  } as const;
  house.deliver.route = () => channels.map((channel) => ({ channel, rule }));
  const { compose } = house.deliver;
  const openFromMs = house.clock.nowMs + 60_000;
  house.deliver.compose = (post) => {
    const made = compose(post);
    return {
      ...made,
      post: (to, threadTs) =>
        to === late && house.clock.nowMs < openFromMs
          ? Promise.resolve({ kind: 'rate_limited', retryAfterMs: 10_000 })
          : made.post(to, threadTs),
    };
  };
  house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  await house.receive(failed);
  await house.drain();
  expect(house.parents().map(({ pinged }) => pinged)).toEqual([[ada]]);
  return house;
}

describe.each(channels)('an alert that %s does not take yet', (late) => {
  it('calls nobody there once somebody has it in hand, least of all whoever clicked', async () => {
    const house = await halfTold(late);
    await house.cards.move(failed.key, { kind: 'acknowledge', by: ada });
    await house.drain(90_000);
    const message = house.parents().find(({ channel }) => channel === late);
    expect(message?.shown.text).toMatch(/^👀 Acknowledged/);
    expect(message && linesOf(message)).toContain('by rule large');
    expect(message?.pinged).toEqual([]);
  });

  it('is found by whom it is given to in the channel where it stands', async () => {
    const house = await halfTold(late);
    await house.cards.move(failed.key, { kind: 'acknowledge', by: ada });
    await house.cards.move(failed.key, { kind: 'assign', by: ada, to: bola });
    await house.drain();
    const [standing, ...others] = house.parents();
    expect(others).toEqual([]);
    const [direct] = house.directs();
    const place = `In <#${standing?.channel}>: <https://slack.com/archives/${standing?.channel}/p`;
    expect(direct && linesOf(direct)).toContain(place);
  });
});
