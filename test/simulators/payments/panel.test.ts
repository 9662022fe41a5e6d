import { describe, expect, it } from 'vitest';
import type { PaymentsAction } from '../../../src/simulators/protocol.ts';
import { startMerchant } from './merchant.ts';

const order = { kind: 'create_order', amount: '2,500.50', customerEmail: 'eniola@example.com' } as const;

describe('the panel', () => {
  it.each<PaymentsAction>([
    { ...order, amount: 'lots' },
    { ...order, customerEmail: 'nobody' },
    { ...order, orderReference: 'ORDER-1001' },
    { ...order, orderReference: 'x'.repeat(51) },
    { kind: 'pay_order', orderReference: 'ORDER-1001', outcome: 'approved' },
    { kind: 'pay_order', orderReference: 'ORDER-1001', outcome: 'declined' },
    { kind: 'pay_order', orderReference: 'nothing', outcome: 'approved' },
  ])('says why %j cannot be done and changes nothing', async (action) => {
    const merchant = await startMerchant();
    const before = merchant.service.state();
    expect(await merchant.service.act(action)).toEqual({ ok: false, problem: expect.any(String) as string });
    expect(merchant.service.state()).toEqual(before);
  });
});
