import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { BlockDeps } from '../../../src/operations/audit/audit-blocks.ts';
import { exportAudit } from '../../../src/operations/audit/export-audit.ts';
import { appendBlocks, auditLog, sealer } from '../audit-house.ts';
import { memoryStore } from '../memory-store.ts';

it('holds no more of a long trail than it reads at once, however slowly it is taken from it', async () => {
  const store = memoryStore({ nowMs: 0 });
  const ids = Array.from({ length: 300 }, (_, index) => [`e${index}`]);
  await appendBlocks(auditLog(store), ids);
  let reads = 0;
  const counted: BlockDeps = {
    sealer,
    store: {
      list: (...given) => store.list(...given),
      read(key: string) {
        reads += 1;
        return store.read(key);
      },
    },
  };
  let texts = 0;
  const stopped = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const exporting = exportAudit(counted, { choice: {}, format: 'jsonl' }, (text) => {
    if (text !== '') texts += 1;
    // The reader stops for a while at the fiftieth block.
    if (texts !== 50) return Promise.resolve();
    stopped.resolve();
    return released.promise;
  });
  await stopped.promise;
  for (let turns = 0; turns < 100; turns += 1) {
    // oxlint-disable-next-line no-await-in-loop -- whatever it could do meanwhile, it has done by then
    await turn();
  }
  expect(texts).toBe(50);
  expect(reads).toBeLessThan(100);
  released.resolve();
  expect(await exporting).toEqual({ count: 300, unreadable: 0 });
});
