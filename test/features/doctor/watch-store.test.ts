import { expect, it, vi } from 'vitest';
import { createStoreWatch } from '../../../src/features/doctor/watch-store.ts';
import { StoreUnavailable } from '../../../src/domain/failure.ts';

it('logs a lost store once, and repeats the notice to the operators until it is stored', async () => {
  const tell = vi.fn<(name: string) => Promise<void>>(async () => undefined);
  tell.mockRejectedValueOnce(new StoreUnavailable('away'));
  const errors: string[] = [];
  const storage = {
    checked: async () => undefined,
    refusal: () => undefined,
    mark: {
      claim: async () => true,
      refusal: () => undefined,
      lost: async () => 'The store was emptied',
    },
  };
  const watch = createStoreWatch({
    storage,
    tell,
    log: (level, message) => level === 'error' && errors.push(message),
    now: () => Date.UTC(2026, 2, 2, 9),
  });
  for (let times = 0; times < 3; times += 1) await watch.look();
  expect(tell).toHaveBeenCalledTimes(2);
  expect(errors).toEqual(['The store was emptied']);
});
