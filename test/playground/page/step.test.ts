import { describe, expect, it } from 'vitest';
import { initialModel, type Model, type Place, type UiEvent } from '../../../src/playground/page/model.ts';
import { step } from '../../../src/playground/page/step.ts';
import { emptyState, everyInput, view } from './canned.ts';

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
    expect(model.ui.suggestions['V1/b/a']).toEqual({ text: 'ti', options: [], chosen: 0 });
  });

  it('sends nothing for an empty composer', () => {
    const model = after(received(), { kind: 'draft', place: 'C1', text: '  \n' });
    expect(step(model, { kind: 'send', channel: 'C1' }).effects).toEqual([]);
  });
});
