import { afterEach, describe, expect, it } from 'vitest';
import { closeAll, modal, openRawBot, textInput } from './support.ts';
import { submit, views, withModal } from './view-support.ts';

afterEach(closeAll);

const note = (value: string) => ({ note: { value: { type: 'plain_text_input', value } } });

describe('submitting a modal', () => {
  const form = modal('Charge', {
    callback_id: 'form',
    blocks: [
      textInput('amount', { initial_value: '100.00' }),
      textInput('note', { max_length: 5 }),
      {
        type: 'input',
        block_id: 'currency',
        label: { type: 'plain_text', text: 'Currency' },
        element: {
          type: 'static_select',
          action_id: 'value',
          options: [{ text: { type: 'plain_text', text: 'NGN' }, value: 'NGN' }],
          initial_option: { text: { type: 'plain_text', text: 'NGN' }, value: 'NGN' },
        },
      },
      { ...textInput('reason'), optional: true },
    ],
  });

  it('sends what was typed, the initial values of what was not, and closes on an empty acknowledgement', async () => {
    const seen: unknown[] = [];
    const workspace = await withModal(form, (app) => {
      app.view('form', async ({ ack, view, body }) => {
        seen.push({ values: view.state.values, hash: view.hash, user: body.user.id, id: view.id });
        await ack();
      });
    });
    const busy: boolean[] = [];
    workspace.onChange(() => busy.push(views(workspace)[0]?.busy === true));
    const viewId = views(workspace)[0]?.id;
    expect(await submit(workspace, note('hello'))).toEqual({ ok: true });
    expect(seen).toMatchObject([
      {
        id: viewId,
        hash: expect.any(String),
        user: workspace.ids.users.agent,
        values: {
          amount: { value: { type: 'plain_text_input', value: '100.00' } },
          note: { value: { value: 'hello' } },
          currency: { value: { type: 'static_select', selected_option: { value: 'NGN' } } },
          reason: { value: { type: 'plain_text_input', value: null } },
        },
      },
    ]);
    expect(views(workspace)).toEqual([]);
    expect(busy).toEqual([true, false]);
  });

  it('is stopped by Slack itself while a required field is empty or too long', async () => {
    let reached = 0;
    const workspace = await withModal(form, (app) => {
      app.view('form', async ({ ack }) => {
        reached += 1;
        await ack();
      });
    });
    expect(await submit(workspace, note(''))).toMatchObject({ ok: false });
    expect(views(workspace)[0]?.errors).toEqual({ note: 'Please complete this required field.' });
    expect(await submit(workspace, note('too long'))).toMatchObject({ ok: false });
    expect(views(workspace)[0]?.errors).toEqual({ note: 'Use at most 5 characters.' });
    expect(reached).toBe(0);
  });

  it('shows the errors of the acknowledgement beside their fields', async () => {
    const workspace = await withModal(form, (app) => {
      app.view('form', ({ ack }) => ack({ response_action: 'errors', errors: { amount: 'Too much' } }));
    });
    expect(await submit(workspace, note('x'))).toEqual({ ok: true });
    expect(views(workspace)).toMatchObject([{ errors: { amount: 'Too much' }, busy: false }]);
  });

  it('updates as the acknowledgement says', async () => {
    const workspace = await withModal(form, (app) => {
      app.view('form', ({ ack }) =>
        ack({ response_action: 'update', view: modal('Charging…', { callback_id: 'progress' }) }),
      );
    });
    const id = views(workspace)[0]?.id;
    await submit(workspace, note('x'));
    expect(views(workspace)).toMatchObject([{ id, title: 'Charging…', busy: false }]);
  });

  const wrong: [string, string][] = [
    [
      'errors for a block that is not there',
      JSON.stringify({ response_action: 'errors', errors: { nowhere: 'x' } }),
    ],
    [
      'a view Slack refuses',
      JSON.stringify({ response_action: 'update', view: { type: 'modal', blocks: [] } }),
    ],
    ['an action that the bot does not use', JSON.stringify({ response_action: 'clear' })],
    ['a text', 'ok'],
  ];
  for (const [name, body] of wrong) {
    it(`has trouble connecting on ${name}`, async () => {
      const workspace = await withModal(form);
      await openRawBot(workspace, () => ({ status: 200, body }));
      expect(await submit(workspace, note('x'))).toEqual({
        ok: false,
        problem: 'We had some trouble connecting. Try again?',
      });
      expect(views(workspace)).toMatchObject([{ title: 'Charge', busy: false }]);
    });
  }

  it('has trouble connecting when nothing is acknowledged in time, or it fails', async () => {
    const workspace = await withModal(form);
    await openRawBot(workspace, (_request, count) => (count === 1 ? undefined : { status: 500 }));
    const trouble = { ok: false, problem: 'We had some trouble connecting. Try again?' };
    expect(await submit(workspace, note('x'))).toEqual(trouble);
    expect(await submit(workspace, note('x'))).toEqual(trouble);
    expect(views(workspace)).toMatchObject([{ title: 'Charge', busy: false }]);
  });

  it('cannot be done twice at a time', async () => {
    const workspace = await withModal(form);
    const bot = await openRawBot(workspace, () => ({ status: 200 }));
    const [first, second] = await Promise.all([submit(workspace, note('x')), submit(workspace, note('x'))]);
    expect(first).toEqual({ ok: true });
    expect(second).toMatchObject({ ok: false });
    expect(bot.requests).toHaveLength(1);
  });
});
