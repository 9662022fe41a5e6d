import { describe, expect, it } from 'vitest';
import { channelIds, userIds } from '../../src/simulators/slack/directory.ts';
import { openDesk, shareDesk, type Desk } from '../support/desk.ts';

const at = shareDesk({
  clock: true,
  payments: { knownCards: true },
  env: { LOG_LEVEL: 'debug', PAYMENTS_TIMEOUT_SECONDS: '8' },
});

describe('/pay', () => {
  it('without arguments shows the person’s waiting items, and buttons for what they may do', async () => {
    const desk = at();
    const before = await desk.asks('agent', '/pay', 'Nothing waits for you');
    expect(before.shown.buttons).toEqual([
      'Look up a payment',
      'Charge a card',
      'Enter a code',
      'Payment link',
      'Change a card’s e-mail',
      'Doubts',
      'Terminals',
      'Accounts',
      'Approvals',
    ]);
    const olu = await desk.asks('outsider', '/pay', 'Not allowed: every command but help');
    expect(olu.shown.buttons).toEqual([]);

    await waitsForCode(desk);
    const after = await desk.asks('agent', '/pay', '1 thing waits for you');
    expect(after.shown.text).toContain('1 charge waits for a code from you · until');
    await desk.presses('agent', 'Enter a code', after);
    await desk.modalSays('agent', 'of 3 tries left');
    await desk.closes('agent');
    for (const [label, words] of [
      ['Charge a card', 'You review it before anything is charged.'],
      ['Payment link', 'It charges nobody by itself'],
      ['Change a card’s e-mail', 'You review it before anything is changed'],
    ] as const) {
      await desk.presses('agent', label, after);
      await desk.modalSays('agent', words);
      await desk.closes('agent');
    }
    for (const [label, words] of [
      ['Doubts', 'doubt'],
      ['Terminals', 'Terminals 1–10'],
      ['Accounts', 'Accounts 1–10'],
      ['Approvals', 'Nothing'],
    ] as const) {
      await desk.seesBy('agent', words, async () => {
        const menu = await desk.asks('agent', '/pay', 'waits for you');
        await desk.presses('agent', label, menu);
      });
    }
    const ops = await desk.asks('lead', '/pay', 'Nothing waits for you');
    await desk.seesBy('lead', 'This channel gets no alerts', () => desk.presses('lead', 'Alerts here', ops));
  });

  it('help [verb] explains what the person may do, with examples; a mistyped verb gets a suggestion', async () => {
    const desk = at();
    const agent = await desk.asks('agent', '/pay help', 'What you can do with /pay');
    expect(agent.shown.text).toMatch(/\/pay lookup <reference> \[amount\].*\/pay charge \[amount\]/s);
    expect(agent.shown.text).not.toContain('/pay undelivered');
    const lead = await desk.asks('lead', '/pay help', 'What you can do with /pay');
    expect(lead.shown.text).toContain('/pay undelivered');
    const one = await desk.asks('agent', '/pay help lookup', 'For example:');
    expect(one.shown.text).toContain('/pay lookup INV-2041 12,500.00');
    const refused = await desk.asks('agent', '/pay help undelivered', 'Not allowed');
    expect(refused.shown.text).toMatch(/Ask .*<@/);
    expect(refused.shown.text).not.toMatch(/permission|role/);
    const admin = await desk.asks('onCall', '/pay charge', 'Not allowed');
    expect(admin.shown.text).toContain('It needs the permission “charge”');
    await desk.asks('agent', '/pay help lokup', 'Did you mean “lookup”?');

    const slip = await desk.asks('agent', '/pay lokup ORDER-1001', '“lokup” isn’t a command');
    expect(slip.shown.text).toContain('Did you mean /pay lookup ORDER-1001 ?');
    await desk.seesBy('agent', 'Paid (confirmed)', () => desk.presses('agent', 'Look up ORDER-1001', slip));
    await desk.asks(
      'agent',
      '/pay refund ORDER-1001',
      'Refunds are made in the payments service’s dashboard',
    );
    await desk.asks(
      'agent',
      '/pay balance',
      'Balances are shown in the payments service’s dashboard, not here',
    );
    const unknown = await desk.asks('agent', '/pay voucher now please', '“voucher” isn’t a command');
    expect(unknown.shown.buttons).toEqual(['Look up “voucher”']);
    const asked = await desk.asks('agent', '/pay is ORDER-1001 paid?', '“is” isn’t a command');
    expect(asked.shown.buttons).toEqual(['Look up “ORDER-1001”']);
    await desk.asks('agent', '/pay link 12,50', 'Like this: /pay link 100.00');
  });
});

