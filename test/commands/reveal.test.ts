import { describe, expect, it } from 'vitest';
import { lookupCommand } from '../../src/commands/lookup.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import type { Transaction } from '../../src/domain/transaction.ts';
import type { Revealed } from '../../src/operations/card/reveal-email.ts';
import { assertBlocks, findViewProblems } from '../../src/slack/assert-blocks.ts';
import type { Permission, Pressed } from '../../src/slack/command.ts';
import type { Modal, SlackMessage } from '../../src/slack/message.ts';
import { revealActionId } from '../../src/slack/reveal-message.ts';
import { noSharing } from './no-sharing.ts';

const email = 'ada.obi@example.com';
const record: Transaction = { status: 'SUCCESS', orderReference: 'INV-2041', customerEmail: email };
const channelId = 'C0DESK0001';
const longest = `${'\u{1F469}\u200D\u{1F469}'.repeat(60)}@example.com`;

function stage(
  options: { may?: readonly Permission[]; revealed?: Revealed | Error; found?: Transaction } = {},
) {
  const { may = ['lookup', 'reveal'], revealed = { kind: 'revealed', email }, found = record } = options;
  const asked: unknown[] = [];
  const replies: SlackMessage[] = [];
  const opened: Modal[] = [];
  const ends: { modal: Modal; message?: SlackMessage }[] = [];
  const command = lookupCommand({
    ...noSharing,
    findTransaction: async () => found,
    environment: 'live',
    account: 'Main shop',
    now: () => 1_700_000_000_000,
    mayRun: async (permission) =>
      may.includes(permission) ? { kind: 'allowed' } : { kind: 'refused', rule: '', whoCan: '' },
    async revealEmail(wanted) {
      asked.push(wanted);
      if (revealed instanceof Error) throw revealed;
      return revealed;
    },
    async showEnd(_to, shown) {
      ends.push(shown);
    },
  });
  const press = command.presses?.find(({ actionId }) => actionId === revealActionId);
  if (!press) throw new Error('nothing reveals');
  return {
    asked,
    replies,
    opened,
    ends,
    press,
    async answer(inChannel = true): Promise<SlackMessage> {
      const prepared = command.prepare(['INV-2041']);
      if (!prepared.ok) throw new Error(prepared.problem);
      const message = await prepared.value.run({
        caller: { userId: 'U1', ...(inChannel ? { channelId } : {}) },
        openModal: () => Promise.reject(new Error('a look-up opens no modal')),
        whileWaiting: (work) => work,
      });
      if (!message) throw new Error('no answer');
      assertBlocks('message', message.blocks);
      return message;
    },
    pressed: (from: Partial<Pressed>) =>
      press.press({
        caller: { userId: 'U1' },
        value: 'INV-2041',
        async openModal(modal) {
          opened.push(modal);
          return 'V2';
        },
        updateModal: async () => undefined,
        async reply(message) {
          assertBlocks('message', message.blocks);
          replies.push(message);
        },
        ...from,
      }),
  };
}

function buttonsOf({ blocks }: SlackMessage): string[] {
  return blocks.flatMap((block) =>
    block.type === 'actions'
      ? block.elements.flatMap((one) => (one.type === 'button' ? [one.text.text] : []))
      : [],
  );
}

describe('Reveal e-mail', () => {
  it('stands on a look-up’s answer for whoever may reveal, and never carries the address', async () => {
    const answer = await stage().answer();
    expect(buttonsOf(answer)).toEqual(['Refresh', 'Share to channel', 'Reveal e-mail']);
    expect(JSON.stringify(answer)).not.toContain(email);
    expect(buttonsOf(await stage({ may: ['lookup'] }).answer())).toEqual(['Refresh', 'Share to channel']);
    const { customerEmail: _none, ...nameless } = record;
    expect(buttonsOf(await stage({ found: nameless }).answer(false))).toEqual(['Refresh']);
  });

  it('is asked for its own permission when it is pressed', () => {
    expect(stage().press.permissions).toEqual(['reveal']);
  });

  it('shows the address to the one person in the channel, and nothing else of the customer', async () => {
    const { pressed, replies, asked } = stage();
    await pressed({ caller: { userId: 'U1', channelId } });
    expect(asked).toEqual([{ reference: 'INV-2041', by: 'U1', where: channelId }]);
    expect(replies.map(({ text }) => text)).toEqual([`${email} · INV-2041`]);
    expect(replies[0]?.metadata).toBeUndefined();
  });

  it('shows it on top of a modal, and sends it nowhere when that was closed', async () => {
    const { pressed, replies, opened, ends, asked } = stage();
    await pressed({
      caller: { userId: 'U1', channelId },
      view: { id: 'V1', privateMetadata: channelId, values: {} },
    });
    expect(asked).toEqual([{ reference: 'INV-2041', by: 'U1', where: 'modal' }]);
    expect(replies).toEqual([]);
    expect(JSON.stringify(opened)).not.toContain(email);
    const [end] = ends;
    if (!end) throw new Error('nothing was shown');
    expect(findViewProblems(end.modal)).toEqual([]);
    expect(JSON.stringify(end.modal)).toContain(email);
    expect(JSON.stringify(end.message)).not.toContain(email);
  });

  it('is refused where only a direct message could show it, and then nothing is read', async () => {
    const { pressed, replies, asked } = stage();
    await pressed({});
    expect(asked).toEqual([]);
    expect(replies.map(({ text }) => text)).toEqual(['Not revealed']);
  });

  it.each<[string, Revealed | Error, RegExp]>([
    ['the audit takes no entry', { kind: 'not_on_record' }, /Not revealed.*could not be written/],
    ['nobody knows an address', { kind: 'no_address' }, /No e-mail is known/],
    ['the service does not answer', new ServiceFailure('timeout', 'no answer'), /Money: /],
  ])('says so when %s', async (_what, revealed, words) => {
    const { pressed, replies } = stage({ revealed });
    await pressed({ caller: { userId: 'U1', channelId } });
    expect(JSON.stringify(replies)).toMatch(words);
    expect(JSON.stringify(replies)).not.toContain('@example.com');
  });

  it('fits the longest and oddest address', async () => {
    const { pressed, replies } = stage({ revealed: { kind: 'revealed', email: longest } });
    await pressed({ caller: { userId: 'U1', channelId } });
    expect(replies).toHaveLength(1);
  });
});
