import { describe, expect, it, type TestContext } from 'vitest';
import { otps } from '../../src/playground/payments/bank.ts';
import { seedCards } from '../../src/playground/payments/seed.ts';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import { chargeActions } from '../../src/slack/charge/charge-actions.ts';
import { storyActions } from '../../src/slack/story/story-message.ts';
import type { Bot } from '../support/bot.ts';
import { openChargeDialogue, type ChargeDialogue } from '../support/charge-dialogue.ts';
import { openHouse, type House, type HouseOptions, type Person } from '../support/house.ts';

type Desk = { house: House; bot: Bot; dialogue: ChargeDialogue };

const { requiresOtp, approves } = seedCards;

describe('the story of a reference', { timeout: 60_000 }, () => {
  it('tells a charge with a wrong code, the right one and its event in order, with who did it', async (test) => {
    const desk = await openDesk(test);
    const { house, dialogue } = desk;
    await dialogue.charge('agent', {
      amount: '12500.00',
      token: requiresOtp.tokenKey,
      email: requiresOtp.customerEmail,
    });
    await dialogue.modalSays('agent', 'tries');
    await dialogue.enterCode('agent', '000000');
    await dialogue.modalSays('agent', '2 tries left');
    await dialogue.enterCode('agent', otps.right);
    await dialogue.modalSays('agent', 'Paid (confirmed)');
    await house.until('all is told', async () => (await house.workLeft()) === 0, 20_000);
    const [reference = ''] = dialogue.references();
    const story = await asks(desk, 'lead', `/pay story ${reference}`, 'Paid (confirmed)');
    console.log(story);
  });
});

async function openDesk(test: TestContext, options: HouseOptions = {}): Promise<Desk> {
  const house = await openHouse(test, {
    workspace: { grantedOptionalScopes: 'all' },
    ...options,
    env: { PAYMENTS_TIMEOUT_SECONDS: '4', WORK_LEASE_SECONDS: '10', ...options.env },
  });
  const bot = house.bot();
  await house.start(bot);
  return { house, bot, dialogue: openChargeDialogue(house) };
}

async function asks({ house }: Desk, person: Person, command: string, words: string): Promise<string[]> {
  const before = house.seenBy(person).length;
  await house.type(person, command);
  await house.until(`${command} is answered with “${words}”`, () => {
    const seen = house.seenBy(person);
    return seen.length > before && (seen.at(-1)?.text.includes(words) ?? false);
  });
  const last = house.seenBy(person).at(-1);
  if (!last) throw new Error('nothing is seen');
  assertBlocks('message', last.blocks);
  return linesOf(last.blocks);
}

/** The lines of the story, with people and channels by their ids and without the times. */
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
