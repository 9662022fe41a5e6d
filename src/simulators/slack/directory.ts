import type { PageUser } from '../protocol.ts';
import {
  type AccountKind,
  type Channel,
  groups,
  openChannels,
  otherAccounts,
  people,
  type UserGroup,
} from './cast.ts';

/** An account as Slack tells of it. */
export type Account = { id: string; name: string; realName: string; kind: AccountKind };

export type Directory = {
  readonly users: readonly PageUser[];
  readonly groups: readonly UserGroup[];
  readonly channels: readonly Channel[];
  user(id: string): PageUser | undefined;
  /** Everybody Slack knows, whether they can be somebody on the page or not. */
  accounts(): readonly Account[];
  /** As an administrator makes a member a guest, or deactivates them. */
  setAccount(userId: string, kind: AccountKind): void;
  channel(id: string): Channel | undefined;
  /** As chat.postMessage reads its `channel`: an id, a person's id (their direct message), `#name` or `name`. */
  destination(word: string): Channel | undefined;
  directMessage(userId: string): Channel | undefined;
  /** The channel as a person would name it: `#pay-alerts`, or `Ada's direct message`. */
  label(channelId: string): string;
};

export function createDirectory(moreChannels: readonly Channel[] = []): Directory {
  const channels = [...openChannels(), ...moreChannels];
  const byId = new Map(channels.map((channel) => [channel.id, channel]));
  const users = new Map(people.map((user) => [user.id, user]));
  const accounts = new Map<string, Account>(
    [
      ...people.map(({ id, name, realName }) => ({ id, name, realName, kind: 'member' as const })),
      ...otherAccounts.map((account) => ({ ...account, realName: account.name })),
    ].map((account) => [account.id, account]),
  );

  function directMessage(userId: string): Channel | undefined {
    return channels.find((channel) => channel.owner === userId);
  }

  return {
    users: people,
    groups,
    channels,
    user: (id) => users.get(id),
    accounts: () => [...accounts.values()],
    setAccount(userId, kind) {
      const account = accounts.get(userId);
      if (account === undefined) throw new Error(`There is no account ${userId} in this workspace.`);
      accounts.set(userId, { ...account, kind });
    },
    channel: (id) => byId.get(id),
    directMessage,
    destination(word) {
      const name = word.replace(/^#/, '');
      return (
        byId.get(word) ??
        directMessage(word) ??
        channels.find((channel) => channel.kind !== 'dm' && channel.name === name)
      );
    },
    label(channelId) {
      const channel = byId.get(channelId) ?? directMessage(channelId);
      if (channel === undefined) return channelId;
      if (channel.owner === undefined) return `#${channel.name}`;
      return `${users.get(channel.owner)?.realName ?? channel.owner}'s direct message`;
    },
  };
}

/** Whether a person sees the channel: everybody is in every channel, and a direct message is one person's. */
export function canSee(channel: Channel, userId: string): boolean {
  return channel.owner === undefined || channel.owner === userId;
}
