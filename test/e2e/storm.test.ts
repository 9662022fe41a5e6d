import { describe, expect, it } from 'vitest';
import type { PageMessage } from '../../src/simulators/protocol.ts';
import { stormActions } from '../../src/slack/alert/storm-actions.ts';
import { openHouse, type House, type Person } from '../support/house.ts';

type Element = { action_id?: string; value?: string; type: string };
type Block = { type: string; block_id?: string; elements?: Element[] };

const threshold = 3;
const count = 60;

function seen(house: House, person: Person): PageMessage[] {
  const { channels, users } = house.workspace.ids;
  return house.workspace.state(users[person]).messages[channels.payAlerts] ?? [];
}

function digests(house: House): PageMessage[] {
  return seen(house, 'lead').filter(
    ({ text, ephemeral, threadTs }) => !ephemeral && !threadTs && text.includes('Storm'),
  );
}

function singles(house: House) {
  return house.posts('payAlerts').filter(({ threadTs, text }) => !threadTs && !text.includes('Storm'));
}

/** As a person reads them, buttons included. */
function wordsOf(message: PageMessage | undefined): number {
  const texts: string[] = [];
  JSON.stringify(message?.blocks ?? [], (key, value: unknown) => {
    if ((key === 'text' || key === 'fallback') && typeof value === 'string') texts.push(value);
    return value;
  });
  return texts
    .join(' ')
    .split(/\s+/)
    .filter((word) => /\w/.test(word)).length;
}

function find(
  blocks: readonly unknown[],
  actionId: string,
): { blockId: string; element: Element } | undefined {
  for (const { block_id: blockId = '', elements = [] } of blocks as Block[]) {
    const element = elements.find((one) => one.action_id === actionId);
    if (element) return { blockId, element };
  }
  return undefined;
}

/** Presses a button of the digest, or of the modal on top. */
async function press(house: House, person: Person, actionId: string): Promise<void> {
  const user = house.workspace.ids.users[person];
  const view = house.workspace.state(user).views.at(-1);
  const [digest] = digests(house);
  if (!digest) throw new Error('No digest stands.');
  const found = find(view ? view.blocks : digest.blocks, actionId);
  if (!found) throw new Error(`There is no ${actionId}.`);
  const container = view
    ? ({ type: 'view', viewId: view.id } as const)
    : ({ type: 'message', channel: digest.channel, ts: digest.ts } as const);
  const { blockId, element } = found;
  const result = await house.workspace.act(user, {
    kind: 'block_action',
    blockId,
    actionId,
    element,
    container,
    values: {},
  });
  if (!result.ok) throw new Error(result.problem);
}

function viewText(house: House, person: Person): string {
  return JSON.stringify(house.workspace.state(house.workspace.ids.users[person]).views.at(-1) ?? {});
}

