import { openModelStore } from '../store/model-store.ts';

/** The port in memory, with a clock the test moves: the model that the adapters are compared with. */
export function memoryStore(clock: { nowMs: number }): ReturnType<typeof openModelStore> {
  return openModelStore(() => clock.nowMs);
}
