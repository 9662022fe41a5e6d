import { App } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import { createCommandSet, type AccountCommands } from '../../src/features/help/command-set.ts';
import { merchantPermission } from '../../src/domain/merchant.ts';
import { parsed } from '../../src/domain/wording.ts';
import type { Command, CommandSet, MayRun } from '../../src/slack/command.ts';
import { createDirectory } from '../../src/slack/people/directory.ts';
import type { Role } from '../../src/slack/people/role.ts';
import { addListeners } from '../../src/slack/router/listeners.ts';

/** One thing that a person can do in Slack, by kind and id; a press also has the chosen value. */
export type Thing = {
  id: string;
  kind: 'typed' | 'mention' | 'press' | 'form' | 'list' | 'global shortcut' | 'message shortcut';
  name: string;
};

/** The place of it: a channel's id (also a direct message's), or a view. */
export type Place = string;

/** Everything that these commands allow, by the requests that Slack sends. */
export function everyThing(verbs: readonly Command[]): Thing[] {
  return verbs.flatMap((command) => {
    const { examples, menu, buttons = [], presses = [], modals = [] } = command;
    const { suggestions = [], shortcuts = [], mention } = command;
    const pressed = [
      ...buttons.map(({ actionId }) => actionId),
      ...(menu ? [menu.actionId] : []),
      ...presses.map(({ actionId }) => actionId),
    ];
    return [
      ...examples.map((name): Thing => ({ id: `type ${name}`, kind: 'typed', name })),
      ...pressed.map((name): Thing => ({ id: `press ${name}`, kind: 'press', name })),
      ...modals.map(({ callbackId: name }): Thing => ({ id: `submit ${name}`, kind: 'form', name })),
      ...suggestions.map(({ actionId: name }): Thing => ({ id: `search ${name}`, kind: 'list', name })),
      ...shortcuts.map(({ callbackId: name, kind }): Thing => ({
        id: `choose ${name}`,
        kind: `${kind} shortcut`,
        name,
      })),
      ...(mention ? [{ id: 'mention INV-2041', kind: 'mention', name: 'INV-2041' } as const] : []),
    ];
  });
}

/** The result. `said`: everything sent to Slack. */
export type Outcome = { ran: boolean; said: string };

export type PermissionStage = {
  mayRun: MayRun;
  commands: CommandSet;
  /** Sends it through Bolt and the bot's own listeners, like Slack. */
  act: (thing: Pick<Thing, 'kind' | 'name'>, place: Place) => Promise<Outcome>;
  openHome: () => Promise<string>;
};

/** Slack's data; tests change it between two requests. */
export type KnownToSlack = {
  members: Record<string, readonly string[]>;
  accounts: Record<string, Record<string, unknown>>;
  nowMs: number;
};

export const who = 'U0AGENT001';
const teamId = 'T0TEAM0001';

/** The bot's listeners, command set and directory, with commands that only record that they ran. */
export function permissionStage(
  verbs: readonly Command[],
  roles: Readonly<Record<string, Role>>,
  slack: KnownToSlack,
  accounts: readonly string[] = [],
): PermissionStage {
  let outcome: Outcome = { ran: false, said: '' };
  let home = '';
  const said = (what: unknown): void => void (outcome.said += JSON.stringify(what));
  const client = fakeClient(slack, said, (view) => void (home = JSON.stringify(view)));
  const { mayRun } = createDirectory(roles, {
    client,
    cache: { get: async () => undefined, set: async () => undefined },
    log: () => undefined,
    now: () => slack.nowMs,
    identity: () => ({ teamId }),
  });
  const noted = verbs.map((verb) =>
    noting(verb, () => {
      outcome.ran = true;
      return undefined;
    }),
  );
  const [first = oneAccount(noted, mayRun), ...further] = ofAccounts(accounts, noted, mayRun);
  const commands = createCommandSet([first, ...further], () => undefined);
  const app = boltApp((answer) => said(answer));
  addListeners(app, { commands, client, now: () => slack.nowMs, ...usual });
  async function send(body: Record<string, unknown>): Promise<Outcome> {
    outcome = { ran: false, said: '' };
    await app.processEvent({ body, ack: async (what: unknown) => said(what ?? '') });
    return outcome;
  }
  return {
    mayRun,
    commands,
    act: ({ kind, name }, place) => send(payloadOf(kind, name, place)),
    async openHome() {
      const event = { type: 'app_home_opened', tab: 'home', user: who };
      await send({ event, team_id: teamId });
      return home;
    },
  };
}

/** Bolt without a network. */
function boltApp(responded: (answer: unknown) => void): App {
  async function respond(...sent: Parameters<typeof fetch>): Promise<Response> {
    responded(await new Request(...sent).json());
    return new Response('ok');
  }
  return new App({
    receiver: { init: () => undefined, start: () => Promise.resolve(), stop: () => Promise.resolve() },
    authorize: async () => ({}),
    clientOptions: { fetch: respond },
    convoStore: false,
  });
}

