import { afterEach, describe, expect, it } from 'vitest';
import { userIds } from '../../../src/simulators/slack/directory.ts';
import type { Workspace, WorkspaceSettings } from '../../../src/simulators/slack/workspace.ts';
import {
  clientOf,
  closeAll,
  createClock,
  modal,
  openRawBot,
  openWorkspace,
  payloadOf,
  refusal,
  section,
  textInput,
  type RawRequest,
} from './support.ts';

afterEach(closeAll);

const { agent, lead } = userIds;
const trouble = { ok: false, problem: 'We had some trouble connecting. Try again?' };

type Answer = { status: number; body?: string } | undefined;

/** A workspace whose bot answers the requests after the shortcut with these. */
async function open(
  settings: WorkspaceSettings = {},
  answer: (request: RawRequest) => Answer = () => ({ status: 200 }),
) {
  const workspace = await openWorkspace(settings);
  const bot = await openRawBot(workspace, (request) =>
    request.body.includes('%22shortcut%22') ? { status: 200 } : answer(request),
  );
  const client = clientOf(workspace);
  const last = () => payloadOf(bot.requests.at(-1) ?? { headers: {}, body: '{}' });
  async function trigger(): Promise<string> {
    await workspace.act(agent, { kind: 'global_shortcut', callbackId: 'charge' });
    return String(last()['trigger_id']);
  }
  const views = () => workspace.state(agent).views;
  return {
    workspace,
    client,
    bot,
    last,
    trigger,
    views,
    show: async (view: ReturnType<typeof modal>) => {
      const opened = await client.views.open({ trigger_id: await trigger(), view });
      return { id: opened.view?.id ?? '', hash: opened.view?.hash ?? '' };
    },
    submit: (values = {}) => submitTop(workspace, values),
  };
}

function submitTop(workspace: Workspace, values: Record<string, Record<string, unknown>>) {
  const viewId = workspace.state(agent).views.at(-1)?.id ?? '';
  return workspace.act(agent, { kind: 'submit_view', viewId, values });
}

const typed = (block: string, value: string) => ({ [block]: { value: { type: 'plain_text_input', value } } });

describe('a trigger', () => {
  it('lives three seconds and works once, for its own person', async () => {
    const clock = createClock();
    const { workspace, client, trigger } = await open({ now: clock.now });
    const view = modal('Charge');
    const late = await trigger();
    clock.advance(3001);
    expect(await refusal(client.views.open({ trigger_id: late, view }))).toMatchObject({
      error: 'expired_trigger_id',
    });
    const trigger_id = await trigger();
    clock.advance(3000);
    expect(await client.views.open({ trigger_id, view })).toMatchObject({ ok: true });
    expect(await refusal(client.views.open({ trigger_id, view }))).toMatchObject({
      error: 'exchanged_trigger_id',
    });
    expect(workspace.state(lead).views).toEqual([]);
  });

  it('is not used up by a view that Slack refuses', async () => {
    const { client, trigger } = await open();
    const trigger_id = await trigger();
    const alert = { type: 'alert', level: 'error', text: { type: 'plain_text', text: 'x' } };
    const bad = [
      modal('A title of more than 24 characters'),
      modal('Charge', { private_metadata: 'x'.repeat(250_000) }),
      modal('Charge', { blocks: [alert] }),
      { type: 'home', blocks: [section('x')] },
    ];
    for (const view of bad) {
      const opening = client.apiCall('views.open', { trigger_id, view: JSON.stringify(view) });
      expect(await refusal(opening)).toMatchObject({ error: 'invalid_arguments' });
    }
    expect(await client.views.open({ trigger_id, view: modal('Charge') })).toMatchObject({ ok: true });
  });
});

