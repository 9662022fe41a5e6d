import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take eight seconds or more on an idle machine; others start after them. */
const longest = [
  'e2e/browser',
  'chaos/chaos',
  'e2e/lists',
  'e2e/kills',
  'e2e/move-store',
  'e2e/crash',
  'e2e/alerts',
  'e2e/outages',
  'e2e/canary',
  'e2e/command-line',
  'e2e/charge',
  'e2e/saved-cards',
  'e2e/several-accounts',
  'store/redis-sentinel',
  'playground/page/page',
  'store/redis-cluster',
  'walks/walks',
  'records/cases',
].map((name) => `/test/${name}.test.ts`);

function rankOf({ moduleId }: TestSpecification): number {
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
