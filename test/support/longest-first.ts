import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take eight seconds or more on an idle machine, begin first. */
const longest = [
  'e2e/browser',
  'e2e/guide',
  'chaos/chaos',
  'e2e/kills',
  'e2e/store-trust',
  'e2e/crash',
  'e2e/move-store',
  'e2e/lists',
  'e2e/hang',
  'e2e/find',
  'e2e/doctor-fixes',
  'e2e/saved-cards',
  'e2e/charge',
  'e2e/alerts',
  'e2e/command-line',
  'e2e/canary',
  'e2e/several-accounts',
  'playground/page/page',
  // Small files that start other programs: they would come last, and run alone.
  'walks/walks',
  'contributing',
  'slack/check-workspace',
].map((name) => `/test/${name}.test.ts`);

/** These tell what hangs from what is slow, and so come last, when less runs beside them; the longest of them first. */
const timed = [
  'e2e/outages',
  'e2e/doctor',
  'store/redis-sentinel',
  'store/redis-cluster',
  'store/',
  'http/',
  'hostile/bot/',
].map((name) => `/test/${name}${name.endsWith('/') ? '' : '.test.ts'}`);

function rankOf({ moduleId }: TestSpecification): number {
  const late = timed.findIndex((path) => moduleId.includes(path));
  if (late >= 0) return longest.length + 1 + late;
  const rank = longest.findIndex((path) => moduleId.endsWith(path));
  return rank < 0 ? longest.length : rank;
}

/** Starts long files first, so that no worker ends with one while the others are idle. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- no array's: the sequencer's own, which gives a new one
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
