import { writeFileSync } from 'node:fs';
import { describe, expect, it, type TestContext } from 'vitest';
import { openChargeDialogue } from '../support/charge-dialogue.ts';
import { openHouse, type Channel, type House, type HouseOptions } from '../support/house.ts';

/** A house whose policy file has these roles and no others. */
async function openWith(
  test: TestContext,
  roles: (house: House) => string,
  options: HouseOptions = {},
): Promise<House> {
  const house = await openHouse(test, options);
  const { channels } = house.workspace.ids;
  writeFileSync(
    house.policyFile,
    `channels: { alerts: ${channels.payAlerts}, desk: ${channels.payDesk} }\nroles:\n${roles(house)}`,
  );
  return house;
}

function seenIn(house: House, channel: Channel): string {
  const { users, channels } = house.workspace.ids;
  return JSON.stringify(house.workspace.state(users.agent).messages[channels[channel]] ?? []);
}

async function typeIn(house: House, channel: Channel, text: string): Promise<void> {
  const { users, channels } = house.workspace.ids;
  const said = { kind: 'send_message', channel: channels[channel], text } as const;
  expect(await house.workspace.act(users.agent, said)).toMatchObject({ ok: true });
}

describe.concurrent('roles', () => {
  it('count where they say: elsewhere a command is refused with the channel where it works', async (test) => {
    const house = await openWith(test, ({ workspace: { ids } }) =>
      [
        `  desk: { users: [${ids.users.agent}], may: [charge], channels: [${ids.channels.payDesk}] }`,
        `  all: { users: [${ids.users.agent}], may: [lookup] }`,
      ].join('\n'),
    );
    const { users, channels } = house.workspace.ids;
    await house.start(house.bot());
    await typeIn(house, 'general', '/pay charge');
    await house.until('it is refused', () => seenIn(house, 'general').includes('Not allowed: /pay charge'));
    expect(seenIn(house, 'general')).toContain(`"channel_id":"${channels.payDesk}"`);
    await typeIn(house, 'general', '/pay help');
    await house.until('help is there', () => seenIn(house, 'general').includes('/pay lookup'));
    expect(seenIn(house, 'general')).not.toContain('/pay charge [amount]');

    const dialogue = openChargeDialogue(house);
    await dialogue.opens('agent', '/pay charge');
    await dialogue.close('agent');
    expect(await house.workspace.act(users.agent, { kind: 'open_home' })).toMatchObject({ ok: true });
    await house.until('the Home is there', () => house.workspace.state(users.agent).home !== undefined);
    expect(JSON.stringify(house.workspace.state(users.agent).home)).not.toContain('/pay charge');
  });

  it('count for no guest, whatever lists them', async (test) => {
    const house = await openWith(
      test,
      ({ workspace: { ids } }) => `  all: { users: [${ids.users.agent}], may: ['*'] }`,
    );
    const { users } = house.workspace.ids;
    house.workspace.setAccount(users.agent, 'single_channel_guest');
    await house.start(house.bot());
    await typeIn(house, 'payDesk', '/pay ORDER-1001');
    await house.until('it is refused', () => seenIn(house, 'payDesk').includes('Guests may not use the bot'));
    expect(seenIn(house, 'payDesk')).not.toContain('Paid');
    await typeIn(house, 'payDesk', '/pay');
    await house.until('the menu is too', () => seenIn(house, 'payDesk').includes('every command but help'));
    const asked = house.exchanges().filter(({ summary }) => summary.includes('users.info'));
    expect(asked).toHaveLength(1);
  });

  it('by group name what to do where the workspace has no groups', async (test) => {
    const house = await openWith(test, () => `  agents: { groups: ['@support-agents'], may: [lookup] }`, {
      workspace: { userNamesOnPaidPlan: false, grantedOptionalScopes: 'all' },
    });
    await house.start(house.bot());
    await typeIn(house, 'payDesk', '/pay ORDER-1001');
    await house.until('it is answered', () => seenIn(house, 'payDesk').includes('Not allowed'));
    expect(seenIn(house, 'payDesk')).toContain('User groups need a paid Slack plan: list user ids');
  });
});
