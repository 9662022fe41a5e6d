import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { startWorkspace } from '../../../src/simulators/slack/workspace.ts';
import { clientOf, closeAll, openWorkspace } from './support.ts';

afterEach(closeAll);

describe('the manifest', () => {
  it('can be the bot’s own file', async () => {
    const manifestPath = fileURLToPath(new URL('../../../manifest.yml', import.meta.url));
    const workspace = await openWorkspace({ manifestPath, grantedOptionalScopes: 'all' });
    const { slashCommands } = workspace.state(workspace.ids.users.agent);
    expect(slashCommands.map((one) => one.command)).toContain('/pay');
    expect((await clientOf(workspace).usergroups.list({})).usergroups).toHaveLength(3);
  });

  it('stops the start when it is none', async () => {
    await expect(startWorkspace({ manifest: { features: {} } })).rejects.toThrow(/oauth_config/);
    await expect(startWorkspace({ manifestPath: '/nowhere/manifest.yml' })).rejects.toThrow(/ENOENT/);
  });
});
