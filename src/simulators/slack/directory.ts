import type { PageUser } from '../protocol.ts';

/** The people and channels of a new workspace. Ids look like Slack's, and are the same at every start. */

export const teamId = 'T0PAYTEAM1';
export const teamDomain = 'payops-playground';
export const appId = 'A0PAYOPS01';
export const botId = 'B0PAYBOT01';
export const botUserId = 'U0PAYBOT01';
export const botName = 'Pay';
export const slackbotId = 'USLACKBOT';

export type Credentials = { botToken: string; appToken: string; signingSecret: string };

export const credentials: Credentials = {
  botToken: 'xoxb-playground-bot-token',
  appToken: 'xapp-playground-app-token',
  signingSecret: '0123456789abcdef0123456789abcdef',
};

export const userIds = {
  agent: 'U0AGENT01',
  lead: 'U0LEAD0001',
  onCall: 'U0ONCALL01',
  outsider: 'U0OUTSIDE1',
} as const;

export const channelIds = {
  payAlerts: 'C0ALERTS01',
  payDesk: 'C0DESK0001',
  payOps: 'C0OPS00001',
  general: 'C0GENERAL1',
  /** Private, and the bot is not in it: Slack answers as if it did not exist. */
  privateRoom: 'C0PRIVATE1',
  agentDm: 'D0AGENT01',
  leadDm: 'D0LEAD0001',
  onCallDm: 'D0ONCALL01',
  outsiderDm: 'D0OUTSIDE1',
  /** Conversations between people, without the bot, if the workspace has `talks`. */
  twoPeople: 'D0TWO00001',
  oneself: 'D0SELF0001',
  group: 'C0GROUP001',
} as const;

type ChannelKind = 'public' | 'private' | 'dm';

export type Channel = {
  readonly id: string;
  readonly name: string;
  readonly kind: ChannelKind;
  readonly topic: string;
  botIsMember: boolean;
  archived: boolean;
  /** Another company is in it, by Slack Connect. */
  isShared?: boolean;
  /** The only person of a direct message. */
  readonly owner?: string;
  /** The members of a conversation between people; no one else sees it. */
  readonly people?: readonly string[];
};

type UserGroup = {
  readonly id: string;
  readonly handle: string;
  readonly name: string;
  readonly users: readonly string[];
};

export const people: readonly PageUser[] = [
  { id: userIds.agent, name: 'ada', realName: 'Ada', role: 'Support agent', avatarColor: '#2f6f8f' },
  { id: userIds.lead, name: 'lindiwe', realName: 'Lindiwe', role: 'Lead', avatarColor: '#8a4f9e' },
  { id: userIds.onCall, name: 'omar', realName: 'Omar', role: 'On-call', avatarColor: '#b0632c' },
  { id: userIds.outsider, name: 'olu', realName: 'Olu', role: 'In no role', avatarColor: '#5d7a3a' },
];

export type AccountKind = 'member' | 'guest' | 'single_channel_guest' | 'bot' | 'deactivated';

export type Account = { id: string; name: string; realName: string; kind: AccountKind };

/** Accounts that can't be used on the page, but that Slack knows and describes. */
const otherAccounts: readonly [id: string, name: string, kind: AccountKind][] = [
  [botUserId, botName.toLowerCase(), 'bot'],
  [slackbotId, 'slackbot', 'member'],
  ['U0GUEST001', 'gus', 'guest'],
  ['U0GUEST002', 'greta', 'single_channel_guest'],
  ['U0FORMER01', 'faye', 'deactivated'],
];

export const onCallGroup = 'S0ONCALL01';
const groups: readonly UserGroup[] = [
  { id: 'S0SUPPORT1', handle: 'support-agents', name: 'Support agents', users: [userIds.agent] },
  { id: 'S0PAYLEAD1', handle: 'pay-leads', name: 'Payment leads', users: [userIds.lead] },
  { id: onCallGroup, handle: 'on-call', name: 'On-call', users: [userIds.onCall] },
];

