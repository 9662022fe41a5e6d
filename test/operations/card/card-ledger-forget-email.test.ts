import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createCardLedger } from '../../../src/operations/card/card-ledger.ts';
import { openFingerprint } from '../../../src/operations/work/fingerprint.ts';
import { createSealer } from '../../../src/store/sealed.ts';
import { memoryStore } from '../memory-store.ts';

const ada = {
  tokenKey: 'token-of-ada',
  cardType: 'Visa',
  cardPan: '****4081',
  customerEmail: 'ada@example.com',
};

async function ledgerWithAda() {
  const store = memoryStore({ nowMs: 1_000 });
  const sealer = createSealer([{ id: 'k1', key: randomBytes(32) }]);
  const fingerprint = openFingerprint({ store, sealer, log: () => undefined });
  const ledger = createCardLedger({
    store,
    sealer,
    fingerprint,
    keepMs: 1_095 * 86_400_000,
    now: () => 1_000,
  });
  await ledger.remember(ada);
  return { ledger, id: await ledger.idOf(ada.tokenKey) };
}

describe('forgetEmail', () => {
  it('keeps the card and drops its address, which an old event does not bring back', async () => {
    const { ledger, id } = await ledgerWithAda();
    await ledger.forgetEmail(id, 'ada@example.com');
    await ledger.remember(ada);
    expect(await ledger.find(id)).toMatchObject({ face: { lastFour: '4081' }, tokenKey: ada.tokenKey });
    expect(await ledger.find(id)).not.toHaveProperty('customerEmail');
    expect(await ledger.search('ada@example.com', 5)).toEqual([]);
    expect(await ledger.search('4081', 5)).toHaveLength(1);
  });

  it('leaves another address than the one that was wrong', async () => {
    const { ledger, id } = await ledgerWithAda();
    await ledger.changeEmail(id, 'ada@new.example');
    await ledger.forgetEmail(id, 'ada@example.com');
    expect(await ledger.find(id)).toMatchObject({ customerEmail: 'ada@new.example' });
  });

  it('takes a later change, back to the same address too', async () => {
    const { ledger, id } = await ledgerWithAda();
    await ledger.forgetEmail(id, 'ada@example.com');
    await ledger.changeEmail(id, 'ada@example.com');
    expect(await ledger.find(id)).toMatchObject({ customerEmail: 'ada@example.com' });
  });

  it('does nothing for a card that is not known', async () => {
    const { ledger } = await ledgerWithAda();
    await expect(ledger.forgetEmail(await ledger.idOf('unknown'), 'x@y.zz')).resolves.toBeUndefined();
  });
});
