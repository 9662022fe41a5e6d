import { expect, it } from 'vitest';
import { formAgain } from '../../src/commands/link.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import type { PaymentLink } from '../../src/domain/payment-link.ts';
import type { Modal } from '../../src/slack/message.ts';

const asker = 'U0AGENT01';
const link: PaymentLink = {
  reference: 'LINK-1' as OrderReference,
  terms: { money: { minor: 15_000, currency: 'NGN' }, customerEmail: 'jane@example.com', savesCard: true },
  by: asker,
  askedAtMs: 0,
  state: { kind: 'aged', atMs: 1 },
  misses: 0,
  places: ['C0FIRST001', 'C0SHARED01'],
};

const nothing = (): Promise<never> => Promise.reject(new Error('not asked for'));

it.each([
  ['the first card', 'C0FIRST001', 'C0FIRST001'],
  ['a card that was shared elsewhere', 'C0SHARED01', 'C0SHARED01'],
  ['a direct message', 'D0AGENT001', undefined],
  ['a modal, where there is no channel', undefined, 'C0FIRST001'],
])('the form of a new link means the channel it is asked for in: %s', async (_what, channelId, meant) => {
  const shown: Modal[] = [];
  const show = (modal: Modal): Promise<string> => {
    shown.push(modal);
    return Promise.resolve('V1');
  };
  const links = {
    find: () => Promise.resolve(link),
    begin: nothing,
    openOf: nothing,
    lookNow: nothing,
    share: nothing,
  };
  await formAgain(
    { environment: 'live', account: 'Lagos', currencies: ['NGN'], links, showEnd: nothing, now: () => 2 },
    {
      caller: { userId: asker, ...(channelId === undefined ? {} : { channelId }) },
      value: link.reference,
      openModal: show,
      updateModal: nothing,
      reply: nothing,
    },
  );
  expect(shown[0]?.private_metadata).toBe(meant);
});
