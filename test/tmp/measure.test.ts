import { it } from 'vitest';
import { cardsHouse, failed } from '../operations/cards-house.ts';
it('measures', async () => {
  const house = cardsHouse(undefined, undefined, 20);
  const n = 1500;
  await Promise.all(Array.from({ length: n }, (_, i) => house.receive({ ...failed, key: `payment_failed/order/B-${i}`, orderReference: `B-${i}`, customerId: `c${i}`, customerEmail: `c${i}@example.com` })));
  const at = performance.now();
  await house.drain(40_000);
  const took = performance.now() - at;
  console.log(`drained ${n} in ${took} ms: ${took / n} each`, house.parents().map((m) => m.shown.text).at(-1));
}, 600_000);
