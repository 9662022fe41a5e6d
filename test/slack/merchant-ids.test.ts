import { describe, expect, it } from 'vitest';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import { actions, button, externalSelect, modal } from '../../src/slack/blocks.ts';
import { merchantIds } from '../../src/slack/merchant-ids.ts';
import type { SlackMessage } from '../../src/slack/message.ts';

const first = merchantIds({ name: 'main', isFirst: true });
const lagos = merchantIds({ name: 'lagos', isFirst: false });
const message: SlackMessage = {
  text: 'Paid',
  blocks: [actions(button({ actionId: 'look_up', text: 'Look up', value: '["action_id"]' }))],
  metadata: { event_type: 'payops_alert', event_payload: { key: 'outbox:alert:payment_failed/order/INV-1' } },
};

describe('the ids of a further account', () => {
  it('stand in its messages, values and words as they were, and in the key by which a post is found again', () => {
    const borne = lagos.message(message);
    assertBlocks('message', borne.blocks);
    expect(borne.blocks).toEqual([
      actions(button({ actionId: 'look_up@lagos', text: 'Look up', value: '["action_id"]' })),
    ]);
    expect(borne.metadata?.event_payload.key).toBe('@lagos:outbox:alert:payment_failed/order/INV-1');
    expect(lagos.key('outbox:1')).toBe('@lagos:outbox:1');
    expect(borne.text).toBe('Paid');
  });

  it('stand in its modals, where blocks keep theirs', () => {
    const made = modal({
      callbackId: 'charge',
      title: 'Charge',
      submit: 'Go',
      privateMetadata: '{"callback_id":"charge"}',
      blocks: [externalSelect({ id: 'charge_card', label: 'Card' })],
    });
    expect(lagos.modal(made)).toMatchObject({
      callback_id: 'charge@lagos',
      private_metadata: '{"callback_id":"charge"}',
      blocks: [{ block_id: 'charge_card', element: { action_id: 'charge_card@lagos' } }],
    });
  });

  it('are those of a bot of one account for the first, whose messages are on the screen already', () => {
    expect(first.message(message)).toBe(message);
    expect([first.id('look_up'), first.key('outbox:1')]).toEqual(['look_up', 'outbox:1']);
  });
});