describe('a modal', () => {
  const form = modal('Code', { callback_id: 'form', blocks: [textInput('otp_code'), textInput('note')] });

  it('can be changed only with its newest hash, and not once it is closed', async () => {
    const { workspace, client, show } = await open();
    const { id: view_id, hash } = await show(modal('One'));
    await client.views.update({ view_id, hash, view: modal('Two') });
    const stale = client.views.update({ view_id, hash, view: modal('Three') });
    expect(await refusal(stale)).toMatchObject({ error: 'hash_conflict' });
    await workspace.act(agent, { kind: 'close_view', viewId: view_id });
    const gone = client.views.update({ view_id, view: modal('x') });
    expect(await refusal(gone)).toMatchObject({ error: 'not_found' });
  });

  it('can have two others below, pushed from inside a modal; only the top one can be used', async () => {
    const { workspace, client, last, trigger, show, submit, views } = await open({}, () => ({
      status: 200,
      body: JSON.stringify({ response_action: 'errors', errors: { none: 'x' } }),
    }));
    const { id: bottom } = await show(modal('Bottom'));
    const push = async () => {
      await submit();
      return client.views.push({ trigger_id: String(last()['trigger_id']), view: modal('On top') });
    };
    await push();
    await push();
    expect(await refusal(push())).toMatchObject({ error: 'push_limit_reached' });
    expect(views()).toHaveLength(3);
    expect(await workspace.act(agent, { kind: 'close_view', viewId: bottom })).toMatchObject({ ok: false });
    const viewId = views().at(-1)?.id ?? '';
    expect(await workspace.act(lead, { kind: 'close_view', viewId })).toMatchObject({ ok: false });
    const outside = client.views.push({ trigger_id: await trigger(), view: modal('x') });
    expect(await refusal(outside)).toMatchObject({ error: 'invalid_trigger_id' });
  });

  it('keeps a field’s text while its ids stay, and loses it with the field', async () => {
    const errors = { response_action: 'errors', errors: { otp_code: 'Wrong' } };
    const { client, show, submit } = await open({}, () => ({ status: 200, body: JSON.stringify(errors) }));
    const { id: view_id } = await show(form);
    await submit({ ...typed('otp_code', '924517'), ...typed('note', 'x') });
    const again = await client.views.update({ view_id, view: form });
    expect(again.view?.state).toMatchObject({ values: typed('otp_code', '924517') });
    await client.views.update({ view_id, view: modal('Checking') });
    const back = await client.views.update({ view_id, view: form });
    expect(back.view?.state).toMatchObject({ values: { otp_code: { value: { value: null } } } });
  });
});

describe('submitting a modal', () => {
  const ngn = { text: { type: 'plain_text', text: 'NGN' }, value: 'NGN' };
  const form = modal('Charge', {
    callback_id: 'form',
    blocks: [
      textInput('amount', { initial_value: '100.00' }),
      textInput('note', { max_length: 5 }),
      {
        type: 'input',
        block_id: 'currency',
        label: { type: 'plain_text', text: 'Currency' },
        element: { type: 'static_select', action_id: 'value', options: [ngn], initial_option: ngn },
      },
      { ...textInput('reason'), optional: true },
    ],
  });

  it('sends typed values and the initial values of the rest, one submission at a time', async () => {
    const { last, bot, show, submit, views } = await open();
    await show(form);
    const [first, second] = await Promise.all([submit(typed('note', 'hello')), submit(typed('note', 'x'))]);
    expect([first, second]).toMatchObject([{ ok: true }, { ok: false }]);
    expect(bot.requests).toHaveLength(2);
    const values = {
      ...typed('amount', '100.00'),
      ...typed('note', 'hello'),
      currency: { value: { type: 'static_select', selected_option: ngn } },
      reason: { value: { type: 'plain_text_input', value: null } },
    };
    expect(last()['view']).toMatchObject({ state: { values } });
    expect(views()).toEqual([]);
  });

  it('is stopped by Slack while a required field is empty or too long', async () => {
    const { bot, show, submit, views } = await open();
    await show(form);
    expect(await submit(typed('note', ''))).toMatchObject({ ok: false });
    expect(views()[0]?.errors).toEqual({ note: 'Please complete this required field.' });
    expect(await submit(typed('note', 'too long'))).toMatchObject({ ok: false });
    expect(views()[0]?.errors).toEqual({ note: 'Use at most 5 characters.' });
    expect(bot.requests).toHaveLength(1);
  });

  it.each<[string, Answer]>([
    [
      'errors for a block that is not there',
      answered({ response_action: 'errors', errors: { nowhere: 'x' } }),
    ],
    ['a view Slack refuses', answered({ response_action: 'update', view: { type: 'modal', blocks: [] } })],
    ['an action that the bot does not use', answered({ response_action: 'clear' })],
    ['a text', { status: 200, body: 'ok' }],
    ['a fault', { status: 500 }],
    ['nothing in time', undefined],
  ])('has trouble connecting on %s', async (_what, answer) => {
    const { show, submit, views } = await open(
      answer === undefined ? { ackTimeoutMs: 1000 } : {},
      () => answer,
    );
    await show(form);
    expect(await submit(typed('note', 'x'))).toEqual(trouble);
    expect(views()).toMatchObject([{ title: 'Charge', busy: false }]);
  });

  it('shows nothing to a person who closed it before the acknowledgement', async () => {
    const { workspace, show, submit, views } = await open();
    const { id: viewId } = await show(form);
    await openRawBot(workspace, () => answered({ response_action: 'update', view: modal('Too late') }));
    const submitting = submit(typed('note', 'x'));
    await workspace.act(agent, { kind: 'close_view', viewId });
    expect(await submitting).toEqual({ ok: true });
    expect(views()).toEqual([]);
  });
});

function answered(body: object): Answer {
  return { status: 200, body: JSON.stringify(body) };
}
