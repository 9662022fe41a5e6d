import { describe, expect, it } from 'vitest';
import type { HistoryAnswer, PostOutcome } from '../../src/messages/delivery.ts';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { cardsHouse, failed, linesOf, type CardsHouse } from '../features/cards-house.ts';
import { deliverNext, event, house, killedWhileSending, receiveEvent } from '../features/house.ts';

type Compose = CardsHouse['deliver']['compose'];

/** A Slack that accepts each post, but whose answer is lost. */
function unheard(compose: Compose): Compose {
  return (post) => {
    const made = compose(post);
    return {
      ...made,
      async post(...place): Promise<PostOutcome> {
        await made.post(...place);
        return { kind: 'unsure', cause: new Error('reset') };
      },
    };
  };
}

describe('a post that may have arrived', () => {
  it('is repeated if the history does not show it', async () => {
    const { receive, drain, posts } = house({ posts: [{ kind: 'unsure', cause: new Error('reset') }] });
    await receiveEvent(receive, event, 'f');
    await drain(120_000);
    expect(posts).toHaveLength(2);
    expect(posts[1]?.post).toMatchObject({ alert: { mayBeRepeat: false } });
  });

  it('is not repeated while the history does not answer for a moment', async () => {
    const silent = Array.from({ length: 3 }, (): HistoryAnswer => ({
      kind: 'unknown',
      slackError: 'timeout',
    }));
    const { receive, drain, posts } = house({
      posts: [{ kind: 'unsure', cause: new Error('reset') }],
      history: [...silent, { kind: 'found', ts: '1.2' }],
    });
    await receiveEvent(receive, event, 'f');
    await drain(120_000);
    expect(posts).toHaveLength(1);
  });

  it('is edited if the history shows it late, after a newer repeat was killed before it was sent', async () => {
    const world = cardsHouse();
    const { deliver, cards } = world;
    const { compose, findByKey } = deliver;
    deliver.compose = unheard(compose);
    deliver.findByKey = () => Promise.resolve({ kind: 'absent' });
    await world.receive(failed);
    await world.drain(0);
    await cards.move(failed.key, { kind: 'acknowledge', by: 'U0ADA00001' });
    deliver.compose = () => {
      throw new StoreUnavailable('killed');
    };
    await expect(world.drain(60_000)).rejects.toThrow('killed');
    Object.assign(deliver, { compose, findByKey });
    await world.drain(180_000);
    expect(world.parents().map(({ shown }) => shown.text)).toEqual([
      expect.stringMatching(/^👀 Acknowledged/u),
    ]);
  });

  it('still says that it may be a repeat, and keeps its thread’s order, if the history shows the repeat late', async () => {
    const world = cardsHouse();
    const { deliver, cards } = world;
    const { compose, findByKey } = deliver;
    deliver.compose = unheard(compose);
    deliver.findByKey = () => Promise.resolve({ kind: 'unreadable', slackError: 'missing_scope' });
    await world.receive(failed);
    await world.drain(727_000);
    expect(world.parents()).toHaveLength(3);
    Object.assign(deliver, { compose, findByKey });
    await cards.move(failed.key, { kind: 'acknowledge', by: 'U0ADA00001' });
    await world.drain(23_000);
    await cards.move(failed.key, { kind: 'close', by: 'U0ADA00001', reason: 'test' });
    // The second reply becomes due before the first.
    await world.drain(1_500_000);
    const repeat = world.parents().at(-1);
    expect(repeat && linesOf(repeat)).toMatch(/May be a repeat/);
    expect(world.notes(repeat?.ts ?? '').map(({ shown }) => shown.text)).toEqual([
      expect.stringMatching(/^👀/u),
      expect.stringMatching(/^☑️/u),
    ]);
  });

  it('keeps the order of a thread, even if the first reply is refused so long that others may pass it', async () => {
    const world = cardsHouse();
    const { deliver, cards } = world;
    const { compose } = deliver;
    await world.receive(failed);
    await world.drain(2_000);
    const refused = { kind: 'refused', slackError: 'never_heard_of', fix: '', about: 'unclear' } as const;
    deliver.compose = (post) => ({ ...compose(post), post: () => Promise.resolve(refused) });
    await cards.move(failed.key, { kind: 'acknowledge', by: 'U0ADA00001' });
    await cards.move(failed.key, { kind: 'assign', by: 'U0ADA00001', to: 'U0BOLA0001' });
    await cards.move(failed.key, { kind: 'close', by: 'U0ADA00001', reason: 'test' });
    for (let quarter = 0; quarter < 20; quarter += 1) {
      world.clock.nowMs += 900_000;
      await world.drain(5_000);
    }
    deliver.compose = compose;
    await world.drain(1_800_000);
    const [parent] = world.parents();
    expect(world.notes(parent?.ts ?? '').map(({ shown }) => shown.text)).toEqual([
      expect.stringMatching(/^👀/u),
      expect.stringMatching(/^👤/u),
      expect.stringMatching(/^☑️/u),
    ]);
  });

  it('stays in doubt while Slack refuses later posts', async () => {
    const { receive, drain, posts } = house({
      posts: [
        { kind: 'unsure', cause: new Error('reset') },
        { kind: 'rate_limited', retryAfterMs: 5_000 },
      ],
      history: [
        { kind: 'unreadable', slackError: 'missing_scope' },
        { kind: 'unreadable', slackError: 'missing_scope' },
      ],
    });
    await receiveEvent(receive, event, 'f');
    await drain(120_000);
    expect(posts.map(({ post }) => post)).toMatchObject([
      { alert: { mayBeRepeat: false } },
      { alert: { mayBeRepeat: true } },
      { alert: { mayBeRepeat: true } },
    ]);
  });

  it('waits for a silent history, counted from when it fell silent, however old the event is', async () => {
    const { receive, deliver, drain, posts, clock } = house({
      history: [
        { kind: 'unknown', slackError: 'ratelimited', retryAfterMs: 20_000 },
        { kind: 'found', ts: '1.2' },
      ],
    });
    await receiveEvent(receive, event, 'f');
    await expect(deliverNext({ ...deliver, compose: killedWhileSending })).rejects.toThrow('killed');
    clock.nowMs += 3_600_000;
    await drain(60_000);
    expect(posts).toEqual([]);
  });

  it('is not searched for before Slack can have shown it', async () => {
    const looked: number[] = [];
    const { receive, deliver, clock } = house({ posts: [{ kind: 'unsure', cause: new Error('timeout') }] });
    await receiveEvent(receive, event, 'f');
    const startedAtMs = clock.nowMs;
    while (looked.length === 0) {
      await deliverNext({
        ...deliver,
        findByKey() {
          looked.push(clock.nowMs - startedAtMs);
          return Promise.resolve({ kind: 'absent' });
        },
      });
      clock.nowMs += 1_000;
    }
    expect(looked[0]).toBeGreaterThanOrEqual(15_000);
  });

  it('is not repeated in a stream while every answer is lost', async () => {
    const lost = Array.from({ length: 100 }, (): PostOutcome => ({
      kind: 'unsure',
      cause: new Error('lost'),
    }));
    const closed = Array.from({ length: 100 }, (): HistoryAnswer => ({
      kind: 'unreadable',
      slackError: 'missing_scope',
    }));
    const { receive, drain, posts } = house({ posts: lost, history: closed });
    await receiveEvent(receive, event, 'f');
    await drain(86_400_000 / 4);
    expect(posts.length).toBeGreaterThan(2);
    expect(posts.length).toBeLessThan(12);
  });
});