describe('the App Home', () => {
  it('shows the present waiting items and last charges when opened, and no secret', async () => {
    const desk = at();
    const { house } = desk;
    const homes = () => house.slackGate.passed.filter(({ path }) => path === '/api/views.publish');
    await desk.home('lead', 'Nothing waits for you');
    await waitsForCode(desk, 'lead');
    expect((await desk.home('lead', 'Waiting for a code')).text).toContain('Needs a code · NGN 1,000.00');
    await desk.opens('lead', '/pay otp');
    await desk.modalSays('lead', 'of 3 tries left');
    const order = house.payments.state().orders.find(({ amount, otp }) => otp && amount.startsWith('1000'));
    const code = order?.otp?.code ?? '';
    await desk.submits('lead', { [desk.modal('lead')?.fields[0] ?? '']: code });
    await desk.modalSays('lead', 'Paid (confirmed)');
    await desk.closes('lead');
    expect(homes()).toHaveLength(2);
    const last = await desk.home('lead', 'Your last charges');
    expect(last.text).toContain('Paid (confirmed) · NGN 1,000.00 · a***@');
    expect(last.text).not.toContain('Waiting for a code');
    expect(last.text).toContain('/pay help');

    // Opens a look-up in a window, and redraws the Home.
    await desk.presses('lead', 'Look up', 'home');
    await desk.modalSays('lead', ['Look-up', 'Look up']);
    await house.until('it is made again', () => homes().length === 4);
    expect(homes().every(({ request }) => request.includes(desk.id('lead')))).toBe(true);
    expect(await desk.leaks({ token: 'tok-ada-approves' })).toEqual([]);
    expect(desk.bot.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  it('shows unassigned alerts, even after many payments, and the person’s own until they are over', async () => {
    const desk = at();
    const reference = await desk.house.decline({ customerEmail: 'home@example.com' });
    await desk.reads('onCall', reference, 'payAlerts');
    for (let number = 0; number < 31; number += 1)
      await desk.house.approve({ amount: '10.00', customerEmail: `payer.${number}@example.com` });
    await desk.settled('soon');
    const open = await desk.home('onCall', 'Open alerts');
    expect(open.text).toContain(reference);
    await desk.presses('onCall', 'Acknowledge', 'home');
    await desk.reads('onCall', [reference, 'cknowledged'], 'payAlerts');
    expect((await desk.home('onCall', 'Assigned to you')).text).toContain(reference);
    await desk.house.approve({ amount: '5000.00', customerEmail: 'home@example.com' });
    await desk.reads('onCall', [reference, 'esolved'], 'payAlerts');
    await desk.house.until('it is over', async () => {
      return !(await desk.home('onCall', '/pay help')).text.includes('Assigned to you');
    });
  });

  it('tells a person without a role that they may do nothing', async () => {
    expect((await at().home('outsider', 'Not allowed')).buttons).toEqual([]);
  });
});

describe('Charge a saved card', () => {
  it('opens the form by the shortcut, or says in a modal why not', async () => {
    const desk = at();
    await desk.shortcut('agent', 'Charge a saved card');
    await desk.modalSays('agent', 'You review it before anything is charged.');
    await desk.shortcut('outsider', 'Charge a saved card');
    const refused = await desk.modalSays('outsider', 'Not allowed: Charge a saved card');
    expect(refused.submit).toBeUndefined();
  });
});

describe('roles', () => {
  it('count only in their channels: elsewhere a command is refused with the channel where it works', async (test) => {
    const desk = await openDesk(test, {
      policy: only(
        `  desk: { users: [${userIds.agent}], may: [charge], channels: [${channelIds.payDesk}] }`,
        `  all: { users: [${userIds.agent}], may: [lookup] }`,
      ),
    });
    const refused = await desk.asks('agent', '/pay charge', 'Not allowed: /pay charge', 'general');
    expect(JSON.stringify(refused)).toContain(`"channel_id":"${channelIds.payDesk}"`);
    const help = await desk.asks('agent', '/pay help', '/pay lookup', 'general');
    expect(help.shown.text).not.toContain('/pay charge');
    await desk.opens('agent', '/pay charge');
    await desk.closes('agent');
    expect((await desk.home('agent', '/pay help')).buttons).not.toContain('Charge a card');
  });

  it('never count for guests and bots, even if a role lists them', async (test) => {
    const desk = await openDesk(test, {
      policy: only(`  all: { users: [${Object.values(userIds).join(', ')}], may: ['*'] }`),
    });
    const { workspace } = desk.house;
    for (const [person, kind, words] of [
      ['agent', 'single_channel_guest', 'Guests can’t use the bot'],
      ['lead', 'guest', 'Guests can’t use the bot'],
      ['onCall', 'bot', 'Bots and workflows can’t use this bot'],
      ['outsider', 'deactivated', 'This Slack account is deactivated'],
    ] as const) {
      workspace.setAccount(desk.id(person), kind);
      await desk.asks(person, '/pay ORDER-1001', words);
      expect(JSON.stringify(desk.messages(person))).not.toContain('Paid');
    }
    await desk.asks('agent', '/pay', 'every command but help');
    const asked = desk.house.exchanges().filter(({ summary }) => summary.includes('users.info'));
    expect(asked).toHaveLength(4);
  });

  it('by user group count for its members; a refusal says what to do if the workspace has no groups', async (test) => {
    const byGroup = only("  agents: { groups: ['@support-agents'], may: [lookup] }");
    const paid = await openDesk(test, { policy: byGroup, workspace: { grantedOptionalScopes: 'all' } });
    await paid.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
    await paid.asks('lead', '/pay ORDER-1001', 'Not allowed');
    const free = await openDesk(test, {
      policy: byGroup,
      workspace: { hasUserGroups: false, grantedOptionalScopes: 'all' },
    });
    const told = await free.asks('agent', '/pay ORDER-1001', 'Not allowed');
    expect(told.shown.text).toContain('User groups need a paid Slack plan: list user ids');
  });
});

/** A charge of Ada’s card that waits for a code. */
async function waitsForCode(desk: Desk, person: 'agent' | 'lead' = 'agent'): Promise<void> {
  await desk.house.payments.act({ kind: 'set_next_charge', next: 'otp' });
  await desk.opens(person, `/pay charge ${person === 'agent' ? '900.00' : '1,000.00'}`);
  await desk.submits(person, { 'Saved card': '4081' });
  await desk.submits(person);
  await desk.modalSays(person, 'of 3 tries left');
  await desk.closes(person);
}

/** A policy with only these roles. */
function only(...roles: string[]): (policy: string) => string {
  return (policy) => `${policy.slice(0, policy.indexOf('roles:'))}roles:\n${roles.join('\n')}\n`;
}
