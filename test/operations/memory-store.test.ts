import { storeContract } from '../store/contract.ts';
import { memoryStore } from './memory-store.ts';

storeContract('memory', async () => {
  const clock = { nowMs: 1_700_000_000_000 };
  const store = memoryStore(clock);
  return { store, pass: async (ms) => void (clock.nowMs += ms), close: () => store.close() };
});
