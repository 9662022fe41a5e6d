import { storeContract } from '../store/contract.ts';
import { memoryStore } from './memory-store.ts';

storeContract('memory', async () => {
  const clock = { nowMs: 1_700_000_000_000 };
  const store = memoryStore(clock);
  const shift = (ms: number) => void (clock.nowMs += ms);
  return { store, shift, pass: async (ms) => shift(ms), close: () => store.close() };
});
