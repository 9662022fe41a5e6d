import { describe, expect, it } from 'vitest';
import { createOpenList } from '../../../src/operations/work/open-list.ts';
import { onBothStores } from '../two-stores.ts';

describe('createOpenList', () => {
  onBothStores('an open list', (open) => {
    it('loses none that two replicas add at once, while others are dropped', async () => {
      const { one, two, close } = await open();
      const lists = [one, two].map((store) => createOpenList({ store, prefix: 'list' }));
      const references = Array.from({ length: 200 }, (_, index) => `pay-${index}`);
      const [settled, unsettled] = [references.slice(0, 100), references.slice(100)];
      await Promise.all(settled.map((reference) => lists[0]!.add(reference)));
      await Promise.all([
        lists[0]!.drop(settled.slice(0, 50)),
        lists[1]!.drop(settled.slice(50)),
        ...unsettled.map((reference, index) => lists[index % 2]!.add(reference)),
      ]);
      expect((await lists[1]!.all()).toSorted()).toEqual(unsettled.toSorted());
      await lists[1]!.add('pay-150');
      expect(await lists[0]!.all()).toHaveLength(100);
      await close();
    });
  });
});
