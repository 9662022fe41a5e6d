import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createOpenHomes, homePrefix, type HomeOwner } from '../../../src/operations/home/open-homes.ts';
import { workOnce } from '../../../src/operations/work/work-once.ts';
import { openSqliteStore } from '../../../src/store/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';

const hourMs = 3_600_000;
const opened: Store[] = [];
const folder = mkdtempSync(join(tmpdir(), 'payops-homes-'));
let made = 0;

function stage(options: { hangs?: boolean } = {}) {
  const clock = { nowMs: 1_700_000_000_000 };
  const now = () => clock.nowMs;
  const store = openSqliteStore({ path: join(folder, `${(made += 1)}.sqlite`), now });
  opened.push(store);
  const shown: HomeOwner[] = [];
  function replica() {
    return createOpenHomes({
      store,
      now,
      log: () => undefined,
      wake: () => undefined,
      publish: async (owner) => {
        shown.push(owner);
        if (options.hangs) await new Promise(() => undefined);
      },
    });
  }
  const homes = replica();
  async function change(userIds: string[], heardBy = homes): Promise<void> {
    heardBy.changed(userIds);
    await heardBy.drained();
  }
  async function work(): Promise<void> {
    const kinds = [{ prefix: homePrefix, work: homes.work }];
    // oxlint-disable-next-line no-await-in-loop
    while (await workOnce({ store, leaseMs: 10_000, kinds }));
  }
  return { clock, store, shown, homes, replica, change, work };
}

describe('open Homes', () => {
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are shown anew, once, after whatever happened in a moment', async () => {
    const { clock, homes, change, shown, work } = stage();
    await homes.opened({ userId: 'U1', teamId: 'T1' });
    for (let step = 0; step < 5; step += 1) {
      // oxlint-disable-next-line no-await-in-loop
      await change(['U1', 'U2', 'U1']);
      clock.nowMs += 100;
    }
    await work();
    expect(shown).toEqual([]);
    clock.nowMs += 1_000;
    await work();
    expect(shown).toEqual([{ userId: 'U1', teamId: 'T1' }]);
  });

  it('are shown at most once in three seconds, and the last change is never lost', async () => {
    const { clock, homes, change, shown, work } = stage();
    await homes.opened({ userId: 'U1' });
    for (let tick = 0; tick < 90; tick += 1) {
      clock.nowMs += 100;
      // oxlint-disable-next-line no-await-in-loop -- the clock is one
      await change(['U1']);
      // oxlint-disable-next-line no-await-in-loop
      await work();
    }
    expect(shown.length).toBeGreaterThanOrEqual(2);
    expect(shown.length).toBeLessThanOrEqual(4);
    const before = shown.length;
    clock.nowMs += 5_000;
    await work();
    expect(shown).toHaveLength(before + 1);
    clock.nowMs += 5_000;
    await work();
    expect(shown).toHaveLength(before + 1);
  });

  it('are shown by one replica, whichever heard of it', async () => {
    const { clock, homes, replica, change, shown, work } = stage();
    await homes.opened({ userId: 'U1' });
    await Promise.all([change(['U1']), change(['U1'], replica())]);
    clock.nowMs += 1_000;
    await work();
    expect(shown).toHaveLength(1);
  });

  it('are left alone an hour after they were opened, until they are opened again', async () => {
    const { clock, homes, change, shown, work } = stage();
    await homes.opened({ userId: 'U1' });
    clock.nowMs += hourMs;
    await change(['U1']);
    clock.nowMs += 5_000;
    await work();
    expect(shown).toEqual([]);
    await homes.opened({ userId: 'U1' });
    await change(['U1']);
    clock.nowMs += 5_000;
    await work();
    expect(shown).toHaveLength(1);
  });

  it('hold up no worker when Slack hangs, and a store that is away breaks nothing', async () => {
    const { clock, homes, store, change, shown, work } = stage({ hangs: true });
    await Promise.all(Array.from({ length: 12 }, (_, index) => homes.opened({ userId: `U${index}` })));
    await change(Array.from({ length: 12 }, (_, index) => `U${index}`));
    clock.nowMs += 1_000;
    await work();
    expect(shown).toHaveLength(8);
    await store.close();
    expect(() => homes.changed(['U1'])).not.toThrow();
  });
});
