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

/** The situations in which one delivery of the desk channel's message is interrupted below. */
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

describe.each(situations)('during %s', (_what, prepare) => {
  /** Interrupts the delivery at each await in turn; returns the awaits after which the desk doesn't show one approval. */
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

  it('a change of the charge is shown, in one message', async () => {
    const wrong = await wrongAt({ during: ({ become }) => become(concluded('approved')) });
    expect(wrong).toEqual([]);
  });

  it('two changes of the charge are shown, in one message', async () => {
    const wrong = await wrongAt({
      async during({ become }) {
        await become({ kind: 'otp_checking' });
        await become(concluded('approved'));
      },
    });
    expect(wrong).toEqual([]);
  });

  it('a crash right after the charge changes loses and doubles nothing', async () => {
    const wrong = await wrongAt({
      async during({ become }) {
        await become(concluded('approved'));
        await killed();
      },
    });
    expect(wrong).toEqual([]);
  });

  it('a crash right before the charge changes loses and doubles nothing', async () => {
    const wrong = await wrongAt({
      during: killed,
      afterwards: ({ become }) => become(concluded('approved')),
    });
    expect(wrong).toEqual([]);
  });

  it('a crash, and a change after its lease expired, loses and doubles nothing', async () => {
    const wrong = await wrongAt({
      during: killed,
      async afterwards({ become, clock, deliver }) {
        clock.nowMs += 2 * deliver.leaseMs;
        await become(concluded('approved'));
      },
    });
    expect(wrong).toEqual([]);
  });

  it('a worker suspended past its lease posts nothing beside the one that took over', async () => {
    const wrong = await wrongAt({
      async during({ become, clock, deliver, drain }, point) {
        // A request that is being sent can't be recalled; only its deadline bounds it, so don't move the clock then.
        const isLeaving = point === 'before post' || point === 'before edit';
        if (!isLeaving) clock.nowMs += deliver.leaseMs + 1_000;
        await become(concluded('approved'));
        await drain(isLeaving ? 0 : 30_000);
      },
    });
    expect(wrong).toEqual([]);
  });

  it('a worker suspended past its lease, with no other to take over, leaves nothing stale', async () => {
    const wrong = await wrongAt({
      async during({ become, clock, deliver }) {
        clock.nowMs += deliver.leaseMs + 1_000;
        await become(concluded('approved'));
      },
    });
    expect(wrong).toEqual([]);
  });

  it('a second worker, looking for work while the charge changes, doubles nothing', async () => {
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
