import { fileURLToPath } from 'node:url';
import { describe, expect, it, type TestContext } from 'vitest';
import { otps } from '../../src/simulators/payments/bank.ts';
import { seedCards } from '../../src/simulators/payments/seed.ts';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import { alertActions } from '../../src/slack/alert/card-actions.ts';
import { lookUpActionId } from '../../src/slack/evidence.ts';
import { storyActions } from '../../src/slack/story/story-message.ts';
import type { Bot } from '../support/bot.ts';
import { openChargeDialogue, type ChargeDialogue } from '../support/charge-dialogue.ts';
import { fastClock } from '../support/fast-clock.ts';
import { openHouse, type House, type HouseOptions, type Person } from '../support/house.ts';
import { runPayops } from '../support/run-payops.ts';

/** A loaded machine is slow; the house's second would be the test's accident. */
const patient = { PAYMENTS_TIMEOUT_SECONDS: '4', SLACK_TIMEOUT_SECONDS: '2', WORK_LEASE_SECONDS: '10' };
const fastBot = fileURLToPath(new URL('../chaos/chaos-bot.ts', import.meta.url));

type Desk = { house: House; bot: Bot; dialogue: ChargeDialogue };

const { requiresOtp, approves } = seedCards;
const withCode = { amount: '12500.00', token: requiresOtp.tokenKey, email: requiresOtp.customerEmail };

