import type { PageUser } from '../protocol.ts';
import { type Channel, groups, openChannels, people, type UserGroup } from './cast.ts';

export type Directory = {
  readonly users: readonly PageUser[];
  readonly groups: readonly UserGroup[];
  readonly channels: readonly Channel[];
  user(id: string): PageUser | undefined;
  channel(id: string): Channel | undefined;
  /** As chat.postMessage reads its `channel`: an id, a person's id (their direct message), `#name` or `name`. */
  destination(word: string): Channel | undefined;
  directMessage(userId: string): Channel | undefined;
  /** The channel as a person would name it: `#pay-alerts`, or `Ada's direct message`. */
  label(channelId: string): string;
};

export function createDirectory(): Directory {
  const channels = openChannels();
  const byId = new Map(channels.map((channel) => [channel.id, channel]));
  const users = new Map(people.map((user) => [user.id, user]));

  function directMessage(userId: string): Channel | undefined {
    return channels.find((channel) => channel.owner === userId);
  }

  return {
    users: people,
    groups,
    channels,
    user: (id) => users.get(id),
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
