import { afterEach, describe, expect, it } from 'vitest';
import {
  clientOf,
  closeAll,
  createClock,
  manifest,
  modal,
  openRawBot,
  openWorkspace,
  payloadOf,
  refusal,
  section,
  textInput,
} from './support.ts';
import { freshTrigger, submit, views, withModal } from './view-support.ts';

afterEach(closeAll);

describe('a trigger', () => {
  it('opens a modal for its person and nobody else', async () => {
    const workspace = await openWorkspace();
    const trigger_id = await freshTrigger(workspace);
    await clientOf(workspace).views.open({ trigger_id, view: modal('Charge') });
    expect(views(workspace)).toMatchObject([
      { type: 'modal', title: 'Charge', submit: 'Charge', busy: false },
    ]);
    expect(workspace.state(workspace.ids.users.lead).views).toEqual([]);
  });

  it('works once', async () => {
    const workspace = await openWorkspace();
    const trigger_id = await freshTrigger(workspace);
    const bot = clientOf(workspace);
    await bot.views.open({ trigger_id, view: modal('Charge') });
    expect(await refusal(bot.views.open({ trigger_id, view: modal('Again') }))).toMatchObject({
      error: 'exchanged_trigger_id',
    });
  });

  it('lives three seconds', async () => {
    const clock = createClock();
    const workspace = await openWorkspace({ now: clock.now });
    const trigger_id = await freshTrigger(workspace);
    const view = modal('Charge');
    clock.advance(3001);
    expect(await refusal(clientOf(workspace).views.open({ trigger_id, view }))).toMatchObject({
      error: 'expired_trigger_id',
    });
    const fresh = await freshTrigger(workspace);
    clock.advance(3000);
    expect(await clientOf(workspace).views.open({ trigger_id: fresh, view })).toMatchObject({ ok: true });
  });

  it('is not used up by a view that Slack refuses', async () => {
    const workspace = await openWorkspace();
    const trigger_id = await freshTrigger(workspace);
    const bot = clientOf(workspace);
    const bad = await refusal(
      bot.views.open({ trigger_id, view: modal('A title of more than 24 characters') }),
    );
    expect(bad).toMatchObject({ error: 'invalid_arguments' });
    expect(JSON.stringify(bad['response_metadata'])).toContain('title');
    const home = { type: 'home' as const, blocks: [] };
    expect(await refusal(bot.views.open({ trigger_id, view: home }))).toMatchObject({
      error: 'invalid_arguments',
    });
    const large = modal('Charge', { private_metadata: 'x'.repeat(250_000) });
    expect(await refusal(bot.views.open({ trigger_id, view: large }))).toMatchObject({
      error: 'invalid_arguments',
    });
    expect(await bot.views.open({ trigger_id, view: modal('Charge') })).toMatchObject({ ok: true });
  });
});

describe('views.update and views.publish', () => {
  it('change a view, and refuse an old hash', async () => {
    const workspace = await openWorkspace();
    const bot = clientOf(workspace);
    const trigger_id = await freshTrigger(workspace);
    const opened = await bot.views.open({ trigger_id, view: modal('One') });
    const { id: view_id = '', hash = '' } = opened.view ?? {};
    await bot.views.update({ view_id, hash, view: modal('Two') });
    expect(await refusal(bot.views.update({ view_id, hash, view: modal('Three') }))).toMatchObject({
      error: 'hash_conflict',
    });
    expect(views(workspace)).toMatchObject([{ id: view_id, title: 'Two' }]);
    expect(await refusal(bot.views.update({ view_id: 'V0GONE', view: modal('x') }))).toMatchObject({
      error: 'not_found',
    });
  });

  it('shows an App Home to its person, judged as a home', async () => {
    const workspace = await openWorkspace();
    const bot = clientOf(workspace);
    const user_id = workspace.ids.users.agent;
    await bot.views.publish({ user_id, view: { type: 'home', blocks: [section('Open: 1')] } });
    const first = workspace.state(user_id).home;
    expect(first).toMatchObject({ type: 'home', blocks: [{ type: 'section' }] });
    await bot.views.publish({ user_id, view: { type: 'home', blocks: [section('Open: 0')] } });
    expect(workspace.state(user_id).home?.id).toBe(first?.id);
    expect(workspace.state(workspace.ids.users.lead).home).toBeUndefined();
    const bad = bot.views.publish({ user_id, view: { type: 'home', blocks: [textInput('otp')] } });
    expect(await refusal(bad)).toMatchObject({ error: 'invalid_arguments' });
  });

  it('has no App Home when the manifest has none', async () => {
    const features = { ...manifest.features, app_home: { home_tab_enabled: false } };
    const workspace = await openWorkspace({ manifest: { ...manifest, features } });
    const user_id = workspace.ids.users.agent;
    expect(
      await refusal(clientOf(workspace).views.publish({ user_id, view: { type: 'home', blocks: [] } })),
    ).toMatchObject({ error: 'not_enabled' });
    expect(await workspace.act(user_id, { kind: 'open_home' })).toMatchObject({ ok: false });
  });
});

describe('the modal stack', () => {
  it('holds three and no fourth, and pushes only from inside a modal', async () => {
    const errors: unknown[] = [];
    const workspace = await withModal(modal('Bottom', { callback_id: 'form' }), (app) => {
      app.view('form', async ({ ack, body, client }) => {
        const error = await client.views
          .push({
            trigger_id: 'trigger_id' in body ? body.trigger_id : '',
            view: modal('On top', { callback_id: 'form' }),
          })
          .then(
            () => undefined,
            (caught: { data?: { error?: string } }) => caught.data?.error,
          );
        errors.push(error);
        await ack({ response_action: 'errors', errors: { none: 'x' } });
      });
    });
    for (let pressed = 0; pressed < 3; pressed += 1) await submit(workspace);
    expect(errors).toEqual([undefined, undefined, 'push_limit_reached']);
    expect(views(workspace)).toHaveLength(3);
    const [bottom] = views(workspace);
    const below = { kind: 'close_view', viewId: bottom?.id ?? '' } as const;
    expect(await workspace.act(workspace.ids.users.agent, below)).toMatchObject({ ok: false });
    const trigger_id = await freshTrigger(workspace);
    expect(await refusal(clientOf(workspace).views.push({ trigger_id, view: modal('x') }))).toMatchObject({
      error: 'invalid_trigger_id',
    });
  });

  it('is another one for every person', async () => {
    const workspace = await withModal(modal('Mine'));
    const viewId = views(workspace)[0]?.id ?? '';
    expect(await workspace.act(workspace.ids.users.lead, { kind: 'close_view', viewId })).toMatchObject({
      ok: false,
    });
    expect(views(workspace)).toHaveLength(1);
  });
});

describe('closing a modal', () => {
  it('tells the app that asked to know, and no other', async () => {
    const asked = await withModal(modal('Charge', { notify_on_close: true, callback_id: 'form' }));
    const bot = await openRawBot(asked, () => ({ status: 200 }));
    const viewId = views(asked)[0]?.id ?? '';
    await asked.act(asked.ids.users.agent, { kind: 'close_view', viewId });
    expect(bot.requests.map(payloadOf)).toMatchObject([
      { type: 'view_closed', is_cleared: false, view: { id: viewId, callback_id: 'form' } },
    ]);
    const silent = await withModal(modal('Charge'));
    const other = await openRawBot(silent, () => ({ status: 200 }));
    await silent.act(silent.ids.users.agent, { kind: 'close_view', viewId: views(silent)[0]?.id ?? '' });
    expect(views(silent)).toEqual([]);
    expect(other.requests).toEqual([]);
  });
});
