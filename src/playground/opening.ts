import type { PaymentsService } from '../simulators/payments/service.ts';
import type { PageView } from '../simulators/protocol.ts';
import type { Workspace } from '../simulators/slack/workspace.ts';

type Element = { type: string; action_id?: string };

/**
 * Plays the conversation that a newcomer finds: a look-up, an alert, and a charge that resolves the alert. The
 * simulated people use the bot as everybody does. Rejects if the bot doesn't answer in time; messages posted by then
 * stay.
 */
export async function playOpening(workspace: Workspace, payments: PaymentsService): Promise<void> {
  const { users, channels } = workspace.ids;
  const [agent, lead, channel] = [users.agent, users.lead, channels.payDesk];

  /** Resolves once `look` returns a result. */
  async function waitFor<T>(look: () => T | undefined): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const check = (): void => {
      const found = look();
      if (found !== undefined) resolve(found);
    };
    const timer = setTimeout(() => reject(new Error('The bot did not answer.')), 30_000);
    const stops = [workspace.onChange(check), payments.onChange(check)];
    check();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      for (const stop of stops) stop();
    }
  }
  async function botSays(words: string): Promise<void> {
    await waitFor(() =>
      workspace.state(agent).messages[channel]?.find((one) => one.authorIsBot && one.text.includes(words)),
    );
  }
  async function say(user: string, text: string): Promise<void> {
    await workspace.act(user, { kind: 'send_message', channel, text });
  }
  function view(look: (view: PageView) => boolean): Promise<PageView> {
    return waitFor(() => workspace.state(lead).views.find((one) => !one.busy && look(one)));
  }

  // Wait until the bot has the events from which it learns the saved cards.
  await waitFor(() => payments.state().deliveries.every(({ state }) => state === 'delivered') || undefined);
  await say(users.onCall, 'A customer asks whether ORDER-1001 is paid.');
  await say(agent, '/pay ORDER-1001');
  await botSays('ORDER-1001');
  const terms = { customerEmail: 'ada.obi@example.com', amount: '5000.00' };
  await payments.act({ kind: 'decline_saved_card_charge', ...terms, reason: 'Issuer or switch inoperative' });
  await botSays('SUB-');
  await say(agent, 'Lindiwe, can you charge that card again?');
  await say(lead, `/pay charge ${terms.amount}`);
  const { id: viewId, blocks } = await view(({ submit }) => submit !== undefined);
  const field = blocks.find(({ element }) => (element as Element | undefined)?.type === 'external_select');
  const blockId = field?.block_id ?? '';
  const { action_id: actionId = '' } = (field?.['element'] ?? {}) as Element;
  const found = await workspace.act(lead, { kind: 'suggest', blockId, actionId, text: '4081', viewId });
  const card = { type: 'external_select', selected_option: found.ok ? found.options?.[0] : undefined };
  const values = { [blockId]: { [actionId]: card } };
  await workspace.act(lead, { kind: 'submit_view', viewId, values });
  const review = await view(({ submit }) => submit?.startsWith('Charge NGN') === true);
  await workspace.act(lead, { kind: 'submit_view', viewId: review.id, values: {} });
  // The modal shows progress until the channel has the result.
  await botSays('Paid (confirmed) · NGN 5,000.00');
  const done = await view((one) => JSON.stringify(one.blocks).includes('Paid (confirmed)'));
  await botSays('Resolved');
  await workspace.act(lead, { kind: 'close_view', viewId: done.id });
}
