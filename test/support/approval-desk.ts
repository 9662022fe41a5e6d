import { readFileSync, writeFileSync } from 'node:fs';
import { expect, type TestContext } from 'vitest';
import { seedCards } from '../../src/simulators/payments/seed.ts';
import type { PageMessage } from '../../src/simulators/protocol.ts';
import { commonPayload } from '../../src/simulators/slack/payloads.ts';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import type { Bot } from './bot.ts';
import { openChargeDialogue, sendToBot, visibleText, type ChargeDialogue } from './charge-dialogue.ts';
import { openHouse, type House, type HouseOptions, type Person } from './house.ts';

const { tokenKey: token, customerEmail: email } = seedCards.approves;
/** More than one person alone may charge in the playground. */
export const large = { token, email, amount: '150,000.00', reason: 'Renewal, asked for by phone' };
/** A loaded machine is slow; the house's second would be the test's accident. */
const patient = {
  PAYMENTS_TIMEOUT_SECONDS: '4',
  SLACK_TIMEOUT_SECONDS: '6',
  WORK_LEASE_SECONDS: '30',
  LOG_LEVEL: 'debug',
};

export type Desk = { house: House; bot: Bot; dialogue: ChargeDialogue };
type Rewrite = (policy: string) => string;

export async function openDesk(
  test: TestContext,
  options: HouseOptions = {},
  change?: Rewrite,
): Promise<Desk> {
  const house = await openHouse(test, { ...options, env: { ...patient, ...options.env } });
  if (change) rewrite(house, change);
  const bot = house.bot();
  await house.start(bot);
  return { house, bot, dialogue: openChargeDialogue(house) };
}

export function rewrite({ policyFile }: House, change: Rewrite): void {
  const before = readFileSync(policyFile, 'utf8');
  const after = change(before);
  expect(after).not.toBe(before);
  writeFileSync(policyFile, after);
}

/** The agent submits the terms, and the window says that they wait. */
export async function asks(
  { dialogue }: Desk,
  form: Parameters<ChargeDialogue['charge']>[1] = large,
): Promise<void> {
  await dialogue.charge('agent', form);
  await dialogue.modalSays('agent', 'Needs approval');
}

/** As it is read, whatever pieces it is made of. */
export function read({ blocks }: PageMessage): string {
  return visibleText(blocks).replaceAll(/ +/g, ' ');
}

export function seen({ house }: Desk, person: Person): PageMessage[] {
  const { workspace } = house;
  return Object.values(workspace.state(workspace.ids.users[person]).messages)
    .flat()
    .filter(({ authorIsBot }) => authorIsBot);
}

/** By what it was posted as: its words change. */
export function isCard({ house }: Desk, { ephemeral, threadTs, channel, ts }: PageMessage): boolean {
  if (ephemeral || threadTs !== undefined) return false;
  const post = house.workspace.posts(channel).find((one) => one.ts === ts);
  return post?.metadata?.event_type === 'payops_approval';
}

/** The copy in a person's own conversation, as soon as it says so. */
export async function cardOf(desk: Desk, person: Person, words = ''): Promise<PageMessage> {
  return await found(desk, `the ${person} has the card`, () =>
    desk.dialogue.directOf(person).find((one) => isCard(desk, one) && one.text.includes(words)),
  );
}

export async function channelCard(desk: Desk, words: string): Promise<PageMessage> {
  const { payOps } = desk.house.workspace.ids.channels;
  return await found(desk, 'the channel has the card', () =>
    seen(desk, 'lead').find((one) => one.channel === payOps && isCard(desk, one) && one.text.includes(words)),
  );
}

export async function found(
  { house }: Desk,
  what: string,
  find: () => PageMessage | undefined,
): Promise<PageMessage> {
  await house.until(what, () => find() !== undefined);
  const message = find();
  if (!message) throw new Error(what);
  expect(() => assertBlocks('message', JSON.parse(JSON.stringify(message.blocks)))).not.toThrow();
  return message;
}