describe.concurrent('a storm in the workspace', () => {
  it('is one digest of all 60 through a kill, acknowledged with one click, listed, and a CSV', async (test) => {
    const house = await openHouse(test, { processes: true, workspace: { grantedOptionalScopes: 'all' } });
    const bot = house.bot({ DIGEST_THRESHOLD: String(threshold) });
    await house.start(bot);
    await house.cardsKnown();
    await house.payments.act({ kind: 'send_failures', count });
    await house.until('a digest stands', () => digests(house).length > 0);
    await bot.kill9();
    await house.start(bot);
    const all = `${count} failed charges`;
    await house.until('the digest counts all', () => digests(house)[0]?.text.includes(all) === true);
    expect(digests(house)).toHaveLength(1);
    const above = singles(house);
    expect(above.length).toBeLessThanOrEqual(threshold);
    const said = /(\d+) of them above/.exec(JSON.stringify(digests(house)[0]?.blocks))?.[1] ?? 0;
    expect(Number(said)).toBe(above.length);
    expect(wordsOf(digests(house)[0])).toBeLessThanOrEqual(50);

    await Promise.all([
      press(house, 'lead', stormActions.acknowledgeAll),
      press(house, 'onCall', stormActions.acknowledgeAll),
    ]);
    const told = () =>
      [...seen(house, 'lead'), ...seen(house, 'onCall')].filter(({ ephemeral }) => ephemeral);
    await house.until('the second is told who was first', () => told().length === 1);
    expect(told()[0]?.text).toContain('Somebody else acknowledged this storm first');
    await house.until('the digest and every message above it say so', () => {
      const isSaid = JSON.stringify(digests(house)[0]).includes('Acknowledged by');
      return isSaid && singles(house).every(({ text }) => text.startsWith('👀 Acknowledged'));
    });
    expect(singles(house)).toHaveLength(above.length);

    await press(house, 'lead', stormActions.showList);
    await house.until('the list is open', () => viewText(house, 'lead').includes(`${all}, page 1 of 3`));
    await press(house, 'lead', stormActions.next);
    await house.until('its second page', () => viewText(house, 'lead').includes('page 2 of 3'));
    expect(viewText(house, 'lead')).toContain('👀 Acknowledged');
    expect(viewText(house, 'lead')).not.toMatch(/[a-z]{4,}@/);

    await press(house, 'onCall', stormActions.csv);
    const file = () =>
      house.posts('payAlerts').flatMap(({ files = [], threadTs }) => (threadTs ? files : []))[0];
    await house.until('the CSV is in the thread', () => file() !== undefined);
    const lines = file()?.text.trim().split('\r\n') ?? [];
    expect(lines[0]).toContain('reference,received_at,amount,currency,reason');
    const references = lines.slice(1).map((line) => line.split(',')[0]);
    expect(new Set(references).size).toBe(count);
    expect(lines.slice(1).every((line) => line.includes(',acknowledged,'))).toBe(true);
    const dump = await house.storeDump();
    expect(dump).toContain('storm-list:');
    expect(dump).not.toContain('chidi.eze@');
  }, 150_000);

  it('counts what is declined while it lasts, and what a later payment resolves', async (test) => {
    const house = await openHouse(test);
    await house.start(house.bot({ DIGEST_THRESHOLD: '20' }));
    await house.cardsKnown();
    await house.payments.act({ kind: 'send_failures', count });
    await house.until('the digest counts all', () => digests(house)[0]?.text.includes('60 failed') === true);
    expect(singles(house).length).toBeLessThanOrEqual(20);
    await house.decline();
    await house.until('it counts one more', () => digests(house)[0]?.text.includes('61 failed') === true);
    await press(house, 'lead', stormActions.acknowledgeAll);
    const customerEmail = 'chidi.eze@example.com';
    await house.payments.act({ kind: 'approve_saved_card_charge', amount: '5000.00', customerEmail });
    const shown = (): string => JSON.stringify(digests(house)[0]?.blocks);
    await house.until('it counts what was paid', () => shown().includes('by payment'));
    expect(digests(house)).toHaveLength(1);
  });

  it('tells whoever asks for a CSV without the scope what to do', async (test) => {
    const house = await openHouse(test);
    await house.start(house.bot({ DIGEST_THRESHOLD: '1' }));
    await house.cardsKnown();
    await house.payments.act({ kind: 'send_failures', count: 3 });
    await house.until('a digest stands', () => digests(house).length > 0);
    await press(house, 'lead', stormActions.csv);
    const told = (): string => JSON.stringify(seen(house, 'lead').filter(({ ephemeral }) => ephemeral));
    await house.until('the answer is told', () => told() !== '[]');
    expect(told()).toContain('files:write');
  });

  it('gathers payments apart from it, and lists which of them are proven', async (test) => {
    const house = await openHouse(test);
    await house.start(house.bot({ DIGEST_THRESHOLD: '2' }));
    const references: string[] = [];
    for (let number = 0; number < 7; number += 1) {
      // oxlint-disable-next-line no-await-in-loop -- each is an order of its own
      references.push(await house.approve());
    }
    const gathered = () => house.posts('general').filter(({ text }) => text.includes('Many payments'));
    await house.until(
      'the digest counts all seven',
      () => gathered()[0]?.text.includes('Many payments: 7') === true,
    );
    expect(gathered()).toHaveLength(1);
    expect(house.posts('general').length).toBeLessThanOrEqual(3);
    const shown = JSON.stringify(gathered()[0]?.blocks);
    expect(shown).toContain('7 of 7');
    expect(shown).not.toContain(stormActions.acknowledgeAll);
    expect(new Set(references).size).toBe(7);
  });
});
