import { describe, expect, it } from 'vitest';
import type { ChargeSeen, ChargeState } from '../../src/domain/charge.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import { chargeRenders, createChargePosts } from '../../src/features/charge/charge-messages.ts';
import { accountOf } from '../support/account.ts';
import { openAlertsWorld, type Pass, startAlerts } from '../features/alerts-house.ts';

const minuteMs = 60_000;
const desk = 'C0DESK0001';
const ada = 'U0ADA00001';
const reference = 'pay-1' as OrderReference;
const approved: ChargeState = { kind: 'approved', concludedAt: 1_000_000 };

/** A charge that is told in the desk’s channel. */
function deskHouse() {
  const world = openAlertsWorld();
  const { clock } = world;
  let charge: ChargeSeen | undefined;
  const start = (pass: Pass = async (_name, effect) => await effect()) =>
    startAlerts(world, pass, {
      messages: chargeRenders(() => pass('find', () => charge), accountOf({})),
    });
  const process = start();
  const { account } = process;
  const posts = createChargePosts(account, desk);

  /** As the bot does it: the charge is stored first, then its messages are told to catch up. */
  async function become(state: ChargeState): Promise<void> {
    charge = {
      reference,
      terms: { card: {}, money: { minor: 1_250_000, currency: 'NGN' }, customerEmail: 'jane@example.com' },
      by: ada,
      agent: ada,
      submittedAt: 1_000_000,
      at: clock.nowMs,
      state,
      sends: 1,
      heard: [],
      card: 'fingerprint',
      handOvers: [],
      resends: [],
    };
    await posts.refresh(reference, { agents: [ada], told: [] });
  }

  /** Runs one delivery; `at` is called before and after each await, and can have the process die there. */
  async function deliver(at: (point: string, passed: number) => Promise<'dies' | void>): Promise<void> {
    const dead = Promise.withResolvers<void>();
    let passed = 0;
    async function reach(point: string): Promise<void> {
      passed += 1;
      if ((await at(point, passed)) !== 'dies') return;
      dead.resolve();
      await new Promise(() => undefined);
    }
    const { once } = start(async (name, effect) => {
      await reach(`before ${name}`);
      const result = await effect();
      await reach(`after ${name}`);
      return result;
    });
    await Promise.race([once(), dead.promise]);
  }

  const shown = (): string =>
    process
      .parents()
      .map(({ shown: { text } }) => text.slice(0, 6))
      .join(' + ');
  const drain = (forMs: number): Promise<void> => process.drain(forMs);
  return { clock, become, drain, deliver, leaseMs: account.leaseMs, shown };
}

type DeskHouse = ReturnType<typeof deskHouse>;

/** The situations in which one delivery of the desk channel's message is interrupted below. */
const situations: [string, (built: DeskHouse) => Promise<void>][] = [
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
      await built.deliver(async (point) => (point === 'after post' ? 'dies' : undefined));
      built.clock.nowMs += built.leaseMs;
    },
  ],
];

type Happening = {
  during: (built: DeskHouse, point: string) => Promise<'dies' | void>;
  afterwards?: (built: DeskHouse) => Promise<void>;
};

describe.each(situations)('during %s', (_what, prepare) => {
  /** Interrupts the delivery at each await in turn; returns the awaits after which the desk doesn't show one approval. */
  async function wrongAt({ during, afterwards }: Happening): Promise<string[]> {
    const wrong: string[] = [];
    for (let nth = 1; ; nth += 1) {
      const built = deskHouse();
      await prepare(built);
      let reached: string | undefined;
      await built.deliver(async (point, passed) => {
        if (passed !== nth) return;
        reached = point;
        return await during(built, point);
      });
      if (reached === undefined && nth <= 4) throw new Error('nothing was delivered');
      if (reached === undefined) return wrong;
      await afterwards?.(built);
      await built.drain(5 * minuteMs);
      if (built.shown() !== '✅ Paid') wrong.push(`${nth}, ${reached}: ${built.shown()}`);
    }
  }

  it('a change of the charge is shown, in one message', async () => {
    const wrong = await wrongAt({ during: ({ become }) => become(approved) });
    expect(wrong).toEqual([]);
  });

  it('a crash right after the charge changes loses and doubles nothing', async () => {
    const wrong = await wrongAt({
      async during({ become }) {
        await become(approved);
        return 'dies';
      },
    });
    expect(wrong).toEqual([]);
  });

  it('a crash right before the charge changes loses and doubles nothing', async () => {
    const wrong = await wrongAt({
      during: async () => 'dies',
      afterwards: ({ become }) => become(approved),
    });
    expect(wrong).toEqual([]);
  });

  it('a worker suspended past its lease posts nothing beside the one that took over', async () => {
    const wrong = await wrongAt({
      async during({ become, clock, leaseMs, drain }, point) {
        // A request that is being sent can't be recalled; only its deadline bounds it, so don't move the clock then.
        const isLeaving = point === 'before post' || point === 'before edit';
        if (!isLeaving) clock.nowMs += leaseMs + 1_000;
        await become(approved);
        await drain(isLeaving ? 0 : 30_000);
      },
    });
    expect(wrong).toEqual([]);
  });
});