/** Every copy: of the channel, of both approvers, and of whoever asked. */
export function cards(desk: Desk): PageMessage[] {
  const { payOps } = desk.house.workspace.ids.channels;
  const channel = seen(desk, 'lead').filter((one) => one.channel === payOps && isCard(desk, one));
  const people = (['agent', 'lead', 'onCall'] as const).flatMap((person) =>
    desk.dialogue.directOf(person).filter((one) => isCard(desk, one)),
  );
  return [...channel, ...people];
}

export async function everywhere(desk: Desk, words: string): Promise<void> {
  await desk.house
    .until(`every copy says ${words}`, () => cards(desk).every(({ text }) => text.startsWith(words)))
    .catch((error: unknown) => {
      throw new Error(JSON.stringify(cards(desk).map(({ text }) => text)), { cause: error });
    });
  expect(cards(desk)).toHaveLength(4);
}

export function notes(desk: Desk): PageMessage[] {
  const { payOps } = desk.house.workspace.ids.channels;
  return seen(desk, 'lead').filter(
    ({ channel, threadTs, ephemeral }) => channel === payOps && threadTs !== undefined && !ephemeral,
  );
}

export async function direct(
  desk: Desk,
  person: Person,
  says: (text: string, body: string) => boolean,
): Promise<void> {
  await desk.house
    .until(`the ${person} is told`, () =>
      desk.dialogue
        .directOf(person)
        .some((one) => !isCard(desk, one) && says(one.text, visibleText(one.blocks))),
    )
    .catch((error: unknown) => {
      throw new Error(JSON.stringify(desk.dialogue.directOf(person).map(({ text }) => text)), {
        cause: error,
      });
    });
}

/** The newest message that they alone see, once it begins so. */
export async function toldAlone(desk: Desk, person: Person, words: string): Promise<PageMessage> {
  return await found(desk, `the ${person} is told ${words}`, () => {
    const last = seen(desk, person)
      .filter(({ ephemeral }) => ephemeral)
      .toSorted((one, other) => Number(one.ts) - Number(other.ts))
      .at(-1);
    return last?.text.startsWith(words) ? last : undefined;
  });
}

export function buttonsOf({ blocks }: PageMessage): string[] {
  return blocks.flatMap(({ type, elements }) =>
    type === 'actions' ? (elements as { action_id: string }[]).map((one) => one.action_id) : [],
  );
}

/** As Slack sends the press of a button that was seen, also when the message has lost it since. */
export async function presses(
  desk: Desk,
  person: Person,
  message: PageMessage,
  actionId: string,
): Promise<void> {
  const { house, bot } = desk;
  const { user } = house.workspace.state(house.workspace.ids.users[person]);
  const block = message.blocks.find((one) => buttonsOf({ ...message, blocks: [one] }).includes(actionId));
  const button = ((block?.['elements'] ?? []) as { action_id: string; value?: string }[]).find(
    (one) => one.action_id === actionId,
  );
  if (!block || !button) throw new Error(`There is no ${actionId}: ${visibleText(message.blocks)}`);
  const now = seen(desk, person).find(({ ts, channel }) => ts === message.ts && channel === message.channel);
  if (now && buttonsOf(now).includes(actionId)) {
    const result = await house.workspace.act(user.id, {
      kind: 'block_action',
      blockId: block.block_id ?? '',
      actionId,
      element: button as never,
      container: { type: 'message', channel: message.channel, ts: message.ts },
      values: {},
    });
    if (!result.ok) throw new Error(result.problem);
    return;
  }
  const payload = {
    type: 'block_actions',
    ...commonPayload(user),
    trigger_id: 'of.an.old.press',
    container: {
      type: 'message',
      message_ts: message.ts,
      channel_id: message.channel,
      is_ephemeral: false,
    },
    channel: { id: message.channel, name: 'seen' },
    actions: [{ ...button, block_id: block.block_id, action_ts: String(Date.now() / 1_000) }],
  };
  const acked = await sendToBot(
    house,
    bot,
    new URLSearchParams({ payload: JSON.stringify(payload) }).toString(),
  );
  expect(acked.status).toBe(200);
}
