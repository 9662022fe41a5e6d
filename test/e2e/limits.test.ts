import { describe, expect, it, type TestContext } from 'vitest';
import { seedCards } from '../../src/simulators/payments/seed.ts';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import { chargeFields } from '../../src/slack/charge/charge-modal.ts';
import type { Bot } from '../support/bot.ts';
import { openChargeDialogue, visibleText, type ChargeDialogue } from '../support/charge-dialogue.ts';
import { openHouse, type House, type Person } from '../support/house.ts';
import { limitAgents } from '../support/limited-policy.ts';

const limits = '{ NGN: { per_charge: 5000.00, per_agent_per_day: 8000.00, per_card_per_day: 6000.00 } }';
const [ada, bola] = [seedCards.approves, seedCards.requiresOtp];
const ofAda = { token: ada.tokenKey, email: ada.customerEmail };
const ofBola = { token: bola.tokenKey, email: bola.customerEmail };

type Desk = { house: House; bot: Bot; dialogue: ChargeDialogue };

describe.concurrent('limits in payops.yml', () => {
  it('are told at the field, before anything is read back', async (test) => {
    const { house, dialogue } = await openDesk(test);
    const form = await dialogue.readBack('agent', { ...ofAda, amount: '5,000.01' });
    expect(form.errors).toEqual({
      [chargeFields.amount]:
        'This is above your limit per charge: NGN 5,000.00. Who can: people in the role lead.',
    });
    // The same in front of the lead is read back, and says nothing of limits.
    const read = await dialogue.readBack('lead', { ...ofAda, amount: '5,000.01' });
    expect(read.submit).toBe('Charge NGN 5,000.01');
    expect(read.text).not.toContain('Left today');
    expect(house.payments.stats().chargesByReference).toEqual({});
  });

  it('are said in the read-back and in the Home, and count what was charged', async (test) => {
    const { house, dialogue } = await openDesk(test);
    await house.workspace.act(house.workspace.ids.users.agent, { kind: 'open_home' });
    await homeSays(house, 'agent', 'today NGN 0.00 used, NGN 8,000.00 of NGN 8,000.00 left');
    const read = await dialogue.readBack('agent', { ...ofAda, amount: '4,500.00' });
    expect(read.text).toContain(
      'Left today, before this charge: NGN 8,000.00 for you, NGN 6,000.00 for this card.',
    );
    await dialogue.submit('agent');
    await dialogue.modalSays('agent', 'Paid (confirmed)');
    await house.workspace.act(house.workspace.ids.users.agent, { kind: 'open_home' });
    await homeSays(house, 'agent', 'today NGN 4,500.00 used, NGN 3,500.00 of NGN 8,000.00 left');
    assertBlocks('home', JSON.parse(JSON.stringify(homeBlocks(house, 'agent'))));
    await dialogue.close('agent');
    const over = await dialogue.readBack('agent', { ...ofBola, amount: '3,500.01' });
    expect(over.errors[chargeFields.amount]).toContain('NGN 3,500.00 of NGN 8,000.00 is left until midnight');
    // Nobody told the lead of a limit.
    await house.workspace.act(house.workspace.ids.users.lead, { kind: 'open_home' });
    await homeSays(house, 'lead', 'What you can do with /pay');
    expect(visibleText(homeBlocks(house, 'lead'))).not.toContain('Your limits');
  });

  it('refuse what was read back when a colleague has used the card’s day meanwhile', async (test) => {
    const { dialogue } = await openDesk(test);
    await dialogue.readBack('agent', { ...ofAda, amount: '3,000.00' });
    await dialogue.charge('lead', { ...ofAda, amount: '4,000.00' });
    await dialogue.modalSays('lead', 'Paid (confirmed)');
    await dialogue.submit('agent');
    const refused = await dialogue.modalSays('agent', 'Nothing was charged.');
    expect(refused.text).toContain('This is above your limit per day for one card');
    expect(refused.text).toContain('NGN 4,000.00, left NGN 2,000.00');
    expect(refused.text).toContain('people in the role lead');
    expect(refused.submit).toBeUndefined();
    expect(dialogue.references()).toHaveLength(1);
    // What is left of it can be charged, and nothing of the agent's own day was used by the refusal.
    await dialogue.close('agent');
    const read = await dialogue.readBack('agent', { ...ofAda, amount: '2,000.00' });
    expect(read.text).toContain('NGN 8,000.00 for you, NGN 2,000.00 for this card');
  });

  it('are free again after a decline, also for a bot that was killed meanwhile', async (test) => {
    const { house, bot, dialogue } = await openDesk(test);
    await house.payments.act({ kind: 'order_next_charge', next: 'decline' });
    await dialogue.charge('agent', { ...ofAda, amount: '5,000.00' });
    await dialogue.modalSays('agent', 'Declined by the bank');
    await dialogue.close('agent');
    const read = await dialogue.readBack('agent', { ...ofBola, amount: '5,000.00' });
    expect(read.text).toContain('NGN 8,000.00 for you, NGN 6,000.00 for this card');
    // A charge that waits for a code counts, over a kill and until its end.
    await dialogue.submit('agent');
    await dialogue.modalSays('agent', 'of 3 tries left');
    await dialogue.close('agent');
    await bot.kill9();
    await house.start(house.bot());
    const second = await dialogue.readBack('agent', { ...ofBola, amount: '3,000.01' });
    expect(second.errors[chargeFields.amount]).toContain('NGN 3,000.00 of NGN 8,000.00 is left');
  });
});

async function openDesk(test: TestContext): Promise<Desk> {
  const house = await openHouse(test, {
    processes: true,
    env: {
      LOG_LEVEL: 'debug',
      PAYMENTS_TIMEOUT_SECONDS: '3',
      SLACK_TIMEOUT_SECONDS: '2',
      WORK_LEASE_SECONDS: '9',
    },
  });
  limitAgents(house, limits);
  const bot = house.bot();
  await house.start(bot);
  return { house, bot, dialogue: openChargeDialogue(house) };
}

function homeBlocks(house: House, person: Person) {
  return house.workspace.state(house.workspace.ids.users[person]).home?.blocks ?? [];
}

async function homeSays(house: House, person: Person, words: string): Promise<void> {
  const shown = (): string => visibleText(homeBlocks(house, person));
  await house
    .until(`the Home says ${words}`, () => shown().includes(words))
    .catch((error: unknown) => {
      throw new Error(`It says: ${shown()}`, { cause: error });
    });
}
