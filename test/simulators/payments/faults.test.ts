import { describe, expect, it } from 'vitest';
import type { PaymentsFault } from '../../../src/simulators/payments/faults.ts';
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
      calls: { 'POST /v1/checkout/tokenized-card-payment': 1 },
      faults: { [fault.kind]: 1 },
    });
    merchant.service.setFaults();
    expect((await merchant.lookUp('ORDER-1001')).status).toBe(200);
  });
});
