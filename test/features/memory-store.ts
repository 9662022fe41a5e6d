import { openModelStore } from '../store/model-store.ts';

/** A store in memory, with a clock that the test moves: the model with which the adapters are compared. */
export function memoryStore(clock: { nowMs: number }): ReturnType<typeof openModelStore> {
  return openModelStore(() => clock.nowMs);
}
