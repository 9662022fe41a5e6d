import { describe, expect, it } from 'vitest';
import { killed } from '../features/house.ts';
import {
  concluded,
  deliverWith,
  desk,
  dieAfterPost,
  postsHouse,
  type PostsHouse,
} from '../features/posts-house.ts';

const minuteMs = 60_000;

/** One delivery of the desk's message in each situation: what is due, as the points below find it. */
const situations: [string, (built: PostsHouse) => Promise<void>][] = [
  ['a first post', ({ become }) => become({ kind: 'charging' })],
  [
    'an edit',
    async ({ become, drain }) => {
      await become({ kind: 'charging' });
      await drain(2_000);
      await become({ kind: 'otp' });
    },
  ],
  [
    'an edit that changes nothing',
    async ({ become, drain }) => {
      await become({ kind: 'charging' });
      await drain(2_000);
      await become({ kind: 'charging' });
    },
  ],
  [
    'a post to be looked for after a crash',
    async (built) => {
      await built.become({ kind: 'charging' });
      await dieAfterPost(built);
    },
  ],
];

type Happening = {
  during: (built: PostsHouse, point: string) => Promise<void>;
  afterwards?: (built: PostsHouse) => Promise<void>;
};

describe.each(situations)('whatever happens during %s', (_what, prepare) => {
  /** Tries every await of the delivery, one after the other: where in the end not one message says approved. */
  async function wrongAt({ during, afterwards }: Happening): Promise<string[]> {
    const wrong: string[] = [];
    for (let nth = 1; ; nth += 1) {
      const built = postsHouse();
      await prepare(built);
      const point = await deliverWith(built, nth, (reached) => during(built, reached));
      if (point === undefined && nth === 1) throw new Error('nothing was delivered');
      if (point === undefined) return wrong;
      await afterwards?.(built);
      await built.drain(5 * minuteMs);
      const shown = built.texts(desk).join(' + ');
      if (shown !== 'charge: approved') wrong.push(`${nth}, ${point}: ${shown}`);
    }
  }

  it('a charge that goes on meanwhile is shown, in one message', async () => {
    const wrong = await wrongAt({ during: ({ become }) => become(concluded('approved')) });
    expect(wrong).toEqual([]);
  });

  it('a charge that goes on twice meanwhile is shown, in one message', async () => {
    const wrong = await wrongAt({
      async during({ become }) {
        await become({ kind: 'otp_checking' });
        await become(concluded('approved'));
      },
    });
    expect(wrong).toEqual([]);
  });

  it('a crash right after the charge went on loses and doubles nothing', async () => {
    const wrong = await wrongAt({
      async during({ become }) {
        await become(concluded('approved'));
        await killed();
      },
    });
    expect(wrong).toEqual([]);
  });

  it('a crash before the charge goes on loses and doubles nothing', async () => {
    const wrong = await wrongAt({
      during: killed,
      afterwards: ({ become }) => become(concluded('approved')),
    });
    expect(wrong).toEqual([]);
  });

  it('a crash long before the charge goes on loses and doubles nothing', async () => {
    const wrong = await wrongAt({
      during: killed,
      async afterwards({ become, clock, deliver }) {
        clock.nowMs += 2 * deliver.leaseMs;
        await become(concluded('approved'));
      },
    });
    expect(wrong).toEqual([]);
  });

  it('a worker that sleeps past its lease posts nothing beside the one that took over', async () => {
    const wrong = await wrongAt({
      async during({ become, clock, deliver, drain }, point) {
        // Nothing can call back what Slack has not had yet: only its deadline bounds that.
        const isLeaving = point === 'before post' || point === 'before edit';
        if (!isLeaving) clock.nowMs += deliver.leaseMs + 1_000;
        await become(concluded('approved'));
        await drain(isLeaving ? 0 : 30_000);
      },
    });
    expect(wrong).toEqual([]);
  });

  it('a worker that sleeps past its lease, with nobody to take over, leaves nothing stale', async () => {
    const wrong = await wrongAt({
      async during({ become, clock, deliver }) {
        clock.nowMs += deliver.leaseMs + 1_000;
        await become(concluded('approved'));
      },
    });
    expect(wrong).toEqual([]);
  });

  it('a worker beside it, looking for work while the charge goes on, doubles nothing', async () => {
    const wrong = await wrongAt({
      async during({ become, drain, clock }) {
        await become(concluded('approved'));
        await drain();
        clock.nowMs += 2_000;
        await drain();
      },
    });
    expect(wrong).toEqual([]);
  });
});
