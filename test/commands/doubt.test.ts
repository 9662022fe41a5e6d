import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import { chargeActions } from '../../src/slack/charge/charge-actions.ts';
import type { SlackMessage } from '../../src/slack/message.ts';
import { agent, chargeOf, createStage, nowMs, type Stage } from './charge-stage.ts';
import { textOf } from './shown-modal.ts';

function inDoubt(): Stage {
  const stage = createStage();
  const state = { kind: 'confirming', since: nowMs - 60_000, askedAt: nowMs } as const;
  stage.desk.charges.set('pay-V1', chargeOf('V1', { state, dueAt: nowMs + 5_000 }));
  stage.desk.charges.set('pay-V2', chargeOf('V2'));
  return stage;
}

describe('/pay doubt', () => {
  it('lists what is in doubt, masked, with the button that checks it now', async () => {
    const text = textOf(await inDoubt().type('doubt'));
    expect(text).toContain('pay-V1');
    expect(text).toContain(chargeActions.checkNow);
    expect(text).not.toContain('pay-V2');
    expect(text).not.toContain('ada@example.com');
  });

  it('says so when nothing is', async () => {
    expect(((await createStage().type('doubt')) as SlackMessage).text).toContain('No charge is in doubt');
  });

  it('takes no words', async () => {
    const stage = inDoubt();
    expect(await stage.type('doubt pay-V1')).toMatch(/Nothing follows/);
    expect(stage.desk.calls).toEqual([]);
  });

  it('hands on that the store is away', async () => {
    const stage = inDoubt();
    stage.desk.answers.away = true;
    await expect(stage.type('doubt')).rejects.toThrow(StoreUnavailable);
  });

  it('stands in the App Home, and not when nothing is in doubt', async () => {
    expect(textOf(await inDoubt().verb('doubt').home?.({ userId: agent }))).toContain('In doubt');
    expect(await createStage().verb('doubt').home?.({ userId: agent })).toEqual([]);
  });
});
