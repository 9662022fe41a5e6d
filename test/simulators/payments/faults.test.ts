import { describe, expect, it } from 'vitest';
import {
  chargeOperation,
  lookUpOperation,
  type PaymentsFault,
} from '../../../src/simulators/payments/faults.ts';
import { seedCards } from '../../../src/simulators/payments/seed.ts';
import { startMerchant } from './merchant.ts';

const { approves } = seedCards;
const cut = expect.any(TypeError) as unknown;
const unreadable = expect.any(SyntaxError) as unknown;

describe('a fault of the payments service', () => {
  it.each<[PaymentsFault, unknown, boolean]>([
    [{ kind: 'down' }, cut, false],
    [{ kind: 'answer_lost' }, cut, true],
    [{ kind: 'unreadable' }, unreadable, true],
    [{ kind: 'error_500' }, expect.objectContaining({ status: 500 }), false],
    [{ kind: 'rate_limited' }, expect.objectContaining({ status: 429 }), false],
    [{ kind: 'unauthorized' }, expect.objectContaining({ status: 401 }), false],
  ])('%j', async (fault, answer, isCharged) => {
    const merchant = await startMerchant();
    merchant.service.setFaults(fault);
    expect(await merchant.chargeCard(approves, 'F-1').catch((error: unknown) => error)).toEqual(answer);
    expect(merchant.service.stats()).toMatchObject({
      chargesByReference: isCharged ? { 'F-1': 1 } : {},
      calls: { [chargeOperation]: 1 },
      faults: { [fault.kind]: 1 },
    });
    merchant.service.setFaults();
    expect((await merchant.lookUp('ORDER-1001')).status).toBe(200);
  });

  it('hangs until the faults are set again', async () => {
    const merchant = await startMerchant();
    merchant.service.setFaults({ kind: 'hang' });
    const hanging = merchant.chargeCard(approves, 'F-1').catch((error: unknown) => error);
    await expect.poll(() => merchant.service.stats().faults).toEqual({ hang: 1 });
    merchant.service.setFaults();
    expect(await hanging).toEqual(cut);
    expect(merchant.service.stats().chargesByReference).toEqual({});
  });

  it('is cut off when the service closes', async () => {
    const merchant = await startMerchant();
    merchant.service.setFaults({ kind: 'hang' });
    const hanging = merchant.chargeCard(approves, 'F-1').catch((error: unknown) => error);
    await expect.poll(() => merchant.service.stats().faults).toEqual({ hang: 1 });
    await merchant.service.close();
    expect(await hanging).toEqual(cut);
  });

  it('is for an operation, for a reference, for so many calls, or for a share of them', async () => {
    const draws = [0.5, 0.009];
    const merchant = await startMerchant({ dice: () => draws.shift() ?? 1 });
    const { service } = merchant;
    service.setFaults({ kind: 'error_500', operation: chargeOperation });
    expect((await merchant.lookUp('ORDER-1001')).status).toBe(200);
    expect((await merchant.chargeCard(approves, 'F-1')).status).toBe(500);
    service.setFaults({ kind: 'error_500', reference: 'F-2' });
    expect((await merchant.chargeCard(approves, 'F-2')).status).toBe(500);
    expect((await merchant.lookUp('F-2')).status).toBe(500);
    expect((await merchant.lookUp('F-1')).status).toBe(200);
    service.setFaults({ kind: 'error_500', operation: lookUpOperation, times: 1 });
    expect((await merchant.lookUp('F-1')).status).toBe(500);
    expect((await merchant.lookUp('F-1')).status).toBe(200);
    service.setFaults({ kind: 'error_500', share: 0.01 });
    expect((await merchant.lookUp('F-1')).status).toBe(200);
    expect((await merchant.lookUp('F-1')).status).toBe(500);
  });

  it('tells the limit when it answers 429', async () => {
    const merchant = await startMerchant();
    merchant.service.setFaults({ kind: 'rate_limited' });
    const { headers } = await merchant.lookUp('ORDER-1001');
    expect(headers.get('x-rate-limit-remaining')).toBe('0');
    expect(headers.get('x-rate-limit-window')).toBe('60s');
  });
});
