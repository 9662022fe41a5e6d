import { describe, expect, it } from 'vitest';
import type { CheckoutOrderAnswer } from '../../../src/domain/charge-answer.ts';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import { ada, charge, openWorld, reference, startProcess, type Process } from '../charge-house.ts';

const unheard: CheckoutOrderAnswer = { kind: 'unknown', cause: new ServiceFailure('timeout', 'no answer') };

/** Makes each order once; the answers to the first `lost` of them are lost. */
function loseAnswers({ deps }: Process, lost: number): string[] {
  const made: string[] = [];
  deps.createCheckoutOrder = async (order) => {
    if (made.includes(order.reference))
      return { kind: 'rejected', reason: 'reference_exists', message: 'exists' };
    made.push(order.reference);
    const checkoutLink = `https://pay.example/${made.length}`;
    return made.length <= lost ? unheard : { kind: 'created', orderId: 'o', checkoutLink };
  };
  return made;
}

describe('makeSavingLink', () => {
  it('makes another link when the answer with the first was lost, and then keeps to it', async () => {
    const process = startProcess(openWorld('declined'));
    await charge(process);
    const made = loseAnswers(process, 1);
    expect(await process.desk.makeSavingLink({ reference, by: ada })).toMatchObject({ kind: 'not_created' });
    const link = { kind: 'created', link: 'https://pay.example/2' };
    expect(await process.desk.makeSavingLink({ reference, by: ada })).toMatchObject(link);
    expect(await process.desk.makeSavingLink({ reference, by: ada })).toMatchObject(link);
    expect(new Set(made).size).toBe(2);
    expect(made).not.toContain(reference);
  });

  it('gives up after three whose answers were lost, and says so', async () => {
    const process = startProcess(openWorld('declined'));
    await charge(process);
    const made = loseAnswers(process, Infinity);
    // oxlint-disable-next-line no-await-in-loop -- one press after the other
    for (let press = 0; press < 3; press += 1) await process.desk.makeSavingLink({ reference, by: ada });
    expect(await process.desk.makeSavingLink({ reference, by: ada })).toMatchObject({
      kind: 'not_created',
      why: expect.stringContaining('every answer was lost'),
    });
    expect(made).toHaveLength(3);
  });
});
