import type { PaymentsService } from '../simulators/payments/service.ts';
import type { PageMessage, PageView } from '../simulators/protocol.ts';
import type { Workspace } from '../simulators/slack/workspace.ts';

/**
 * The conversation that a newcomer finds: a verdict, an alert, and a charge that resolves it. Its people do it through
 * the bot, as anybody would. Rejects when the bot does not answer in time; what stands there by then stays.
 */
export async function playOpening(workspace: Workspace, payments: PaymentsService): Promise<void> {
  const { users, channels } = workspace.ids;
  const [lead, onCall, channel] = [users.lead, users.onCall, channels.payDesk];

  /** Gives what `look` finds, as soon as it finds anything. */
  function seen<T>(look: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => end(() => reject(new Error('The bot did not answer.'))), 30_000);
      const stopWorkspace = workspace.onChange(check);
      const stopPayments = payments.onChange(check);
      function end(settle: () => void): void {
        clearTimeout(timer);
        stopWorkspace();
        stopPayments();
        settle();
      }
      function check(): void {
        const found = look();
        if (found !== undefined) end(() => resolve(found));
      }
      check();
    });
  }
  function message(user: string, words: string): PageMessage | undefined {
    return workspace
      .state(user)
      .messages[channel]?.findLast((one) => one.authorIsBot && one.text.includes(words));
  }
  async function told(words: string): Promise<void> {
    await seen(() => message(lead, words));
  }
  async function say(user: string, text: string): Promise<void> {
    await workspace.act(user, { kind: 'send_message', channel, text });
  }
  async function press(user: string, at: PageMessage, words: string): Promise<void> {
    const placed = at.blocks.flatMap((block) =>
      ((block['elements'] ?? []) as Element[]).map((element) => ({ blockId: block.block_id ?? '', element })),
    );
    const found = placed.find(
      ({ element: { text } }) => typeof text === 'object' && text.text.startsWith(words),
    );
    if (!found) throw new Error(`There is no button “${words}”.`);
    const container = { type: 'message', channel, ts: at.ts } as const;
    const { action_id: actionId = '' } = found.element;
    await workspace.act(user, { kind: 'block_action', ...found, actionId, container, values: {} });
  }
  function view(look: (view: PageView) => boolean): Promise<PageView> {
    return seen(() => workspace.state(lead).views.find((one) => !one.busy && look(one)));
  }

  // The bot learns the cards from their events.
  await seen(() => payments.state().deliveries.every(({ state }) => state === 'delivered') || undefined);
  await say(onCall, 'A customer asks whether ORDER-1001 is paid.');
  await say(onCall, '/pay ORDER-1001');
  await press(onCall, await seen(() => message(onCall, 'ORDER-1001')), 'Share to channel');
  await told('ORDER-1001');
  const terms = { customerEmail: 'ada.obi@example.com', amount: '5000.00' };
  await payments.act({ kind: 'decline_saved_card_charge', ...terms, reason: 'Issuer or switch inoperative' });
  await told('SUB-');
  await say(onCall, 'Lindiwe, can you charge that card again?');
  await say(lead, `/pay charge ${terms.amount}`);
  const form = await view(({ submit }) => submit !== undefined);
  const field = form.blocks.find(
    ({ element }) => (element as Element | undefined)?.type === 'external_select',
  );
  const blockId = field?.block_id ?? '';
  const { action_id: actionId = '' } = (field?.['element'] ?? {}) as Element;
  const asked = { kind: 'suggest', blockId, actionId, text: '4081', viewId: form.id } as const;
  const found = await workspace.act(lead, asked);
  const card = { type: 'external_select', selected_option: found.ok ? found.options?.[0] : undefined };
  const values = { [blockId]: { [actionId]: card } };
  await workspace.act(lead, { kind: 'submit_view', viewId: form.id, values });
  const review = await view(({ submit }) => submit?.startsWith('Charge NGN') === true);
  await workspace.act(lead, { kind: 'submit_view', viewId: review.id, values: {} });
  await told('Paid (confirmed) · NGN 5,000.00');
  const done = await view(({ blocks }) => JSON.stringify(blocks).includes('Paid (confirmed)'));
  await workspace.act(lead, { kind: 'close_view', viewId: done.id });
  await told('Resolved');
}

type Element = { type: string; action_id?: string; text?: { text: string } };
