import { afterEach, expect, it } from 'vitest';
import { readState } from '../../../src/operations/webhook/webhook-state.ts';
import { alarmPrefix, createWebhookWatch } from '../../../src/operations/webhook/webhook-watch.ts';
import { workOnce } from '../../../src/operations/work/work-once.ts';
import { sealer } from '../house.ts';
import { onBothStores, type TwoReplicas } from '../two-stores.ts';

onBothStores('watching over webhooks', (open) => {
  const opened: TwoReplicas[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((replicas) => replicas.close())));

  it('adds up what both replicas saw, whoever does the work', async () => {
    const replicas = await open();
    opened.push(replicas);
    const stores = [replicas.one, replicas.two];
    const watches = stores.map((store) =>
      createWebhookWatch({
        store,
        sealer,
        opsChannel: undefined,
        rules: { silenceMs: 3_600_000, refusals: 5, missingMs: 3_600_000 },
        now: () => Date.now(),
        wake: () => undefined,
        log: () => undefined,
      }),
    );
    for (let round = 0; round < 5; round += 1) {
      for (const [index, watch] of watches.entries()) {
        watch.refused(() => 'a cause');
        await watch.processed({ reference: `pay-${index}-${round}`, outcome: 'approved', hasEvent: false });
        await watch.flush();
      }
    }
    async function workAll(index: number): Promise<number> {
      const [store, watch] = [stores[index], watches[index]];
      if (!store || !watch) return 0;
      const kinds = [{ prefix: alarmPrefix, work: watch.work }];
      let done = 0;
      while (await workOnce({ store, leaseMs: 45_000, kinds })) done += 1;
      return done;
    }
    // While one holds the lane the other finds nothing and stops: so until neither does.
    while ((await Promise.all([workAll(0), workAll(1)])).some((done) => done > 0));
    const entry = await replicas.one.read('webhook-watch');
    const state = readState(entry?.value ?? '');
    expect(state.refusals).toHaveLength(10);
    expect(state.approvals).toHaveLength(10);
  });
});
