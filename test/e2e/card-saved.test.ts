import { describe, expect, it } from 'vitest';
import { openHouse, type House } from '../support/house.ts';

const reference = 'FIRST-1';

async function payFirst({ payments }: House): Promise<void> {
  const order = { amount: '150.00', customerEmail: 'chidi.eze@example.com', orderReference: reference };
  const created = await payments.act({ kind: 'create_order', ...order });
  const paid = await payments.act({ kind: 'pay_order', orderReference: reference, outcome: 'approved' });
  if (!created.ok || !paid.ok) throw new Error('the order was not paid');
}

describe.concurrent('a first payment that saves a card', () => {
  it.for([
    ['on', 'sealed; /pay charge offers it'],
    ['off', 'CARD_LEDGER is off'],
  ] as const)(
    'is told once where alerts are, CARD_LEDGER=%s, without its token',
    async ([ledger, words], test) => {
      const house = await openHouse(test);
      await house.start(house.bot({ CARD_LEDGER: ledger }));
      await payFirst(house);
      const told = () => house.posts('payAlerts').filter(({ text }) => text.includes(reference));
      await house.until('the saved card is told', () => told().length > 0);
      await house.until('nothing is left to do', async () => (await house.workLeft()) === 0);
      expect(told()).toHaveLength(1);
      const [post] = told();
      expect(post?.text).toMatch(
        /^💳 Card saved · ✅ Paid \(confirmed\) · NGN 150\.00 · c\*\*\*@example\.com/,
      );
      const blocks = JSON.stringify(post);
      expect(blocks).toContain(words);
      expect(blocks).toMatch(/·· \d{4}/);
      const { cards } = house.payments.state();
      expect(cards.length).toBeGreaterThan(0);
      const dump = await house.storeDump();
      for (const { tokenKey } of cards) {
        expect(blocks).not.toContain(tokenKey);
        expect(dump).not.toContain(tokenKey);
      }
      // A success as any other, it is told among those too.
      expect(house.posts('general').filter(({ text }) => text.includes(reference))).toHaveLength(1);
    },
  );
});