describe.concurrent('the story of a reference', () => {
  it('tells a charge with a wrong code, the right one and its event in order, each with who did it', async (test) => {
    const desk = await openDesk(test);
    const { house } = desk;
    const reference = await paidAtTheSecondCode(desk);

    const { agent } = house.workspace.ids.users;
    const [first, ...rest] = await tells(desk, 'lead', reference);
    expect(first).toBe(`@${agent} started the charge → Charging · “NGN 12,500.00”`);
    // What happened at the same moment, as the bank's two answers and the form's, may stand either way round.
    expectInOrder(rest, [
      'The payments service answered the charge: the bank wants a code: Charging → Needs OTP',
      `@${agent} entered a code: Needs OTP → Checking the code`,
      'The payments service answered the code: not right: Checking the code → Needs OTP · “Invalid OTP”',
      `@${agent} entered a code: Needs OTP → Checking the code`,
      'The payments service answered the code: accepted, which is no proof yet',
      'The payments service was asked, and proves the payment',
      'Payops told the agent: paid',
    ]);
    expect(rest.join('\n')).toContain('The payments service sent a signed event: payment_success');
    expect(rest.join('\n')).toContain(
      `Payops posted the charge’s message in #${house.workspace.ids.channels.payDesk}`,
    );
    expect(rest.filter((line) => line === `@${agent} sent the form otp`)).toHaveLength(2);
    expect(new Set(rest.filter((line) => line.startsWith('Payops told'))).size).toBe(2);
    await expectWhole(desk);
  });

  it('has every step once when the bot is killed in the middle, and the trail is whole', async (test) => {
    // The half minute until the charge is looked after, and the dead bot's lease, pass ten times as fast.
    const clock = { fromMs: Date.now(), factor: 10 };
    const now = fastClock(clock);
    const desk = await openDesk(test, {
      program: fastBot,
      // The bot opens a form as fast as on any machine, which is not tenfold.
      workspace: { grantedOptionalScopes: 'all', now, triggerLifeMs: 3_000 * clock.factor },
      payments: { now },
      env: { ...patient, WORK_LEASE_SECONDS: '100', CHAOS_CLOCK: JSON.stringify(clock) },
    });
    const { house, bot, dialogue } = desk;
    const answer = house.paymentsGate.hold('/v1/checkout/tokenized-card-payment', 'after');
    await dialogue.charge('agent', {
      amount: '700.00',
      token: approves.tokenKey,
      email: approves.customerEmail,
    });
    // The bank has charged, and the bot dies before it hears so.
    const held = await answer;
    await bot.kill9();
    held.release();
    await house.start(bot);
    await house.until('it is settled', async () => (await house.workLeft()) === 0);
    const [reference = ''] = dialogue.references();
    const lines = await tells(desk, 'lead', reference);
    const steps = lines.filter((line) => !line.includes('posted'));
    expect(steps.filter((line) => line.includes('started the charge'))).toHaveLength(1);
    expect(steps.filter((line) => line.includes('→ Paid (confirmed)'))).toHaveLength(1);
    expect(steps.filter((line) => line.includes('told the agent: paid'))).toHaveLength(1);
    // All of it is in the trail itself, and not told from the charge's record alone.
    const exported = await exportOf(desk, reference);
    expect(exported.filter(({ result }) => result === 'told_approved')).toHaveLength(1);
    expect(exported.filter(({ result }) => result === 'begun')).toHaveLength(1);
    await expectWhole(desk);
  });

  it('tells a failed event, its alert and what people did with it; and that somebody was refused', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    const reference = await house.decline();
    await house.until('the alert is posted', () => house.posts('payAlerts').length === 1);
    await pressOnAlert(house, 'onCall');
    await house.until('it is acknowledged', async () =>
      (await exportOf(desk, reference)).some(({ result }) => result === 'alert_acknowledged'),
    );
    await house.until('all is told', async () => (await house.workLeft()) === 0);
    await house.type('agent', `/pay story ${reference}`);
    await house.until(
      'it is refused',
      () => house.seenBy('agent').at(-1)?.text.includes('Not allowed') === true,
    );
    await house.until('the refusal is in the trail', async () =>
      (await exportOf(desk, reference)).some(({ result }) => result === 'refused'),
    );

    const { onCall, agent } = house.workspace.ids.users;
    const lines = await tells(desk, 'lead', reference);
    expectInOrder(lines, [
      'The payments service sent a signed event: payment_failed',
      `Payops posted the alert in #${house.workspace.ids.channels.payAlerts}`,
      `@${onCall} acknowledged the alert`,
      `@${agent} asked for /pay story: refused, in #${house.workspace.ids.channels.payDesk} · “`,
    ]);
    await expectWhole(desk);
    expect(dialogue.references()).toEqual([]);
  });

  it('says of a reference that the bot does not know that it does not, and offers a look-up', async (test) => {
    const desk = await openDesk(test);
    const { house } = desk;
    for (let times = 0; times < 2; times += 1) {
      // oxlint-disable-next-line no-await-in-loop -- that it was asked for is no story
      const blocks = await asks(desk, 'lead', '/pay story ORDER-1001', 'knows nothing of this reference');
      expect(JSON.stringify(blocks)).toContain(lookUpActionId);
    }
    expect(house.paymentsGate.passed.filter(({ path }) => path.includes('transactions'))).toEqual([]);
  });

  it('turns the pages of a long one, and gives all of it as a file to whoever asks alone', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    const reference = await paidAtTheSecondCode(desk);
    const first = await asks(desk, 'lead', `/pay story ${reference}`, 'Paid (confirmed)');
    expect(JSON.stringify(first)).toContain('page 1 of 2');
    await dialogue.pressInMessage('lead', storyActions.later);
    await house.until('the second page', () =>
      JSON.stringify(house.seenBy('lead').at(-1)).includes('page 2 of 2'),
    );
    await dialogue.pressInMessage('lead', storyActions.file);
    await house.until('the file', () => dialogue.directOf('lead').some(({ files = [] }) => files.length > 0));
    const [file] = dialogue.directOf('lead').flatMap(({ files = [] }) => files);
    expect(file?.text).toContain('told_approved');
    expect(file?.text).not.toContain(requiresOtp.customerEmail);
  });
});

/** The reference of a charge whose first code was wrong, once all of it is told. */
async function paidAtTheSecondCode({ house, dialogue }: Desk): Promise<string> {
  await dialogue.charge('agent', withCode);
  await dialogue.modalSays('agent', '3 tries left');
  await dialogue.enterCode('agent', '000000');
  await dialogue.modalSays('agent', '2 tries left');
  await dialogue.enterCode('agent', otps.right);
  await dialogue.modalSays('agent', 'Paid (confirmed)');
  await house.until('all is told', async () => (await house.workLeft()) === 0);
  const [reference = ''] = dialogue.references();
  return reference;
}

