import { afterEach, describe, expect, it } from 'vitest';
import type { SlackFault } from '../../../src/simulators/slack/faults.ts';
import { clientOf, closeAll, openWorkspace } from './support.ts';

afterEach(closeAll);

const cut = { code: 'slack_webapi_request_error' };

describe('a fault of Slack', () => {
  it.each<[SlackFault, object, string[]]>([
    [{ kind: 'down' }, cut, []],
    [{ kind: 'answer_lost' }, cut, ['x']],
    [{ kind: 'error_500' }, { statusCode: 500 }, []],
    [{ kind: 'rate_limited' }, { retryAfter: 1 }, []],
    [{ kind: 'refused', error: 'restricted_action' }, { data: { error: 'restricted_action' } }, []],
  ])('%j', async (fault, error, posted) => {
    const workspace = await openWorkspace({ postBurst: Infinity });
    const channel = workspace.ids.channels.payAlerts;
    const post = (text = 'x') => clientOf(workspace).chat.postMessage({ channel, text });
    workspace.setFaults(fault);
    await expect(post()).rejects.toMatchObject(error);
    expect(workspace.posts().map(({ text }) => text)).toEqual(posted);
    workspace.setFaults();
    expect(await post('y')).toMatchObject({ ok: true });
    expect(workspace.stats()).toMatchObject({
      calls: { 'chat.postMessage': 2 },
      posts: posted.length + 1,
      rateLimited: fault.kind === 'rate_limited' ? 1 : 0,
      faults: { [fault.kind]: 1 },
    });
  });
});
