import { expect, it } from 'vitest';
import { chargeStateModal } from '../../../src/features/charge/charge-modal.ts';
import { ada, charge, minuteMs, openWorld, reference, startProcess } from '../charge-house.ts';
import type { OtpAnswer } from '../../../src/payments/charges.ts';
import { stateWord } from '../../../src/slack/words/state-words.ts';
import { visibleText } from '../../support/visible-text.ts';

const shownAccount = { environment: 'live', account: 'main account' } as const;

/** A charge whose first code gets this answer. */
async function answered(answer: OtpAnswer) {
  const world = openWorld('otp');
  world.bank.code = () => answer;
  const process = startProcess(world);
  await charge(process);
  const typed = await process.operations.submitCode({ reference, code: '000000', triesLeft: 3, by: ada });
  await typed?.carryOn?.();
  await process.drained();
  async function shown(): Promise<{ state: string; window: string }> {
    const found = await process.operations.find(reference);
    if (!found) throw new Error('There is no charge.');
    const modal = chargeStateModal(found, shownAccount, { nowMs: world.clock.nowMs, viewerId: ada });
    return { state: stateWord(found), window: visibleText(modal.blocks) };
  }
  return { world, process, shown };
}

it('a code that came too late is not called wrong, doesn’t change the shown tries, and leads to a look-up', async () => {
  const said = 'The payment has exceeded the time allowed';
  const { world, process, shown } = await answered({ kind: 'wrong', bankMessage: said });
  const { window } = await shown();
  expect(window).toContain(`Too late, says the bank: “${said}”. The bot is checking.`);
  expect(window).not.toMatch(/Wrong code|tries|try left/);
  world.bank.expire(reference);
  await process.work(world.clock.nowMs + minuteMs);
  expect((await shown()).state).toBe('❌ Declined by the bank');
});

it('*too many* after the first code is told in the service’s words, not as three wrong codes', async () => {
  const said = 'TOO MANY OTP ATTEMPTS';
  const { world, process, shown } = await answered({ kind: 'too_many', bankMessage: said });
  await process.work(world.clock.nowMs + minuteMs);
  const { state, window } = await shown();
  expect(state).toBe('🚫 No more codes accepted');
  expect(window).toContain(`The service says: ${said}`);
  expect(window).not.toContain('three times');
});
