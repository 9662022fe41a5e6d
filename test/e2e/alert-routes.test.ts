import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { testAlertActionId } from '../../src/slack/alert/routes-message.ts';
import type { Bot } from '../support/bot.ts';
import { openChargeDialogue } from '../support/charge-dialogue.ts';
import { openHouse, type House } from '../support/house.ts';

function setRoutes({ policyFile }: House, routes: string): void {
  writeFileSync(policyFile, `${readFileSync(policyFile, 'utf8')}routes:\n${routes}`);
}

/** An event that says its kind and its reference alone. */
async function deliverBare(house: House, bot: Bot, orderReference: string): Promise<void> {
  const body = Buffer.from(JSON.stringify({ event: 'payment_failed', data: { order: { orderReference } } }));
  const { WEBHOOK_SECRETS: secret = '', WEBHOOK_SIGNATURE_HEADER: header = '' } = house.settings();
  const signature = createHmac('sha512', secret).update(body).digest('hex');
  const response = await fetch(`${bot.url()}/webhooks/payments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', [header]: signature },
    body,
  });
  expect(response.status).toBe(200);
}

describe.concurrent('routes of payops.yml', () => {
  it('send one failure to two channels, calling the group once in each, and say so in the channel', async (test) => {
    const house = await openHouse(test);
    const { channels, users } = house.workspace.ids;
    setRoutes(
      house,
      `  - name: no-funds
    when: { reason: insufficient funds }
    to: [${channels.payOps}, ${channels.payDesk}]
    mention: S0ONCALL01
    severity: high
`,
    );
    await house.start(house.bot());
    const reference = await house.decline();
    const alertsIn = (channel: 'payOps' | 'payDesk' | 'payAlerts') =>
      house.posts(channel).filter(({ text }) => text.includes(reference));
    await house.until(
      'both channels have the alert',
      () => alertsIn('payOps').length === 1 && alertsIn('payDesk').length === 1,
    );
    await house.until('nothing is left to do', async () => (await house.workLeft()) === 0);
    expect(alertsIn('payAlerts')).toEqual([]);
    for (const channel of ['payOps', 'payDesk'] as const) {
      expect(alertsIn(channel)).toHaveLength(1);
      const blocks = JSON.stringify(alertsIn(channel)[0]?.blocks);
      expect(blocks).toContain('"usergroup_id":"S0ONCALL01"');
      expect(blocks).toContain('High severity');
      expect(blocks).toContain('by rule no-funds');
    }

    await house.type('agent', '/pay alerts');
    await house.until('the agent is refused', () =>
      house.seenBy('agent').some(({ ephemeral, text }) => ephemeral && text.includes('Not allowed')),
    );
    await house.type('onCall', '/pay alerts');
    await house.until('the channel’s routes are told', () =>
      house
        .seenBy('onCall')
        .some(({ ephemeral, text }) => ephemeral && text.includes('This channel gets alerts')),
    );
    expect(JSON.stringify(house.seenBy('onCall').map(({ blocks }) => blocks))).toContain(
      'In the last 7 days this would have posted 1, worst hour 1.',
    );
    await openChargeDialogue(house).pressInMessage('onCall', testAlertActionId);
    const tests = () => house.posts('payDesk').filter(({ text }) => text.includes('TEST alert'));
    await house.until('the test alert says who asked', () =>
      tests().some(({ edited, blocks }) => edited && JSON.stringify(blocks).includes(users.onCall)),
    );
    expect(tests()).toHaveLength(1);
  });

  it('look several events up at once that say no amount, and tell them in their order', async (test) => {
    const house = await openHouse(test, { env: { PAYMENTS_TIMEOUT_SECONDS: '8', WORK_LEASE_SECONDS: '45' } });
    const { payOps } = house.workspace.ids.channels;
    setRoutes(house, `  - { name: big, when: { currency: NGN, amount_from: 1000.00 }, to: ${payOps} }\n`);
    const references: string[] = [];
    for (let number = 0; number < 6; number += 1) {
      // oxlint-disable-next-line no-await-in-loop -- in their order
      references.push(await house.decline());
    }
    // Not the receiver of the service's own events, which name the amount.
    const bot = house.bot();
    await bot.start();
    const [first, ...others] = references.map(() => house.paymentsGate.hold('/single', 'before'));
    const [early = '', ...late] = references;
    await deliverBare(house, bot, early);
    const held = await first;
    // oxlint-disable-next-line no-await-in-loop
    for (const reference of late) await deliverBare(house, bot, reference);
    held?.release();
    for (const { release } of (await Promise.all(others)).toReversed()) release();
    const told = (): string[] =>
      house.posts('payOps').flatMap(({ text }) => references.filter((one) => text.includes(one)));
    await house.until('all are told', () => told().length === 6);
    expect(told()).toEqual(references);
  });

  it('that cannot hold keep the bot from starting, all told at once', async (test) => {
    const house = await openHouse(test);
    const { channels } = house.workspace.ids;
    setRoutes(
      house,
      `  - { name: all, to: ${channels.payOps} }
  - { name: all, when: { currency: NGN }, to: ${channels.payOps} }
`,
    );
    const start = house.start(house.bot());
    await expect(start).rejects.toThrow('routes.1.name: a rule before it is called all too');
    await expect(start).rejects.toThrow(
      'routes.1 (all) can never fit: all before it takes all that it asks for',
    );
  });

  it('that are muted are named at every start, with the end', async (test) => {
    const house = await openHouse(test);
    const { channels } = house.workspace.ids;
    setRoutes(
      house,
      `  - { name: over, when: { currency: USD }, to: ${channels.payOps}, mute_until: 2020-01-01 }
  - { name: silent, to: ${channels.payOps}, mute_until: 2999-01-01 }
`,
    );
    const bot = house.bot();
    await house.start(bot);
    const lines = bot.lines.join('\n');
    expect(lines).toMatch(/"level":"warn".*The mute of rule over ended at 2020-01-01.*take mute_until out/);
    expect(lines).toMatch(/"level":"info".*Rule silent tells nothing until 2999-01-01/);
  });
});
