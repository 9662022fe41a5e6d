import { expect, it } from 'vitest';
import { findCanaries } from '../../support/canaries.ts';
import { auditLog, entryOf } from '../audit-house.ts';
import { onBothStores } from '../two-stores.ts';

const canaries = { email: 'canary.obi@example.com', card: '4111111111111111' };

onBothStores('the audit trail', (open) => {
  it('writes no card number and no e-mail address into the store, whatever it is told', async () => {
    const { one, contents, close } = await open();
    const log = auditLog(one);
    for (const secret of Object.values(canaries)) {
      const said = `so ${secret} it is`;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await log.append(
        entryOf(said, {
          who: said,
          where: said,
          verb: said,
          account: said,
          reference: said,
          before: said,
          after: said,
          result: said,
          reason: said,
        }),
      );
      // oxlint-disable-next-line no-await-in-loop
      expect(await log.ofReference(said)).toHaveLength(1);
    }
    await log.settle();
    const dump = await contents.dump();
    expect(dump).toContain('c***@example.com');
    expect(findCanaries(canaries, { store: dump })).toEqual([]);
    await close();
  });
});
