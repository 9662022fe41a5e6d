import { expect, it } from 'vitest';
import { growthOf, judgeGrowth, type Sample } from './soak.ts';
import { createRandom } from '../chaos/random.ts';

/** An hour of looks at a process that keeps so much, goes up and down between two garbage collections, and holds so many files. */
function hour(kept: (share: number) => number, descriptors: (share: number) => number = () => 30): Sample[] {
  const random = createRandom(1);
  return Array.from({ length: 400 }, (_, at) => ({
    atSeconds: at * 9,
    residentMegabytes: 300,
    keptMegabytes: 80 + kept(at / 400) + (at % 7) * 3 + random.next() * 2,
    descriptors: descriptors(at / 400),
    oldestDueSeconds: 0,
    answerMs: 5,
  }));
}

function minute(descriptors: (share: number) => number): Sample[] {
  return hour(() => 0, descriptors).map((sample) => ({ ...sample, atSeconds: sample.atSeconds / 60 }));
}

const judge = (samples: readonly Sample[]): string[] => judgeGrowth(samples, growthOf(samples));

it('a soak passes memory that goes up and down, and what is kept from the start', () => {
  expect(judge(hour(() => 0))).toEqual([]);
  expect(judge(hour((share) => Math.min(40, share * 200)))).toEqual([]);
});

it('a soak tells of memory that grows, by how much an hour', () => {
  const samples = hour((share) => share * 30);
  expect(judge(samples)).toEqual([expect.stringContaining('memory grows')]);
  expect(Math.abs(growthOf(samples).megabytesPerHour - 30)).toBeLessThan(4);
});

it('a soak tells of descriptors that grow', () => {
  expect(
    judge(
      hour(
        () => 0,
        (share) => 30 + Math.floor(share * 20),
      ),
    ),
  ).toEqual([expect.stringContaining('descriptors')]);
});

it('a soak of a minute passes the connections of a busy moment, and tells of a descriptor for each event', () => {
  expect(judge(minute((share) => (share > 0.6 ? 57 : 42)))).toEqual([]);
  expect(judge(minute((share) => 30 + Math.floor(share * 600)))).toEqual([
    expect.stringContaining('descriptors'),
  ]);
});