/** A fresh copy, because membership and archiving change while the workspace runs. */
function openChannels(): Channel[] {
  return [
    channel(channelIds.payAlerts, 'pay-alerts', 'Every failed charge, once'),
    channel(channelIds.payDesk, 'pay-desk', 'Look-ups, charges and alerts'),
    channel(channelIds.payOps, 'pay-ops', 'What needs a decision'),
    channel(channelIds.general, 'general', 'Everybody'),
    {
      ...channel(channelIds.privateRoom, 'private-room', 'For a few people'),
      kind: 'private',
      botIsMember: false,
    },
    directMessage(channelIds.agentDm, userIds.agent),
    directMessage(channelIds.leadDm, userIds.lead),
    directMessage(channelIds.onCallDm, userIds.onCall),
    directMessage(channelIds.outsiderDm, userIds.outsider),
  ];
}

/** A public channel that the bot is in. */
export function channel(id: string, name: string, topic: string): Channel {
  return { id, name, kind: 'public', topic, botIsMember: true, archived: false };
}

function directMessage(id: string, owner: string): Channel {
  return { id, name: botName, kind: 'dm', topic: '', botIsMember: true, archived: false, owner };
}

/** Conversations without the bot, to which it can't be invited: two people, oneself, a group. */
export function talksOfPeople(): Channel[] {
  const { agent, lead, onCall } = userIds;
  return [
    talk(channelIds.twoPeople, 'directmessage', [agent, lead]),
    talk(channelIds.oneself, 'directmessage', [agent]),
    talk(channelIds.group, 'mpdm-ada--lindiwe--omar-1', [agent, lead, onCall]),
  ];
}

function talk(id: string, name: string, people: readonly string[]): Channel {
  return { ...channel(id, name, ''), kind: 'private', botIsMember: false, people };
}

export function createDirectory(moreChannels: readonly Channel[] = []) {
  const channels = [...openChannels(), ...moreChannels];
  const byId = new Map(channels.map((channel) => [channel.id, channel]));
  const users = new Map(people.map((user) => [user.id, user]));
  const accounts = new Map<string, Account>();
  for (const { id, name, realName } of people) accounts.set(id, { id, name, realName, kind: 'member' });
  for (const [id, name, kind] of otherAccounts) accounts.set(id, { id, name, realName: name, kind });

  function directMessage(userId: string): Channel | undefined {
    return channels.find((channel) => channel.owner === userId);
  }

  return {
    users: people,
    groups,
    channels,
    user: (id: string) => users.get(id),
    /** Any account that Slack knows, also those that can't be used on the page. */
    account: (id: string) => accounts.get(id),
    /** Like an administrator who makes a member a guest, or deactivates them. */
    setAccount(userId: string, kind: AccountKind) {
      const account = accounts.get(userId);
      if (account === undefined) throw new Error(`There is no account ${userId} in this workspace.`);
      accounts.set(userId, { ...account, kind });
    },
    channel: (id: string) => byId.get(id),
    directMessage,
    /** Reads chat.postMessage's `channel`: an id, a person's id (their direct message), `#name` or `name`. */
    destination(word: string) {
      const name = word.replace(/^#/, '');
      return (
        byId.get(word) ??
        directMessage(word) ??
        channels.find((channel) => channel.kind !== 'dm' && channel.name === name)
      );
    },
    /** The channel as people call it: `#pay-alerts`, or `Ada's direct message`. */
    label(channelId: string) {
      const channel = byId.get(channelId) ?? directMessage(channelId);
      if (channel === undefined) return channelId;
      if (channel.owner === undefined) return `#${channel.name}`;
      return `${users.get(channel.owner)?.realName ?? channel.owner}'s direct message`;
    },
  };
}

/**
 * Whether a person sees the channel: everybody is in every channel, except direct messages and conversations between
 * people.
 */
export function canSee({ owner, people: inIt }: Channel, userId: string): boolean {
  return (owner ?? userId) === userId && (inIt?.includes(userId) ?? true);
}
