import { describe, expect, it } from 'vitest';
import { checkHistory, type Acknowledged, type Findings, type History } from './checker.ts';
import { createRandom } from './random.ts';

const nothing: Findings = {
  lost: [],
  doubled: [],
  misplaced: [],
  strangers: [],
  overtaken: [],
};

/** Acknowledged ten milliseconds after it was sent. */
function event(key: string, firstSentAtMs: number, channel = 'C1'): Acknowledged {
  return { key, channel, firstSentAtMs, ackedAtMs: firstSentAtMs + 10 };
}

function history(part: Partial<History>): History {
  const acknowledged = part.acknowledged ?? [];
  return {
    acknowledged,
    posts: acknowledged.map(({ key, channel }) => ({ key, channel })),
    sent: new Set(acknowledged.map(({ key }) => key)),
    ...part,
  };
}

const three = [event('A', 0), event('B', 100), event('C', 200)];

describe('checkHistory', () => {
  it('finds nothing if every acknowledged event is in its channel once, in order', () => {
    expect(checkHistory(history({ acknowledged: three }))).toEqual(nothing);
  });

  it('reports an acknowledged event without a post', () => {
    const posts = [
      { key: 'A', channel: 'C1' },
      { key: 'C', channel: 'C1' },
    ];
    expect(checkHistory(history({ acknowledged: three, posts }))).toEqual({ ...nothing, lost: ['B'] });
  });

  it('requires no post of an event that was sent but not acknowledged, and allows one', () => {
    const sent = new Set(['A', 'B', 'C', 'D', 'E']);
    const posts = ['A', 'B', 'C', 'D'].map((key) => ({ key, channel: 'C1' }));
    expect(checkHistory(history({ acknowledged: three, posts, sent }))).toEqual(nothing);
  });

  it('reports each post of an event beyond its first, acknowledged or not', () => {
    const posts = ['A', 'B', 'B', 'D', 'B', 'C', 'D'].map((key) => ({ key, channel: 'C1' }));
    const sent = new Set(['A', 'B', 'C', 'D']);
    expect(checkHistory(history({ acknowledged: three, posts, sent }))).toEqual({
      ...nothing,
      doubled: ['B', 'B', 'D'],
    });
  });

  it('reports posts in the wrong channel, and posts without an event', () => {
    const posts = [
      { key: 'A', channel: 'C2' },
      { key: 'B', channel: 'C1' },
      { key: 'C', channel: 'C1' },
      { key: 'X', channel: 'C1' },
    ];
    expect(checkHistory(history({ acknowledged: three, posts }))).toEqual({
      ...nothing,
      misplaced: ['A'],
      strangers: ['X'],
    });
  });

  it('reports posts behind an event that was sent only after theirs was acknowledged', () => {
    const posts = ['B', 'A', 'C'].map((key) => ({ key, channel: 'C1' }));
    expect(checkHistory(history({ acknowledged: three, posts }))).toEqual({ ...nothing, overtaken: ['A'] });
  });

  it('requires no order between events under way at the same time, nor between channels', () => {
    const acknowledged = [event('A', 0), event('B', 5), event('C', 100, 'C2')];
    const posts = [
      { key: 'C', channel: 'C2' },
      { key: 'B', channel: 'C1' },
      { key: 'A', channel: 'C1' },
    ];
    expect(checkHistory(history({ acknowledged, posts }))).toEqual(nothing);
  });

  it('finds any single removed, added or moved post in a long history', () => {
    const random = createRandom(20_261_121);
    for (let round = 0; round < 200; round += 1) {
      const acknowledged = Array.from({ length: 60 }, (_, index) =>
        event(`E${index}`, index * 20, `C${index % 4}`),
      );
      const posts = acknowledged.map(({ key, channel }) => ({ key, channel }));
      const [gone, twice] = [random.below(60), random.below(60)];
      const first = random.below(56);
      // The post four places later is the next of the same channel: swap both.
      const moved = posts.with(first, posts[first + 4]!).with(first + 4, posts[first]!);
      const without = posts.toSpliced(gone, 1);
      const withMore = posts.toSpliced(random.below(61), 0, posts[twice]!);
      expect(checkHistory(history({ acknowledged, posts: without })).lost).toEqual([`E${gone}`]);
      expect(checkHistory(history({ acknowledged, posts: withMore })).doubled).toEqual([`E${twice}`]);
      expect(checkHistory(history({ acknowledged, posts: moved })).overtaken).toEqual([`E${first}`]);
    }
  });
});
