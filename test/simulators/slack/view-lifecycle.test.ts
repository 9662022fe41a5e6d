import { afterEach, describe, expect, it } from 'vitest';
import type { Exchange } from '../../../src/simulators/protocol.ts';
import {
  clientOf,
  closeAll,
  modal,
  openBot,
  openRawBot,
  openWorkspace,
  payloadOf,
  refusal,
  textInput,
} from './support.ts';
import { charge, freshTrigger, submit, views, withModal } from './view-support.ts';

afterEach(closeAll);

const typed = (block: string, value: string) => ({
  [block]: { value: { type: 'plain_text_input', value } },
});
const form = modal('Code', { callback_id: 'form', blocks: [textInput('otp_code'), textInput('note')] });

describe('a view that the bot changes', () => {
  it('is gone once the person closed it', async () => {
    const workspace = await withModal(form);
    const bot = clientOf(workspace);
    const id = views(workspace)[0]?.id ?? '';
    await workspace.act(workspace.ids.users.agent, { kind: 'close_view', viewId: id });
    expect(await refusal(bot.views.update({ view_id: id, view: modal('Paid') }))).toMatchObject({
      error: 'not_found',
    });
  });

  it('keeps what stands in a field of the same name, and forgets it with the field', async () => {
    const workspace = await openWorkspace();
    const raw = await openRawBot(workspace, () => ({
      status: 200,
      body: JSON.stringify({ response_action: 'errors', errors: { otp_code: 'Wrong' } }),
    }));
    await workspace.act(workspace.ids.users.agent, charge);
    const bot = clientOf(workspace);
    const { trigger_id } = payloadOf(raw.requests[0] ?? { headers: {}, body: '{}' });
    const { view } = await bot.views.open({ trigger_id: String(trigger_id), view: form });
    const view_id = view?.id ?? '';
    await submit(workspace, { ...typed('otp_code', '924517'), ...typed('note', 'x') });
    const again = await bot.views.update({ view_id, view: form });
    expect(again.view?.state).toMatchObject({ values: typed('otp_code', '924517') });
    await bot.views.update({ view_id, view: modal('Checking') });
    const back = await bot.views.update({ view_id, view: form });
    expect(back.view?.state).toMatchObject({ values: { otp_code: { value: { value: null } } } });
  });

  it('shows nothing when the person closed it before the acknowledgement came', async () => {
    const workspace = await withModal(form);
    const received = Promise.withResolvers<void>();
    const mayAck = Promise.withResolvers<void>();
    await openBot(workspace, (app) => {
      app.view('form', async ({ ack }) => {
        received.resolve();
        await mayAck.promise;
        await ack({ response_action: 'update', view: modal('Too late') });
      });
    });
    const viewId = views(workspace)[0]?.id ?? '';
    const submitting = submit(workspace, { ...typed('otp_code', '1234'), ...typed('note', 'x') });
    await received.promise;
    await workspace.act(workspace.ids.users.agent, { kind: 'close_view', viewId });
    mayAck.resolve();
    expect(await submitting).toEqual({ ok: true });
    expect(views(workspace)).toEqual([]);
  });

  it('is refused with a block that only newer workspaces know', async () => {
    const workspace = await openWorkspace();
    const trigger_id = await freshTrigger(workspace);
    const blocks = [
      { type: 'alert', level: 'error', text: { type: 'plain_text', text: 'Do not charge again' } },
    ];
    const view = JSON.stringify(modal('In doubt', { blocks }));
    const open = clientOf(workspace).apiCall('views.open', { trigger_id, view });
    expect(await refusal(open)).toMatchObject({ error: 'invalid_arguments' });
    expect(views(workspace)).toEqual([]);
  });

  it('names the view that the bot shows', async () => {
    const exchanges: Exchange[] = [];
    const workspace = await openWorkspace({ onExchange: (exchange) => exchanges.push(exchange) });
    const trigger_id = await freshTrigger(workspace);
    await clientOf(workspace).views.open({ trigger_id, view: modal('Enter the code') });
    expect(exchanges.map(({ summary }) => summary)).toContain('views.open "Enter the code"');
  });

  it('strikes out what is typed into a field for a code, by whatever usual name', async () => {
    const exchanges: Exchange[] = [];
    const workspace = await openWorkspace({ onExchange: (exchange) => exchanges.push(exchange) });
    const trigger_id = await freshTrigger(workspace);
    const names = ['otp', 'otp_code', 'code', 'bank-code', 'token_key'];
    const blocks = names.map((name) => textInput(name));
    await clientOf(workspace).views.open({ trigger_id, view: modal('Code', { blocks }) });
    await submit(workspace, Object.assign({}, ...names.map((name) => typed(name, '924517'))));
    expect(exchanges.filter(({ summary }) => summary.includes('submits'))).not.toEqual([]);
    expect(JSON.stringify(exchanges)).not.toContain('924517');
  });
});
