import { expect, it, onTestFinished } from 'vitest';
import { claimTimes, type LimitRules } from '../../../src/domain/charge.ts';
import type { LimitClaims } from '../../../src/features/charge/charge-limits.ts';
import { createRandom } from '../../chaos/random.ts';
import { noonZone } from '../../support/noon-zone.ts';
import { chargeOf, countingHouse } from '../counting-house.ts';
import { onBothStores } from '../two-stores.ts';

const limit = { per_charge: 900, per_agent_per_day: 3_000, per_card_per_day: 2_000 };
const rules: LimitRules = { timeZone: noonZone(), roles: { agent: { limits: { NGN: limit } } } };

onBothStores('limits', (open) => {
  async function replicas(kept = rules) {
    const { one, two, close } = await open();
    onTestFinished(close);
    const clock = { passedMs: 0 };
    const house = countingHouse(one, () => Date.now() + clock.passedMs, kept);
    return { ...house, clock, both: [house.replica(one), house.replica(two)] as [LimitClaims, LimitClaims] };
  }

  it('let two replicas that claim a hundred times at once use exactly what there is', async () => {
    const { both, ended } = await replicas({
      timeZone: noonZone(),
      roles: { agent: { limits: { NGN: { per_agent_per_day: 3_000 } } } },
    });
    const atMs = Date.now();
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        both[index % 2]!.claim(chargeOf(`pay-${index}`, 100, { card: `card${index % 7}`, atMs })),
      ),
    );
    expect(results.filter((refusal) => !refusal)).toHaveLength(30);
    results.forEach((refusal, index) => !refusal && ended.set(`pay-${index}`, false));
    expect(await both[0].of('U1')).toMatchObject({ currencies: [{ usedMinor: 3_000 }] });
  });

  it.each([1, 2, 3])(
    'of many agents and cards are never exceeded, and a charge that ends without money frees its amount (seed %i)',
    async (seed) => {
      const { both, ended, clock } = await replicas();
      const atMs = Date.now();
      const { below: pick } = createRandom(seed);
      /** The charges that may have moved money, by agent and by card, after each step. */
      const counted = new Map<string, { by: string; card: string; minor: number }>();
      let beyond = 0;
      function judge(): void {
        for (const field of ['by', 'card'] as const) {
          const sums = new Map<string, number>();
          for (const one of counted.values()) sums.set(one[field], (sums.get(one[field]) ?? 0) + one.minor);
          const most = field === 'by' ? limit.per_agent_per_day : limit.per_card_per_day;
          if ([...sums.values()].some((sum) => sum > most)) beyond += 1;
        }
      }
      let freed = 0;
      const lost: string[] = [];
      await Promise.all(
        Array.from({ length: 12 }, async (_, worker) => {
          for (let turn = 0; turn < 12; turn += 1) {
            const [by, card, minor] = [`U${pick(3)}`, `card${pick(4)}`, 100 + pick(800)];
            const reference = `pay-${worker}-${turn}`;
            const charge = chargeOf(reference, minor, { by, card, atMs });
            if (await both[pick(2)]!.claim(charge)) continue;
            counted.set(reference, { by, card, minor });
            judge();
            const fate = pick(4);
            // Never stored: it counts until the claim is cleared.
            if (fate === 0) lost.push(reference);
            else if (fate === 1) {
              ended.set(reference, false);
              counted.delete(reference);
              ended.set(reference, true);
              freed += 1;
            } else ended.set(reference, false);
          }
        }),
      );
      expect(beyond).toBe(0);
      clock.passedMs = claimTimes.lostMs;
      for (const reference of lost) counted.delete(reference);
      expect(freed).toBeGreaterThan(0);
      // The store's count is exact, to the last unit, so amounts of ended charges can be used again.
      for (const by of ['U0', 'U1', 'U2']) {
        const sum = [...counted.values()]
          .filter((one) => one.by === by)
          .reduce((all, { minor }) => all + minor, 0);
        expect(await both[1].of(by)).toMatchObject({ currencies: [{ usedMinor: sum }] });
        const left = limit.per_agent_per_day - sum;
        const fresh = (minor: number) =>
          chargeOf(`after-${by}-${minor}`, minor, { by, card: `fresh-${by}`, atMs });
        expect(await both[0].judge(fresh(Math.min(left, 900)))).toBeUndefined();
        expect(await both[0].judge(fresh(left + 1))).toMatchObject({ kind: 'over' });
      }
    },
  );
});