/** These commands, in a bot with one account. */
export function oneAccount(verbs: readonly Command[], mayRun: MayRun): AccountCommands {
  return { merchant: undefined, mayRun, environment: 'live', label: '', channels: [], commands: verbs };
}

function ofAccounts(names: readonly string[], verbs: readonly Command[], mayRun: MayRun): AccountCommands[] {
  return names.map((name, index) => ({
    ...oneAccount(verbs, (permission, caller) => mayRun(merchantPermission(permission, { name }), caller)),
    merchant: { name, isFirst: index === 0, isMixed: false },
    label: name,
  }));
}

/** The command, except that running it only records that. */
function noting(command: Command, ran: () => undefined): Command {
  const { open: _open, home: _home, ...facts } = command;
  return {
    ...facts,
    presses: (command.presses ?? []).map((press) => ({ ...press, press: async () => ran() })),
    modals: (command.modals ?? []).map((modal) => ({
      ...modal,
      async submit() {
        ran();
        return { kind: 'close' };
      },
    })),
    suggestions: (command.suggestions ?? []).map((suggestion) => ({
      ...suggestion,
      async suggest() {
        ran();
        return [];
      },
    })),
    shortcuts: (command.shortcuts ?? []).map((shortcut) =>
      shortcut.kind === 'global' ? shortcut : { ...shortcut, prepare: () => ({ run: async () => ran() }) },
    ),
    ...(command.mention && { mention: () => ({ run: async () => ran() }) }),
    prepare(words) {
      const read = command.prepare(words);
      const permission = read.ok ? read.value.permission : undefined;
      return parsed({ ...(permission ? { permission } : {}), run: async () => ran() });
    },
  };
}

const usual = {
  log: () => undefined,
  claimOnce: async () => true,
  identity: () => ({ teamId }),
  ackMs: 60_000,
  openMs: 60_000,
  patienceMs: 60_000,
  submitMs: 60_000,
  resultMs: 60_000,
  suggestMs: 60_000,
};

const views: Record<string, Record<string, unknown>> = {
  modal: {
    id: 'V1',
    title: { type: 'plain_text', text: 'Form' },
    hash: '1.h',
    type: 'modal',
    private_metadata: '',
    blocks: [],
    state: { values: {} },
  },
  home: { id: 'V2', hash: '2.h', type: 'home', private_metadata: '', blocks: [], state: { values: {} } },
};

function payloadOf(kind: Thing['kind'], name: string, place: Place): Record<string, unknown> {
  const user = { id: who, team_id: teamId };
  const common = { user, team: { id: teamId }, trigger_id: '1.2.x' };
  const view = views[place];
  const response_url = 'https://hooks.slack.test/1';
  const channel = { id: place, name: 'a channel' };
  switch (kind) {
    case 'typed': {
      const typed = { command: '/pay', text: name, trigger_id: '1.2.x', channel_id: place, response_url };
      return { ...typed, user_id: who, team_id: teamId };
    }
    case 'mention': {
      const event = {
        type: 'app_mention',
        user: who,
        team: teamId,
        text: `<@U0BOT> ${name}`,
        ts: '1.0',
        channel: place,
      };
      return { event, team_id: teamId };
    }
    case 'press': {
      const [action_id, value = ''] = name.split(' ');
      const action = { type: 'button', action_id, value, action_ts: '1.0' };
      const body = view
        ? { view, container: { type: 'view' } }
        : { response_url, channel, container: container(place) };
      return { ...common, type: 'block_actions', actions: [action], ...body };
    }
    case 'form':
      return { ...common, type: 'view_submission', view: { ...view, callback_id: name } };
    case 'list':
      return { ...common, type: 'block_suggestion', view, action_id: name, value: '' };
    case 'global shortcut':
      return { ...common, type: 'shortcut', callback_id: name };
    case 'message shortcut': {
      const body = { ...common, type: 'message_action', callback_id: name, response_url, channel };
      return { ...body, message: { ts: '1.1', text: 'about INV-1' } };
    }
  }
}

function container(channel: string): Record<string, unknown> {
  return { type: 'message', channel_id: channel, message_ts: '1.1', is_ephemeral: false };
}

/** Ignores the Home, which is redrawn after each press in it and is no answer. */
function fakeClient(
  slack: KnownToSlack,
  said: (what: unknown) => void,
  published: (view: unknown) => void,
): WebClient {
  const shown = async (what: unknown) => {
    said(what);
    return { ok: true, view: { id: 'V9' } };
  };
  const client = {
    users: {
      info: async ({ user: id }: { user: string }) => ({
        user: { id, team_id: teamId, ...slack.accounts[id] },
      }),
    },
    usergroups: {
      users: {
        list: async ({ usergroup }: { usergroup: string }) => ({ users: slack.members[usergroup] ?? [] }),
      },
    },
    views: { open: shown, push: shown, update: shown, publish: async (view: unknown) => published(view) },
    chat: { postMessage: shown, postEphemeral: shown },
  };
  return client as unknown as WebClient;
}