async function openDesk(test: TestContext, options: HouseOptions = {}): Promise<Desk> {
  const house = await openHouse(test, {
    workspace: { grantedOptionalScopes: 'all' },
    env: patient,
    ...options,
  });
  const bot = house.bot();
  await house.start(bot);
  return { house, bot, dialogue: openChargeDialogue(house) };
}

/** What that command shows, once it says these words; Slack would take it. */
async function asks({ house }: Desk, person: Person, command: string, words: string): Promise<unknown[]> {
  const before = house.seenBy(person).length;
  await house.type(person, command);
  await house.until(`${command} is answered with “${words}”`, () => {
    const seen = house.seenBy(person);
    return seen.length > before && (seen.at(-1)?.text.includes(words) ?? false);
  });
  const { blocks = [] } = house.seenBy(person).at(-1) ?? {};
  assertBlocks('message', blocks);
  return blocks;
}

/** Every line of the story, page by page. */
async function tells(desk: Desk, person: Person, reference: string): Promise<string[]> {
  const lines: string[] = [];
  for (let page = 1; ; page += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one page after the other
    const blocks = await asks(desk, person, `/pay story ${reference} ${page}`, reference);
    lines.push(...linesOf(blocks));
    const [, pages = '1'] = /page \d+ of (\d+)/.exec(JSON.stringify(blocks)) ?? [];
    if (page >= Number(pages)) return lines;
  }
}

/** With people and channels by their ids, and without the times. */
function linesOf(blocks: readonly unknown[]): string[] {
  const [, body] = blocks as { elements: { elements: Record<string, string>[] }[] }[];
  const pieces = body?.elements[0]?.elements ?? [];
  const text = pieces.map(
    ({ type, text: said = '', user_id: user, channel_id: channel }) =>
      ({ user: `@${user}`, channel: `#${channel}`, date: '' })[type ?? ''] ?? said,
  );
  return text
    .join('')
    .split('\n')
    .map((line) => line.trim());
}

/** Each begins a line, one below the other. */
function expectInOrder(lines: readonly string[], beginnings: readonly string[]): void {
  let from = 0;
  for (const beginning of beginnings) {
    const at = lines.findIndex((line, index) => index >= from && line.startsWith(beginning));
    expect(at, `“${beginning}” in\n${lines.join('\n')}`).toBeGreaterThanOrEqual(from);
    from = at + 1;
  }
}

/** As an operator asks, while the bot runs. */
async function expectWhole({ house }: Desk): Promise<void> {
  const { code, stdout, stderr } = await runPayops(['audit', 'verify'], house.settings());
  expect({ code, said: `${stdout}${stderr}` }).toEqual({
    code: 0,
    said: expect.stringContaining('is whole'),
  });
}

async function exportOf({ house }: Desk, reference: string): Promise<{ result?: string; who: string }[]> {
  const { stdout } = await runPayops(['audit', 'export'], house.settings());
  return stdout
    .split('\n')
    .filter((line) => line.includes(reference))
    .map((line) => JSON.parse(line) as { result?: string; who: string });
}

async function pressOnAlert({ workspace }: House, person: Person): Promise<void> {
  const { users, channels } = workspace.ids;
  const [post] = workspace.posts(channels.payAlerts);
  const block = (post?.blocks ?? []).find((one) => JSON.stringify(one).includes(alertActions.acknowledge));
  const { block_id: blockId = '', elements = [] } = block as {
    block_id?: string;
    elements?: { action_id?: string; type: string }[];
  };
  const element = elements.find(({ action_id: id }) => id === alertActions.acknowledge);
  if (!post || !element) throw new Error('the alert has no such button');
  const container = { type: 'message', channel: channels.payAlerts, ts: post.ts } as const;
  const press = { blockId, actionId: alertActions.acknowledge, element, container, values: {} };
  const result = await workspace.act(users[person], { kind: 'block_action', ...press });
  if (!result.ok) throw new Error(result.problem);
}
