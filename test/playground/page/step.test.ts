import { describe, expect, it } from 'vitest';
import { initialModel, type Model, type Place, type UiEvent } from '../../../src/playground/page/model.ts';
import { step } from '../../../src/playground/page/step.ts';
import { emptyState, everyInput, message, view } from './canned.ts';

function after(...events: UiEvent[]): Model {
  return events.reduce((model, event) => step(model, event).model, initialModel(undefined, '0', false));
}

const received = (change: Partial<ReturnType<typeof emptyState>> = {}): UiEvent => ({
  kind: 'received',
  page: { ...emptyState(), ...change },
});

function typeOtp(otp: string): UiEvent {
  const place: Place = {
    container: { type: 'view', viewId: 'V1' },
    blockId: 'otp',
    actionId: 'a',
    silent: true,
  };
  return { kind: 'press', pressed: { place, state: { type: 'plain_text_input', value: otp } } };
}

function messages(...texts: string[]) {
  return { C1: texts.map((text, index) => message(`1700000000.${index}`, { text })) };
}

describe('the page’s state', () => {
  it('starts where people ask things', () => {
    expect(after(received()).ui.channel).toBe('C1');
  });

  it('stays in a direct message when the person changes, though its id is another', () => {
    const model = after(received(), { kind: 'choose_channel', channel: 'D-U1' });
    expect(step(model, { kind: 'received', page: emptyState('U2') }).model.ui.channel).toBe('D-U2');
  });

  it('forgets what was typed into a view as soon as the view is gone', () => {
    const open = after(received({ views: [view(everyInput('x'))] }), typeOtp('1234'));
    expect(open.ui.typed['V1']?.['otp']?.['a']?.['value']).toBe('1234');
    expect(JSON.stringify(step(open, received()).model.ui)).not.toContain('1234');
  });

  it('keeps what was typed when the bot changes the view', () => {
    const model = after(
      received({ views: [view(everyInput('x'))] }),
      typeOtp('1234'),
      received({ views: [view(everyInput('y'))] }),
    );
    const { effects } = step(model, { kind: 'submit_view', viewId: 'V1' });
    expect(effects).toMatchObject([{ action: { values: { otp: { a: { value: '1234' } } } } }]);
  });

  it('forgets what was typed into a field that the bot takes away', () => {
    const open = after(received({ views: [view(everyInput('x'))] }), typeOtp('1234'));
    const { model } = step(open, received({ views: [view([], { title: 'Checking' })] }));
    expect(JSON.stringify(model.ui)).not.toContain('1234');
  });

  it('counts a direct message as unread while its person looks at the Home', () => {
    const arrives = { 'D-U1': [message('1700000000.5', { channel: 'D-U1' })] };
    const atHome = after(
      received(),
      { kind: 'choose_channel', channel: 'D-U1' },
      { kind: 'choose_tab', tab: 'home' },
      received({ messages: arrives }),
    );
    expect(atHome.ui.seen['U1/D-U1']).toBeUndefined();
    const { model } = step(atHome, { kind: 'choose_tab', tab: 'messages' });
    expect(model.ui.seen['U1/D-U1']).toBe('1700000000.5');
  });

  it('submits a view once while its answer is under way', () => {
    const model = after(received({ views: [view([], { busy: true })] }));
    expect(step(model, { kind: 'submit_view', viewId: 'V1' }).effects).toEqual([]);
  });

  it('shows the suggestions for what stands in the field now, not for an earlier word', () => {
    const place: Place = {
      container: { type: 'view', viewId: 'V1' },
      blockId: 'b',
      actionId: 'a',
      silent: true,
    };
    const late: UiEvent = {
      kind: 'acted',
      action: { kind: 'suggest', blockId: 'b', actionId: 'a', text: 't', viewId: 'V1' },
      result: { ok: true, options: [{ text: { type: 'plain_text', text: 'old' }, value: 'old' }] },
    };
    const model = after(
      received(),
      { kind: 'suggest', place, text: 't' },
      { kind: 'suggest', place, text: 'ti' },
      late,
    );
    expect(model.ui.suggestions['V1/b/a']).toEqual({ text: 'ti', options: [], chosen: 0, waiting: true });
  });

  it('closes a list whose options could not be had', () => {
    const place: Place = {
      container: { type: 'view', viewId: 'V1' },
      blockId: 'b',
      actionId: 'a',
      silent: true,
    };
    const failed: UiEvent = {
      kind: 'acted',
      action: { kind: 'suggest', blockId: 'b', actionId: 'a', text: 't', viewId: 'V1' },
      result: { ok: false, problem: 'This app could not be reached.' },
    };
    const model = after(received(), { kind: 'suggest', place, text: 't' }, failed);
    expect(model.ui).toMatchObject({ suggestions: {}, problem: 'This app could not be reached.' });
  });

  it('gives back to the composer what could not be sent, unless something else was begun there', () => {
    const action = { kind: 'send_message', channel: 'C1', text: '/pay ORDER-1' } as const;
    const failed: UiEvent = { kind: 'acted', action, result: { ok: false, problem: 'No.' } };
    expect(after(received(), failed).ui.drafts['C1']).toBe('/pay ORDER-1');
    const begun: UiEvent = { kind: 'draft', place: 'C1', text: 'hm' };
    expect(after(received(), begun, failed).ui.drafts['C1']).toBe('hm');
  });

  it('keeps the objects of what did not change, so that they are not drawn again', () => {
    const before = after(received({ messages: messages('a', 'b') }));
    const { model } = step(before, received({ messages: messages('a', 'c', 'd') }));
    expect(model.page?.messages['C1']?.[0]).toBe(before.page?.messages['C1']?.[0]);
    expect(model.page?.users).toBe(before.page?.users);
    expect(model.page?.messages['C1']?.map(({ text }) => text)).toEqual(['a', 'c', 'd']);
    expect(step(model, received({ messages: messages('a', 'c', 'd') })).model.page).toBe(model.page);
  });

  it('sends nothing for an empty composer', () => {
    const model = after(received(), { kind: 'draft', place: 'C1', text: '  \n' });
    expect(step(model, { kind: 'send', channel: 'C1' }).effects).toEqual([]);
  });
});
