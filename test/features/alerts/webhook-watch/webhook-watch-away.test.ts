import { describe, expect, it } from 'vitest';
import { approve, hour, minute, openRoom } from '../../webhook-room.ts';

describe('after the bot itself was away', () => {
  it('webhooks have as long as ever to come before they are called silent', async () => {
    const { clock, one, pass, told } = await openRoom({ missingMs: 0 });
    await approve(one, 'pay-1');
    await pass(2 * minute);
    clock.nowMs += 5 * hour;
    await pass(50 * minute);
    expect(await told()).toEqual([]);
    await pass(12 * minute);
    expect(await told()).toMatchObject([{ kind: 'webhooks_silent' }]);
  });

  it('an event has as long as ever to come before it is called missing', async () => {
    const { clock, one, pass, told, receiveSuccess } = await openRoom({ silenceMs: 0 });
    await approve(one, 'pay-1');
    await approve(one, 'pay-2');
    await pass(2 * minute);
    clock.nowMs += 5 * hour;
    await pass(10 * minute);
    // The sender comes again.
    await receiveSuccess('pay-1');
    await pass(15 * minute);
    expect(await told()).toEqual([]);
    await pass(15 * minute);
    expect(await told()).toMatchObject([{ kind: 'events_missing', references: ['pay-2'] }]);
  });
});
