import nock from 'nock';
import { beforeEach } from 'vitest';
import { createLog } from '../../src/log.ts';
import { createDirectory, type Directory } from '../../src/slack/people/directory.ts';
import type { DirectoryCache } from '../../src/slack/remembered.ts';
import type { Role } from '../../src/slack/people/role.ts';
import { createClients, type Identity } from '../../src/slack/workspace.ts';

type Stage = {
  nowMs: number;
  /** What Slack says of accounts, by user id; of everybody else that they are members. `down`: it does not answer. */
  accounts: Record<string, Record<string, unknown> | 'down'>;
  /** Whom Slack was asked about, in order. */
  whoAsked: string[];
  logged: string[];
};

/** A Slack that knows people, anew for each test; call at the top of a file that mocks the outside. */
export function directoryStage(): Stage {
  const stage: Stage = { nowMs: 0, accounts: {}, whoAsked: [], logged: [] };
  beforeEach(() => {
    Object.assign(stage, { nowMs: 0, accounts: {}, whoAsked: [], logged: [] });
    let id = '';
    const users = nock('https://slack.test')
      .persist()
      // Called more than once for one request: who it is about is noted when it is answered.
      .post('/api/users.info', (body: Record<string, string>) => (id = body['user'] ?? '') !== '')
      .optionally();
    users.reply(() => {
      stage.whoAsked.push(id);
      const told = stage.accounts[id] ?? {};
      if (told === 'down') return [503, ''];
      const user = { id, team_id: 'T0TEAM', ...told };
      return [200, 'error' in told ? { ok: false, ...told } : { ok: true, user }];
    });
  });
  return stage;
}

export type DirectoryOptions = {
  roles: Readonly<Record<string, Role>>;
  cache?: DirectoryCache;
  identity?: Identity;
};

export function directoryOn(stage: Stage, { roles, cache, identity }: DirectoryOptions): Directory {
  const log = createLog({
    level: 'warn',
    secrets: [],
    write: (line) => stage.logged.push(line),
    now: () => new Date(0),
  });
  const clients = createClients({ botToken: 'xoxb-1', slackApiUrl: 'https://slack.test/api' }, log);
  return createDirectory(roles, {
    client: clients.interactive,
    cache: cache ?? memoryCache(),
    log,
    now: () => stage.nowMs,
    identity: () => identity ?? { teamId: 'T0TEAM' },
  });
}

export function memoryCache(): DirectoryCache {
  const values = new Map<string, string>();
  return { get: async (key) => values.get(key), set: async (key, value) => void values.set(key, value) };
}
