import { describe, expect, it } from 'vitest';
import { openWorkspace, clientOf } from '../playground/workspace/support.ts';
import { createReactions } from '../../src/slack/reactions.ts';

describe('createReactions', () => {
  it('puts and takes a reaction, twice as well as once, and is quiet about what is not there', async () => {
    const workspace = await openWorkspace();
    const client = clientOf(workspace);
    const channel = workspace.ids.channels.payAlerts;
    const { ts = '' } = await client.chat.postMessage({ channel, text: 'x' });
    const reactions = createReactions(client);
    const names = () =>
      workspace.state(workspace.ids.users.agent).messages[channel]?.[0]?.reactions.map(({ name }) => name);
    for (let times = 0; times < 2; times += 1) {
      expect(await reactions.add({ channel, ts }, 'eyes')).toEqual({ kind: 'done' });
    }
    expect(names()).toEqual(['eyes']);
    for (let times = 0; times < 2; times += 1) {
      expect(await reactions.remove({ channel, ts }, 'eyes')).toEqual({ kind: 'done' });
    }
    expect(names()).toEqual([]);
    expect(await reactions.add({ channel, ts: '1.1' }, 'eyes')).toEqual({ kind: 'done' });
  });

  it('tries again later when Slack asks to wait or cannot be reached', async () => {
    const workspace = await openWorkspace();
    const client = clientOf(workspace);
    const channel = workspace.ids.channels.payAlerts;
    const { ts = '' } = await client.chat.postMessage({ channel, text: 'x' });
    const reactions = createReactions(client);
    const outcomes = [];
    for (let times = 0; times < 25; times += 1) {
      await reactions.add({ channel, ts }, 'eyes');
      outcomes.push(await reactions.remove({ channel, ts }, 'eyes'));
    }
    expect(outcomes.at(-1)).toMatchObject({ kind: 'later', retryAfterMs: expect.any(Number) });
    await workspace.close();
    expect(await reactions.add({ channel, ts }, 'eyes')).toEqual({ kind: 'later' });
  });
});
